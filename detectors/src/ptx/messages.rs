//! The messages of a granule: strong writes that a read may come across, and atomics that have written nothing, which by the letter
//! write what they have read.
//!
//! A compare that fails is told beside what it has read. Where many threads wait for a lock, there are as many as CTAs. So from a
//! number on those of one source that reach the device are told as one ([`EVERY`]), which whoever reads that source is taken to have
//! observed, also by a scope that does not take in all of them: in doubt for the program.

use bugaroo_semantics::event::{WorkId, WriteId};

use super::few::Few;
use super::release::{self, Entries, Reach};
use super::sc::Stamp;
use super::state::Message;
use crate::shadow::Bytes;

/// Strong writes of a granule that are kept for reads to name. An atomic of a whole warp writes 32 before it is told what each of
/// them has read, and each of its lanes may have read a few behind the last.
const KEPT: usize = 80;
/// Messages of atomics with one source that have written nothing, above which they are told as one.
const FAILED: usize = 8;

/// What an atomic that has written nothing has read cannot be named: whoever names anything here may have read it, too.
pub(super) const ANY: WriteId = WriteId::MAX;
/// In place of a CTA: several.
const EVERY: u32 = u32::MAX;

/// Messages, older ones first.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub all: Vec<Message>,
    /// What those that are not kept any more have handed over, and which grids to other devices.
    pub lost: Entries,
    pub lost_handed: Few<WorkId>,
    /// The last of their numbers.
    pub lost_up_to: WriteId,
    /// For `fence.sc`, of reads, too.
    pub stamp: Stamp,
}

impl Message {
    /// How far a scope has to reach to take in its writer and a thread of this CTA.
    #[inline]
    pub fn apart(&self, cta: u32, cluster: u32) -> Reach {
        if self.by.cta == EVERY { Reach::Cta } else { Reach::between(self.by.cta, cta, cluster) }
    }
}

impl Messages {
    /// Bytes, about.
    pub fn held(&self) -> usize {
        self.all.capacity() * size_of::<Message>() + size_of::<Messages>()
    }

    /// These bytes have been written by somebody else.
    pub fn overwrite(&mut self, mask: Bytes) {
        self.all.iter_mut().for_each(|message| message.live &= !mask);
        self.all.retain(|message| message.live != 0 || message.number != 0);
    }

    /// A strong write is visible, or can be named from now on.
    pub fn add(&mut self, message: Message) {
        let visible = message.live;
        if visible != 0 {
            self.overwrite(visible);
        }
        self.all.push(message);
        if self.all.len() > KEPT && self.all.iter().filter(|message| !message.failed).count() > KEPT {
            self.lose_one();
        }
    }

    /// The oldest write that memory does not hold any more goes, and what has failed with it as its source.
    fn lose_one(&mut self) {
        let past = |message: &&Message| !message.failed && message.live == 0;
        let Some(number) = self.all.iter().find(past).map(|message| message.number) else { return };
        self.lost_up_to = self.lost_up_to.max(number);
        let (lost, handed) = (&mut self.lost, &mut self.lost_handed);
        self.all.retain(|message| {
            let kept = message.number != number || message.live != 0;
            if !kept {
                *lost = release::both(lost, &message.entries);
                handed.add_all(message.chain.handed.iter().copied());
            }
            kept
        });
    }

    /// An atomic that has written nothing.
    pub fn fail(&mut self, new: Message) {
        let kind = |message: &Message| (message.number, message.size, message.reach, message.by.grid);
        let same = |message: &&mut Message| {
            (message.by.cta == new.by.cta || message.by.cta == EVERY)
                && message.failed
                && kind(message) == kind(&new)
                && (message.live, message.observers.link, message.observers.use_of)
                    == (new.live, new.observers.link, new.observers.use_of)
        };
        if let Some(message) = self.all.iter_mut().find(same) {
            message.entries = release::both(&message.entries, &new.entries);
            message.chain.before.add_all(new.chain.before.iter().copied());
            message.chain.handed.add_all(new.chain.handed.iter().copied());
            return;
        }
        let several = |message: &Message| message.failed && kind(message) == kind(&new);
        if new.reach < Reach::Device || self.all.iter().filter(|message| several(message)).count() < FAILED {
            self.all.push(new);
            return;
        }
        let mut all = new.clone();
        self.all.retain(|message| {
            let is_one = several(message);
            if is_one {
                all.entries = release::both(&all.entries, &message.entries);
                all.chain.before.add_all(message.chain.before.iter().copied());
                all.chain.handed.add_all(message.chain.handed.iter().copied());
                all.chain.before.add_all(
                    (message.observers.link != 0)
                        .then_some((message.observers.link, message.observers.use_of)),
                );
                all.live |= message.live;
                all.mask |= message.mask;
            }
            !is_one
        });
        all.by.cta = EVERY;
        self.all.push(all);
    }

    /// Those that a read of these bytes comes across: what memory holds, or those of a number.
    pub fn read(&self, mask: Bytes, number: Option<WriteId>) -> impl Iterator<Item = &Message> {
        let named = move |message: &Message| {
            !message.failed && Some(message.number) == number && message.mask & mask != 0
        };
        // Whoever names a strong write has read that.
        let any = number.is_some() && !self.all.iter().any(named);
        self.all.iter().filter(move |message| match number {
            None => message.live & mask != 0,
            Some(number) => {
                (message.number == number && message.mask & mask != 0)
                    || (any && message.number == ANY && message.mask & mask != 0)
            }
        })
    }
}
