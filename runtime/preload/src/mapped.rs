//! What the process has in memory, and the files that it came from.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ops::Range;

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _};

/// The program, or a library in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// As the loader knows it; empty for the program itself.
    path: CString,
    /// What is added to the addresses in its file.
    base: usize,
    /// From its first address in memory to its last.
    place: Range<usize>,
    /// Its code, by address in memory.
    code: Vec<Code>,
    /// Where its dynamic section is in memory, if it has one.
    dynamic: Option<usize>,
}

/// Code in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Where.
    pub range: Range<usize>,
    /// How its pages are protected, as `mprotect` says it.
    pub protection: c_int,
}

impl Object {
    /// Where its file is.
    pub fn path(&self) -> &CStr {
        if self.is_program() { c"/proc/self/exe" } else { &self.path }
    }

    /// Whether it is the program, and no library.
    pub fn is_program(&self) -> bool {
        self.path.is_empty()
    }

    /// Its name, for a person.
    pub fn name(&self) -> String {
        match std::fs::read_link("/proc/self/exe") {
            Ok(path) if self.is_program() => path.display().to_string(),
            _ => self.path().to_string_lossy().into_owned(),
        }
    }

    /// Where in memory an address of its file is.
    pub fn address(&self, in_file: u64) -> Option<usize> {
        usize::try_from(in_file).ok().and_then(|address| self.base.checked_add(address))
    }

    /// Where in memory a function is that its file exports.
    pub fn exported(&self, file: &ElfFile64<'_, Endianness>, name: &str) -> Option<usize> {
        let mut symbols = file.dynamic_symbols().filter(|symbol| !symbol.is_undefined());
        symbols.find(|symbol| symbol.name() == Ok(name)).and_then(|symbol| self.address(symbol.address()))
    }

    /// From its first address in memory to its last.
    pub fn place(&self) -> Range<usize> {
        self.place.clone()
    }

    /// The code that holds these addresses.
    pub fn code(&self, range: &Range<usize>) -> Option<&Code> {
        self.code.iter().find(|code| code.range.start <= range.start && range.end <= code.range.end)
    }

    /// The first address of it that matters here.
    pub fn start(&self) -> usize {
        self.code.iter().map(|code| code.range.start).min().unwrap_or(self.base)
    }
}

/// The program, first, and all libraries in memory.
pub fn objects() -> Vec<Object> {
    let mut objects: Vec<Object> = Vec::new();
    // SAFETY: the function takes what it is handed here.
    unsafe { libc::dl_iterate_phdr(Some(take), (&raw mut objects).cast()) };
    objects
}

/// # Safety
/// `info` describes an object; `objects` is a `Vec<Object>`.
unsafe extern "C" fn take(info: *mut libc::dl_phdr_info, _size: usize, objects: *mut c_void) -> c_int {
    // SAFETY: the caller's promise; the loader's names are C strings or null.
    let (info, objects, path) = unsafe {
        let info = &*info;
        let path = if info.dlpi_name.is_null() { c"" } else { CStr::from_ptr(info.dlpi_name) };
        (info, &mut *objects.cast::<Vec<Object>>(), path)
    };
    // Only the program has no name, and it comes first.
    if objects.is_empty() != path.is_empty() {
        return 0;
    }
    let base = info.dlpi_addr as usize;
    let (mut code, mut dynamic) = (Vec::new(), None);
    let (mut first, mut last) = (usize::MAX, 0);
    for index in 0..usize::from(info.dlpi_phnum) {
        // SAFETY: the loader says how many headers there are.
        let header = unsafe { &*info.dlpi_phdr.add(index) };
        if header.p_type == libc::PT_DYNAMIC {
            dynamic = Some(base.wrapping_add(header.p_vaddr as usize));
        }
        if header.p_type != libc::PT_LOAD {
            continue;
        }
        let start = base.wrapping_add(header.p_vaddr as usize);
        let end = start.wrapping_add(header.p_memsz as usize);
        (first, last) = (first.min(start), last.max(end));
        if header.p_flags & libc::PF_X != 0 {
            let mut protection = libc::PROT_EXEC;
            for (flag, bit) in [(libc::PF_R, libc::PROT_READ), (libc::PF_W, libc::PROT_WRITE)] {
                if header.p_flags & flag != 0 {
                    protection |= bit;
                }
            }
            code.push(Code { range: start..end, protection });
        }
    }
    objects.push(Object { path: path.to_owned(), base, place: first..last, code, dynamic });
    0
}

/// `struct r_debug`, as far as it is used here.
#[repr(C)]
struct Debug {
    version: c_int,
    libraries: *const c_void,
    stop: usize,
}

/// The function that the loader calls for debuggers, when its list of libraries has changed: `r_brk`, which the
/// program's dynamic section leads to.
pub fn debugger_stop(program: &Object) -> Option<usize> {
    /// `DT_NULL`
    const NULL: usize = 0;
    /// `DT_DEBUG`
    const DEBUG: usize = 21;
    let mut entry = program.dynamic? as *const [usize; 2];
    // SAFETY: the loader vouches for the section, which ends with `DT_NULL`, and has put the address of its structure
    // there.
    unsafe {
        loop {
            match *entry {
                [NULL, _] => return None,
                [DEBUG, 0] => return None,
                [DEBUG, found] => return Some((*(found as *const Debug)).stop).filter(|stop| *stop != 0),
                _ => entry = entry.add(1),
            }
        }
    }
}

/// A file in memory, to be read.
#[derive(Debug)]
pub struct File {
    start: *mut c_void,
    bytes: usize,
}

impl File {
    /// Maps a file. None when there is none, or nothing in it, as for what the kernel itself maps.
    pub fn map(path: &CStr) -> Option<Self> {
        // SAFETY: a C string; the descriptor is closed below, and the mapping with the value.
        unsafe {
            let descriptor = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            if descriptor < 0 {
                return None;
            }
            let mut status: libc::stat = std::mem::zeroed();
            let found = libc::fstat(descriptor, &raw mut status) == 0;
            let bytes = usize::try_from(status.st_size).unwrap_or(0);
            let start = if found && bytes > 0 {
                libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_PRIVATE, descriptor, 0)
            } else {
                libc::MAP_FAILED
            };
            libc::close(descriptor);
            (start != libc::MAP_FAILED).then_some(File { start, bytes })
        }
    }

    /// What is in it.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped for as long as this lives. Who changes a program's file while it runs breaks more than this.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.bytes) }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: mapped by this, and not used any more. It cannot fail for a mapping that is there.
        unsafe { libc::munmap(self.start, self.bytes) };
    }
}

#[cfg(test)]
mod tests;
