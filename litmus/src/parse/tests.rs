use proptest::prelude::*;

use super::parse;
use crate::error::FileFault;
use crate::key::OutcomeKey;
use crate::test::{Rmw, Scope, Test, TestOp, TestOrder, TestSpace, TestValue};
use crate::{Expression, Quantifier, shape};

const MP: &str = "PTX MP\n{\nx=0;\ny=0;\n}\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\nst.weak x, 1 | ld.acquire.gpu r0, y ;\n\
                  st.release.gpu y, 1 | ld.weak r1, x ;\nexists\n(P1:r0 == 1 /\\ P1:r1 == 0)\n";

/// A test of two threads whose first has this as its only instruction.
fn with(instruction: &str) -> String {
    format!("PTX T\n{{ x=0; y=0; }}\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0;\n{instruction} | ld r9, x;\n")
}

fn only(instruction: &str) -> TestOp {
    let test = parse(&with(instruction)).unwrap_or_else(|error| panic!("{instruction}: {error}"));
    test.threads[0].instructions[0].op
}

/// The test's condition with this expression.
fn condition(text: &str) -> Test {
    parse(&MP.replace("exists\n(P1:r0 == 1 /\\ P1:r1 == 0)", text))
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn the_suites_own_form() {
    let test = parse(MP).expect("it parses");
    assert_eq!((test.name.as_str(), test.ctas(), test.most_threads()), ("MP", 2, 1));
    assert_eq!(test.threads[1].instructions.len(), 2);
    assert_eq!((test.threads[1].instructions[1].line, test.threads[1].instructions[1].column), (8, 23));
    let condition = test.condition.as_ref().expect("a condition");
    assert_eq!(condition.quantifier, Quantifier::Exists);
    let keys: Vec<_> = condition.expression.keys().iter().map(|key| key.name(&test)).collect();
    assert_eq!(keys, ["P1:r0", "P1:r1"]);
}

#[test]
fn line_ends_comments_and_quotations_do_not_matter() {
    let text = MP.replace('\n', "\r\n").replace("st.weak", "(* a ; | comment\r\n*) st.weak");
    let text = text.replace("y=0;", "y=0; // exists (").replace("PTX MP", "PTX MP\r\n\"what it is about\"");
    let (plain, dressed) = (parse(MP).expect("plain"), parse(&text).expect("dressed"));
    let ops = |test: &Test| -> Vec<TestOp> {
        test.threads.iter().flat_map(|thread| &thread.instructions).map(|one| one.op).collect()
    };
    assert_eq!(ops(&plain), ops(&dressed));
    assert_eq!(plain.condition, dressed.condition);
}

#[test]
fn instructions() {
    let value = |op| match op {
        TestOp::Store { value, .. } => value,
        other => panic!("{other:?}"),
    };
    assert_eq!(value(only("st x, 7")), TestValue::Constant(7));
    assert_eq!(value(only("st.volatile.global.u32 [x], 0x10")), TestValue::Constant(16));
    assert_eq!(value(only("st.u64 x, -1")), TestValue::Constant(u64::MAX));
    assert_eq!(value(only("st.weak x, -1")), TestValue::Constant(0xffff_ffff));
    assert_eq!(value(only("st.relaxed.sys x, r4")), TestValue::Register(0));
    let atomic = |text| match only(text) {
        TestOp::Atomic { order, rmw, register, swap, ty, .. } => (order, rmw, register, swap, ty.bytes),
        other => panic!("{other:?}"),
    };
    let relaxed = TestOrder::Relaxed(Scope::Gpu);
    assert_eq!(atomic("atom.add r0, x, 1"), (relaxed, Rmw::Add, Some(0), None, 4));
    assert_eq!(atomic("red.inc.release.cta x, 1"), (TestOrder::Release(Scope::Cta), Rmw::Inc, None, None, 4));
    let cas = (TestOrder::AcqRel(Scope::Sys), Rmw::Cas, Some(0), Some(TestValue::Constant(2)), 8);
    assert_eq!(atomic("atom.acq_rel.sys.cas.b64 r0, x, 1, 2"), cas);
    for fine in [
        "membar.gl",
        "fence.acquire.gpu",
        "fence.cta",
        "barrier.sync 3",
        "bar.warp.sync 0xffffffff",
        "mov r1, 5",
    ] {
        only(fine);
    }
}

#[test]
fn what_cannot_be_is_named_with_its_place() {
    use FileFault::{Syntax, Unsupported};
    for (instruction, fault, part) in [
        ("ld.mmio.relaxed.sys r0, x", Unsupported, ".mmio is not supported"),
        ("frob r0, x", Unsupported, "instruction `frob` is not supported"),
        ("ld.acq_rel.gpu r0, x", Syntax, ".acq_rel does not go with it"),
        ("st.acquire.gpu x, 1", Syntax, ".acquire does not go with it"),
        ("ld.relaxed r0, x", Syntax, "wants a scope"),
        ("ld.weak.gpu r0, x", Syntax, ".weak has no scope"),
        ("ld.gpu r0, x", Syntax, "has a scope, but no order"),
        ("atom.relaxed.gpu r0, x, 1", Syntax, "does not say what it does"),
        ("red.exch x, 1", Unsupported, "`red.exch` is not supported"),
        ("fence.sc", Unsupported, "`fence.sc` is not supported"),
        ("fence.proxy.alias", Unsupported, "is not supported"),
        ("bar.cta.sync 16", Syntax, "there is no barrier 16"),
        ("bar.cta.sync", Syntax, "a number is wanted"),
        ("st x", Syntax, "',' is wanted"),
        ("st x, 1, 2", Syntax, "takes no more operands"),
        ("st x, 99999999999999999999", Syntax, "no number of at most 64 bits"),
        ("st x, y", Syntax, "y is a location; a register is wanted"),
        ("bar.warp.sync 3", Unsupported, "a part of a warp"),
    ] {
        let error = parse(&with(instruction)).expect_err(instruction);
        assert_eq!((error.fault, error.line), (fault, 4), "{instruction}: {error}");
        assert!(error.message.contains(part), "{instruction}: {error}");
    }
    for (text, place, part) in [
        ("", (1, 1), "the file is empty"),
        ("AArch64 MP\n", (1, 1), "'PTX' and the test's name is wanted"),
        ("PTX A\n", (2, 1), "'{' is wanted, but the text ends"),
        ("PTX A\n{ x=0", (2, 6), "';' is wanted"),
        ("PTX A\n{}\n", (3, 1), "the threads are wanted"),
        ("PTX A\n{}\nP0@cta 0 | P2@cta 0;", (3, 12), "'P1@cta N,gpu N' is wanted"),
        ("PTX A\n{}\nP0@gpu 0;", (3, 1), "P0 has no CTA"),
        ("PTX A\n{}\nP0@cta 0,gpu 0|P1@cta 0,gpu 1;", (3, 16), "more than one GPU"),
        ("PTX A\n{}\nP0@cta 0;\nst x, 1 | st x, 2;", (4, 11), "more columns than"),
        ("PTX A\n{}\nP0@cta 0;\nst x, 1", (4, 1), "does not end with ';'"),
        ("PTX A\n{}\nP0@cta 0;\n(* …", (4, 1), "the comment does not end"),
        ("PTX A\n{}\nP0@cta 0;\nst x, 1;\nexists (z = 1)", (5, 9), "there is no location z"),
        ("PTX A\n{}\nP0@cta 0;\nst x, 1;\nexists (1:r0 = 1)", (5, 9), "there is no thread 1"),
        ("PTX A\n{}\nP0@cta 0;\nst x, 1;\nexists (x = 1", (5, 14), "')' is wanted, but the text ends"),
        ("PTX A\n{}\nP0@cta 0;\nst x, 1;\nexists x = 1 y", (5, 14), "goes on behind its condition"),
        ("PTX A\n{P1:r0=1;}\nP0@cta 0;\n", (2, 2), "there is no thread P1"),
        ("PTX A\n{x=0; x=1;}\nP0@cta 0;\n", (2, 7), "x is given twice"),
        ("PTX A\n{.shared x=0;}\nP0@cta 0|P1@cta 1;\nst x,1|st x,2;", (3, 1), "threads of two CTAs use it"),
        ("PTX A\n{}\nP0@cta 0;\nld.u64 r0, x;\nld r0, x;", (5, 4), "used with 32 and with 64 bits"),
        ("PTX A\n{y @ alias x;}\n", (2, 2), "aliases and proxies are not supported"),
        ("PTX A\n{}\nP0@cta 0;\nst x, 1;\nfilter (x=1)", (5, 1), "'filter' is not supported"),
    ] {
        let error = parse(text).expect_err(text);
        assert_eq!((error.line, error.column), place, "{text:?}: {error}");
        assert!(error.message.contains(part), "{text:?}: {error}");
    }
}

#[test]
fn initial_values_and_spaces() {
    let text = "PTX A\n{ .shared x=3; [y]=0x1ffffffff; 0:r1=5; P1:r0=-1 }\nP0@cta 7 | P1@cta 7;\n\
                st x, r1 | st.u64 y, r0;\n | ld.u16 r2, z;\nforall (y=-1 \\/ not z=0)";
    let test = parse(text).expect("it parses");
    let locations: Vec<_> =
        test.locations.iter().map(|at| (at.name.as_str(), at.initial, at.bytes, at.space)).collect();
    let wanted = [
        ("x", 3, 4, TestSpace::Shared),
        ("y", 0x1_ffff_ffff, 8, TestSpace::Global),
        ("z", 0, 4, TestSpace::Global),
    ];
    assert_eq!(locations, wanted);
    assert_eq!((test.threads[0].registers[0].initial, test.threads[0].registers[0].wide), (5, false));
    assert_eq!((test.threads[1].registers[0].initial, test.threads[1].registers[0].wide), (u64::MAX, true));
    assert_eq!((test.threads[1].cta, test.ctas()), (0, 1));
}

#[test]
fn conditions() {
    let holds = |test: &Test, r0: u64, x: u64| {
        let value = |key: OutcomeKey| match key {
            OutcomeKey::Register { .. } => r0,
            OutcomeKey::Location(_) => x,
        };
        test.condition.as_ref().expect("a condition").expression.holds(&value)
    };
    // `/\` binds tighter than `\/`, `not` tighter than both.
    let test = condition("forall P1:r0=1 /\\ x=1 \\/ not x=0 /\\ 1:r0=2");
    assert_eq!(test.condition.as_ref().expect("one").quantifier, Quantifier::Forall);
    let wanted = [((1, 1), true), ((1, 0), false), ((2, 1), true), ((2, 0), false), ((0, 1), false)];
    for ((r0, x), expected) in wanted {
        assert_eq!(holds(&test, r0, x), expected, "r0 {r0} x {x}");
    }
    let test = condition("~exists ~([x]!=1 || !(1:r0==0xff)) && true");
    assert_eq!(test.condition.as_ref().expect("one").quantifier, Quantifier::NotExists);
    assert!(holds(&test, 255, 1) && !holds(&test, 255, 0) && !holds(&test, 1, 1));
    assert!(matches!(
        condition("exists (false)").condition.expect("one").expression,
        Expression::Constant(false)
    ));
    let deep = format!("exists {}x=1{}", "(".repeat(10_000), ")".repeat(10_000));
    let error = parse(&MP.replace("exists\n(P1:r0 == 1 /\\ P1:r1 == 0)", &deep)).expect_err("too deep");
    assert!(error.message.contains("too deeply"), "{error}");
}

#[test]
fn shapes() {
    for (name, wanted) in [("2+2W+c+weak+n-n", "2+2W"), ("MP+d+x", "MP"), ("LB", "LB"), ("", ""), ("1+", "1")]
    {
        assert_eq!(shape(name), wanted);
    }
}

proptest! {
    /// Any text: a test, or an error that lies in it.
    #[test]
    fn garbage_is_refused(text in ".{0,200}") {
        in_place(&text);
    }

    /// A test with a piece replaced: near enough to get everywhere.
    #[test]
    fn damaged_tests_are_refused(at in 0..MP.len(), length in 0usize..20, piece in "[a-z0-9 .,;|@(){}=~*/\\\\:\n-]{0,6}") {
        let end = (at + length).min(MP.len());
        in_place(&format!("{}{piece}{}", &MP[..at], &MP[end..]));
    }

    /// Instructions put together from what they are made of.
    #[test]
    fn instructions_parse_or_are_refused(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "ld", "st", "atom", "red", "fence", "bar", "mov", ".", ".relaxed", ".gpu", ".add", ".u64", ".b8", " ",
                ",", "x", "r0", "[", "]", "1", "-", ".cas", ".sync", "é",
            ]),
            0..10,
        ),
    ) {
        in_place(&with(&parts.concat()));
    }
}

fn in_place(text: &str) {
    if let Err(error) = parse(text) {
        let line = text.split('\n').nth(error.line as usize - 1);
        let line = line.unwrap_or_else(|| panic!("{text:?}: {error}"));
        assert!(error.column as usize <= line.chars().count() + 1, "{text:?}: {error}");
    }
}
