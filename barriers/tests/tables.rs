//! Tables in global memory: what is known of them, and when nothing is.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

/// A kernel of 64 threads that waits at the barrier that `table` names, after `body` and beside other functions and variables.
fn module(declaration: &str, others: &str, body: &str) -> KernelText {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64
{declaration}
{others}
.visible .entry k(.param .u64 k_out)
.maxntid 64, 1, 1
{{
    .reg .b32 id, v;
    .reg .b64 out, at;
    .reg .pred p;
    ld.param.u64 out, [k_out];
    mov.u64 at, table;
    {body}
    ld.global.u32 id, [at+4];
    bar.sync id, 64;
    ret;
}}
"
    );
    KernelText::new(&ptx).unwrap_or_else(|refusal| panic!("{refusal}\n{ptx}"))
}

fn verdict(text: &KernelText) -> KernelFindings {
    verify(text, "k", &KernelOptions::default()).unwrap().findings
}

const TABLE: &str = ".global .align 4 .u32 table[4] = {7, 3, 5, 1};";

#[test]
fn tables_that_nobody_writes_are_known() {
    let copies = ".global .align 4 .u32 other[4];";
    for (others, body) in [
        ("", ""),
        ("", "cvta.global.u64 at, at;\nld.u32 v, [at];\ncvta.to.global.u64 at, at;"),
        // Others are written, and pointers from outside.
        (copies, "st.global.u32 [other], 1;\nst.global.u32 [out], 2;\nprefetch.global.L2 [at];"),
        (copies, "ld.global.u32 v, [table];\nst.global.u32 [other], v;"),
        ("", "setp.eq.u64 p, at, out;\n@p st.global.u32 [out], 1;"),
        (
            "",
            ".shared .align 4 .b8 box[16];\nmov.u32 v, %tid.x;\nsetp.eq.u32 p, v, 0;\n@p cp.async.ca.shared.global [box], [at], 4;",
        ),
    ] {
        let found = verdict(&module(TABLE, others, body));
        assert_eq!(
            (found.verdict, found.stats.dynamic_barriers),
            ("verified", 1),
            "{others} {body}\n{found:#?}"
        );
        assert_eq!(found.tables, ["table"], "{others} {body}");
    }
}

#[test]
fn tables_that_somebody_may_write_are_not() {
    let function = ".func f(.param .b64 f_p)\n{\n ret;\n}";
    for (others, body) in [
        ("", "st.global.u32 [table+4], 1;"),
        ("", "st.global.u32 [at], 1;"),
        ("", "add.u64 at, at, 4;\nsub.u64 at, at, 4;\nred.global.add.u32 [at], 1;"),
        ("", "atom.global.add.u32 v, [table], 1;"),
        ("", "discard.global.L2 [at], 128;"),
        // The address goes where it is not followed.
        ("", "st.global.u64 [out], at;"),
        ("", "selp.b64 out, at, out, p;\nst.global.u32 [out], 1;"),
        ("", "mov.b64 {id, v}, at;\nmov.b64 out, {id, v};\nst.global.u32 [out], 1;"),
        (function, "{\n.param .b64 a;\nst.param.b64 [a], at;\ncall.uni f, (a);\n}"),
        (".global .align 8 .u64 pointer = table;", ""),
        (".global .align 8 .u64 pointer[2] = {0, generic(table)};", ""),
        // By another kernel, before it is loaded in a loop, or in a function.
        (".visible .entry other()\n{\n st.global.u32 [table], 1;\n ret;\n}", ""),
        (".func f()\n{\n st.global.u32 [table], 1;\n ret;\n}", ""),
        (
            ".visible .entry other()\n{\n.reg .b64 a, b;\nL:\nst.global.u32 [b], 1;\nmov.u64 b, a;\nmov.u64 a, table;\nbra L;\n}",
            "",
        ),
    ] {
        let found = verdict(&module(TABLE, others, body));
        assert_eq!(found.verdict, "not-verifiable", "{others} {body}\n{found:#?}");
    }
}

#[test]
fn tables_that_the_host_can_name_are_not_known_unless_they_are_given() {
    for declaration in [
        ".visible .global .align 4 .u32 table[4] = {7, 3, 5, 1};",
        ".weak .global .align 4 .u32 table[4] = {7, 3, 5, 1};",
        ".global .attribute(.managed) .align 4 .u32 table[4] = {7, 3, 5, 1};",
        ".global .align 4 .u32 table[4];",
        ".visible .global .align 4 .u32 table[4];",
    ] {
        let mut text = module(declaration, "", "");
        assert_eq!(verdict(&text).verdict, "not-verifiable", "{declaration}");
        text.give("table", [9u32, 2, 2, 2].into_iter().flat_map(u32::to_le_bytes).collect()).unwrap();
        assert_eq!(verdict(&text).verdict, "verified", "{declaration}");
        // Barrier 20 there is none; what is given last holds.
        text.give("table", [0u32, 20, 0, 0].into_iter().flat_map(u32::to_le_bytes).collect()).unwrap();
        assert_eq!(verdict(&text).verdict, "illegal", "{declaration}");
        let refusal = text.give("table", vec![0; 12]).unwrap_err();
        assert_eq!(refusal.message, "`table` has 16 bytes, not 12");
        let refusal = text.give("tables", vec![0; 16]).unwrap_err();
        assert_eq!(refusal.message, "no variable `tables` in global or constant memory");
        assert_eq!(text.variables().collect::<Vec<_>>(), ["table"]);
    }
}

#[test]
fn what_is_given_has_to_stay() {
    let visible = ".visible .global .align 4 .u32 table[4];";
    let bytes = || [9u32, 2, 2, 2].into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    // Another kernel may write it, this one not.
    let mut text = module(
        visible,
        ".visible .entry init()\n.maxntid 32, 1, 1\n{\n st.global.u32 [table], 1;\n ret;\n}",
        "",
    );
    text.give("table", bytes()).unwrap();
    assert_eq!(verdict(&text).verdict, "verified");
    let refusal = verify(&text, "init", &KernelOptions::default()).unwrap_err();
    assert_eq!(refusal.message, "kernel `init` may write `table`: what it holds cannot be given");
    let mut text = module(visible, "", "st.global.u32 [at], 1;");
    text.give("table", bytes()).unwrap();
    assert!(verify(&text, "k", &KernelOptions::default()).is_err());
    // What is given comes before an initial value.
    let mut text = module(TABLE, "", "");
    assert_eq!(verdict(&text).verdict, "verified");
    text.give("table", [0u32, 20, 0, 0].into_iter().flat_map(u32::to_le_bytes).collect()).unwrap();
    assert_eq!(verdict(&text).verdict, "illegal");
    // Constants can be given, too.
    let constant = ".const .align 4 .u32 table[4];";
    let read = "ld.const.u32 id, [table+4];\nbar.sync id, 64;\nret;";
    let mut text = module(constant, "", read);
    assert_eq!(verdict(&text).verdict, "not-verifiable");
    text.give("table", bytes()).unwrap();
    assert_eq!(verdict(&text).verdict, "verified");
}
