//! Redirects NVIDIA's libraries of functions (cuBLAS, cuBLASLt, cuFFT, cuRAND), where a program has found those, to Bugaroo's.
//!
//! By name a program finds Bugaroo's, as the folder with them is the first on `LD_LIBRARY_PATH`. It finds NVIDIA's where it
//! loads them by path, as CuPy loads those of Python's packages, or says itself where to look (`DT_RPATH`, as torch does).
//! NVIDIA's hand machine code to the driver, which the virtual GPU does not run. So each function that such a library exports
//! jumps to the function of that name in `libbugaroo_libraries.so`; one that is missing there says so.
//!
//! What it can miss: a library that was linked into a program (`libcublas_static.a`), or that has another name.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};

use bugaroo_shims::LIBRARIES;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol, SymbolKind};

use crate::scan::{Redirection, contains};

/// What the names of the files begin with, and those of the functions that they export.
const ALL: [(&str, &str); 4] = [
    ("libcublas.so.", "cublas"),
    ("libcublasLt.so.", "cublasLt"),
    ("libcufft.so.", "cufft"),
    ("libcurand.so.", "curand"),
];

/// More than Bugaroo's stand-ins have, and far less than NVIDIA's: a larger file is not searched.
const OURS_AT_MOST: usize = 1 << 20;

/// One of NVIDIA's libraries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theirs {
    /// Major version of the API, as its name says it; 0 where it says none.
    pub version: i32,
    /// Its functions, by address.
    pub functions: Vec<Redirection>,
}

/// What is to be redirected in a file. None where it is no such library, or is Bugaroo's.
pub fn find(path: &CStr, file: &[u8]) -> Option<Theirs> {
    let name = path.to_bytes().rsplit(|byte| *byte == b'/').next()?;
    let name = std::str::from_utf8(name).ok()?;
    let (version, functions) =
        ALL.into_iter().find_map(|(library, functions)| Some((name.strip_prefix(library)?, functions)))?;
    if file.len() <= OURS_AT_MOST && contains(file, LIBRARIES.as_bytes()) {
        return None;
    }
    let elf = ElfFile64::<Endianness>::parse(file).ok()?;
    let exported: BTreeSet<Redirection> = elf
        .dynamic_symbols()
        .filter(|symbol| !symbol.is_undefined() && symbol.kind() == SymbolKind::Text && symbol.address() != 0)
        .filter_map(|symbol| {
            let name = symbol.name().ok().filter(|name| name.starts_with(functions))?;
            Some(Redirection { address: symbol.address(), name: CString::new(name).ok()? })
        })
        .collect();
    let version = version.split('.').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    Some(Theirs { version, functions: exported.into_iter().collect() })
}

#[cfg(test)]
mod tests;
