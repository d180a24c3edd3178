//! Asynchronous copies and `mbarrier` (PTX ISA, "Asynchronous Operations", "cp.async", "mbarrier").
//!
//! A copy either completes where it is issued or, with [`crate::DeviceConfig::late_copies`] and by a coin, as
//! late as the ISA allows: a `cp.async` or a copy of a bulk group when its thread waits for its group, or when
//! a `cp.async.mbarrier.arrive` behind it takes effect; a copy that counts on an mbarrier a random number of
//! turns later, or when nobody can do anything else. Source and destination are read and written then, not
//! before: a program that looks at the data without waiting sees the old, one that changes the source
//! early copies the new. A copy for which nobody waits completes when its block ends.
//!
//! Who waits for a phase of an mbarrier leaves the scheduler, until the phase has passed or a random number of
//! turns has (`test_wait` mostly answers at once; the ISA lets `try_wait` return early, too). When nobody can
//! run, all of them are woken, and the time of `%globaltimer` passes, doubled each time. When then all come
//! back with registers that hold what they held before, or have come back 4,096 times, it is a deadlock.
//!
//! What it can miss: that generic and asynchronous accesses go through different proxies. A missing
//! `fence.proxy.async` shows nothing.

mod copies;
mod mbarrier;
mod tensor;
mod waiting;

use bugaroo_ptx::types::{Space, Type};

use super::data::{lanes, read_lane, row, write_lane};
use super::step::Flow;
use super::{Machine, Trouble};
use crate::alu::Width;
use crate::decoded::{Address, Asynchronous, Base};
use crate::fault::{StopKind, TouchKind};
use crate::load::Program;
use crate::schedule::Rng;
use copies::Tile;
use copies::{Copy, Event};
pub(super) use copies::{Transfer, What};
use tensor::TensorCopy;
use waiting::Waiter;

/// What is under way.
#[derive(Debug)]
pub(super) struct Asynchrony {
    rng: Rng,
    /// Copies that have not been done, by warp.
    copies: Vec<Vec<Copy>>,
    /// Groups that each lane of a warp has committed: of `cp.async`, of bulk copies.
    groups: Vec<[[u32; 32]; 2]>,
    /// What happens on its own.
    events: Vec<Event>,
    /// Boxes of tensors among that.
    tiles: Vec<Option<Tile>>,
    waiters: Vec<Waiter>,
    /// The turn at which the first event or waiter is due.
    pub due: u64,
    /// Nanoseconds that passed while everybody waited.
    pub skew: u64,
    vain: Vain,
    issued: u64,
}

/// Waiting in vain.
#[derive(Debug, Default)]
struct Vain {
    /// Times in a row.
    rounds: u32,
    /// What the registers held the last time.
    held: u64,
}

impl Asynchrony {
    pub fn new(program: &Program, warps: usize) -> Asynchrony {
        let warps = if program.asyncs.is_empty() { 0 } else { warps };
        Asynchrony {
            rng: Rng::new(0),
            copies: (0..warps).map(|_| Vec::new()).collect(),
            groups: vec![[[0; 32]; 2]; warps],
            events: Vec::new(),
            tiles: Vec::new(),
            waiters: Vec::new(),
            due: u64::MAX,
            skew: 0,
            vain: Vain::default(),
            issued: 0,
        }
    }

    /// Keeps a box until it is copied; answers its number.
    fn keep(&mut self, tile: Tile) -> usize {
        let free = self.tiles.iter().position(Option::is_none).unwrap_or(self.tiles.len());
        if free == self.tiles.len() {
            self.tiles.push(None);
        }
        self.tiles[free] = Some(tile);
        free
    }

    /// What a box moves, by its number.
    pub fn transfers_of(&self, tile: usize) -> Vec<Transfer> {
        self.tiles[tile].as_ref().map_or_else(Vec::new, |tile| tile.transfers.to_vec())
    }

    /// The launch's random bits.
    pub fn seed(&mut self, bits: u64) {
        self.rng = Rng::new(bits ^ 0x5bd1_e995_9d1b_54a3);
    }

    /// No copy is under way, and nothing will happen on its own.
    pub fn is_settled(&self) -> bool {
        self.events.is_empty() && self.copies.iter().all(Vec::is_empty)
    }

    /// Something happened that waiting threads may have waited for.
    pub fn progress(&mut self) {
        self.vain.rounds = 0;
    }
}

impl Machine<'_> {
    /// One such instruction of a fragment's active lanes.
    pub(super) fn asynchronous(
        &mut self,
        w: usize,
        fragment: usize,
        index: u32,
        active: u32,
    ) -> Result<Flow, Trouble> {
        let program = self.given.program;
        let frame = self.residents.warps[w].fragments[fragment].rows;
        let pc = self.residents.warps[w].fragments[fragment].pc;
        let consts = self.given.constants.base();
        // SAFETY: the loader's slot, 32 bits wide.
        let value = |slot: i32, lane| unsafe { read_lane(row(frame, consts, slot), Width::W32, lane) as u32 };
        let trouble = |lane: usize| move |kind: StopKind| Box::new((kind, lane as u32));
        match &program.asyncs[index as usize] {
            Asynchronous::Mbarrier { op, address, value, dst, order } => {
                return self.mbarrier((w, fragment, active), (*op, *order), address, *value, *dst);
            }
            Asynchronous::PendingCount { state, dst } => {
                for lane in lanes(active) {
                    // SAFETY: a 64-bit source, a 32-bit destination.
                    unsafe {
                        let state = read_lane(row(frame, consts, *state), Width::W64, lane);
                        let count = u64::from(mbarrier::pending(state));
                        write_lane(frame.add(*dst as usize), Width::W32, lane, count);
                    }
                }
                return Ok(Flow::Next);
            }
            Asynchronous::Commit { bulk } => {
                let groups = &mut self.asynchrony.groups[w][usize::from(*bulk)];
                lanes(active).for_each(|lane| groups[lane] += 1);
                return Ok(Flow::Next);
            }
            Asynchronous::Wait { bulk, keep, read } => {
                let groups = &mut self.asynchrony.groups[w][usize::from(*bulk)];
                // Waiting for all commits first.
                lanes(active).for_each(|lane| groups[lane] += u32::from(keep.is_none()));
                let limits = groups.map(|committed| committed.saturating_sub(keep.unwrap_or(0)));
                self.complete_copies(w, |copy| {
                    let waits = copy.bulk == *bulk && active >> copy.lane & 1 != 0;
                    waits && copy.group < limits[copy.lane as usize]
                });
                for lane in lanes(active) {
                    self.observed_awaited((w, lane as u32), *bulk, limits[lane], *read);
                }
            }
            Asynchronous::Copy { dst, src, bytes, src_bytes, ignore } => {
                for lane in lanes(active) {
                    let ignored = ignore.is_some_and(|(slot, negated)| {
                        // SAFETY: a predicate slot.
                        let bits = unsafe { *row(frame, consts, slot).cast::<u32>() };
                        (bits >> lane & 1 != 0) != negated
                    });
                    let copied = src_bytes.map_or(*bytes, |slot| value(slot, lane).min(*bytes));
                    let copied = if ignored { 0 } else { copied };
                    let (whole, part) = (u64::from(*bytes), u64::from(copied));
                    let to = self.lane_address(w, frame, dst, lane);
                    let from = self.lane_address(w, frame, src, lane);
                    let transfer = self
                        .transfer(w, (dst.space, to), (src.space, from), whole, part, whole)
                        .map_err(trouble(lane))?;
                    self.issue((w, lane as u32, pc), false, transfer);
                }
            }
            Asynchronous::Arrive { address, noinc } => {
                for lane in lanes(active) {
                    let at = self.lane_address(w, frame, address, lane);
                    let pointer = self.mbarrier_pointer(w, address.space, at).map_err(trouble(lane))?;
                    if !*noinc {
                        self.change_mbarrier(pointer, at, |word| {
                            word.pending += 1;
                            if word.pending > mbarrier::MOST {
                                Err("counts more arrivals than it can")
                            } else {
                                Ok(())
                            }
                        })
                        .map_err(trouble(lane))?;
                    }
                    self.happen(w, lane as u32, pc, What::Arrive { pointer, address: at })?;
                }
            }
            Asynchronous::Bulk { dst, src, bytes, mbarrier, reduce, .. } => {
                for lane in lanes(active) {
                    let bytes = u64::from(value(*bytes, lane));
                    let to = self.lane_address(w, frame, dst, lane);
                    let from = self.lane_address(w, frame, src, lane);
                    let mut transfer = self
                        .transfer(w, (dst.space, to), (src.space, from), bytes, bytes, 16)
                        .map_err(trouble(lane))?;
                    transfer.reduce = *reduce;
                    match mbarrier {
                        None => self.issue((w, lane as u32, pc), true, transfer),
                        Some(address) => {
                            let at = self.lane_address(w, frame, address, lane);
                            let pointer =
                                self.mbarrier_pointer(w, address.space, at).map_err(trouble(lane))?;
                            let what = What::Transfer { transfer, pointer, address: at };
                            self.happen(w, lane as u32, pc, what)?;
                        }
                    }
                }
            }
            Asynchronous::Tensor { map, coordinates, shared, mbarrier, reduce } => {
                for lane in lanes(active) {
                    let each = coordinates.iter().map(|slot| i64::from(value(*slot, lane).cast_signed()));
                    let copy = TensorCopy {
                        map: self.lane_address(w, frame, map, lane),
                        coordinates: &each.collect::<Vec<_>>(),
                        shared: (shared.space, self.lane_address(w, frame, shared, lane)),
                        reduce: *reduce,
                    };
                    let mbarrier = mbarrier.as_ref().map(|at| (at, self.lane_address(w, frame, at, lane)));
                    self.tensor_copy((w, lane, pc), &copy, mbarrier)?;
                }
            }
            Asynchronous::Store { dst, ty, sources, mbarrier, reduce } => {
                for lane in lanes(active) {
                    let mut data = [0; 4];
                    for (word, (slot, width)) in data.iter_mut().zip(sources) {
                        // SAFETY: the loader recorded each row with its width.
                        *word = unsafe { read_lane(row(frame, consts, *slot), *width, lane) };
                    }
                    let bytes = u64::from(ty.bytes()) * sources.len() as u64;
                    let to = self.lane_address(w, frame, dst, lane);
                    let to =
                        self.spot(w, dst.space, to, bytes, bytes, TouchKind::Write).map_err(trouble(lane))?;
                    let at = self.lane_address(w, frame, mbarrier, lane);
                    let pointer = self.mbarrier_pointer(w, mbarrier.space, at).map_err(trouble(lane))?;
                    let what =
                        What::Store { to, data, ty: *ty, bytes, reduce: *reduce, pointer, address: at };
                    self.happen(w, lane as u32, pc, what)?;
                }
            }
            Asynchronous::Warpgroup(_) => unreachable!("only in programs that are never launched"),
        }
        Ok(Flow::Visible)
    }

    /// The address that a lane gives, in the space of the operand.
    pub(super) fn lane_address(&self, w: usize, frame: *const u8, address: &Address, lane: usize) -> u64 {
        let consts = self.given.constants.base();
        // SAFETY: the loader's slots, of these widths.
        let base = unsafe {
            match address.base {
                Base::Row64(slot) => read_lane(row(frame, consts, slot), Width::W64, lane),
                Base::Row32(slot) => {
                    let base = read_lane(row(frame, consts, slot), Width::W32, lane);
                    return super::resolve::sum32(base as u32, address.offset);
                }
                Base::Fixed => 0,
                Base::FrameLocal => self.local_base(w, frame),
            }
        };
        base.wrapping_add(address.offset)
    }

    /// Checks a copy.
    #[inline(always)]
    fn transfer(
        &self,
        w: usize,
        to: (Space, u64),
        from: (Space, u64),
        bytes: u64,
        copied: u64,
        align: u64,
    ) -> Result<Transfer, StopKind> {
        Ok(Transfer {
            to: self.spot(w, to.0, to.1, bytes, align, TouchKind::Write)?,
            from: match copied {
                0 => None,
                _ => Some(self.spot(w, from.0, from.1, copied, align, TouchKind::Read)?),
            },
            bytes,
            copied,
            reduce: None::<(bugaroo_ptx::op::AtomOp, Type)>,
        })
    }
}
