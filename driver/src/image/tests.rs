use super::*;

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
fn binaries_are_told_by_their_first_bytes() {
    for (bytes, name) in [
        ([0x50, 0xed, 0x55, 0xba], "a fat binary"),
        ([0xb1, 0x43, 0x62, 0x46], "a fat binary (in its wrapper)"),
        ([0x7f, b'E', b'L', b'F'], "a cubin"),
    ] {
        // SAFETY: four bytes are enough to tell.
        assert_eq!(unsafe { Image::at(bytes.as_ptr().cast()) }, Ok(Image::Binary(name)));
        assert_eq!(Image::of(&bytes), Image::Binary(name));
    }
}

#[test]
fn a_text_that_starts_like_a_binary_is_not_read_past_its_end() {
    let text = c"\x7f";
    // SAFETY: it is a C string.
    assert_eq!(unsafe { Image::at(text.as_ptr().cast()) }, Ok(Image::Text("\x7f".into())));
}
