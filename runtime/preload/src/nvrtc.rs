//! Has NVRTC give PTX where a program asks it for machine code.
//!
//! Who compiles for the very architecture of the device (`-arch=sm_90`) takes what `nvrtcGetCUBIN` gives, which the
//! virtual GPU cannot run. NVRTC makes PTX on its way there and keeps it: so its functions for machine code
//! jump to those for PTX, which take the same arguments. The driver takes PTX wherever it takes machine code.
//!
//! What it can miss: NVRTC linked into a program (`libnvrtc_static.a`), and code for optimisation at link time
//! (`-dlto`), of which there is no PTX.

use std::ffi::{CStr, c_void};

use object::Endianness;
use object::read::elf::ElfFile64;

use crate::mapped::Object;
use crate::redirect;

/// Files whose names begin like this are NVRTC.
const NVRTC: &[u8] = b"libnvrtc.";

/// Functions, and what they become.
const FUNCTIONS: [(&str, &str); 2] =
    [("nvrtcGetCUBINSize", "nvrtcGetPTXSize"), ("nvrtcGetCUBIN", "nvrtcGetPTX")];

/// Whether a file, by its path, is NVRTC.
pub fn is_nvrtc(path: &CStr) -> bool {
    path.to_bytes().rsplit(|byte| *byte == b'/').next().is_some_and(|name| name.starts_with(NVRTC))
}

/// Redirects the functions of NVRTC, none of whose code runs yet. A version that lacks them is left alone.
///
/// # Errors
/// In words, when a function was left as it was.
pub fn attend(object: &Object, file: &[u8]) -> Result<(), String> {
    let Ok(elf) = ElfFile64::<Endianness>::parse(file) else { return Ok(()) };
    for (from, to) in FUNCTIONS {
        if let Some((from, to)) = object.exported(&elf, from).zip(object.exported(&elf, to)) {
            let within = object.code(&(from..from + redirect::ENTRY)).is_some();
            within.then_some(()).ok_or("its functions are outside of its code")?;
            redirect::divert(from, to as *const c_void)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
