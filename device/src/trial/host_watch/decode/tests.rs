use super::{Registers, bytes};

fn registers() -> Registers {
    let mut general = [0; 16];
    for (at, register) in general.iter_mut().enumerate() {
        *register = 0x1000 * (at as u64 + 1);
    }
    Registers { general, pc: 0x40_0000 }
}

/// The bytes from the operand's first on, for code that is right at this address.
fn of(code: &[u8], address: u64) -> Option<usize> {
    bytes(code, &registers(), address)
}

#[test]
fn moves_have_their_widths() {
    // mov eax, [rcx]; mov rax, [rcx + 8]; mov [rdx], al; mov word [rdx], 7
    assert_eq!(of(&[0x8b, 0x01], 0x2000), Some(4));
    assert_eq!(of(&[0x48, 0x8b, 0x41, 0x08], 0x2008), Some(8));
    assert_eq!(of(&[0x88, 0x02], 0x3000), Some(1));
    assert_eq!(of(&[0x66, 0xc7, 0x02, 0x07, 0x00], 0x3000), Some(2));
    // mov eax, [r9 + r10 * 4 - 4]
    assert_eq!(of(&[0x43, 0x8b, 0x44, 0x91, 0xfc], 0xa000 + 4 * 0xb000 - 4), Some(4));
    // mov dword [rip + 0x10], 5: relative to what follows the immediate
    assert_eq!(of(&[0xc7, 0x05, 0x10, 0, 0, 0, 5, 0, 0, 0], 0x40_0000 + 10 + 0x10), Some(4));
    // movzx eax, byte [rcx]; movss xmm0, [rcx]; movups xmm0, [rcx]; vmovdqu ymm0, [rcx]
    assert_eq!(of(&[0x0f, 0xb6, 0x01], 0x2000), Some(1));
    assert_eq!(of(&[0xf3, 0x0f, 0x10, 0x01], 0x2000), Some(4));
    assert_eq!(of(&[0x0f, 0x10, 0x01], 0x2000), Some(16));
    assert_eq!(of(&[0xc5, 0xfe, 0x6f, 0x01], 0x2000), Some(32));
}

#[test]
fn only_what_lies_behind_the_fault_counts() {
    // The access begins a page before.
    assert_eq!(of(&[0x48, 0x8b, 0x01], 0x2003), Some(5));
}

#[test]
fn what_is_not_known_is_one_byte() {
    // rep movsb; mov eax, [rcx] that was met elsewhere; half an instruction; nothing
    assert_eq!(of(&[0xf3, 0xa4], 0x2000), Some(1));
    assert_eq!(of(&[0x8b, 0x01], 0x9000), Some(1));
    assert_eq!(of(&[0x8b, 0x81, 0x00], 0x2000), Some(1));
    assert_eq!(of(&[], 0x2000), Some(1));
}

#[test]
fn what_a_mask_decides_is_not_counted() {
    // vmaskmovps ymm1, ymm0, [rcx]; vmovdqu32 zmm1{k1}, [rcx]; the same without a mask
    assert_eq!(of(&[0xc4, 0xe2, 0x7d, 0x2c, 0x09], 0x2000), None);
    assert_eq!(of(&[0x62, 0xf1, 0x7e, 0x49, 0x6f, 0x09], 0x2000), None);
    assert_eq!(of(&[0x62, 0xf1, 0x7e, 0x48, 0x6f, 0x09], 0x2000), Some(1));
}
