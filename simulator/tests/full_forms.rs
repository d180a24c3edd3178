//! Every full form of instruction that NVIDIA's compiler was seen to emit for public CUDA code (the census
//! beside the parser's tests), tensor-core instructions aside, loads: the virtual GPU has an
//! implementation for its types and modifiers.

use bugaroo_simulator::{DeviceConfig, Memory, Program};

const CENSUS: &str = include_str!("../../ptx/tests/opcodes.txt");

/// The full forms of the census.
fn forms() -> impl Iterator<Item = &'static str> {
    let left_out = ["wmma", "prototype"];
    CENSUS
        .lines()
        .skip_while(|line| !line.starts_with("## full forms"))
        .skip(1)
        .filter_map(|line| line.split_whitespace().nth(2))
        .filter(move |form| !left_out.iter().any(|base| form.starts_with(base)))
}

const TYPES: [&str; 20] = [
    "b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2", "bf16",
    "bf16x2", "f32", "f64", "pred", "b128",
];

/// The `number`th register of a type.
fn register(ty: &str, number: u32) -> String {
    let prefix = match ty {
        "b8" | "u8" | "s8" | "b16" | "u16" | "s16" | "f16" | "bf16" => "h",
        "b32" | "u32" | "s32" | "f16x2" | "bf16x2" => "r",
        "b64" | "u64" | "s64" => "rd",
        "f32" => "f",
        "f64" => "fd",
        "pred" => "p",
        other => panic!("no register holds a {other}"),
    };
    format!("%{prefix}{number}")
}

/// The type twice as wide.
fn wide(ty: &str) -> &'static str {
    match ty {
        "u16" => "u32",
        "s16" => "s32",
        "u32" => "u64",
        _ => "s64",
    }
}

/// A statement of this form, with operands of the right types.
fn statement(form: &str) -> String {
    let words: Vec<&str> = form.split('.').collect();
    let has = |word: &str| words.contains(&word);
    let types: Vec<&str> = words.iter().copied().filter(|word| TYPES.contains(word)).collect();
    let ty = types.last().copied().unwrap_or("b32");
    let r = |number| register(ty, number);
    let operands = |count| (1..=count).map(r).collect::<Vec<_>>().join(", ");
    let data = match (has("v2"), has("v4")) {
        (true, _) => format!("{{{}, {}}}", r(1), r(2)),
        (_, true) => format!("{{{}, {}, {}, {}}}", r(1), r(2), r(3), r(4)),
        _ => r(1),
    };
    let place = match words.iter().find(|word| ["shared", "local", "const", "param"].contains(word)) {
        Some(space) => format!("[in_{space}]"),
        None => "[%rd9]".to_owned(),
    };
    let operands = match words[0] {
        "ret" | "exit" | "trap" | "membar" | "fence" => String::new(),
        "bra" => "HERE".to_owned(),
        "call" => "callee, ()".to_owned(),
        "ld" => format!("{data}, {place}"),
        "st" if has("param") => return format!("{{ .param .align 16 .b8 out[16]; {form} [out], {data}; }}"),
        "st" => format!("{place}, {data}"),
        "red" => format!("{place}, {}", r(1)),
        "atom" if has("cas") => format!("{}, {place}, {}, {}", r(1), r(2), r(3)),
        "atom" => format!("{}, {place}, {}", r(1), r(2)),
        "bar" if has("red") => format!("{}, 0, %p2", r(1)),
        "bar" if has("arrive") => "1, 64".to_owned(),
        "bar" | "barrier" | "nanosleep" => "1".to_owned(),
        "activemask" => "%r1".to_owned(),
        "shfl" if has("sync") => "%r1|%p1, %r2, 1, 31, -1".to_owned(),
        "shfl" => "%r1, %r2, 1, 31".to_owned(),
        "vote" if has("sync") => format!("{}, %p2, -1", r(1)),
        "vote" => format!("{}, %p2", r(1)),
        "match" => format!("%r1, {}, -1", r(2)),
        "setp" => format!("%p1, {}, {}", r(1), r(2)),
        "cvt" => format!("{}, {}", register(types[0], 1), register(types[1], 2)),
        "isspacep" => "%p1, %rd1".to_owned(),
        "tex" => "{%f1, %f2, %f3, %f4}, [%rd9, {%f5, %f6}]".to_owned(),
        "popc" | "clz" | "bfind" => format!("%r1, {}", r(2)),
        "mul" if has("wide") => format!("{}, {}, {}", register(wide(ty), 1), r(2), r(3)),
        "mad" if has("wide") => {
            format!("{}, {}, {}, {}", register(wide(ty), 1), r(2), r(3), register(wide(ty), 4))
        }
        "shl" | "shr" => format!("{}, {}, %r3", r(1), r(2)),
        "selp" => format!("{}, {}, {}, %p1", r(1), r(2), r(3)),
        "bfe" => format!("{}, {}, %r3, %r4", r(1), r(2)),
        "bfi" => format!("{}, {}, {}, 4, 5", r(1), r(2), r(3)),
        "mov" | "cvta" | "neg" | "abs" | "not" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2"
        | "brev" => operands(2),
        "fma" | "mad" | "madc" | "prmt" => operands(4),
        _ => operands(3),
    };
    format!("{form} {operands};")
}

#[test]
fn every_full_form_seen_in_the_wild_loads() {
    let mut refused = Vec::new();
    let mut count = 0;
    for form in forms() {
        let source = format!(
            ".version 9.0 .target sm_75 .address_size 64
            .const .align 16 .b8 in_const[16];
            .func callee() {{ ret; }}
            .visible .entry kernel(.param .align 16 .b8 in_param[16]) {{
                .reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>;
                .reg .f32 %f<10>; .reg .f64 %fd<10>;
                .shared .align 16 .b8 in_shared[16]; .local .align 16 .b8 in_local[16];
                HERE: {} ret; }}",
            statement(form)
        );
        let module = bugaroo_ptx::parse(&source).unwrap_or_else(|error| panic!("{form}: {error}"));
        let mut memory = Memory::new(1 << 20).expect("a megabyte of address space");
        let program = Program::load(&module, &mut memory, &DeviceConfig::default()).expect("it loads");
        if let Some(error) = &program.kernels()[0].refused {
            refused.push(format!("{form}: {error}"));
        }
        count += 1;
    }
    assert!(count > 400, "the census has {count} forms");
    assert!(refused.is_empty(), "{} of {count} are refused:\n{}", refused.len(), refused.join("\n"));
}
