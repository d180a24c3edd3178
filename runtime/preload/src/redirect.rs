//! Writes jumps over the entries of functions.
//!
//! The entry gets a jump of five bytes, which reaches two gigabytes far, to a page of ours near the code:
//! there, each function has a longer one, which leaves the address of the function's name in `rax` and jumps
//! through a slot.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;

use crate::mapped::Object;
use crate::scan::Redirection;

/// Bytes of the jump at an entry: `jmp rel32`.
const ENTRY: usize = 5;
/// Bytes of the jump in our page: `movabs rax, name`, `jmp [rip + slot]`.
const TRAMPOLINE: usize = 16;
/// Bytes of a slot.
const SLOT: usize = 8;
/// Where to look for room: at every such many bytes…
const STEP: usize = 1 << 20;
/// … as far as this from the code, so that all of the code reaches all of the room.
const REACH: usize = 1 << 30;

/// Redirects functions of an object to what `bind` puts into the slots, given the names.
///
/// # Errors
/// In words, when nothing was redirected.
pub fn redirect(
    object: &Object,
    functions: &[Redirection],
    bind: impl FnOnce(&[*const c_char], &mut [*const c_void]),
) -> Result<(), String> {
    let entries = entries(object, functions)?;
    let Some((first, last)) = entries.first().zip(entries.last()) else { return Ok(()) };
    let span = first.address..last.address + ENTRY;
    let code = object.code(&span).ok_or("its functions are outside of its code")?;
    let names: Vec<*const c_char> = entries.iter().map(|entry| entry.name).collect();
    let mut slots = vec![std::ptr::null(); names.len()];
    bind(&names, &mut slots);
    let room = trampolines(object.start(), &names, &slots)?;
    let jumps: Option<Vec<_>> = (0..entries.len())
        .map(|index| jump(entries[index].address, room + slots.len() * SLOT + index * TRAMPOLINE))
        .collect();
    let jumps = jumps.ok_or("no memory is near enough to its code")?;
    let pages = pages(span);
    protect(&pages, libc::PROT_READ | libc::PROT_WRITE)?;
    for (entry, jump) in entries.iter().zip(jumps) {
        // SAFETY: inside the code, whose pages can be written; no code of this object runs yet.
        unsafe { std::ptr::copy_nonoverlapping(jump.as_ptr(), entry.address as *mut u8, ENTRY) };
    }
    protect(&pages, code.protection)
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

/// Makes a page, or several, of slots and of jumps through them, near an address. Nothing is changed in it
/// hereafter.
fn trampolines(near: usize, names: &[*const c_char], slots: &[*const c_void]) -> Result<usize, String> {
    let size = slots.len() * (SLOT + TRAMPOLINE);
    let room = room(near, size).ok_or("no memory is free near its code")?;
    let mut bytes = Vec::with_capacity(size);
    slots.iter().for_each(|slot| bytes.extend((*slot as usize).to_le_bytes()));
    for (index, name) in names.iter().enumerate() {
        bytes.extend([0x48, 0xb8]);
        bytes.extend((*name as usize).to_le_bytes());
        bytes.extend([0xff, 0x25]);
        // From the end of this jump back to the slot; a few thousand bytes.
        let (end, slot) = (slots.len() * SLOT + (index + 1) * TRAMPOLINE, index * SLOT);
        bytes.extend((slot as i32 - end as i32).to_le_bytes());
    }
    // SAFETY: the room is ours, can be written, and holds as much.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), room as *mut u8, bytes.len()) };
    protect(&pages(room..room + size), libc::PROT_READ | libc::PROT_EXEC)?;
    Ok(room)
}

/// Memory near an address that nobody has, to be written: below it first, as a program's heap grows above it.
fn room(near: usize, size: usize) -> Option<usize> {
    let near = near - near % STEP;
    let below = (1..=REACH / STEP).map_while(|steps| near.checked_sub(steps * STEP));
    let above = (1..=REACH / STEP).filter_map(|steps| near.checked_add(steps * STEP));
    // A program that is not relocated starts at four megabytes: near it, steps are few, and the kernel keeps the
    // first pages for itself.
    below.filter(|address| *address > 0).chain(above).find_map(|address| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let wanted = address as *mut c_void;
        // SAFETY: nothing that is mapped is replaced.
        let got = unsafe { libc::mmap(wanted, size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if got != libc::MAP_FAILED && got != wanted {
            // A kernel that does not know the flag takes the address as a wish.
            // SAFETY: just mapped.
            unsafe { libc::munmap(got, size) };
        }
        (got == wanted).then_some(address)
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
