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

/// Memory of this process that may be moved, in huge pages, by address. None where the system does not say.
pub fn of_this_process() -> Option<Vec<usize>> {
    let account = fs::read_to_string("/proc/self/smaps").ok()?;
    Some(mappings(&account).into_iter().flat_map(|(start, end)| whole(start, end)).collect())
}

/// The huge pages that lie in a range as a whole.
fn whole(start: usize, end: usize) -> impl Iterator<Item = usize> {
    let first = start.checked_next_multiple_of(HUGE_PAGE).unwrap_or(end);
    (first..end).step_by(HUGE_PAGE).filter(move |chunk| end - chunk >= HUGE_PAGE)
}

/// First address of each mapping that may be moved in an account, and one past its last.
fn mappings(account: &str) -> Vec<(usize, usize)> {
    let (mut found, mut mapping, mut plain) = (Vec::new(), None, true);
    for line in account.lines() {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        match name.strip_suffix(':') {
            None => (mapping, plain) = (private(name, rest), true),
            Some("ProtectionKey") => plain &= rest.trim() == "0",
            // The last line of each.
            Some("VmFlags") => {
                plain &= rest.split_whitespace().all(is_plain);
                found.extend(mapping.take().filter(|_| plain));
            }
            Some(_) => {}
        }
    }
    found
}

/// The range of a mapping that is private, without a file, and can be read and written, from a mapping's first line.
fn private(range: &str, rest: &str) -> Option<(usize, usize)> {
    let mut fields = rest.split_whitespace();
    let (permissions, inode) = (fields.next()?, fields.nth(2)?);
    let anonymous = permissions == "rw-p" && inode == "0" && matches!(fields.next(), None | Some("[heap]"));
    let (start, end) = range.split_once('-')?;
    let read = |digits| usize::from_str_radix(digits, 16).ok();
    anonymous.then_some(())?;
    Some((read(start)?, read(end)?))
}

/// Whether a flag of a mapping is one that each mapping of its kind has, or says something of huge pages being welcome, or that
/// memory may be promised twice. Others (locked, not for children, wiped in children, not to be dumped, …) a new mapping
/// would not have.
fn is_plain(flag: &str) -> bool {
    matches!(flag, "rd" | "wr" | "mr" | "mw" | "me" | "ac" | "nr" | "sd" | "hg")
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
