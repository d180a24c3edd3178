use super::{Kind, lex};

fn kinds(source: &str) -> Vec<(Kind, &str)> {
    let tokens = lex(source).expect("the test's text lexes");
    let (end, rest) = tokens.split_last().expect("at least the end");
    assert_eq!((end.kind, end.start as usize), (Kind::End, source.len()));
    rest.iter().map(|token| (token.kind, &source[token.start as usize..token.end as usize])).collect()
}

fn all_of(kind: Kind, texts: &[&str]) {
    for text in texts {
        assert_eq!(kinds(text), [(kind, *text)]);
    }
}

#[test]
fn names() {
    all_of(Kind::Ident, &["_", "%r1", "$L__BB0_3", "_Z1kPi", "WARP_SZ", "$str$1", "%SPL"]);
    all_of(
        Kind::Dotted,
        &[".b32", ".2d", ".m16n16k16", ".L1::evict_last", ".shared::cta", ".a::b::c", ".debug_str"],
    );
}

#[test]
fn numbers() {
    all_of(Kind::Integer, &["0", "12U", "0x1fU", "0XAB", "0b101", "0B1U", "017", "09"]);
    all_of(Kind::F32, &["0f3F800000", "0FbF800000"]);
    all_of(Kind::F64, &["0d3FF0000000000000", "0D0000000000000000"]);
    all_of(Kind::Decimal, &["9.0", "1.", "1.5e-3", "2E+7", "1e9"]);
    // Too few digits: what is left over is a name.
    assert_eq!(kinds("0f3F8"), [(Kind::Integer, "0"), (Kind::Ident, "f3F8")]);
}

#[test]
fn an_instruction() {
    let texts: Vec<&str> =
        kinds("@!%p1 st.global.v2.f32 [%rd1+-8], {%f1,0f00000000};").iter().map(|t| t.1).collect();
    let expected = [
        "@",
        "!",
        "%p1",
        "st",
        ".global",
        ".v2",
        ".f32",
        "[",
        "%rd1",
        "+",
        "-",
        "8",
        "]",
        ",",
        "{",
        "%f1",
        ",",
        "0f00000000",
        "}",
        ";",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn comments_and_strings() {
    assert_eq!(kinds("a // b\n/* c\n ** / */ d//"), [(Kind::Ident, "a"), (Kind::Ident, "d")]);
    assert_eq!(kinds(r#".file 1 "a b//c""#)[2], (Kind::Text, r#""a b//c""#));
}

#[test]
fn other_characters_are_kept() {
    assert_eq!(kinds("é\0#"), [(Kind::Unknown, "é"), (Kind::Unknown, "\0"), (Kind::Unknown, "#")]);
}

#[test]
fn what_is_never_closed() {
    let error = lex("a\n  /* b").expect_err("not closed");
    assert_eq!((error.line, error.column, error.text.as_str()), (2, 3, "/*"));
    assert!(error.message.contains("comment"));
    let error = lex("\"abc\n\"").expect_err("not closed on its line");
    assert_eq!((error.line, error.column), (1, 1));
    assert!(error.message.contains("string"));
}
