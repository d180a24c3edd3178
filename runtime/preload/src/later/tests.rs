use super::empty;

#[repr(align(16))]
struct Code([u8; 16]);

/// Where a jump can be written over code that starts like this.
fn found(start: &[u8], padding: u8) -> Option<usize> {
    let mut code = Code([padding; 16]);
    code.0[..start.len()].copy_from_slice(start);
    // SAFETY: 16 bytes are there.
    unsafe { empty(code.0.as_ptr()) }
}

#[test]
fn only_functions_that_do_nothing_are_taken() {
    assert_eq!(found(&[0xc3], 0x90), Some(0));
    assert_eq!(found(&[0xc3, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0], 0x90), Some(0));
    assert_eq!(found(&[0xf3, 0x0f, 0x1e, 0xfa, 0xc3], 0x90), Some(4));
    // A debugger's breakpoint; a function that does something; one that another follows at once.
    assert_eq!(found(&[0xcc], 0x90), None);
    assert_eq!(found(&[0x31, 0xc0, 0xc3], 0x90), None);
    assert_eq!(found(&[0xc3, 0x55], 0x90), None);
    let code = Code([0xc3; 16]);
    // SAFETY: bytes are there; the address is refused before they are read.
    assert_eq!(unsafe { empty(code.0.as_ptr().wrapping_add(1)) }, None);
}
