//! Records to events.
//!
//! What a record is about stands in the injector's table, by the record's place. A compare-and-swap is told before it is done, and
//! who of its lanes has written, behind it: until that is known, it and all records behind it are kept.

use std::collections::VecDeque;

use bugaroo_device_handlers::logging::{record, word};
use bugaroo_injector::logging::{RecordPlace, Told};
use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::Type;
use bugaroo_semantics::effect::{Stated, acquires, releases};
use bugaroo_semantics::event::{
    Access, AccessKind, Addresses, Event, Lanes, Shape, SiteNumber, Values, WhoseBytes, WorkId, each,
};
use bugaroo_semantics::parts::PartsTurn;
use bugaroo_semantics::scope::Strength;
use bugaroo_semantics::{Observer, Wants};

use super::slots::Slots;
use super::tail::Record;
use super::waiting::{At, Party};
use crate::trial::logging::broken::Broken;

/// A launch that logs.
#[derive(Clone, Debug)]
pub struct LoggedLaunch {
    /// What observers know it by.
    pub grid: WorkId,
    /// Its size: `ctas` is the most blocks that are in progress at once, and `cluster` is 1.
    pub shape: Shape,
    /// Warps run in lockstep.
    pub lockstep: bool,
    /// What observers know the program's instruction 0 by.
    pub first_site: SiteNumber,
    /// Generic addresses below this are no global memory: on the virtual GPU, kernel parameters.
    pub global_from: u64,
    /// What records are about, by place.
    pub places: Vec<Option<RecordPlace>>,
    /// What observers know the instruction of each place by.
    pub sites: Vec<SiteNumber>,
}

/// Turns the records of a launch into events.
#[derive(Debug)]
pub struct RecordStream {
    launch: LoggedLaunch,
    wants: Wants,
    slots: Slots,
    /// Records that wait for the outcome of the first of them.
    held: VecDeque<Held>,
}

/// A record that is not told yet.
#[derive(Debug)]
struct Held {
    ticket: u64,
    record: Record,
    /// Lanes of a compare-and-swap whose outcome is not known.
    open: u32,
    /// Lanes that have written, where only some have.
    wrote: Option<u32>,
}

/// The values of an access, as far as they are known.
struct Agreed<'a>(&'a [u64; 32]);

impl Values for Agreed<'_> {
    /// The same number for lanes that are known to agree, else one of its own for each lane.
    fn value(&self, lane: u32, _element: u32) -> u128 {
        if self.0[lane as usize] & word::SAME != 0 { 0 } else { u128::from(lane) + 1 }
    }
}

impl RecordStream {
    /// The launch begins.
    ///
    /// # Errors
    /// [`Broken::Warps`]
    pub fn new(launch: LoggedLaunch, observer: &mut dyn Observer) -> Result<RecordStream, Broken> {
        let shape = launch.shape;
        let warps = shape.blocks.saturating_mul(shape.warps_per_cta.into());
        if warps > 1 << 32 || shape.warps_per_cta == 0 {
            return Err(Broken::Warps(warps));
        }
        let LoggedLaunch { grid, lockstep, first_site, .. } = launch;
        observer.event(&Event::GridBegin { grid, shape, lockstep, first_site });
        let wants = observer.wants();
        Ok(RecordStream { wants, launch, slots: Slots::default(), held: VecDeque::new() })
    }

    /// The next record.
    ///
    /// # Errors
    /// Where it is none that the module's code writes.
    pub fn record(
        &mut self,
        (ticket, record): (u64, Record),
        observer: &mut dyn Observer,
    ) -> Result<(), Broken> {
        let told = self.told(ticket, &record)?.map(|(place, _)| place.told);
        if let Some(Told::Outcome) = told {
            self.outcome(ticket, &record)?;
        } else {
            let cas =
                matches!(told, Some(Told::Access(Stated { kind: AccessKind::Atomic(AtomOp::Cas), .. })));
            let (open, wrote) = if cas { (record.lanes, Some(0)) } else { (0, None) };
            self.held.push_back(Held { ticket, record, open, wrote });
        }
        while self.held.front().is_some_and(|held| held.open == 0) {
            let Some(held) = self.held.pop_front() else { break };
            self.tell(&held, observer)?;
        }
        Ok(())
    }

    /// Nothing more comes: what is still open has not been done, and is not told.
    pub fn finish(self, observer: &mut dyn Observer) {
        observer.event(&Event::GridEnd { grid: self.launch.grid });
    }

    /// What a record is about, and where; None for the beginning of threads.
    fn told(&self, ticket: u64, record: &Record) -> Result<Option<(RecordPlace, SiteNumber)>, Broken> {
        if record.place == record::BEGIN {
            return Ok(None);
        }
        let at = record.place as usize;
        let place = self.launch.places.get(at).copied().flatten().zip(self.launch.sites.get(at).copied());
        if place.is_none() || record.lanes == 0 {
            return Err(Broken::Damaged { ticket, what: "its place is none" });
        }
        Ok(place)
    }

    /// Which lanes of a compare-and-swap have written.
    fn outcome(&mut self, ticket: u64, record: &Record) -> Result<(), Broken> {
        let access = record.place.wrapping_sub(1);
        let mut lanes = record.lanes;
        for held in &mut self.held {
            let its = held.open & lanes;
            if held.record.warp != record.warp || held.record.place != access || its == 0 {
                continue;
            }
            held.open &= !its;
            lanes &= !its;
            let wrote = each(its).filter(|lane| record.words[*lane as usize] != 0);
            let wrote = wrote.fold(0, |mask, lane| mask | 1 << lane);
            held.wrote = Some(held.wrote.unwrap_or(0) | wrote);
        }
        if lanes == 0 { Ok(()) } else { Err(Broken::Damaged { ticket, what: "an outcome of nothing" }) }
    }

    fn tell(&mut self, held: &Held, observer: &mut dyn Observer) -> Result<(), Broken> {
        let Held { ticket, record, .. } = held;
        let damaged = |what| Broken::Damaged { ticket: *ticket, what };
        let Shape { warps_per_cta, threads_per_cta, blocks, .. } = self.launch.shape;
        let grid = self.launch.grid;
        let block = u64::from(record.warp / warps_per_cta);
        let index = record.warp % warps_per_cta;
        if block >= blocks {
            return Err(damaged("its block is none"));
        }
        let told = self.told(*ticket, record)?;
        if told.is_none() && self.slots.get(block).is_none() {
            let cta = self.slots.begin(block, threads_per_cta);
            if cta >= self.launch.shape.ctas {
                return Err(damaged("more blocks at once than there can be"));
            }
            observer.event(&Event::BlockBegin { grid, cta, block });
        }
        let known = self.slots.get(block).ok_or_else(|| damaged("its block has not begun"))?;
        let Some((place, site)) = told else { return Ok(()) };
        let cta = known.slot;
        let by = Lanes {
            grid,
            warp: cta * warps_per_cta + index,
            cta,
            block,
            first: index * 32,
            mask: record.lanes,
        };
        let in_lockstep = self.launch.lockstep && self.wants.branches;
        if let Some(warp) = known.warps.get_mut(index as usize).filter(|_| in_lockstep) {
            warp.parts.run(record.lanes, !place.guarded, warp.alive, |turn| {
                let event = match turn {
                    PartsTurn::Else(mask) => Event::Else(Lanes { mask, ..by }),
                    PartsTurn::Join(mask) => Event::Join(Lanes { mask, ..by }),
                    PartsTurn::Part { by: mask, first } => {
                        Event::Split { by: Lanes { mask, ..by }, site, taken: first, first }
                    }
                };
                observer.event(&event);
            });
        }
        match place.told {
            Told::Access(stated) => access(by, site, (stated, self.launch.global_from), held, observer),
            Told::Outcome => {}
            Told::Fence(fence) => observer.event(&Event::Fence { by, site, fence }),
            Told::ProxyFence => observer.event(&Event::ProxyFence { by, site }),
            Told::Arrive { waits, .. } => {
                for (barrier, by) in parts(by, record) {
                    observer.event(&Event::Arrive { by, site, barrier, waits });
                    if waits {
                        known.waiting.comes(At::Barrier(barrier), Party { by, site });
                    }
                }
            }
            Told::Leave => {
                for (barrier, by) in parts(by, record) {
                    for Party { by, .. } in known.waiting.goes_on(At::Barrier(barrier), by) {
                        observer.event(&Event::Leave { by, barrier });
                    }
                }
            }
            Told::Meet => {
                for (mask, by) in parts(by, record) {
                    known.waiting.comes(At::Meeting(by.warp, mask), Party { by, site });
                }
            }
            Told::Met => {
                // With which mask they have met, the place behind does not say over again: it has the same operand.
                for (mask, by) in parts(by, record) {
                    for Party { by, site } in known.waiting.goes_on(At::Meeting(by.warp, mask), by) {
                        observer.event(&Event::WarpBarrier { by, site });
                    }
                }
            }
            Told::Branch { taken_first } => {
                let taken = each(by.mask).filter(|lane| record.words[*lane as usize] != 0);
                let taken = taken.fold(0, |mask, lane| mask | 1 << lane);
                if self.wants.branches && taken != 0 && taken != by.mask {
                    let mut first = 0;
                    if let Some(warp) = known.warps.get_mut(index as usize).filter(|_| in_lockstep) {
                        first = if taken_first { taken } else { by.mask & !taken };
                        warp.parts.split(by.mask, first);
                    }
                    observer.event(&Event::Split { by, site, taken, first });
                }
            }
            // What it says of who are together is told.
            Told::Join => {}
            Told::Exit => {
                observer.event(&Event::Exit(by));
                if let Some(warp) = known.warps.get_mut(index as usize) {
                    warp.alive &= !by.mask;
                }
                known.threads = known.threads.saturating_sub(by.mask.count_ones());
                if known.threads == 0 {
                    self.slots.end(block);
                    observer.event(&Event::BlockEnd { grid, cta });
                }
            }
        }
        Ok(())
    }
}

/// The lanes by their word, in the order of the first of each.
fn parts(by: Lanes, record: &Record) -> Vec<(u32, Lanes)> {
    let mut parts: Vec<(u32, Lanes)> = Vec::new();
    for lane in each(by.mask) {
        let word = record.words[lane as usize] as u32;
        match parts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, lanes)) => lanes.mask |= 1 << lane,
            None => parts.push((word, Lanes { mask: 1 << lane, ..by })),
        }
    }
    parts
}

/// Tells an access: once for global memory and once for shared memory, where lanes go to both.
fn access(
    by: Lanes,
    site: SiteNumber,
    (stated, global_from): (Stated, u64),
    held: &Held,
    observer: &mut dyn Observer,
) {
    let Stated { kind, semantics, ty, elements, .. } = stated;
    // A packed atomic is one of each of its elements (PTX ISA, "Packed Data-types").
    let packed = matches!(kind, AccessKind::Atomic(_)) && matches!(ty, Type::F16x2 | Type::BF16x2);
    let (size, parts) = if packed { (2, 2) } else { (ty.bytes(), 1) };
    let words = &held.record.words;
    let addresses: [u64; 32] = words.map(|one| one & word::ADDRESS);
    let shared = |lane: &u32| words[*lane as usize] & word::SHARED != 0;
    let mut rest = by.mask;
    while rest != 0 {
        let first = rest.trailing_zeros();
        let private = |lane: &u32| {
            let word = words[*lane as usize];
            word & word::PRIVATE != 0 || word & word::SHARED == 0 && word & word::ADDRESS < global_from
        };
        let seen = !private(&first);
        let alike = |lane: &u32| private(lane) != seen && (!seen || shared(lane) == shared(&first));
        let mask = each(rest).filter(alike).fold(0, |mask, lane| mask | 1 << lane);
        rest &= !mask;
        if !seen {
            continue;
        }
        let wrote = if kind.writes() { held.wrote.unwrap_or(mask) & mask } else { 0 };
        for part in 0..parts {
            let addresses = addresses.map(|address| address + u64::from(part * size));
            observer.access(&Access {
                by: Lanes { mask, ..by },
                site,
                kind,
                strength: Strength::of(semantics),
                acquire: acquires(semantics),
                release: releases(semantics),
                memory: if shared(&first) { WhoseBytes::Shared(by.cta) } else { WhoseBytes::Global },
                size,
                elements: elements.into(),
                at: pattern(&addresses, mask, size * u32::from(elements)),
                wrote,
                held: 0,
                own: 0,
                sourced: 0,
                numbers: None,
                values: &Agreed(words),
            });
        }
    }
}

/// Where these lanes go, as shortly as it can be said: observers are told it so by the engine, too.
fn pattern(addresses: &[u64; 32], mask: u32, bytes: u32) -> Addresses<'_> {
    let Some(low) = each(mask).next() else { return Addresses::Each(addresses) };
    let one = addresses[low as usize];
    let first = one.wrapping_sub(u64::from(low * bytes));
    let all = |is: &dyn Fn(u32, u64) -> bool| each(mask).all(|lane| is(lane, addresses[lane as usize]));
    if all(&|lane, address| address == first.wrapping_add(u64::from(lane * bytes))) {
        Addresses::Consecutive(first)
    } else if all(&|_, address| address == one) {
        Addresses::Same(one)
    } else {
        Addresses::Each(addresses)
    }
}
