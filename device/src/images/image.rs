//! What a module image is, and the PTX in it: text, a fat binary, a program's wrapper of one, or
//! machine code, which has none.

use std::borrow::Cow;
use std::ffi::{CStr, c_void};

use crate::error::CallResult;
use crate::images::fatbin::{
    FatError, HEADER_MAGIC, ThisProcess, WRAPPER_MAGIC, Wrapped, fat_binary_at, wrapper_at,
};
use crate::images::fitting::{Fitting, damaged, fitting, none};
use crate::images::linker::Linker;
use crate::images::refusal::ImageRefusal;
use crate::places::not_null;

/// A module image as the program passes it.
#[derive(Debug, PartialEq, Eq)]
pub enum Image<'a> {
    /// PTX text, or at least nothing else that we know.
    Text(Cow<'a, str>),
    /// A fat binary; several that make one program with `-rdc=true`.
    Fat(Wrapped),
    /// A fat binary that cannot be read.
    Damaged(FatError),
    /// Machine code, or a host's object file.
    Elf,
}

const ELF_MAGIC: [u8; 4] = *b"\x7fELF";

impl<'a> Image<'a> {
    /// The image that starts at `image`: its first bytes tell what it is; text ends with a NUL.
    ///
    /// # Errors
    /// `InvalidValue` for null.
    ///
    /// # Safety
    /// `image` is null or points to a fat binary, its wrapper, a cubin or a NUL-terminated text that
    /// outlives `'a`.
    pub unsafe fn at(image: *const c_void) -> CallResult<Self> {
        not_null(image)?;
        let starts_with = |magic: [u8; 4]| {
            magic.iter().enumerate().all(|(index, expected)| {
                // SAFETY: bytes are read in order and only while they agree with a magic number, none of
                // which holds a NUL: never past the end of a text.
                *expected == unsafe { image.cast::<u8>().add(index).read() }
            })
        };
        let address = image as u64;
        let fat = |wrapped: Result<Wrapped, FatError>| wrapped.map_or_else(Image::Damaged, Image::Fat);
        if starts_with(ELF_MAGIC) {
            return Ok(Image::Elf);
        }
        if starts_with(WRAPPER_MAGIC.to_le_bytes()) {
            return Ok(fat(wrapper_at(&ThisProcess, address)));
        }
        if starts_with(HEADER_MAGIC.to_le_bytes()) {
            let data = fat_binary_at(&ThisProcess, address);
            return Ok(fat(data.map(|data| Wrapped { data, linked: Vec::new() })));
        }
        // SAFETY: the caller's promise; it is none of the binaries.
        let text = unsafe { CStr::from_ptr(image.cast()) };
        Ok(Image::Text(text.to_string_lossy()))
    }

    /// The image that these bytes, a file's for one, hold.
    pub fn of(bytes: &'a [u8]) -> Self {
        if bytes.starts_with(&ELF_MAGIC) {
            return Image::Elf;
        }
        if bytes.starts_with(&HEADER_MAGIC.to_le_bytes()) {
            return Image::Fat(Wrapped { data: bytes.to_vec(), linked: Vec::new() });
        }
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Image::Text(String::from_utf8_lossy(&bytes[..end]))
    }

    /// All of it in one, for [`Self::from_bytes`]; None where there is no PTX in it.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let (kind, parts): (u8, Vec<&[u8]>) = match self {
            Image::Text(text) => (0, vec![text.as_bytes()]),
            Image::Fat(Wrapped { data, linked }) => {
                (1, std::iter::once(data).chain(linked).map(Vec::as_slice).collect())
            }
            Image::Damaged(_) | Image::Elf => return None,
        };
        let mut bytes = vec![kind];
        for part in parts {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part);
        }
        Some(bytes)
    }

    /// Reads what [`Self::to_bytes`] wrote; None where it is nothing of that.
    pub fn from_bytes(bytes: &[u8]) -> Option<Image<'static>> {
        let (kind, mut rest) = bytes.split_first()?;
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let (length, behind) = rest.split_first_chunk()?;
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            parts.push(behind.get(..length)?.to_vec());
            rest = &behind[length..];
        }
        match kind {
            0 => Some(Image::Text(Cow::Owned(String::from_utf8(parts.pop()?).ok()?))),
            1 if !parts.is_empty() => {
                let data = parts.remove(0);
                Some(Image::Fat(Wrapped { data, linked: parts }))
            }
            _ => None,
        }
    }

    /// The PTX to run on a device of this compute capability.
    ///
    /// # Errors
    /// When there is none, and what to do about it.
    pub fn ptx(&self, capability: (u32, u32)) -> Result<Cow<'_, str>, ImageRefusal> {
        match self {
            Image::Text(text) => Ok(Cow::Borrowed(text)),
            Image::Elf => Err(none("a module is machine code (a cubin), and Bugaroo runs PTX: pass PTX (of NVRTC, what nvrtcGetPTX gives), or build with nvcc -arch=sm_75, which embeds it".to_owned())),
            Image::Damaged(error) => Err(damaged(error)),
            Image::Fat(Wrapped { data, linked }) if linked.is_empty() => {
                let empty = || none("a module is a fat binary with nothing in it".to_owned());
                match fitting(data, capability)? {
                    Fitting::Ptx(text) => Ok(Cow::Owned(text)),
                    Fitting::Nothing | Fitting::DeviceRuntime => Err(empty()),
                }
            }
            Image::Fat(Wrapped { linked, .. }) => {
                let mut linker = Linker::default();
                for (index, binary) in linked.iter().enumerate() {
                    linker.add_fat_binary(&format!("device module {}", index + 1), binary, capability)?;
                }
                linker.complete().map(Cow::Owned)
            }
        }
    }
}

/// 75 of `sm_75`.
pub fn architecture(target: &str) -> Option<i32> {
    let digits = target.strip_prefix("sm_")?.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse().ok()
}

#[cfg(test)]
mod tests;
