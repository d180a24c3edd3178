//! What of a process's memory may be moved into huge pages: by the kernel's own account of it (`proc_pid_smaps(5)`,
//! `proc_pid_pagemap(5)`).

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use crate::trial::fork_server::heap::HUGE_PAGE;

/// Bytes of a page.
const PAGE: usize = 4 << 10;
/// Pages of a huge one.
const PAGES: usize = HUGE_PAGE / PAGE;

/// Whether the system gives huge pages to who asks for them.
pub fn system_has_huge_pages() -> bool {
    let read = |name: &str| fs::read_to_string(format!("/sys/kernel/mm/transparent_hugepage/{name}"));
    read("enabled").is_ok_and(|said| !said.contains("[never]"))
        && read("hpage_pmd_size").is_ok_and(|said| said.trim().parse() == Ok(HUGE_PAGE))
}

/// Pages of a part that have to be in memory so that it counts.
pub const PRESENT: usize = 128;

/// Memory of this process that may be moved, in huge pages, by address; none of mappings that have less in memory than counts, as most
/// of what a device has. None where the system does not say.
pub fn of_this_process() -> Option<Vec<usize>> {
    let account = account()?;
    Some(mappings(&account, &DATA).into_iter().flat_map(|(start, end)| whole(start, end)).collect())
}

/// The whole huge pages of the code that this address lies in: the first one's address, and one past the last's. None where there are
/// none, or where they are not of a file.
pub fn code_at(address: usize) -> Option<(usize, usize)> {
    let found =
        mappings(&account()?, &CODE).into_iter().find(|(start, end)| (*start..*end).contains(&address))?;
    let mut chunks = whole(found.0, found.1);
    let first = chunks.next()?;
    Some((first, chunks.last().unwrap_or(first) + HUGE_PAGE))
}

/// The system's account of this process's memory.
fn account() -> Option<String> {
    fs::read_to_string("/proc/self/smaps").ok()
}

/// The huge pages that lie in a range as a whole.
fn whole(start: usize, end: usize) -> impl Iterator<Item = usize> {
    let first = start.checked_next_multiple_of(HUGE_PAGE).unwrap_or(end);
    (first..end).step_by(HUGE_PAGE).filter(move |chunk| end - chunk >= HUGE_PAGE)
}

/// A kind of mappings.
struct Kind {
    /// Whether it is of that kind: by permissions, the file's number, and its name or another.
    is_one: fn(&str, &str, Option<&str>) -> bool,
    /// Flags that it may have: what each of its kind has. Others (locked, not for children, wiped in children, not to be dumped, …)
    /// a new mapping would not have.
    flags: &'static [&'static str],
    /// Pages of it that have to be in memory.
    present: usize,
}

/// Private, without a file, to read and write. That huge pages are welcome, or that memory may be promised twice, is nothing special.
const DATA: Kind = Kind {
    is_one: |permissions, inode, name| {
        permissions == "rw-p" && inode == "0" && matches!(name, None | Some("[heap]"))
    },
    flags: &["rd", "wr", "mr", "mw", "me", "ac", "nr", "sd", "hg"],
    present: PRESENT,
};

/// Code of a file.
const CODE: Kind = Kind {
    is_one: |permissions, inode, _| permissions == "r-xp" && inode != "0",
    flags: &["rd", "ex", "mr", "mw", "me", "sd", "hg"],
    present: 0,
};

/// First address of each mapping of a kind in an account, and one past its last.
fn mappings(account: &str, kind: &Kind) -> Vec<(usize, usize)> {
    let (mut found, mut mapping, mut plain) = (Vec::new(), None, true);
    for line in account.lines() {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        match name.strip_suffix(':') {
            None => (mapping, plain) = (range(name, rest, kind), true),
            Some("Rss") => plain &= resident(rest).is_some_and(|bytes| bytes >= kind.present * PAGE),
            Some("ProtectionKey") => plain &= rest.trim() == "0",
            // The last line of each.
            Some("VmFlags") => {
                plain &= rest.split_whitespace().all(|flag| kind.flags.contains(&flag));
                found.extend(mapping.take().filter(|_| plain));
            }
            Some(_) => {}
        }
    }
    found
}

/// Bytes that are in memory, from the line of an account that says so.
fn resident(rest: &str) -> Option<usize> {
    rest.trim().strip_suffix(" kB")?.parse::<usize>().ok()?.checked_mul(1 << 10)
}

/// The range of a mapping of a kind, from a mapping's first line.
fn range(range: &str, rest: &str, kind: &Kind) -> Option<(usize, usize)> {
    let mut fields = rest.split_whitespace();
    let (permissions, inode) = (fields.next()?, fields.nth(2)?);
    let (start, end) = range.split_once('-')?;
    let read = |digits| usize::from_str_radix(digits, 16).ok();
    (kind.is_one)(permissions, inode, fields.next()).then_some(())?;
    Some((read(start)?, read(end)?))
}

/// What the system knows of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page(u64);

impl Page {
    /// Whether it is in memory.
    pub fn is_present(self) -> bool {
        self.0 >> 63 & 1 == 1
    }

    /// Whether this process alone has it.
    pub fn is_exclusive(self) -> bool {
        self.is_present() && self.0 >> 56 & 1 == 1
    }
}

/// The pages of this process.
#[derive(Debug)]
pub struct PageMap(File);

impl PageMap {
    /// Opens it.
    pub fn open() -> Option<PageMap> {
        File::open("/proc/self/pagemap").ok().map(PageMap)
    }

    /// Pages of a huge page's worth of memory of which something holds. 0 where nothing is known.
    pub fn count(&self, chunk: usize, holds: impl Fn(Page) -> bool) -> usize {
        let mut entries = [0; PAGES * 8];
        if self.0.read_exact_at(&mut entries, (chunk / PAGE * 8) as u64).is_err() {
            return 0;
        }
        let entry = |bytes: &[u8; 8]| Page(u64::from_ne_bytes(*bytes));
        entries.as_chunks().0.iter().map(entry).filter(|page| holds(*page)).count()
    }
}

#[cfg(test)]
mod tests;
