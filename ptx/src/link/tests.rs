use super::*;
use crate::ast::{Linkage, LocLine, Module};

const HEAD: &str = ".version 7.0\n.target sm_75\n.address_size 64\n";

fn try_link(texts: &[&str]) -> Result<Module, LinkError> {
    let texts: Vec<String> = texts
        .iter()
        .map(|text| if text.starts_with(".version") { (*text).to_owned() } else { format!("{HEAD}{text}") })
        .collect();
    let names: Vec<String> = (1..=texts.len()).map(|number| format!("m{number}")).collect();
    let inputs: Vec<LinkInput<'_>> =
        texts.iter().zip(&names).map(|(text, name)| LinkInput { name, text }).collect();
    let text = link(&inputs, &|name| name == "vprintf")?;
    Ok(crate::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

fn linked(texts: &[&str]) -> Module {
    try_link(texts).unwrap_or_else(|error| panic!("{error}"))
}

fn error(texts: &[&str]) -> String {
    try_link(texts).map(|module| module.source).expect_err("it cannot be linked").to_string()
}

/// Where a text stands in the result.
fn place(module: &Module, text: &str) -> usize {
    let source = &module.source;
    assert_eq!(source.matches(text).count(), 1, "{text:?} in\n{source}");
    source.find(text).expect("it was counted")
}

#[test]
fn externs_find_their_definitions_and_come_before_their_uses() {
    let module = linked(&[
        ".extern .func (.param .b32 r) helper (.param .b32 x);\n.extern .global .align 4 .u32 counter;\n\
         .visible .entry k() { .reg .b32 %r<2>; .param .b32 a; .param .b32 b;\n\
         ld.global.u32 %r1, [counter]; st.param.b32 [a], %r1; call.uni (b), helper, (a); ret; }",
        ".visible .global .align 4 .u32 counter = 5;\n\
         .visible .func (.param .b32 r) helper (.param .b32 x) { ret; }",
    ]);
    assert!(!module.source.contains(".extern"), "{}", module.source);
    let declaration = place(&module, "helper (.param .b32 x);");
    let variable = place(&module, "counter = 5;");
    let kernel = place(&module, ".entry k()");
    let definition = place(&module, "helper (.param .b32 x) {");
    assert!(declaration < variable && variable < kernel && kernel < definition);
}

#[test]
fn names_of_their_own_module_are_renamed_where_they_collide() {
    let one = ".global .u32 state = 1; .func local() { .reg .b64 %rd<2>; mov.u64 %rd1, state; ret; }\n\
               .visible .func NAME() { call.uni local, (); ret; }";
    let other = ".global .u32 state = 2; .func local();\n\
                 .visible .func NAME2() { call.uni local, (); ret; }\n\
                 .func local() { .reg .b64 %rd<2>; .reg .b32 state__2; mov.u64 %rd1, state; ret; }\n\
                 .visible .func uses(.param .b32 state) { .reg .b32 %r<2>; ld.param.b32 %r1, [state]; ret; }";
    let module = linked(&[one, other]);
    for text in [
        "state = 1;",
        "%rd1, state;",
        "local() { .reg .b64 %rd<2>; mov.u64 %rd1, state;",
        "NAME() { call.uni local, ();",
        // `state__2` is a register's name already.
        "state__3 = 2;",
        "NAME2() { call.uni local__2, ();",
        "local__2();",
        "local__2() { .reg .b64 %rd<2>; .reg .b32 state__2; mov.u64 %rd1, state__3;",
        // Its own parameter.
        "[state];",
    ] {
        place(&module, text);
    }
    // A name that another module shows to all is taken, too.
    let module = linked(&[".func shown() { ret; }", ".visible .func shown() { ret; }"]);
    place(&module, ".func shown__1() { ret; }");
    place(&module, ".visible .func shown() { ret; }");
}

#[test]
fn weak_and_common_definitions_are_merged() {
    let module = linked(&[
        ".weak .func f() { bar.sync 1; ret; } .weak .global .u32 w = 1; .common .global .b8 c[4];",
        ".weak .func f() { bar.sync 2; ret; } .weak .global .u32 w = 2; .common .global .b8 c[8];",
        ".visible .func f() { bar.sync 3; ret; } .weak .global .u32 w = 3; .common .global .b8 c[2];",
    ]);
    for (text, count) in
        [("bar.sync 3", 1), ("bar.sync", 1), ("w = 1;", 1), (" w ", 1), ("c[8]", 1), (" c[", 1)]
    {
        assert_eq!(module.source.matches(text).count(), count, "{text} in\n{}", module.source);
    }
}

#[test]
fn dynamic_shared_memory_and_system_functions_stay_declared_once() {
    let module = linked(&[
        ".extern .shared .align 4 .b8 s[]; .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);",
        ".extern .shared .align 16 .b8 s[]; .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);",
    ]);
    place(&module, ".extern .shared .align 16 .b8 s[];");
    place(&module, "vprintf");
    assert!(!module.source.contains(".align 4"));
}

#[test]
fn variables_come_after_those_that_they_point_at() {
    let module = linked(&[
        ".extern .global .u64 last; .visible .global .u64 first[2] = {last, generic(local)};\n\
         .func f() { ret; }\n.visible .global .u64 table = f;\n.global .u64 local = 3;",
        ".global .u64 local = 4; .visible .global .u64 last = local;",
    ]);
    assert!(place(&module, "local__2 = 4;") < place(&module, "last = local__2;"));
    assert!(place(&module, "last = local__2;") < place(&module, "first[2] ="));
    assert!(place(&module, "local = 3;") < place(&module, "first[2] ="));
    assert!(place(&module, ".func f();") < place(&module, "table = f;"));
    let cycle = [
        ".extern .global .u64 b; .visible .global .u64 a = b;",
        ".extern .global .u64 a; .visible .global .u64 b = a;",
    ];
    assert!(matches!(try_link(&cycle), Err(LinkError::Cycle { .. })));
    let mut long: String = (1..20_000)
        .map(|number| {
            format!(
                ".extern .global .u64 v{};\n.visible .global .u64 v{number} = v{};\n",
                number - 1,
                number - 1
            )
        })
        .rev()
        .collect();
    long = [&long, ".extern .global .u64 v0;"].concat();
    let module = linked(&[&long, ".visible .global .u64 v0 = 1;"]);
    assert!(place(&module, " v0 = 1;") < place(&module, " v19999 = v19998;"));
}

#[test]
fn source_lines_survive() {
    let one = ".file 1 \"/a.cu\"\n.visible .func f() {\n.loc 1 10 2\nret;\n}";
    let two = ".visible .entry k() {\n.loc 2 20 3\n.loc 1 5 6, function_name $S0, inlined_at 2 20 3\nret;\n}\n\
               .file 1 \"/b.cuh\"\n.file 2 \"/a.cu\"\n.section .debug_str\n{\n$S0:\n.b8 102, 0\n}\n\
               .section .debug_info\n{\n.b8 1\n}";
    let three = ".visible .func g() {\n.loc 1 7 8\n.loc 1 7 8, function_name $S0, inlined_at 1 7 8\nret;\n}\n\
                 .file 1 \"/c.cu\"\n.section .debug_str\n{\n$S0:\n.b8 103, 0\n}";
    let module = linked(&[one, two, three]);
    assert_eq!(module.files, [(1, "/a.cu".to_owned()), (2, "/b.cuh".to_owned()), (3, "/c.cu".to_owned())]);
    let lines = |name: &str| module.function(name).expect("it is there").instructions()[0].source.clone();
    let line = |file, line, column| LocLine { file, line, column };
    assert_eq!(lines("f"), [line(1, 10, 2)]);
    assert_eq!(lines("k"), [line(2, 5, 6), line(1, 20, 3)]);
    assert_eq!(lines("g")[0], line(3, 7, 8));
    place(&module, "$S0:");
    place(&module, "$S0__3:");
    place(&module, "function_name $S0__3,");
    assert!(!module.source.contains("debug_info"));
}

#[test]
fn headers_take_the_latest_and_the_highest() {
    let module = linked(&[
        ".version 7.0\n.target sm_75, texmode_independent\n.address_size 64",
        ".version 9.4\n.target sm_60, debug\n.address_size 64",
        ".version 8.1\n.target sm_80\n.address_size 64",
    ]);
    assert_eq!(
        (module.version, module.targets),
        ((9, 4), vec!["sm_80".to_owned(), "texmode_independent".to_owned()])
    );
    assert_eq!(linked(&["", ".version 8.0\n.target sm_90a\n.address_size 64"]).targets, ["sm_90a"]);
    assert_eq!(
        error(&[
            ".version 8.0\n.target sm_90a\n.address_size 64",
            ".version 8.0\n.target sm_100\n.address_size 64"
        ]),
        "m1 is for sm_90a, m2 for sm_100"
    );
    assert_eq!(
        error(&["", ".version 8.0\n.target sm_75\n.address_size 32"]),
        "m1 is for 64-bit addresses, m2 for 32-bit addresses"
    );
}

#[test]
fn what_cannot_be_linked_is_named() {
    assert_eq!(
        error(&[".extern .func missing(); .extern .global .u32 gone;", ".extern .func missing();"]),
        "undefined: missing (declared in m1), gone (declared in m1)"
    );
    let twice = ".visible .func f() { ret; }";
    assert_eq!(error(&[twice, "", twice]), "f is defined in m1 and in m3");
    assert_eq!(
        error(&[".entry k() { ret; }", ".visible .entry k() { ret; }"]),
        "k is defined in m1 and in m2"
    );
    assert_eq!(
        error(&[".extern .func x();", ".visible .global .u32 x;"]),
        "x is a .global variable in m2 and a function of () bytes giving () in m1"
    );
    assert_eq!(
        error(&[".extern .func x(.param .b32 a);", ".visible .func x(.param .b64 a) { ret; }"]),
        "x is a function of (8) bytes giving () in m2 and a function of (4) bytes giving () in m1"
    );
    assert_eq!(
        error(&[".weak .global .u32 a;", ".weak .global .u32 a, b;"]),
        "m2: b is declared together with other variables: declare it alone"
    );
    assert!(error(&["", ".func"]).starts_with("m2: PTX line 4:6: "));
    assert_eq!(link(&[], &|_| false), Err(LinkError::Empty));
}

#[test]
fn kernels_and_their_linkage_are_kept() {
    let module =
        linked(&[".visible .entry a() { ret; }", ".weak .entry b() { ret; }", ".weak .entry b() { ret; }"]);
    let functions: Vec<_> =
        module.functions().map(|function| (function.name.as_str(), function.linkage)).collect();
    assert_eq!(functions, [("a", Linkage::Visible), ("b", Linkage::Weak)]);
}
