//! What of a process's memory may be moved into huge pages: by the kernel's own account of it (`proc_pid_smaps(5)`,
//! `proc_pid_pagemap(5)`).

use std::fs::{self, File};
use std::ops::Range;
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

/// The system's account of this process's memory.
pub struct Account(String);

impl Account {
    /// Reads it. None where the system does not give one.
    pub fn read() -> Option<Account> {
        fs::read_to_string("/proc/self/smaps").ok().map(Account)
    }

    /// Memory that may be moved, in huge pages, by address.
    pub fn movable(&self) -> Vec<usize> {
        let found = mappings(&self.0, &DATA);
        found.iter().flat_map(|mapping| whole(mapping.start, mapping.end)).collect()
    }

    /// That of it that has much in memory.
    pub fn used(&self, map: &PageMap) -> Vec<usize> {
        mappings(&self.0, &DATA).iter().flat_map(|mapping| mapping.used(map)).collect()
    }

    /// The whole huge pages of the code that this address lies in: the first one's address, and one past the last's. None where there are
    /// none, or where they are not of a file.
    pub fn code_at(&self, address: usize) -> Option<(usize, usize)> {
        let found = mappings(&self.0, &CODE);
        let found = found.iter().find(|mapping| (mapping.start..mapping.end).contains(&address))?;
        let mut chunks = whole(found.start, found.end);
        let first = chunks.next()?;
        Some((first, chunks.last().unwrap_or(first) + HUGE_PAGE))
    }
}

/// The huge pages that lie in a range as a whole.
fn whole(start: usize, end: usize) -> impl Iterator<Item = usize> {
    let first = start.checked_next_multiple_of(HUGE_PAGE).unwrap_or(end);
    (first..end).step_by(HUGE_PAGE).filter(move |chunk| end - chunk >= HUGE_PAGE)
}

/// A kind of mappings.
struct Kind {
    /// Whether it is of that kind: by permissions, the file's number, and the name, if it has one.
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

/// A mapping: its first address, one past its last, and how many of its pages are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    start: usize,
    end: usize,
    present: usize,
}

impl Mapping {
    /// The huge pages that lie in it as a whole and have much in memory. A device's memory is large, and what is used of it lies at its
    /// beginning: nobody looks behind the last page that is there.
    fn used(self, map: &PageMap) -> Vec<usize> {
        let first = self.start.next_multiple_of(HUGE_PAGE).min(self.end);
        let mut left = self.present.saturating_sub(map.count(self.start..first, Page::is_present));
        let mut found = Vec::new();
        for chunk in whole(self.start, self.end) {
            if left < PRESENT {
                break;
            }
            let present = map.count(chunk..chunk + HUGE_PAGE, Page::is_present);
            left = left.saturating_sub(present);
            if present >= PRESENT {
                found.push(chunk);
            }
        }
        found
    }
}

/// The mappings of a kind in an account.
fn mappings(account: &str, kind: &Kind) -> Vec<Mapping> {
    let (mut found, mut mapping, mut plain) = (Vec::<Mapping>::new(), None::<Mapping>, true);
    for line in account.lines() {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        match name.strip_suffix(':') {
            None => (mapping, plain) = (of_kind(name, rest, kind), true),
            Some("Rss") => {
                let present = resident(rest).unwrap_or(0) / PAGE;
                plain &= present >= kind.present;
                mapping = mapping.map(|mapping| Mapping { present, ..mapping });
            }
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

/// A mapping of a kind, from its first line: its range, and what stands behind.
fn of_kind(range: &str, rest: &str, kind: &Kind) -> Option<Mapping> {
    let mut fields = rest.split_whitespace();
    let (permissions, inode) = (fields.next()?, fields.nth(2)?);
    let (start, end) = range.split_once('-')?;
    let read = |digits| usize::from_str_radix(digits, 16).ok();
    (kind.is_one)(permissions, inode, fields.next()).then_some(())?;
    Some(Mapping { start: read(start)?, end: read(end)?, present: 0 })
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

    /// Pages of which something holds, of as much memory as a huge page has at most. 0 where nothing is known.
    pub fn count(&self, memory: Range<usize>, holds: impl Fn(Page) -> bool) -> usize {
        let mut entries = [0; PAGES * 8];
        let entries = &mut entries[..memory.len().min(HUGE_PAGE) / PAGE * 8];
        if self.0.read_exact_at(entries, (memory.start / PAGE * 8) as u64).is_err() {
            return 0;
        }
        let entry = |bytes: &[u8; 8]| Page(u64::from_ne_bytes(*bytes));
        entries.as_chunks().0.iter().map(entry).filter(|page| holds(*page)).count()
    }
}

#[cfg(test)]
mod tests;
