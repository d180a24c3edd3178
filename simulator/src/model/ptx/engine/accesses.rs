//! Loads, stores and atomics, lane by lane: what the machine has to know of each, and what comes back.

use super::bytes::{Seen, WIDEST, Where, find, order, packed, parts, unpacked};
use super::late::Pending;
use super::{At, PtxModel};
use crate::exec::lanes;
use crate::model::notes::Note;
use crate::model::ptx::kept::AtOnce;
use crate::model::ptx::{AtomicOrder, GranuleSpan, Loaded, Location, PlainMemory, Strength};
use crate::model::{Accessed, Poll};

/// The elements of an access that are in its part from this byte on.
fn elements(access: &Accessed<'_>, done: u32) -> u8 {
    let (first, end) = (done / access.size, (done + WIDEST) / access.size);
    (first..end.clamp(first + 1, access.elements.max(first + 1))).fold(0, |all, element| all | 1 << element)
}

impl PtxModel {
    /// Whether lanes that hold nothing back load where nothing has a history: the engine's business alone.
    pub(super) fn nothing_known(&self, at: &At, access: &Accessed<'_>) -> bool {
        let warp = at.warp as usize;
        if (self.busy(at) | self.warps.staying[warp]) & at.lanes != 0 || !self.warps.pending[warp].is_empty()
        {
            return false;
        }
        let mut last = None;
        lanes(at.lanes).all(|lane| match find(at, access.address(lane)) {
            Where::Private => true,
            Where::Elsewhere => false,
            Where::Here(first, _) => {
                let row = first.row();
                // Lanes mostly touch the same row.
                last == Some(row) || {
                    last = Some(row);
                    self.machine.knows_nothing_of(row)
                }
            }
        })
    }

    /// Where a lane's access begins: a granule, and the byte in it. None where the machine has nothing to do with it; memory
    /// of another block of the cluster orders.
    fn place(
        &mut self,
        at: &At,
        lane: usize,
        address: u64,
        memory: &mut Seen<'_, '_>,
    ) -> Option<(Location, u32)> {
        match find(at, address) {
            Where::Private => None,
            Where::Elsewhere => {
                self.opaque(at, 1 << lane, memory);
                None
            }
            Where::Here(first, byte) => Some((first, byte)),
        }
    }

    /// What comes before a lane's load: what is due of its thread happens, and so does what waits of a part of these bytes. All lanes
    /// come here before one of them reads: what is read is not to change any more then.
    pub(super) fn begin_load(
        &mut self,
        at: &At,
        (lane, address): (usize, u64),
        access: &Accessed<'_>,
        memory: &mut Seen<'_, '_>,
    ) {
        let Some((first, byte)) = self.place(at, lane, address, memory) else { return };
        let (slot, bytes) = (Self::slot(at, lane), access.bytes());
        self.machine.step(memory, slot, Some(GranuleSpan::new(first, byte, bytes)));
        parts(first, byte, bytes).for_each(|(_, span)| self.machine.write_partly_own(memory, slot, span));
        self.settle(at, lane);
    }

    /// A lane's load, behind [`Self::begin_load`]. It is late where the number of its space says how often the lane stays for it;
    /// answers whether it has been given its value.
    pub(super) fn load_lane(
        &mut self,
        at: &At,
        (lane, address): (usize, u64),
        late: [Option<u32>; 2],
        access: &Accessed<'_>,
        memory: &mut Seen<'_, '_>,
    ) -> bool {
        let Where::Here(first, byte) = find(at, address) else { return false };
        let (late, bytes) = (late[first.space as usize], access.bytes());
        let (strength, acquire, _) = order(access.semantics);
        let slot = Self::slot(at, lane);
        let weak = strength == Strength::Weak;
        if late.is_none() {
            let span = GranuleSpan::new(first, byte, bytes);
            // What is held back from beyond the device, memory does not hold; and whoever looks on wants to be told.
            let direct = bytes == 4 && access.elements == 1 && !acquire && memory.is_memory_itself();
            let held = || direct.then(|| access.read(lane, 0) as u32);
            match self.machine.at_once(slot, span, (weak, true), held) {
                AtOnce::Memory => return false,
                AtOnce::Value(value) => {
                    access.supply(lane, 0, value.into());
                    return true;
                }
                AtOnce::No => {}
            }
        }
        let chances = self.chances(at, first.space, weak);
        self.machine.set_chances(if late.is_some() { chances.certainly_late() } else { chances });
        self.tokens += u64::from(late.is_some());
        let token = late.map(|_| self.tokens);
        let mut values = [0; 2];
        for ((done, span), value) in parts(first, byte, bytes).zip(&mut values) {
            self.machine.believe(memory, span);
            if let Some(notes) = memory.notes() {
                notes.elements = elements(access, done);
            }
            match self.machine.load_now(memory, slot, span, (strength, acquire), at.pc, token) {
                Loaded::Now(loaded) => *value = packed(span, loaded),
                Loaded::Late => {
                    let pending = Pending {
                        lane: lane as u32,
                        token: self.tokens,
                        registers: access.registers().expect("it is a load"),
                        until: self.given.facts.until[at.pc as usize],
                        stays: late.unwrap_or(0),
                    };
                    self.warps.pending[at.warp as usize].push(pending);
                    if let Some(notes) = memory.notes() {
                        notes.push(Note::Sourced(u8::MAX));
                    }
                    self.settle(at, lane);
                    return true;
                }
            }
        }
        for element in 0..access.elements {
            let byte = element * access.size;
            let value = values[(byte / WIDEST) as usize] >> (8 * (byte % WIDEST));
            access.supply(lane, element, value as u64);
        }
        self.settle(at, lane);
        true
    }

    /// A lane's store; answers whether it has been done.
    pub(super) fn store_lane(
        &mut self,
        at: &At,
        (lane, address): (usize, u64),
        access: &Accessed<'_>,
        memory: &mut Seen<'_, '_>,
    ) -> bool {
        let Some((first, byte)) = self.place(at, lane, address, memory) else { return false };
        let (strength, _, release) = order(access.semantics);
        self.machine.set_chances(self.chances(at, first.space, strength == Strength::Weak));
        self.machine.begin_naming();
        let (slot, bytes) = (Self::slot(at, lane), access.bytes());
        // Most are of this kind.
        if bytes == 4 && access.elements == 1 && memory.is_memory_itself() {
            let span = GranuleSpan::new(first, byte, bytes);
            if !self.machine.agrees(first, access.read(lane, 0) as u32) {
                self.machine.believe(memory, span);
            }
            let value = [access.value(lane, 0) as u32, 0, 0, 0];
            self.machine.store(memory, slot, span, value, (strength, release), at.pc);
            self.settle(at, lane);
            return true;
        }
        for (done, span) in parts(first, byte, bytes) {
            let elements = (done / access.size)..access.elements.min((done + WIDEST) / access.size);
            let whole = elements.fold(0, |whole, element| {
                whole | u128::from(access.value(lane, element)) << (8 * (element * access.size - done))
            });
            self.machine.believe(memory, span);
            self.machine.store(memory, slot, span, unpacked(span, whole), (strength, release), at.pc);
        }
        self.settle(at, lane);
        true
    }

    /// See [`crate::model::MemoryModel::polls`].
    pub(super) fn polls_by_atomic(&mut self, at: &At, poll: &Poll, times: u32) -> bool {
        let warp = at.warp as usize;
        let idle =
            (self.busy(at) | self.warps.staying[warp]) & at.lanes == 0 && self.warps.pending[warp].is_empty();
        if !(idle && poll.compares) {
            return false;
        }
        let Where::Here(first, byte) = find(at, poll.address) else { return false };
        let (Strength::Strong(scope), acquire, release) = order(poll.semantics) else { return false };
        let (span, order) =
            (GranuleSpan::new(first, byte, poll.bytes), AtomicOrder { scope, acquire, release });
        let [value, ..] = unpacked(span, poll.value.into());
        let slots = lanes(at.lanes).map(|lane| Self::slot(at, lane));
        slots.clone().all(|slot| self.machine.atomic_is_idle(slot, span, order, value))
            && self.machine.count_idle_atomics(slots, order, times)
    }

    /// A lane's atomic; answers whether it has been done.
    pub(super) fn atomic_lane(
        &mut self,
        at: &At,
        (lane, address): (usize, u64),
        access: &Accessed<'_>,
        memory: &mut Seen<'_, '_>,
    ) -> bool {
        let Some((first, byte)) = self.place(at, lane, address, memory) else { return false };
        let span = GranuleSpan::new(first, byte, access.bytes());
        let (strength, acquire, release) = order(access.semantics);
        let Strength::Strong(scope) = strength else {
            self.opaque(at, 1 << lane, memory);
            return false;
        };
        self.machine.set_chances(self.chances(at, first.space, false));
        let as_known = access.bytes() == 4
            && memory.holds_all()
            && self.machine.agrees(first, access.read(lane, 0) as u32);
        if !as_known {
            self.machine.believe(memory, span);
        }
        let order = AtomicOrder { scope, acquire, release };
        let old = self.machine.atomic(memory, Self::slot(at, lane), span, order, at.pc, |old| {
            let old = packed(span, old);
            let new = access.combine(lane, old);
            (!access.compares() || new != old).then(|| unpacked(span, new))
        });
        access.give_old(lane, packed(span, old));
        self.settle(at, lane);
        true
    }
}
