//! Queues in the host's own memory, each read by a thread of its own while device code fills them.
//!
//! Source: BARRACUDA (Eizenberg et al., PLDI 2017), section 4.3. Where it departs: there each thread feeds the detector. Here the
//! threads hand on what they read to whoever has called, who puts it into the one order of the tickets.
//!
//! This is for a device that runs beside the host and reaches its page-locked memory. The virtual GPU runs in turns
//! with its reader ([`crate::trial::logging::session::LoggingSession`]); nothing in this version launches a kernel that logs on a real one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::merge::Merge;
use super::tail::{Record, Tail};
use crate::trial::logging::broken::{Broken, Visible};

/// Records that are on their way from the threads to the caller.
const UNDER_WAY: usize = 1 << 12;
/// How long a thread whose queue is empty leaves the processor to others.
const PAUSE: Duration = Duration::from_micros(20);

/// Memory that host and device reach: words, of which the first has this address.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The address of the first.
    pub address: u64,
    /// The words.
    pub words: &'a [AtomicU64],
}

impl Words<'_> {
    fn word(&self, address: u64) -> Result<&AtomicU64, Broken> {
        let offset = address.wrapping_sub(self.address);
        let word = usize::try_from(offset / 8).ok().filter(|_| offset.is_multiple_of(8));
        word.and_then(|word| self.words.get(word)).ok_or(Broken::Memory { address })
    }
}

impl Visible for Words<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Broken> {
        for (at, bytes) in (address..).step_by(8).zip(into.chunks_mut(8)) {
            // Ordered by the commit index, which was acquired.
            let word = self.word(at)?.load(Ordering::Relaxed).to_le_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
        Ok(())
    }

    fn acquire(&self, address: u64) -> Result<u64, Broken> {
        Ok(self.word(address)?.load(Ordering::Acquire))
    }

    fn release(&mut self, address: u64, value: u64) -> Result<(), Broken> {
        self.word(address)?.store(value, Ordering::Release);
        Ok(())
    }
}

/// Reads queues, a thread each, until `ended` says that the launch has ended and they are empty. `told` gets each record with its
/// ticket, in the order of tickets, while others are still read.
///
/// # Errors
/// Where a queue cannot be read, or a record is missing: the first such thing, after all threads have ended.
pub fn read(
    tails: Vec<Tail>,
    memory: Words<'_>,
    ended: &AtomicBool,
    mut told: impl FnMut((u64, Record)),
) -> Result<(), Broken> {
    let mut merge = Merge::new(tails.len());
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(UNDER_WAY);
        let start = |(number, mut tail): (usize, Tail)| {
            let sender = sender.clone();
            scope.spawn(move || read_one(&mut tail, memory, ended, &sender, number))
        };
        let threads: Vec<_> = tails.into_iter().enumerate().map(start).collect();
        // The threads have the others: when all have ended, nothing more comes.
        drop(sender);
        for (number, record) in receiver {
            merge.put(number, record);
            while let Some(record) = merge.next() {
                told(record);
            }
        }
        // A thread only reads; it panics nowhere.
        threads.into_iter().try_for_each(|thread| thread.join().expect("a reader does not panic"))
    })?;
    merge.finish()
}

fn read_one(
    tail: &mut Tail,
    mut memory: Words<'_>,
    ended: &AtomicBool,
    to: &SyncSender<(usize, Record)>,
    number: usize,
) -> Result<(), Broken> {
    loop {
        // Before the queue: what was committed before the end is seen.
        let last = ended.load(Ordering::Acquire);
        let mut idle = true;
        while let Some(record) = tail.take(&mut memory)? {
            idle = false;
            if to.send((number, record)).is_err() {
                // Nobody wants it any more.
                return Ok(());
            }
        }
        if last {
            return Ok(());
        }
        if idle {
            thread::sleep(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests;
