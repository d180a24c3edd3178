//! Texts that are no PTX: an error with a place, or a tree that prints back. Never a panic, and never
//! more than linear time (a quadratic parser would not get through the long texts below).

mod support;

use bugaroo_ptx::parse;
use proptest::prelude::*;

const CORPUS: [&str; 4] = [
    include_str!("corpus/assembly.ptx"),
    include_str!("corpus/calls_rdc.ptx"),
    include_str!("corpus/switches.ptx"),
    include_str!("corpus/warps.ptx"),
];

const HEADER: &str = ".version 9.0\n.target sm_75\n.address_size 64\n";

/// Parses, and holds the outcome to what the crate promises.
fn check(source: &str) {
    match parse(source) {
        Ok(module) => {
            assert_eq!(module.print(), source);
            support::assert_covers(&module);
        }
        Err(error) => {
            let line = source.split('\n').nth(error.line as usize - 1).expect("a line of the text");
            let rest: String = line.chars().skip(error.column as usize - 1).collect();
            assert!(error.column as usize <= line.chars().count() + 1, "{error}");
            // A quoted comment or string may go on over the line's end.
            let quoted = error.text.split('\n').next().expect("split gives one part at least");
            assert!(rest.starts_with(quoted), "{error:?} but {rest:?}");
            assert!(!error.message.is_empty());
            assert!(!error.to_string().contains('\n'));
        }
    }
}

#[test]
fn cut_anywhere() {
    let source = CORPUS[0];
    for end in 0..source.len() {
        check(&source[..end]);
    }
}

#[test]
fn a_cut_inside_of_a_body_is_an_error() {
    let source = CORPUS[2];
    let body = source.find("mul.hi").expect("an instruction of the corpus");
    let end = body + source[body..].find('}').expect("the end of the body");
    for end in body..=end {
        parse(&source[..end]).expect_err("the body is not closed");
    }
}

#[test]
fn deep_nesting_is_refused() {
    for open in ["{", "{{", "( ", "[", "!", "@!", "{ x: "] {
        let many = open.repeat(300_000);
        for text in [
            format!("{HEADER}{many}"),
            format!("{HEADER}.func f() {many}"),
            format!("{HEADER}.func f() {{ mov.u32 {many}"),
            format!("{HEADER}.func f() {{ mov.u32 {many}; }}"),
            format!("{HEADER}.global .b8 x[1] = {many}"),
            format!("{HEADER}.global .b8 x[1] = {many};"),
            format!("{HEADER}.section .x {{ {many}"),
        ] {
            check(&text);
        }
    }
    let error = parse(&format!("{HEADER}.func f() {}", "{".repeat(1000))).expect_err("too deep");
    assert!(error.message.contains("deep"), "{error}");
}

#[test]
fn long_texts_of_one_kind() {
    let pieces = [
        "/*",
        "/**/",
        "//\n",
        "\"",
        "\"\"",
        "@",
        "@p ",
        ".b8 ",
        ".loc 1 2 3\n",
        "x: ",
        "x::",
        "+",
        "-",
        "0x",
        "%",
        "\0",
        "é",
        ".reg .b32 t<9>;",
        ".reg .b32 %r;",
        ".u8 ,",
        "a;",
        "a b,",
        "a [b,c],",
        "a|b|",
        "{ a; }",
        "{ .reg .b32 x; }",
        "\\",
        "t1<1>",
        "0f",
        "1e",
        ".global .u32 x;",
        ".global .u32 x = ",
        ".unknown {} ",
        ".unknown (",
        ".pragma \"x\";",
        "T: .branchtargets ",
    ];
    for piece in pieces {
        let many = piece.repeat(100_000);
        check(&many);
        check(&format!("{HEADER}{many}"));
        check(&format!("{HEADER}.func f() {{ {many} }}"));
        check(&format!("{HEADER}.func f() {{ add.s32 {many}; }}"));
        check(&format!("{HEADER}.func f({many}) {{ }}"));
    }
}

#[test]
fn nothing_at_all() {
    for source in [
        "",
        " ",
        "\n",
        "// only this",
        "\u{feff}",
        ".version",
        ".version 9",
        ".version 9.0",
        ".version 9.0 .target",
    ] {
        parse(source).expect_err(source);
        check(source);
    }
}

proptest! {
    #[test]
    fn cut_at_random(file in 0..CORPUS.len(), at in any::<prop::sample::Index>()) {
        let source = CORPUS[file];
        let end = at.index(source.len());
        prop_assume!(source.is_char_boundary(end));
        check(&source[..end]);
        check(&source[end..]);
    }

    #[test]
    fn bytes_changed_at_random(
        file in 0..CORPUS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let mut bytes = CORPUS[file].as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check(&String::from_utf8_lossy(&bytes));
    }

    /// Pieces moved about meet the grammar's rules more often than single bytes do.
    #[test]
    fn pieces_moved_at_random(
        file in 0..CORPUS.len(),
        moves in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1usize..60), 1..6),
    ) {
        let mut bytes = CORPUS[file].as_bytes().to_vec();
        for (from, to, length) in moves {
            let from = from.index(bytes.len());
            let piece: Vec<u8> = bytes[from..(from + length).min(bytes.len())].to_vec();
            let to = to.index(bytes.len());
            bytes.splice(to..(to + length / 2).min(bytes.len()), piece);
        }
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_statement(text in r#"[a-z0-9%.,;:(){}\[\]<>@!|_+"/* -]{0,80}"#) {
        check(&text);
        check(&format!("{HEADER}{text}"));
        check(&format!("{HEADER}.func f() {{ {text} }}"));
    }
}
