//! A list of records that is mostly of one: that one stands in the list itself, so that there is no other memory to look at.

use std::ops::{Deref, DerefMut};

use super::record::Record;

/// Records for which there may be room though the list is of one again.
const SPARE: usize = 8;

/// A list.
#[derive(Debug, Default)]
pub(super) struct Short {
    /// The only one.
    first: Record,
    count: u32,
    /// At which length its owner looks for what can go.
    pub prune: u32,
    /// All, where there are several.
    #[allow(clippy::box_collection, reason = "the list is to fill one line of the host's cache")]
    more: Option<Box<Vec<Record>>>,
}

impl Short {
    #[inline]
    pub fn push(&mut self, record: Record) {
        match self.count {
            0 => self.first = record,
            1 => {
                let more = self.more.get_or_insert_with(|| Box::new(Vec::with_capacity(2)));
                more.clear();
                more.extend([self.first, record]);
            }
            _ => self.several().push(record),
        }
        self.count += 1;
    }

    /// Keeps those for which `keep` says so.
    #[inline]
    pub fn retain(&mut self, mut keep: impl FnMut(&Record) -> bool) {
        match self.count {
            0 => {}
            1 => self.count = u32::from(keep(&self.first)),
            _ => {
                let more = self.several();
                more.retain(keep);
                let (count, room) = (more.len(), more.capacity());
                let first = more.first().copied().unwrap_or_default();
                self.count = count as u32;
                if count <= 1 {
                    self.first = first;
                    if room > SPARE {
                        self.more = None;
                    }
                }
            }
        }
    }

    fn several(&mut self) -> &mut Vec<Record> {
        self.more.as_mut().expect("where there are several they are there")
    }

    /// Bytes besides its own.
    pub fn held(&self) -> usize {
        self.more.as_ref().map_or(0, |more| size_of::<Vec<Record>>() + more.capacity() * size_of::<Record>())
    }
}

impl Deref for Short {
    type Target = [Record];

    #[inline]
    fn deref(&self) -> &[Record] {
        match &self.more {
            Some(more) if self.count > 1 => more,
            _ => &std::slice::from_ref(&self.first)[..self.count as usize],
        }
    }
}

impl DerefMut for Short {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Record] {
        match &mut self.more {
            Some(more) if self.count > 1 => more,
            _ => &mut std::slice::from_mut(&mut self.first)[..self.count as usize],
        }
    }
}
