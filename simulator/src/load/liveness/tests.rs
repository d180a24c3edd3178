use super::*;
use bugaroo_ptx::ast::Item;

/// Rows by number of the registers of a kernel, and the bytes of its frame.
fn rows(declared: &str, body: &str) -> (FxHashMap<u32, u32>, u32) {
    let text = format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry main()\n{{\n{declared}\n{body}\nret;\n}}\n"
    );
    let module = bugaroo_ptx::parse(&text).expect("the test's PTX parses");
    let function = module.items.iter().find_map(|item| match item {
        Item::Function(function) => Some(function),
        _ => None,
    });
    let mut frame = Frame::default();
    let rows = shared_rows(function.expect("there is one"), &mut frame);
    (rows, frame.bytes().expect("it fits"))
}

#[test]
fn a_chain_of_values_needs_two_rows() {
    let body = "mov.u32 %r0, 1; add.u32 %r1, %r0, 1; add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1;";
    let (rows, bytes) = rows(".reg .b32 %r<4>;", body);
    assert_eq!(bytes, 256);
    assert_eq!(rows[&0], rows[&2]);
    assert_eq!(rows[&1], rows[&3]);
    assert_ne!(rows[&0], rows[&1]);
}

#[test]
fn rows_of_different_widths_are_never_shared() {
    let body = "mov.u32 %r0, 1; mov.u32 %r1, %r0; mov.u64 %d0, 2; mov.u64 %d1, %d0;";
    let (rows, bytes) = rows(".reg .b32 %r<2>; .reg .b64 %d<2>;", body);
    assert_eq!(bytes, 2 * 128 + 2 * 256);
    assert!([rows[&2], rows[&3]].iter().all(|row| *row >= 256));
}

#[test]
fn what_a_loop_reads_stays_to_its_end() {
    // %r0 is read at the loop's top only, but again after each jump back.
    let body = "mov.u32 %r0, 1; $top: add.u32 %r1, %r0, 1; mov.u32 %r2, 5; setp.eq.u32 %p0, %r2, %r1; @%p0 bra $top;";
    let (rows, _) = rows(".reg .b32 %r<3>; .reg .pred %p0;", body);
    assert_ne!(rows[&0], rows[&1]);
    assert_ne!(rows[&0], rows[&2]);
}

#[test]
fn a_guarded_write_keeps_what_was_there() {
    // Lanes without the guard go on with %r0's first value, so %r1 cannot have its place in between.
    let body = "mov.u32 %r0, 1; setp.eq.u32 %p0, %r0, 1; mov.u32 %r1, 5; setp.eq.u32 %p0, %r1, 1; @%p0 mov.u32 %r0, 2; mov.u32 %r2, %r0;";
    let (rows, _) = rows(".reg .b32 %r<3>; .reg .pred %p0;", body);
    assert_ne!(rows[&0], rows[&1]);
}
