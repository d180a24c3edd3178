//! Which of the process's own pages may be read and written, as the kernel tells (`/proc/self/maps`): before
//! memory of the program is handed to the device, whose accesses must not take the process down.

use std::fs;

/// What may be done with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    /// Nothing, or there is none.
    None,
    /// Read.
    Read,
    /// Read and write.
    ReadWrite,
}

/// What may be done with all of the pages from `start` to `end`. Where the kernel does not tell, the program
/// is believed.
pub fn protection(start: usize, end: usize) -> Protection {
    match fs::read_to_string("/proc/self/maps") {
        Ok(maps) => least(&maps, start, end),
        Err(_) => Protection::ReadWrite,
    }
}

/// Whether all of the pages from `start` to `end` are there, may be read and written and not executed, and are no stack.
/// Where the kernel does not tell, they are not.
pub fn is_plain(start: usize, end: usize) -> bool {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else { return false };
    let refuses = |line: &str| {
        parse(line).is_some_and(|(from, to, _)| from < end && start < to)
            && (!line.contains(" rw-") || line.ends_with("[stack]"))
    };
    least(&maps, start, end) == Protection::ReadWrite && !maps.lines().any(refuses)
}

/// Whether an address is in a mapping that the pages from `start` to `end` are part of.
pub fn holds(start: usize, end: usize, address: usize) -> bool {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else { return true };
    let mut parts = maps.lines().filter_map(parse).filter(|(from, to, _)| *from < end && start < *to);
    parts.any(|(from, to, _)| (from..to).contains(&address))
}

fn least(maps: &str, start: usize, end: usize) -> Protection {
    let mut next = start;
    let mut found = Protection::ReadWrite;
    for line in maps.lines() {
        let Some((from, to, allowed)) = parse(line) else { continue };
        if next >= end || to <= next {
            continue;
        }
        if from > next {
            return Protection::None;
        }
        found = found.min(allowed);
        next = to;
    }
    if next >= end { found } else { Protection::None }
}

/// First address, the one behind the last, and what may be done.
fn parse(line: &str) -> Option<(usize, usize, Protection)> {
    let mut words = line.split(' ');
    let (from, to) = words.next()?.split_once('-')?;
    let flags = words.next()?;
    let allowed = match (flags.starts_with('r'), flags.get(1..2) == Some("w")) {
        (true, true) => Protection::ReadWrite,
        (true, false) => Protection::Read,
        _ => Protection::None,
    };
    Some((usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?, allowed))
}

#[cfg(test)]
mod tests;
