//! Where something races: one reading of the accesses, the last write and the reads since for each piece of memory.

use std::ops::Range;

use super::pages::Pages;
use super::{Stamp, fenced, granule, lanes, stamp};
use crate::machine::{Context, Observer};
use crate::program::{Opcode, Packed, SharedAccessKind, SharedAddresses, WarpPrograms};

/// No component.
const NONE: u32 = u32::MAX;

/// Those that only readers or only atomics have made since the last write.
#[derive(Debug, Clone, Copy)]
struct Shared {
    component: u32,
    epoch: u32,
    lanes: u32,
    flags: u32,
}

const ATOMIC: u32 = 1;
const ASYNCHRONOUS: u32 = 2;

/// A piece of memory.
#[derive(Debug, Clone)]
struct Cell {
    write_component: u32,
    write_epoch: u32,
    /// The thread, or none for asynchronous writes.
    write_thread: u32,
    /// Index of further entries, from 1.
    more: u32,
    shared: Shared,
    racy: bool,
}

impl Default for Cell {
    fn default() -> Cell {
        Cell {
            write_component: NONE,
            write_epoch: 0,
            write_thread: NONE,
            more: 0,
            shared: Shared { component: NONE, epoch: 0, lanes: 0, flags: 0 },
            racy: false,
        }
    }
}

/// Watches memory.
#[derive(Debug)]
pub(crate) struct Shadow {
    granule_shift: u32,
    cells: Pages<Cell>,
    more: Vec<Vec<Shared>>,
    /// Accesses that begin at an address.
    begins: Pages<u32>,
    has_async: bool,
}

/// What a chain is while it makes one access.
struct Actor<'a> {
    clock: &'a [u32],
    /// Of the asynchronous proxy: what proxy fences cover.
    fenced: Option<&'a [u32]>,
    stamp: Stamp,
    chain: u32,
    first_thread: u32,
    kind: SharedAccessKind,
}

impl Actor<'_> {
    fn is_after(&self, component: u32, epoch: u32) -> bool {
        epoch < self.clock[component as usize]
    }
    /// Whether a generic write of that component and epoch may be invisible to this access of the asynchronous proxy.
    fn misses(&self, component: u32, epoch: u32) -> bool {
        self.fenced.is_some_and(|f| epoch >= f[component as usize])
    }
    fn flags(&self) -> u32 {
        let atomic = u32::from(self.kind == SharedAccessKind::Atomic) * ATOMIC;
        atomic | (u32::from(self.stamp.asynchronous) * ASYNCHRONOUS)
    }
}

impl Shadow {
    pub(crate) fn new(program: &WarpPrograms) -> Shadow {
        Shadow {
            granule_shift: granule(program).trailing_zeros(),
            cells: Pages::new(),
            more: Vec::new(),
            begins: Pages::new(),
            has_async: false,
        }
    }

    pub(crate) fn granule_shift(&self) -> u32 {
        self.granule_shift
    }

    /// The pieces of memory where something races.
    pub(crate) fn racy(&self) -> Vec<u32> {
        self.cells.iter().filter(|(_, c)| c.racy).map(|(i, _)| i).collect()
    }

    /// Distinct addresses at which accesses begin, and pairs of accesses that begin at the same.
    pub(crate) fn count(&self) -> (u64, u64) {
        let counts = self.begins.iter().map(|(_, &n)| u64::from(n)).filter(|&n| n > 0);
        counts.fold((0, 0), |(a, t), n| (a + 1, t + n * (n - 1) / 2))
    }

    fn access(&mut self, actor: &Actor<'_>, address: u32, size: u32, lanes: u32) {
        *self.begins.get_mut(address) += lanes.count_ones();
        let last = address.wrapping_add(size - 1) >> self.granule_shift;
        let mut cell = address >> self.granule_shift;
        loop {
            self.touch(actor, cell, lanes);
            if cell == last {
                break;
            }
            cell = cell.wrapping_add(1);
        }
    }

    /// Lanes that touch one piece at once.
    #[inline]
    fn touch(&mut self, actor: &Actor<'_>, index: u32, lanes: u32) {
        let cell = self.cells.get_mut(index);
        if cell.racy {
            return;
        }
        let one = lanes.is_power_of_two();
        let thread = actor.first_thread + lanes.trailing_zeros();
        if cell.write_component != NONE
            && !actor.is_after(cell.write_component, cell.write_epoch)
            && !(one && cell.write_thread == thread)
        {
            cell.racy = true;
            return;
        }
        if actor.fenced.is_some() && cell.write_thread != NONE {
            cell.racy |= actor.misses(cell.write_component, cell.write_epoch);
        }
        match actor.kind {
            SharedAccessKind::Write => self.write(actor, index, lanes),
            kind => {
                let shared = Shared {
                    component: actor.stamp.component,
                    epoch: actor.stamp.epoch,
                    lanes,
                    flags: actor.flags(),
                };
                let first = cell.shared;
                let same = first.component == shared.component && first.flags == shared.flags;
                if !self.has_async && kind == SharedAccessKind::Read && cell.more == 0 {
                    if same && first.epoch == shared.epoch {
                        cell.shared.lanes |= lanes;
                        return;
                    }
                    if first.component == NONE || same && actor.is_after(first.component, first.epoch) {
                        cell.shared = shared;
                        return;
                    }
                }
                self.share(actor, index, shared);
            }
        }
    }

    fn write(&mut self, actor: &Actor<'_>, index: u32, lanes: u32) {
        let cell = self.cells.get_mut(index);
        // Two lanes at once write one place.
        let mut racy = !lanes.is_power_of_two();
        let ordered = |shared: &Shared| {
            shared.component == NONE
                || actor.is_after(shared.component, shared.epoch)
                || shared.flags & ASYNCHRONOUS == 0
                    && shared.component == actor.chain
                    && shared.lanes == lanes
        };
        let unfenced = |shared: &Shared| {
            shared.component != NONE && shared.flags == ATOMIC && actor.misses(shared.component, shared.epoch)
        };
        racy |= !ordered(&cell.shared) || unfenced(&cell.shared);
        if cell.more != 0 {
            let more = &mut self.more[cell.more as usize - 1];
            racy |= !more.iter().all(ordered) || more.iter().any(unfenced);
            more.clear();
        }
        cell.racy |= racy;
        cell.shared.component = NONE;
        cell.write_component = actor.stamp.component;
        cell.write_epoch = actor.stamp.epoch;
        cell.write_thread =
            if actor.stamp.asynchronous { NONE } else { actor.first_thread + lanes.trailing_zeros() };
    }

    /// Notes a read or an atomic beside others. An entry that is known to the new one, of the same component and kind, may go:
    /// a write that does not know it does not know the new one either, or is by its thread and so knows both.
    fn share(&mut self, actor: &Actor<'_>, index: u32, new: Shared) {
        let cell = self.cells.get_mut(index);
        // Atomics race with reads, not with each other.
        let racy = |old: &Shared| {
            let own = old.flags & ASYNCHRONOUS == 0
                && old.component == actor.chain
                && old.lanes == new.lanes
                && new.lanes.is_power_of_two();
            (old.flags ^ new.flags) & ATOMIC != 0
                && old.component != NONE
                && (!actor.is_after(old.component, old.epoch) && !own
                    || old.flags == ATOMIC && actor.misses(old.component, old.epoch))
        };
        if racy(&cell.shared) || cell.more != 0 && self.more[cell.more as usize - 1].iter().any(racy) {
            cell.racy = true;
            return;
        }
        let merges =
            |old: &Shared| old.component == new.component && old.flags == new.flags && old.epoch == new.epoch;
        let gives_way = |old: &Shared| {
            old.component == NONE
                || old.component == new.component
                    && old.flags == new.flags
                    && actor.is_after(old.component, old.epoch)
        };
        if merges(&cell.shared) {
            cell.shared.lanes |= new.lanes;
            return;
        }
        if cell.more == 0 && gives_way(&cell.shared) {
            cell.shared = new;
            return;
        }
        if cell.more == 0 {
            self.more.push(Vec::new());
            cell.more = self.more.len() as u32;
        }
        let more = &mut self.more[cell.more as usize - 1];
        if let Some(old) = more.iter_mut().find(|old| merges(old)) {
            old.lanes |= new.lanes;
        } else if let Some(old) = more.iter_mut().find(|old| gives_way(old)) {
            *old = new;
        } else if gives_way(&cell.shared) {
            cell.shared = new;
        } else {
            more.push(new);
        }
    }

    /// Leaves places to the second reading.
    fn give_up(&mut self, addresses: SharedAddresses<'_>, size: u32, on: u32) {
        for lane in lanes(on) {
            let address = addresses.lane(lane);
            let last = address.wrapping_add(size - 1) >> self.granule_shift;
            (address >> self.granule_shift..=last).for_each(|cell| self.cells.get_mut(cell).racy = true);
        }
    }

    fn command(&mut self, actor: &Actor<'_>, addresses: SharedAddresses<'_>, packed: &Packed, on: u32) {
        let size = packed.size();
        match addresses {
            SharedAddresses::Affine { base, stride: 0 } => self.access(actor, base, size, on),
            SharedAddresses::Affine { base, stride } => {
                for lane in lanes(on) {
                    let address = base.wrapping_add((stride as u32).wrapping_mul(lane));
                    self.access(actor, address, size, 1 << lane);
                }
            }
            SharedAddresses::Each(all) => {
                for lane in lanes(on) {
                    self.access(actor, all[lane as usize], size, 1 << lane);
                }
            }
        }
    }
}

impl Observer for Shadow {
    fn accesses(&mut self, context: &mut Context<'_>, range: Range<usize>) {
        let warp = &context.program.warps()[context.own.warp as usize];
        for (index, packed) in range.clone().zip(&warp.packed()[range]) {
            let on = packed.lanes & context.own.lanes;
            if on == 0 || packed.opcode() != Opcode::Access {
                continue;
            }
            let stamp = stamp(context, packed, index);
            self.has_async |= stamp.asynchronous;
            if Some(stamp.component) == context.layout.never {
                // What comes later is after others of its thread, and not after this: the second reading tells them apart.
                self.give_up(warp.addresses_of(packed), packed.size(), on);
                continue;
            }
            let actor = Actor {
                clock: context.clock,
                fenced: fenced(context, packed),
                stamp,
                chain: context.chain,
                first_thread: context.own.warp * 32,
                kind: packed.kind(),
            };
            self.command(&actor, warp.addresses_of(packed), packed, on);
        }
    }
}
