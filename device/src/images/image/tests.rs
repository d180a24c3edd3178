use super::*;
use crate::error::Status;

#[test]
fn text_ends_at_its_nul() {
    let text = c".version 9.0\n";
    // SAFETY: it is a C string.
    let image = unsafe { Image::at(text.as_ptr().cast()) };
    assert_eq!(image, Ok(Image::Text(".version 9.0\n".into())));
    assert_eq!(Image::of(b".version 9.0\n\0junk"), Image::Text(".version 9.0\n".into()));
    assert_eq!(Image::of(b""), Image::Text("".into()));
}

#[test]
fn machine_code_is_refused_with_what_to_do() {
    let bytes = *b"\x7fELF";
    // SAFETY: four bytes are enough to tell.
    assert_eq!(unsafe { Image::at(bytes.as_ptr().cast()) }, Ok(Image::Elf));
    let refusal = Image::of(&bytes).ptx((9, 0)).expect_err("machine code");
    assert_eq!(refusal.status, Status::NoBinaryForGpu);
    assert!(refusal.unsupported && refusal.text.contains("nvcc"), "{}", refusal.text);
}

#[test]
fn a_fat_binary_that_is_cut_off_is_an_error() {
    let mut bytes = [0_u8; 16];
    bytes[..8].copy_from_slice(&[0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0]);
    bytes[8..].copy_from_slice(&80_u64.to_le_bytes());
    let refusal = Image::of(&bytes).ptx((9, 0)).expect_err("nothing follows");
    assert_eq!(refusal.status, Status::InvalidImage);
    assert!(refusal.text.contains("96 bytes declared, 16 there"), "{}", refusal.text);
}

#[test]
fn a_text_that_starts_like_a_binary_is_not_read_past_its_end() {
    let text = c"\x7f";
    // SAFETY: it is a C string.
    assert_eq!(unsafe { Image::at(text.as_ptr().cast()) }, Ok(Image::Text("\x7f".into())));
}
