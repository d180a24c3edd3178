//! The shapes of the tree, rule by rule. Real files are in `tests/corpus.rs`, broken ones in
//! `tests/garbage.rs`.

use super::parse;
use crate::ast::*;
use crate::op::Op;
use crate::types::{Space, Type};

const HEADER: &str = ".version 9.0\n.target sm_75\n.address_size 64\n";

fn module(text: &str) -> Module {
    parse(&format!("{HEADER}{text}")).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn error(text: &str) -> (u32, u32, String) {
    let error = parse(&format!("{HEADER}{text}")).expect_err(text);
    (error.line, error.column, error.text)
}

fn variables(text: &str) -> Vec<Variable> {
    let items = module(text).items.into_iter();
    items
        .map(|item| match item {
            Item::Variable(variable) => variable,
            other => panic!("{other:?}"),
        })
        .collect()
}

fn statements(body: &str) -> Vec<StatementKind> {
    let module = module(&format!(".func f() {{\n{body}\n}}"));
    let body = module.function("f").and_then(|function| function.body.clone()).expect("defined above");
    body.statements.into_iter().map(|statement| statement.kind).collect()
}

fn instructions(body: &str) -> Vec<Instruction> {
    let module = module(&format!(".func f() {{\n{body}\n}}"));
    module.functions().flat_map(|function| function.instructions()).cloned().collect()
}

fn operands(text: &str) -> Vec<Operand> {
    instructions(&format!("op {text};")).remove(0).operands
}

fn register(name: &str) -> Operand {
    Operand::Register(name.to_owned())
}

fn symbol(name: &str, offset: i64) -> Operand {
    Operand::Symbol { name: name.to_owned(), offset }
}

#[test]
fn the_header() {
    let module = parse("// x\n.version 8.4 .target sm_90a, debug\n").expect("a header");
    assert_eq!((module.version, module.address_size), ((8, 4), 32));
    assert_eq!(module.targets, ["sm_90a", "debug"]);
    assert_eq!(module.text(module.version_span), "8.4");
    assert_eq!(module.header_span, Span { start: 0, end: 39 });
    for (text, at) in [
        (".target sm_75", 1),
        (".version 9 .target sm_75", 10),
        (".version 9.0 .address_size 64", 14),
        (".version 9.0 .target sm_75 .address_size 16", 42),
    ] {
        assert_eq!(parse(text).expect_err(text).column, at, "{text}");
    }
}

#[test]
fn a_variable_with_everything() {
    let found = variables(".visible .const .attribute(.managed) .align 16 .v4 .f32 t[2][3];").remove(0);
    assert_eq!((found.linkage, found.space, found.align), (Linkage::Visible, Space::Const, 16));
    assert_eq!((found.ty, found.vec, found.name.as_str()), (Type::F32, 4, "t"));
    assert_eq!((found.dims.clone(), found.size()), (vec![2, 3], 96));
}

#[test]
fn variables_default_to_natural_alignment() {
    let found = variables(
        ".extern .shared .b64 a[]; .global .v2 .u16 b, c[2]; .weak .global .u8 d; .common .global .f64 e;",
    );
    let sizes: Vec<_> = found.iter().map(|variable| (variable.align, variable.size())).collect();
    assert_eq!(sizes, [(8, 0), (4, 4), (4, 8), (1, 1), (8, 8)]);
    assert_eq!(found[1].span, found[2].span);
    let linkages: Vec<_> = found.iter().map(|variable| variable.linkage).collect();
    assert_eq!(
        linkages,
        [Linkage::Extern, Linkage::Internal, Linkage::Internal, Linkage::Weak, Linkage::Common]
    );
}

#[test]
fn initial_values() {
    let init = |text: &str| variables(text).remove(0).init;
    let bits = |values: &[u64]| values.iter().map(|bits| Init::Bits(*bits)).collect::<Vec<_>>();
    assert_eq!(init(".global .b32 x = -1;"), bits(&[u64::MAX]));
    assert_eq!(
        init(".global .f32 x[3] = {0f3F800000, 1.5, -1.5};"),
        bits(&[0x3F80_0000, 0x3FC0_0000, 0xBFC0_0000])
    );
    assert_eq!(init(".global .f64 x = 0d3FF0000000000000;"), bits(&[0x3FF0_0000_0000_0000]));
    assert_eq!(init(".global .b8 x[2][2] = {{1, 0x2}, {03}};"), bits(&[1, 2, 3]));
    let named = |name: &str, offset, generic| Init::Symbol { name: name.to_owned(), offset, generic };
    let expected = [named("a", 0, false), named("b", 8, true), named("c", -4, false), Init::Bits(0)];
    assert_eq!(init(".global .u64 p[4] = {a, generic(b)+8, c-4, 0};"), expected);
}

#[test]
fn declarations_that_are_not_modelled_are_kept() {
    let text = ".global .texref t;\n.global .b8 m[2] = {0xff(x), 1};\n.global .b8 g[2][2] = {{1}, {2, 3}};\n.alias a, b;";
    let module = module(text);
    let texts: Vec<_> = (module.items.iter())
        .map(|item| match item {
            Item::Directive(span) => module.text(*span),
            Item::Variable(variable) => variable.name.as_str(),
            Item::Function(function) => function.name.as_str(),
        })
        .collect();
    assert_eq!(texts[0], "t", "an opaque handle");
    assert_eq!(texts[1..], text.lines().skip(1).collect::<Vec<_>>());
}

#[test]
fn signatures() {
    let module = module(
        ".visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[24])\n.maxntid 256, 1, 1 .minnctapersm 2 { }\n\
         .weak .func (.param .b32 r) f(.reg .b32 a) ;\n.func .attribute(.unified(1, 2)) g .noreturn { }\n.entry e .pragma \"x\"; { }",
    );
    let functions: Vec<&Function> = module.functions().collect();
    let [k, f, g, e] = functions[..] else { panic!("{functions:?}") };
    assert_eq!((k.kind, k.linkage, k.params.len()), (FunctionKind::Entry, Linkage::Visible, 2));
    assert_eq!((k.params[0].variable.align, k.params[0].variable.size()), (8, 8));
    assert_eq!((k.params[1].variable.align, k.params[1].variable.size()), (8, 24));
    assert_eq!(k.directives, [("maxntid".to_owned(), vec![256, 1, 1]), ("minnctapersm".to_owned(), vec![2])]);
    assert!(k.body.is_some() && f.body.is_none());
    assert_eq!((f.kind, f.linkage, f.returns.len()), (FunctionKind::Func, Linkage::Weak, 1));
    assert!(f.params[0].in_register && !f.returns[0].in_register);
    assert_eq!(
        g.directives.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["attribute", "noreturn"]
    );
    assert_eq!(e.directives[0].0, "pragma");
    assert_eq!(module.text(f.span), ".weak .func (.param .b32 r) f(.reg .b32 a) ;");
}

#[test]
fn a_definition_is_found_before_a_declaration() {
    let module = module(".func f ; .func f { ret; }");
    assert!(module.function("f").is_some_and(|function| function.body.is_some()));
    assert!(module.function("g").is_none());
}

#[test]
fn files_may_follow_the_functions() {
    let module = module(".func f() { .loc 7 3 1\nret; }\n.file 7 \"/a/b.cu\", 12, 34\n.file 8 \"c.h\"");
    assert_eq!((module.file(7), module.file(8), module.file(9)), (Some("/a/b.cu"), Some("c.h"), None));
    let ret =
        module.functions().flat_map(|function| function.instructions()).next().expect("one instruction");
    assert_eq!(ret.source, [LocLine { file: 7, line: 3, column: 1 }]);
    assert_eq!(ret.line, 5);
}

#[test]
fn locations() {
    let found =
        statements(".loc 1 2 3, function_name $L+4, inlined_at 5 6 7\n.loc 1 2 3, function_name .debug_str");
    let inlined = Loc { file: 1, line: 2, column: 3, inlined_at: Some((5, 6, 7)) };
    assert!(matches!(&found[0], StatementKind::Loc(loc) if *loc == inlined));
    assert!(matches!(&found[1], StatementKind::Loc(Loc { inlined_at: None, .. })));
}

/// As LLVM writes Triton's loads: the lines within are the statement's, counted on.
#[test]
fn inline_assembly_has_the_line_of_its_statement() {
    let found = instructions(
        ".loc 1 27 21\n// begin inline asm\n.loc 1 27 21\nmov.u32 %r1, 0;\n.loc 1 28 21\nld.global.b32 %r1, [%rd1];\n\
         // end inline asm\nneg.s32 %r2, %r1;\n.loc 1 30 1\nret;",
    );
    let lines: Vec<u32> = found.iter().map(|instruction| instruction.source[0].line).collect();
    assert_eq!(lines, [27, 27, 27, 30]);
}

#[test]
fn registers_are_what_was_declared() {
    let found = statements(".reg .pred p, %q<3>; .reg .v2 .f32 v;");
    let decl = |ty, vec, name: &str, count| RegisterDecl { ty, vec, name: name.to_owned(), count };
    let StatementKind::Registers(first) = &found[0] else { panic!("{found:?}") };
    assert_eq!(*first, [decl(Type::Pred, 1, "p", None), decl(Type::Pred, 1, "%q", Some(3))]);
    let StatementKind::Registers(second) = &found[1] else { panic!("{found:?}") };
    assert_eq!(*second, [decl(Type::F32, 2, "v", None)]);
}

#[test]
fn a_name_is_a_register_only_in_its_scope() {
    let found = instructions(
        "op a, t0, t10, t01, t11; { .reg .b32 a, t<11>; op a, t0, t10, t01, t11, [a], [t3+4]; } op a, t0;",
    );
    let symbols = ["a", "t0", "t10", "t01", "t11"].map(|name| symbol(name, 0));
    assert_eq!(found[0].operands, symbols);
    let inner = [register("a"), register("t0"), register("t10"), symbol("t01", 0), symbol("t11", 0)];
    assert_eq!(found[1].operands[..5], inner);
    let address =
        |base: &str, offset| Operand::Address { base: AddressBase::Register(base.to_owned()), offset };
    assert_eq!(found[1].operands[5..], [address("a", 0), address("t3", 4)]);
    assert_eq!(found[2].operands, symbols[..2]);
}

#[test]
fn operands_of_every_kind() {
    assert_eq!(
        operands("%r1, %tid.x, _, WARP_SZ"),
        [register("%r1"), register("%tid.x"), Operand::Sink, Operand::Integer(32)]
    );
    assert_eq!(
        operands("x, x+4, x-4, x+-4"),
        [symbol("x", 0), symbol("x", 4), symbol("x", -4), symbol("x", -4)]
    );
    assert_eq!(
        operands("7, -7, 0xFFFFFFFFFFFFFFFFU, 017, 0b11, - -2"),
        [7, -7, -1, 15, 3, 2].map(Operand::Integer)
    );
    assert_eq!(
        operands("0f3F800000, -0f3F800000, 0d4000000000000000, 2.0"),
        [
            Operand::F32(0x3F80_0000),
            Operand::F32(0xBF80_0000),
            Operand::F64(0x4000_0000_0000_0000),
            Operand::F64(0x4000_0000_0000_0000),
        ]
    );
    let address = |base, offset| Operand::Address { base, offset };
    assert_eq!(
        operands("[%rd1], [%rd1+-8], [x+8], [16]"),
        [
            address(AddressBase::Register("%rd1".to_owned()), 0),
            address(AddressBase::Register("%rd1".to_owned()), -8),
            address(AddressBase::Symbol("x".to_owned()), 8),
            address(AddressBase::Absolute, 16),
        ]
    );
    let (r1, r2) = (register("%r1"), register("%r2"));
    assert_eq!(
        operands("{%r1, _}, %r1|%r2, !%r1, -%r2, (%r1, 3), ()"),
        [
            Operand::Vector(vec![r1.clone(), Operand::Sink]),
            Operand::Pair(Box::new(r1.clone()), Box::new(r2.clone())),
            Operand::Not(Box::new(r1.clone())),
            Operand::Not(Box::new(r2)),
            Operand::List(vec![r1, Operand::Integer(3)]),
            Operand::List(vec![]),
        ]
    );
}

#[test]
fn operands_that_do_not_parse_are_kept() {
    let text = "%r1, [%rd1, {%f1, %f2}], a ? b : (c, d), , 0f12, 99999999999999999999, %r2";
    let module = module(&format!(".func f() {{ add.s32 {text}; }}"));
    let found =
        module.functions().flat_map(|function| function.instructions()).next().expect("one instruction");
    assert_eq!(found.op, Op::Other);
    let kept: Vec<_> = (found.operands.iter())
        .map(|operand| match operand {
            Operand::Raw(span) => module.text(*span),
            Operand::Register(name) => name.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = ["%r1", "[%rd1, {%f1, %f2}]", "a ? b : (c, d)", "", "0f12", "99999999999999999999", "%r2"];
    assert_eq!(kept, expected);
}

#[test]
fn instructions_with_guards_on_one_line() {
    let found = instructions("@p add.s32 %r1, %r1, 1;@!%p2 bra.uni L; L: ret;");
    let guard = |register: &str, negated| Some(Guard { register: register.to_owned(), negated });
    assert_eq!(found[0].guard, guard("p", false));
    assert_eq!(found[1].guard, guard("%p2", true));
    assert_eq!(found[1].operands, [symbol("L", 0)]);
    assert_eq!((found[1].opcode.as_str(), found[1].modifiers.clone()), ("bra", vec!["uni".to_owned()]));
    assert_eq!((found[2].guard.clone(), found[2].op.clone()), (None, Op::Ret { uni: false }));
    assert!(found.iter().all(|instruction| instruction.line == 5));
}

#[test]
fn directives_in_a_body() {
    let found = statements(
        ".pragma \"nounroll\"; .shared .align 4 .b8 s[12]; .local .u32 a, b; { .param .b64 p; } \
         T: .branchtargets A, B; C: .calltargets f, g; ; .unknown x; .section .debug_x { A: .b8 1, 2 }",
    );
    let kinds: Vec<&str> = (found.iter())
        .map(|kind| match kind {
            StatementKind::Directive => "directive",
            StatementKind::Variable(_) => "variable",
            StatementKind::Block(_) => "block",
            StatementKind::Targets { .. } => "targets",
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        "directive",
        "variable",
        "variable",
        "variable",
        "block",
        "targets",
        "targets",
        "directive",
        "directive",
        "directive",
    ];
    assert_eq!(kinds, expected);
    assert!(
        matches!(&found[5], StatementKind::Targets { name, targets } if name == "T" && *targets == ["A", "B"])
    );
}

#[test]
fn errors_name_their_place() {
    assert_eq!(error("entry k() {}"), (4, 1, "entry".to_owned()));
    assert_eq!(error(".func f() {\n\tadd.s32 %r1, %r2\n}"), (6, 1, "}".to_owned()));
    assert_eq!(error(".func f() {\n\tret;"), (5, 6, String::new()));
    assert_eq!(error(".func f() {\n  %r1 = 3;\n}"), (5, 3, "%r1".to_owned()));
    assert_eq!(error(".func f() {\n  = ;\n}"), (5, 3, "=".to_owned()));
    assert_eq!(error(".func f() {\n\tret\n\t.loc 1 2 3\n\tret;\n}"), (6, 2, ".loc".to_owned()));
    assert_eq!(error(".func 9() {}"), (4, 7, "9".to_owned()));
    assert_eq!(error(".func f(.param .b32) {}"), (4, 20, ")".to_owned()));
    assert_eq!(error(".visble .entry k() { }"), (4, 1, ".visble".to_owned()));
    assert_eq!(error(".global .u32 x"), (4, 1, ".global".to_owned()));
    assert_eq!(error(".file x"), (4, 7, "x".to_owned()));
    assert_eq!(error(".func f() { .loc 1 2 }"), (4, 22, "}".to_owned()));
    assert_eq!(error(".func f() { .loc 1 99999999999 1 }"), (4, 20, "99999999999".to_owned()));
    assert_eq!(error(".func f() { .loc 1 2 3, inlined 4 }"), (4, 25, "inlined".to_owned()));
}
