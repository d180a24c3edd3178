//! Copies, arrivals and stores that complete on their own: now, later, or when somebody waits.

use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::Type;
use bugaroo_semantics::event::CopyId;

use crate::exec::atomic::{combine_elements, read_memory, write_memory};
use crate::exec::spot::Spot;
use crate::exec::{Machine, Trouble};
use crate::fault::LaunchFault;

/// Bytes on their way.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Transfer {
    pub to: Spot,
    /// None when there is nothing to copy.
    pub from: Option<Spot>,
    pub bytes: u64,
    /// So many are copied; the rest becomes zero.
    pub copied: u64,
    pub reduce: Option<(AtomOp, Type)>,
}

/// A box of a tensor on its way, and its bytes, those that are only filled among them.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub transfers: Box<[Transfer]>,
    pub bytes: u64,
}

/// A copy of a thread that belongs to a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub lane: u32,
    pub bulk: bool,
    /// Number of the thread's group.
    pub group: u32,
    issued: u64,
    /// What an observer knows it by.
    number: CopyId,
    transfer: Transfer,
}

/// What an event does, and the mbarrier that counts it, on the host and on the device.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) enum What {
    /// The thread's earlier `cp.async` are complete.
    Arrive {
        pointer: *mut u8,
        address: u64,
    },
    Transfer {
        transfer: Transfer,
        pointer: *mut u8,
        address: u64,
    },
    /// Its number in [`super::Asynchrony`]'s list.
    Tile {
        tile: usize,
        pointer: *mut u8,
        address: u64,
    },
    Store {
        to: Spot,
        data: [u64; 4],
        ty: Type,
        bytes: u64,
        reduce: Option<AtomOp>,
        pointer: *mut u8,
        address: u64,
    },
}

/// Something that happens on its own, on behalf of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub due: u64,
    issued: u64,
    pub w: usize,
    lane: u32,
    pc: u32,
    /// What an observer knows its copy by: the first of several; of an arrival, the first copy behind it.
    number: CopyId,
    what: What,
}

impl Machine<'_> {
    /// By the coin: does this happen late?
    fn late(&mut self) -> bool {
        self.given.config.late_copies && self.asynchrony.rng.next() >> 63 != 0
    }

    /// A copy that belongs to its thread's current group.
    pub(super) fn issue(&mut self, (w, lane, pc): (usize, u32, u32), bulk: bool, transfer: Transfer) {
        let group = self.asynchrony.groups[w][usize::from(bulk)][lane as usize];
        let number = self.observed_issue((w, lane, pc), (bulk, group), &transfer);
        if !self.late() {
            self.copy(&transfer);
            return self.observed_done(number);
        }
        self.asynchrony.issued += 1;
        let issued = self.asynchrony.issued;
        self.asynchrony.copies[w].push(Copy { lane, bulk, group, issued, number, transfer });
    }

    /// Does the copies of a warp that are chosen, in order of issue.
    pub(super) fn complete_copies(&mut self, w: usize, chosen: impl Fn(&Copy) -> bool) {
        let mut copies = std::mem::take(&mut self.asynchrony.copies[w]);
        copies.retain(|copy| {
            let now = chosen(copy);
            if now {
                self.copy(&copy.transfer);
                self.observed_done(copy.number);
            }
            !now
        });
        self.asynchrony.copies[w] = copies;
    }

    /// Something that happens now or, by the coin, some turns later.
    pub(super) fn happen(&mut self, w: usize, lane: u32, pc: u32, what: What) -> Result<(), Trouble> {
        self.asynchrony.issued += 1;
        let issued = self.asynchrony.issued;
        let number = self.observed_happen((w, lane, pc), &what);
        let mut event = Event { due: 0, issued, w, lane, pc, number, what };
        if !self.late() {
            return self.occur(&event);
        }
        event.due = self.progress.counts.turns + 1 + (self.asynchrony.rng.next() & 255);
        self.asynchrony.due = self.asynchrony.due.min(event.due);
        self.asynchrony.events.push(event);
        Ok(())
    }

    fn occur(&mut self, event: &Event) -> Result<(), Trouble> {
        let lane = event.lane;
        let mut last = event.number;
        let (pointer, address, bytes) = match event.what {
            What::Arrive { pointer, address } => {
                self.complete_copies(event.w, |copy| {
                    copy.lane == lane && !copy.bulk && copy.issued < event.issued
                });
                self.observed_arrival((event.w, lane), event.number, pointer);
                return self
                    .change_mbarrier(pointer, address, |word| word.arrive(1))
                    .map_err(|kind| Box::new((kind, lane)));
            }
            What::Transfer { transfer, pointer, address } => {
                self.copy(&transfer);
                (pointer, address, transfer.bytes)
            }
            What::Tile { tile, pointer, address } => {
                // It was kept for this event alone.
                let Some(tile) = self.asynchrony.tiles[tile].take() else { return Ok(()) };
                tile.transfers.iter().for_each(|transfer| self.copy(transfer));
                last += (tile.transfers.len() as u64).saturating_sub(1);
                (pointer, address, tile.bytes)
            }
            What::Store { to, data, ty, bytes, reduce, pointer, address } => {
                self.store_late(to, &data, ty, bytes, reduce);
                (pointer, address, bytes)
            }
        };
        self.observed_counted(event.number..=last, pointer);
        self.change_mbarrier(pointer, address, |word| word.expect(-(bytes as i64)))
            .map_err(|kind| Box::new((kind, lane)))
    }

    /// What is due by the turn `now` happens.
    pub(super) fn occur_until(&mut self, now: u64) -> Result<bool, Box<LaunchFault>> {
        let mut any = false;
        while let Some(next) = (0..self.asynchrony.events.len())
            .min_by_key(|i| (self.asynchrony.events[*i].due, self.asynchrony.events[*i].issued))
            .filter(|i| self.asynchrony.events[*i].due <= now)
        {
            let event = self.asynchrony.events.swap_remove(next);
            self.occur(&event).map_err(|trouble| self.fault(event.w, event.pc, *trouble))?;
            any = true;
        }
        Ok(any)
    }

    /// The turn at which the next event is due.
    pub(super) fn next_event(&self) -> Option<u64> {
        self.asynchrony.events.iter().map(|event| event.due).min()
    }

    /// A block has ended: what its threads left under way completes, unseen by itself.
    pub(in crate::exec) fn end_block(&mut self, slot: u32) {
        if self.asynchrony.copies.is_empty() {
            return;
        }
        let first = self.residents.ctas[slot as usize].first_warp as usize;
        for w in first..first + self.given.plan.warps_per_block as usize {
            self.complete_copies(w, |_| true);
            self.asynchrony.groups[w] = [[0; 32]; 2];
            self.observed_forget_copies(w);
            let mut events = std::mem::take(&mut self.asynchrony.events);
            events.sort_by_key(|event| (event.due, event.issued));
            for event in events {
                if event.w == w {
                    // An mbarrier that counts wrong has nobody left to notice.
                    let _ = self.occur(&event);
                } else {
                    self.asynchrony.events.push(event);
                }
            }
        }
    }

    fn copy(&mut self, transfer: &Transfer) {
        let Some(to) = self.pointer(transfer.to, transfer.bytes) else { return };
        let from = match transfer.from {
            None => None,
            Some(spot) => match self.pointer(spot, transfer.copied) {
                Some(from) => Some(from),
                None => return,
            },
        };
        let (bytes, copied) = (transfer.bytes as usize, transfer.copied as usize);
        // SAFETY: `pointer` answers for so many bytes at either end; they may overlap.
        unsafe {
            match (from, transfer.reduce) {
                (Some(from), Some((op, ty))) => {
                    let size = ty.bytes() as usize;
                    for at in (0..bytes / size).map(|i| i * size) {
                        let old = read_memory(to.add(at), ty.bytes());
                        let value = read_memory(from.add(at), ty.bytes());
                        write_memory(to.add(at), ty.bytes(), combine_elements(op, ty, old, value));
                    }
                    return;
                }
                (Some(from), None) => std::ptr::copy(from, to, copied),
                (None, _) => {}
            }
            to.add(copied).write_bytes(0, bytes - copied);
        }
    }

    fn store_late(&mut self, to: Spot, data: &[u64; 4], ty: Type, bytes: u64, reduce: Option<AtomOp>) {
        let Some(to) = self.pointer(to, bytes) else { return };
        let size = ty.bytes();
        for (i, value) in data.iter().take(bytes as usize / size as usize).enumerate() {
            // SAFETY: checked for so many bytes.
            unsafe {
                let to = to.add(i * size as usize);
                let value = match reduce {
                    Some(op) => combine_elements(op, ty, read_memory(to, size), *value),
                    None => *value,
                };
                write_memory(to, size, value);
            }
        }
    }
}
