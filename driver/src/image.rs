//! What a module image is: PTX text, or one of the binary forms that this version does not take.

use std::borrow::Cow;
use std::ffi::{CStr, c_void};

use crate::entry::not_null;
use crate::error::Outcome;

/// A module image as the program passes it.
#[derive(Debug, PartialEq, Eq)]
pub enum Image<'a> {
    /// PTX text, or at least nothing else that we know.
    Text(Cow<'a, str>),
    /// A binary, and what it is called.
    Binary(&'static str),
}

/// What the binary forms start with.
const MAGICS: [(&[u8], &str); 3] = [
    (&0xba55_ed50_u32.to_le_bytes(), "a fat binary"),
    (&0x4662_43b1_u32.to_le_bytes(), "a fat binary (in its wrapper)"),
    (b"\x7fELF", "a cubin"),
];

impl<'a> Image<'a> {
    /// The image that starts at `image`: its first bytes tell a binary; text ends with a NUL.
    ///
    /// # Errors
    /// `InvalidValue` for null.
    ///
    /// # Safety
    /// `image` is null or points to a fat binary, a cubin or a NUL-terminated text that outlives `'a`.
    pub unsafe fn at(image: *const c_void) -> Outcome<Self> {
        not_null(image)?;
        let byte = |index: usize| {
            // SAFETY: bytes are read in order and only while they agree with a magic number, none of
            // which holds a NUL: never past the end of a text.
            unsafe { image.cast::<u8>().add(index).read() }
        };
        for (magic, name) in MAGICS {
            if magic.iter().enumerate().all(|(index, expected)| byte(index) == *expected) {
                return Ok(Image::Binary(name));
            }
        }
        // SAFETY: the caller's promise; it is none of the binaries.
        let text = unsafe { CStr::from_ptr(image.cast()) };
        Ok(Image::Text(text.to_string_lossy()))
    }

    /// The image that a file holds.
    pub fn of(bytes: &'a [u8]) -> Self {
        for (magic, name) in MAGICS {
            if bytes.starts_with(magic) {
                return Image::Binary(name);
            }
        }
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Image::Text(String::from_utf8_lossy(&bytes[..end]))
    }
}

#[cfg(test)]
mod tests;
