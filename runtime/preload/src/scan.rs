//! Finds the CUDA runtime's functions in a program's symbol table.
//!
//! A name is the runtime's when it is in the lists of those that `libcudart.so` exports, or when it looks like
//! one and stands among them: the static runtime is one object file, so that nothing of the
//! program's is between its functions.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};

use bugaroo_shims::{IMPLEMENTATION, NAMES};
use object::read::elf::{ElfFile64, FileHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SymbolKind, elf};

/// The function by which a program registers its device code: whoever has device code calls it.
const REGISTER: &str = "__cudaRegisterFatBinary";

/// What the names of the runtime's files begin with.
const RUNTIME: &[u8] = b"libcudart.so";

/// Only the runtime of CUDA 12 has it.
const VERSION_12: &str = "cudaGetDeviceProperties_v2";

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It has no runtime of its own, or one that nothing says the place of.
    Nothing,
    /// It has one, whose functions are known.
    Static {
        /// Major version of the API.
        version: i32,
        /// Its functions.
        functions: Vec<Redirection>,
    },
}

/// A function of the runtime.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Redirection {
    /// Where, as the file says it.
    pub address: u64,
    /// Its name.
    pub name: CString,
}

/// What a file is; one that cannot be read as a program of this machine is nothing.
pub fn scan(file: &[u8]) -> Found {
    let Ok(elf) = ElfFile64::<Endianness>::parse(file) else { return Found::Nothing };
    if elf.elf_header().e_machine(elf.endian()) != elf::EM_X86_64 {
        return Found::Nothing;
    }
    if names_register(&elf) {
        let mut functions = runtime(elf.symbols());
        if functions.is_empty() {
            functions = runtime(elf.dynamic_symbols());
        }
        if !functions.is_empty() {
            let is_12 = functions.iter().any(|function| function.name.to_bytes() == VERSION_12.as_bytes());
            return Found::Static { version: if is_12 { 12 } else { 13 }, functions };
        }
    }
    Found::Nothing
}

/// Whether a file is Bugaroo's runtime. NVIDIA's has the same name, and comes before ours where a program or a library says
/// where to look for it (`DT_RPATH`, as conda and wheels have it): it is redirected as one that was linked in.
pub fn is_ours(path: &CStr, file: &[u8]) -> bool {
    let name = path.to_bytes().rsplit(|byte| *byte == b'/').next();
    name.is_some_and(|name| name.starts_with(RUNTIME)) && contains(file, IMPLEMENTATION.as_bytes())
}

/// Whether [`REGISTER`] is among the file's strings: most files have no symbols of this kind, and this is
/// told much sooner than by reading each.
fn names_register(elf: &ElfFile64<'_, Endianness>) -> bool {
    [".strtab", ".dynstr"].into_iter().any(|section| {
        let strings = elf.section_by_name(section).and_then(|section| section.data().ok());
        strings.is_some_and(|strings| contains(strings, REGISTER.as_bytes()))
    })
}

/// Whether a text holds another one.
pub fn contains(text: &[u8], part: &[u8]) -> bool {
    // SAFETY: both are as long as they say.
    unsafe { !libc::memmem(text.as_ptr().cast(), text.len(), part.as_ptr().cast(), part.len()).is_null() }
}

/// The runtime's functions among symbols; none when it is not there.
fn runtime<'a>(symbols: impl Iterator<Item = impl ObjectSymbol<'a>>) -> Vec<Redirection> {
    let known: BTreeSet<&str> = NAMES.iter().flat_map(|names| names.split_whitespace()).collect();
    let (mut functions, mut alike) = (BTreeSet::new(), Vec::new());
    for symbol in symbols {
        if symbol.is_undefined() || symbol.kind() != SymbolKind::Text || symbol.address() == 0 {
            continue;
        }
        let Ok(name) = symbol.name() else { continue };
        if !looks_alike(name) {
            continue;
        }
        let Ok(text) = CString::new(name) else { continue };
        let found = Redirection { address: symbol.address(), name: text };
        if known.contains(name) {
            functions.insert(found);
        } else {
            alike.push(found);
        }
    }
    if !functions.iter().any(|function| function.name.to_bytes() == REGISTER.as_bytes()) {
        return Vec::new();
    }
    let first = functions.first().map_or(0, |function| function.address);
    let last = functions.last().map_or(0, |function| function.address);
    functions.extend(alike.into_iter().filter(|function| (first..last).contains(&function.address)));
    functions.into_iter().collect()
}

/// What nvcc writes into a program with relocatable device code (`crt/link.stub`). With an own function of the program's that has a
/// name of the runtime's (NCCL has one), it can lie between functions that look like the runtime's.
const OF_THE_PROGRAM: [&str; 2] = ["__cudaRegisterLinkedBinary", "__cudaUnregisterBinaryUtil"];

/// Whether a name is one that the runtime might have.
fn looks_alike(name: &str) -> bool {
    if OF_THE_PROGRAM.iter().any(|own| name.starts_with(own)) {
        return false;
    }
    let rest = name.strip_prefix("__cuda").or_else(|| name.strip_prefix("cuda"));
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests;
