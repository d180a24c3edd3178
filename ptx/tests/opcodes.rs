//! `opcodes.txt`: what the compiler wrote for 1,107 public programs. Every base opcode parses, and
//! every full form decodes without losing a modifier.

use bugaroo_ptx::ast::{Instruction, Operand, StatementKind};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::parse;

const CENSUS: &str = include_str!("opcodes.txt");

/// The names listed under a heading of the census.
fn section(heading: &str) -> Vec<&'static str> {
    let mut lines = CENSUS.lines().skip_while(|line| !line.starts_with(heading));
    lines.next().expect("the census has this heading");
    lines
        .take_while(|line| !line.starts_with("##"))
        .filter_map(|line| line.split_whitespace().nth(2))
        .collect()
}

/// Operands as the ISA's syntax line of the form has them.
fn operands(form: &str) -> String {
    let words: Vec<&str> = form.split('.').collect();
    let has = |word: &str| words.contains(&word);
    let data = if has("v4") {
        "{%r1, %r2, %r3, %r4}"
    } else if has("v2") {
        "{%r1, %r2}"
    } else {
        "%r1"
    };
    match words[0] {
        "ret" | "exit" | "trap" | "membar" | "fence" => String::new(),
        "bra" => "HERE".to_owned(),
        "call" => "(out), callee, (in)".to_owned(),
        "ld" => format!("{data}, [%rd1+8]"),
        "st" => format!("[symbol+4], {data}"),
        "red" => "[%rd1], %r2".to_owned(),
        "atom" if has("cas") => "%r1, [%rd1], %r2, %r3".to_owned(),
        "atom" => "%r1, [%rd1], %r2".to_owned(),
        "bar" if has("red") => "%r1, 0, %p1".to_owned(),
        "bar" if has("arrive") => "1, 64".to_owned(),
        "bar" | "barrier" | "nanosleep" => "1".to_owned(),
        "activemask" => "%r1".to_owned(),
        "shfl" if has("sync") => "%r1|%p1, %r2, 1, 31, -1".to_owned(),
        "shfl" => "%r1, %r2, 1, 31".to_owned(),
        "vote" if has("sync") => "%r1, %p1, -1".to_owned(),
        "vote" => "%r1, %p1".to_owned(),
        "match" => "%r1, %r2, -1".to_owned(),
        "setp" => "%p1, %r1, %r2".to_owned(),
        "mov" | "cvt" | "cvta" | "neg" | "abs" | "not" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2"
        | "ex2" | "brev" | "clz" | "popc" | "bfind" | "isspacep" => "%r1, %r2".to_owned(),
        "fma" | "mad" | "madc" | "selp" | "bfe" | "prmt" => "%r1, %r2, %r3, %r4".to_owned(),
        "bfi" => "%r1, %r2, %r3, 4, 5".to_owned(),
        "tex" => "{%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}]".to_owned(),
        "wmma" if has("store") => "[%rd1], {%r1, %r2}, %r3".to_owned(),
        "wmma" if has("mma") => "{%r1}, {%r2}, {%r3}, {%r4}".to_owned(),
        "wmma" => "{%r1, %r2}, [%rd1], %r3".to_owned(),
        _ => "%r1, %r2, %r3".to_owned(),
    }
}

fn instruction(text: &str) -> Instruction {
    let source = format!(".version 9.0 .target sm_75 .address_size 64 .func f() {{ HERE: {text} }}");
    let module = parse(&source).unwrap_or_else(|error| panic!("{text}: {error}"));
    let function = module.function("f").expect("declared above");
    let instructions = function.instructions();
    assert_eq!(instructions.len(), 1, "{text}");
    instructions[0].clone()
}

/// How a modifier shows in the `Debug` text of an [`Op`]; None where the operation implies it or it has no
/// effect on values.
fn trace(base: &str, word: &str) -> Option<&'static str> {
    let implied = matches!(
        base,
        "sin" | "cos" | "lg2" | "shfl" | "vote" | "bar" | "nanosleep" | "activemask" | "bmsk" | "prmt"
    );
    Some(match word {
        "global" => "Global",
        "shared" => "Shared",
        "local" => "Local",
        "const" => "Const",
        "param" => "Param",
        "cta" => "Cta",
        "gl" | "gpu" => "Gpu",
        "sys" => "Sys",
        "volatile" => "Volatile",
        "relaxed" => "Relaxed",
        "acquire" => "Acquire(",
        "release" => "Release(",
        "acq_rel" => "AcqRel",
        "sc" => "Sc",
        "wide" => "Wide",
        "lo" => "Lo",
        "hi" if base == "mul" || base == "mad" => "Hi",
        "uni" => "uni: true",
        "nc" => "nc: true",
        "v2" => "vec: 2",
        // A lookup gives four components whatever it is.
        "v4" if base == "tex" => return None,
        "v4" => "vec: 4",
        "cc" => "carry_out: true",
        "ftz" => "ftz: true",
        "sat" => "sat: true",
        "to" => "to: true",
        "shiftamt" => "shiftamt: true",
        "rn" | "rni" => "Nearest",
        "rz" | "rzi" => "Zero",
        "rm" | "rmi" => "Down",
        "rp" | "rpi" => "Up",
        "approx" if matches!(base, "div" | "rcp") => "Approx",
        "sync" if matches!(base, "shfl" | "vote") => "sync: true",
        "idx" => "Idx",
        "bfly" => "Bfly",
        "ballot" => "Ballot",
        "popc" => "Popc",
        "exch" => "Exch",
        "cas" => "Cas",
        "inc" => "Inc",
        "dec" => "Dec",
        "geu" => "Geu",
        "ltu" => "Ltu",
        "ne" => "Ne",
        "eq" => "Eq",
        "ge" => "Ge",
        _ if implied => return None,
        "u8" => "U8",
        "u16" => "U16",
        "u32" => "U32",
        "u64" => "U64",
        "s8" => "S8",
        "s16" => "S16",
        "s32" => "S32",
        "s64" => "S64",
        "b8" => "B8",
        "b16" => "B16",
        "b32" => "B32",
        "b64" => "B64",
        "f16" => "F16",
        "f16x2" => "F16x2",
        "f32" => "F32",
        "f64" => "F64",
        "pred" => "Pred",
        _ => return None,
    })
}

#[test]
fn every_form_decodes_with_all_its_modifiers() {
    let forms = section("## full forms");
    assert_eq!(forms.len(), 440, "the census is whole");
    for form in forms.into_iter().filter(|form| !form.starts_with("prototype_")) {
        let instruction = instruction(&format!("@!%p1 {form} {};", operands(form)));
        assert_ne!(instruction.op, Op::Other, "{form}");
        let words: Vec<&str> = form.split('.').collect();
        assert_eq!(instruction.opcode, words[0]);
        assert_eq!(instruction.modifiers, words[1..]);
        let decoded = format!("{:?}", instruction.op);
        for word in &words[1..] {
            if let Some(trace) = trace(words[0], word) {
                assert!(decoded.contains(trace), "{form}: no {trace} in {decoded}");
            }
        }
    }
}

#[test]
fn every_base_opcode_has_a_form_that_decodes() {
    let forms = section("## full forms");
    for base in section("## base opcodes") {
        let mut of_base = forms.iter().filter(|form| form.split('.').next() == Some(base)).peekable();
        assert!(of_base.peek().is_some(), "{base}");
    }
}

/// `prototype_0` was counted as an opcode; it is the label of a prototype.
#[test]
fn prototypes_are_declarations() {
    let source = ".version 9.0 .target sm_75 .address_size 64 .func f() {
        prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[24]);
        call (retval0), %rd6, (param0), prototype_0; }";
    let module = parse(source).expect("a prototype parses");
    let body = module.function("f").and_then(|f| f.body.as_ref()).expect("defined above");
    let StatementKind::Prototype(prototype) = &body.statements[0].kind else {
        panic!("{:?}", body.statements[0])
    };
    assert_eq!(prototype.name, "prototype_0");
    assert_eq!(prototype.returns[0].variable.size(), 4);
    assert_eq!(prototype.params.iter().map(|param| param.variable.size()).collect::<Vec<_>>(), [8, 24]);
    let StatementKind::Instruction(call) = &body.statements[1].kind else {
        panic!("{:?}", body.statements[1])
    };
    assert_eq!(call.op, Op::Call { uni: false });
    assert_eq!(call.operands.len(), 4);
    assert_eq!(call.operands[1], Operand::Register("%rd6".to_owned()));
    assert_eq!(call.operands[3], Operand::Symbol { name: "prototype_0".to_owned(), offset: 0 });
}
