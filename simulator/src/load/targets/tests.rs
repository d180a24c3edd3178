//! Where kernels write, by their text.

use bugaroo_ptx::parse;

use super::*;

const BASE: u64 = 0x1000;

/// Where the first function of a module writes, which may call the others; variables begin at [`BASE`], 256 bytes each.
fn targets(text: &str) -> Option<Vec<Target>> {
    let module = parse(&format!(".version 8.0\n.target sm_75\n.address_size 64\n{text}")).expect("it parses");
    let functions = super::super::reach::definitions(&module);
    let placed = super::super::symbols::variables(&module).zip(0..).map(|(variable, at)| {
        (variable.name.as_str(), Placed { address: BASE + 256 * at, size: variable.size(), own: true })
    });
    let placed = placed.collect();
    let each: Vec<_> = functions.iter().map(|f| super::super::written_by(f, &placed, true)).collect();
    together(each.iter())
}

/// The same of a kernel with two pointers, a number of 64 bits and one of 32.
fn of(body: &str) -> Option<Vec<Target>> {
    targets(&format!(
        ".global .align 4 .u32 first; .global .align 4 .u32 second[4]; .shared .align 4 .u32 tile[64];
        .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n, .param .u32 m) {{
        .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<16>;
        ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [n]; ld.param.u32 %r1, [m];
        {body} ret; }}"
    ))
}

const A: Target = Target::Param(0);
const B: Target = Target::Param(8);

#[test]
fn an_address_is_followed_from_its_parameter() {
    let body = "cvta.to.global.u64 %rd4, %rd2; mov.u32 %r2, %tid.x; mul.wide.u32 %rd5, %r2, 4;
        add.s64 %rd6, %rd4, %rd5; ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd6+8], %r3;";
    assert_eq!(of(body), Some(vec![B]));
    assert_eq!(of("ld.global.u32 %r2, [%rd1];"), Some(vec![]));
    assert_eq!(of("mad.wide.u32 %rd4, %r1, 4, %rd1; red.global.add.u32 [%rd4], 1;"), Some(vec![A]));
    assert_eq!(of("atom.global.add.u32 %r2, [%rd2], 1;"), Some(vec![B]));
}

#[test]
fn an_address_may_be_of_several() {
    let chosen = "setp.eq.u32 %p1, %r1, 0; selp.b64 %rd4, %rd1, %rd2, %p1; st.global.u32 [%rd4], 1;";
    assert_eq!(of(chosen), Some(vec![A, B]));
    // In the order of the text the first store knows of one alone.
    let turns = "mov.u64 %rd4, %rd1; again: st.global.u32 [%rd4], 1; mov.u64 %rd4, %rd2; bra again;";
    assert_eq!(of(turns), Some(vec![A, B]));
    let halves = "mov.b64 {%r2, %r3}, %rd1; mov.b64 %rd4, {%r2, %r3}; st.global.u32 [%rd4], 1;";
    assert_eq!(of(halves), Some(vec![A]));
}

#[test]
fn variables_and_memory_of_the_block_are_told_apart() {
    assert_eq!(of("st.global.u32 [first], 1;"), Some(vec![Target::Variable(BASE)]));
    assert_eq!(
        of("mov.u64 %rd4, second; st.global.u32 [%rd4+4], 1;"),
        Some(vec![Target::Variable(BASE + 256)])
    );
    assert_eq!(of("st.shared.u32 [tile], 1;"), Some(vec![]));
    assert_eq!(of("mov.u64 %rd4, tile; cvta.shared.u64 %rd5, %rd4; st.u32 [%rd5], 1;"), Some(vec![]));
    assert_eq!(of("cvt.u64.u32 %rd4, %r1; cvta.shared.u64 %rd5, %rd4; st.u32 [%rd5], 1;"), Some(vec![]));
}

#[test]
fn parameters_may_hold_several_pointers() {
    let text = ".visible .entry k(.param .u32 x, .param .align 8 .b8 s[32]) { .reg .b64 %rd<4>;
        ld.param.u64 %rd1, [s+8]; st.global.u32 [%rd1], 1;
        ld.param.v2.u64 {%rd2, %rd3}, [s+16]; st.global.u32 [%rd3], 1; ret; }";
    assert_eq!(targets(text), Some(vec![Target::Param(16), Target::Param(32)]));
}

#[test]
fn what_may_be_any_address_is_not_known() {
    // A pointer from memory; one that is no more than numbers; a bare number.
    assert_eq!(of("ld.global.u64 %rd4, [%rd1]; st.global.u32 [%rd4], 1;"), None);
    assert_eq!(of("ld.global.u64 %rd4, [%rd1]; add.s64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1;"), None);
    assert_eq!(of("mul.wide.u32 %rd4, %r1, 4; st.global.u32 [%rd4], 1;"), None);
    assert_eq!(of("st.global.u32 [4096], 1;"), None);
    assert_eq!(of("atom.global.exch.b64 %rd4, [%rd1], %rd3; st.global.u32 [%rd4], 1;"), None);
    // A number from memory that is an index.
    let index = "ld.global.u64 %rd4, [%rd1]; shl.b64 %rd5, %rd4, 2; add.s64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], 1;";
    assert_eq!(of(index), Some(vec![B]));
    let narrow = "ld.global.u32 %r2, [%rd1]; mul.wide.u32 %rd4, %r2, 4; add.s64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1;";
    assert_eq!(of(narrow), Some(vec![B]));
}

#[test]
fn functions_that_are_called_write_too() {
    let call = |body: &str| {
        targets(&format!(
            ".global .align 4 .u32 first;
            .func f(.param .b64 p);
            .visible .entry k(.param .u64 a) {{ .reg .b64 %rd<4>; ld.param.u64 %rd1, [a];
            {{ .param .b64 q; st.param.b64 [q], %rd1; call.uni f, (q); }} ret; }}
            .func f(.param .b64 p) {{ .reg .b64 %rd<4>; ld.param.u64 %rd1, [p]; {body} ret; }}"
        ))
    };
    assert_eq!(call("ld.u64 %rd2, [%rd1];"), Some(vec![]));
    assert_eq!(call("st.global.u32 [first], 1;"), Some(vec![Target::Variable(BASE)]));
    assert_eq!(call("st.u32 [%rd1], 1;"), None);
}
