//! Writes jumps over the entries of functions.
//!
//! The entry gets a jump of five bytes, which reaches two gigabytes far, to a page of ours near the code:
//! there, each function has a longer one, which leaves the address of the function's name in `rax` and jumps
//! through a slot.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::mapped::Object;
use crate::scan::Redirection;

/// Bytes of the jump at an entry: `jmp rel32`.
pub const ENTRY: usize = 5;
/// Bytes of the jump in our page: `movabs rax, name`, `jmp [rip + slot]`.
const TRAMPOLINE: usize = 16;
/// Where to look for room: at every such many bytes…
const STEP: usize = 1 << 20;
/// … as far as this from the code, so that all of the code reaches all of the room.
const REACH: usize = 1 << 30;

/// The slots of an object's functions.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    /// Names, which are C strings that are never freed, nor is this.
    pub names: &'static [*const c_char],
    /// As many slots.
    pub slots: &'static [AtomicPtr<c_void>],
}

// SAFETY: the names are never changed.
unsafe impl Send for Slots {}

/// Redirects functions of an object to what is in the slots, which is `first` for now.
///
/// # Errors
/// In words, when nothing was redirected.
pub fn redirect(
    object: &Object,
    functions: &[Redirection],
    first: *const c_void,
) -> Result<Option<Slots>, String> {
    let entries = entries(object, functions)?;
    let Some((lowest, highest)) = entries.first().zip(entries.last()) else { return Ok(None) };
    let span = lowest.address..highest.address + ENTRY;
    let code = object.code(&span).ok_or("its functions are outside of its code")?;
    let names: Vec<*const c_char> = entries.iter().map(|entry| entry.name).collect();
    let (room, slots) = trampolines(object.start(), &names, first)?;
    let jumps: Option<Vec<_>> = entries
        .iter()
        .enumerate()
        .map(|(index, entry)| jump(entry.address, room + index * TRAMPOLINE))
        .collect();
    let jumps = jumps.ok_or("no memory is near enough to its code")?;
    let pages = pages(span);
    protect(&pages, libc::PROT_READ | libc::PROT_WRITE)?;
    for (entry, jump) in entries.iter().zip(jumps) {
        // SAFETY: inside the code, whose pages can be written; no code of this object runs yet.
        unsafe { std::ptr::copy_nonoverlapping(jump.as_ptr(), entry.address as *mut u8, ENTRY) };
    }
    protect(&pages, code.protection)?;
    Ok(Some(Slots { names: names.leak(), slots }))
}

/// Has a function jump to another, of ours, whose every call is its own.
///
/// # Errors
/// In words, when it was left as it was.
pub fn divert(function: usize, to: *const c_void) -> Result<(), String> {
    let (room, _) = trampolines(function, &[std::ptr::null()], to)?;
    let jump = jump(function, room).ok_or("no memory is near enough to it")?;
    let pages = pages(function..function + ENTRY);
    // The function may share its page with what is needed to protect it again: it stays executable.
    protect(&pages, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)?;
    // SAFETY: the pages can be written; the process has one thread yet, which is here.
    unsafe { std::ptr::copy_nonoverlapping(jump.as_ptr(), function as *mut u8, ENTRY) };
    protect(&pages, libc::PROT_READ | libc::PROT_EXEC)
}

/// A function in memory.
struct Entry {
    address: usize,
    /// Its name, which is never freed.
    name: *const c_char,
}

/// The functions in memory, in order of address, one for each address. (Several names of one address are one
/// function to the program, too.)
fn entries(object: &Object, functions: &[Redirection]) -> Result<Vec<Entry>, String> {
    let mut entries: Vec<Entry> = Vec::new();
    for function in functions {
        let address = object.address(function.address).ok_or("a function's address is none")?;
        if let Some(previous) = entries.last() {
            if previous.address == address {
                continue;
            }
            if address - previous.address < ENTRY {
                // SAFETY: a name of ours.
                let name = unsafe { CStr::from_ptr(previous.name) }.to_string_lossy().into_owned();
                return Err(format!("{name} is shorter than a jump"));
            }
        }
        entries.push(Entry { address, name: function.name.clone().into_raw() });
    }
    Ok(entries)
}

/// The jump from one address to another, if it reaches.
fn jump(from: usize, to: usize) -> Option<[u8; ENTRY]> {
    let distance = i32::try_from(to as i64 - (from + ENTRY) as i64).ok()?.to_le_bytes();
    Some([0xe9, distance[0], distance[1], distance[2], distance[3]])
}

/// Makes pages near an address: of jumps, one for each name, and behind them of the slots that they go
/// through. Gives the first jump's address, and the slots.
fn trampolines(
    near: usize,
    names: &[*const c_char],
    first: *const c_void,
) -> Result<(usize, &'static [AtomicPtr<c_void>]), String> {
    let code = pages(0..names.len() * TRAMPOLINE).end;
    let room = room(near, code + names.len() * size_of::<AtomicPtr<c_void>>());
    let room = room.ok_or("no memory is free near its code")?;
    let mut jumps = Vec::with_capacity(names.len() * TRAMPOLINE);
    for (index, name) in names.iter().enumerate() {
        jumps.extend([0x48, 0xb8]);
        jumps.extend((*name as usize).to_le_bytes());
        jumps.extend([0xff, 0x25]);
        // From the end of this jump to the slot; a few thousand bytes.
        let (end, slot) = ((index + 1) * TRAMPOLINE, code + index * size_of::<AtomicPtr<c_void>>());
        jumps.extend((slot as i32 - end as i32).to_le_bytes());
    }
    // SAFETY: the room is ours, can be written, holds as much, is aligned to pages and never given back.
    let slots = unsafe {
        std::ptr::copy_nonoverlapping(jumps.as_ptr(), room as *mut u8, jumps.len());
        std::slice::from_raw_parts((room + code) as *const AtomicPtr<c_void>, names.len())
    };
    slots.iter().for_each(|slot| slot.store(first.cast_mut(), Ordering::Relaxed));
    protect(&(room..room + code), libc::PROT_READ | libc::PROT_EXEC)?;
    Ok((room, slots))
}

/// Memory near an address that nobody has, to be written: below it first, as a program's heap grows above it.
fn room(near: usize, size: usize) -> Option<usize> {
    let near = near - near % STEP;
    let below = (1..=REACH / STEP).map_while(|steps| near.checked_sub(steps * STEP));
    let above = (1..=REACH / STEP).filter_map(|steps| near.checked_add(steps * STEP));
    // A program that is not relocated starts at four megabytes: near it, steps are few, and the kernel keeps the
    // first pages for itself.
    below.filter(|address| *address > 0).chain(above).find(|address| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let wanted = *address as *mut c_void;
        // SAFETY: nothing that is mapped is replaced.
        let got = unsafe { libc::mmap(wanted, size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if got != libc::MAP_FAILED && got != wanted {
            // A kernel that does not know the flag takes the address as a wish.
            // SAFETY: just mapped.
            unsafe { libc::munmap(got, size) };
        }
        got == wanted
    })
}

/// The whole pages that hold a range.
fn pages(range: Range<usize>) -> Range<usize> {
    // SAFETY: no memory is involved.
    let size = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    range.start - range.start % size..range.end.next_multiple_of(size)
}

fn protect(pages: &Range<usize>, protection: c_int) -> Result<(), String> {
    // SAFETY: whole pages of ours, or of code that does not run yet.
    match unsafe { libc::mprotect(pages.start as *mut c_void, pages.len(), protection) } {
        0 => Ok(()),
        _ => Err(format!("its code cannot be changed: {}", std::io::Error::last_os_error())),
    }
}

#[cfg(test)]
mod tests;
