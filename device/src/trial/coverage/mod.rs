//! Coverage of a launch: what of its threads' communication it has shown, as a small set of numbers.
//!
//! A fuzzer's measure for interleavings instead of branches. Sources: the reads-from pairs of Wolff, Shi, Duck, Mathur, Roychoudhury,
//! "Greybox Fuzzing for Concurrency Testing" (ASPLOS 2024); the bucketed counts of AFL. It departs from both: stale reads have things
//! of their own, and so have the orders in which accesses of one place meet, as weak memory fails by either.
//!
//! # What is a thing
//! A place is four bytes of global or shared memory. An access is told by its instruction and by what it does (load, store, atomic that
//! wrote, atomic that did not), and two threads by how far apart they are: one warp, one block, or the grid.
//!
//! | thing | made of |
//! |---|---|
//! | a read | the write that a load or an atomic has read, by another thread, and the reader |
//! | a stale read | a load, and a write of another thread that was issued before it and that it has not seen |
//! | two reads | a read or a stale read, and the one that its thread had before |
//! | an order | an access, and the next one of its place, if it is another thread's and one of them writes |
//! | a longer order | the same with the access before, if one of them is strong; and which of the three are by one thread |
//!
//! Each is a hash with the kernel's name and with how often the launch has shown it: once, 2 to 3 times, 4 to 15, or more.
//!
//! # What it can miss
//! - Different things may have one hash, of 32 bits.
//! - Writes of other bytes of one place are taken for one write. Matrices, copies and the host are not looked at.
//! - What does not fit ([`features::MOST`], [`shadow::MOST`]) is not told; how often that was is told.
//!
//! It looks on and changes nothing, and only where the orders ask for it.

mod features;
mod shadow;

use bugaroo_semantics::event::{Access, AccessKind, Event, Lanes, Range, WhoseBytes};
use bugaroo_semantics::{Observer, Wants};
use rustc_hash::{FxHashMap, FxHashSet};

use features::{Features, Thing};
use shadow::{Issued, Seen, Shadow, Touch};

pub use features::{kernel_hash, place_hash};

/// Bytes of a place.
const PLACE: u64 = 4;
/// Reads of one thread whose source is not known yet that are remembered.
const OPEN: usize = 8;
/// Kinds of access that an instruction is told apart by.
const ROLES: u32 = 4;
/// Threads of a block, at most.
const THREADS: u64 = 1024;

/// What a launch has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundCoverage {
    /// Hashes of the things, ascending.
    pub things: Vec<u32>,
    /// How often there was something for which there was no room.
    pub more: u64,
    /// Hashes of the instructions that met others ([`place_hash`]), ascending.
    pub meetings: Vec<u32>,
}

/// Looks on at one launch.
#[derive(Debug)]
pub struct Coverage {
    features: Features,
    shadow: Shadow,
    /// The last read of each thread, as a thing.
    before: FxHashMap<u64, u32>,
    /// Reads of a thread whose source is told later: place and role.
    open: FxHashMap<u64, Vec<(u64, u32)>>,
    /// Roles that met others.
    met: FxHashSet<u32>,
    /// The site of the program's instruction 0.
    first_site: u32,
}

impl Coverage {
    /// For a launch of the kernel of this name.
    pub fn new(kernel: &str) -> Coverage {
        Coverage {
            features: Features::new(kernel),
            shadow: Shadow::default(),
            before: FxHashMap::default(),
            open: FxHashMap::default(),
            met: FxHashSet::default(),
            first_site: 0,
        }
    }

    /// What it has shown so far.
    pub fn found(&self) -> FoundCoverage {
        let place = |role: &u32| place_hash(self.features.kernel, role / ROLES);
        let mut meetings: Vec<u32> = self.met.iter().map(place).collect();
        meetings.sort_unstable();
        meetings.dedup();
        let more = self.features.more + self.shadow.more;
        FoundCoverage { things: self.features.hashes(), more, meetings }
    }

    /// A thread has read what another wrote, or has not seen it.
    fn read(&mut self, thread: u64, role: u32, write: Seen, stale: bool) {
        if write.thread == thread {
            return;
        }
        self.met.extend([write.role, role]);
        let apart = apart(write.thread, thread);
        let thing = if stale { Thing::Stale } else { Thing::Read };
        let edge = self.features.add(thing, [write.role, role, apart]);
        let before = self.before.insert(thread, edge);
        // Who spins reads the same again and again.
        if let Some(before) = before.filter(|before| *before != edge) {
            self.features.add(Thing::Reads, [before, edge, 0]);
        }
    }

    /// An access that others can see meets the ones before it at its place.
    fn meet(&mut self, place: u64, now: Touch) {
        let Some(history) = self.shadow.meet(place, now) else { return };
        let [last, earlier] = history;
        if let Some(last) = last.filter(|last| last.seen.thread != now.seen.thread)
            && (last.writes || now.writes)
        {
            self.met.extend([last.seen.role, now.seen.role]);
            let apart = apart(last.seen.thread, now.seen.thread);
            let order = self.features.add(Thing::Order, [last.seen.role, now.seen.role, apart]);
            if let Some(earlier) = earlier.filter(|earlier| earlier.strong || last.strong || now.strong) {
                let who = [earlier, last].map(|one| u32::from(one.seen.thread == now.seen.thread));
                let between = u32::from(earlier.seen.thread == last.seen.thread);
                let alike = who[0] | who[1] << 1 | between << 2;
                self.features.add(Thing::Longer, [earlier.seen.role, order, alike]);
            }
        }
    }

    /// What is seen of a place by who reads it now.
    fn look(&mut self, place: u64, thread: u64, role: u32) {
        let (held, write) = self.shadow.writes(place, thread);
        if let Some(held) = held {
            self.read(thread, role, held, true);
        } else if let Some(write) = write {
            self.read(thread, role, write, false);
        }
    }

    fn touch(&mut self, access: &Access<'_>, lane: u32, place: u64, role: u32) {
        let thread = thread(access.by, lane);
        let has = |lanes: u32| lanes >> lane & 1 != 0;
        let (wrote, held) = (has(access.wrote), has(access.held));
        let seen = Seen { thread, role };
        if access.kind != AccessKind::Store && !has(access.own) {
            if has(access.sourced) {
                let open = self.open.entry(thread).or_default();
                open.retain(|(known, _)| *known != place);
                if open.len() < OPEN {
                    open.push((place, role));
                }
            } else {
                self.look(place, thread, role);
            }
        }
        let strong = access.strength.scope().is_some();
        let number = access.numbers.map_or(0, |numbers| numbers[lane as usize]);
        if wrote && held {
            self.shadow.hold(place, Issued { seen, number, strong });
            return;
        }
        self.meet(place, Touch { seen, writes: wrote, strong });
        if wrote {
            self.shadow.write(place, Issued { seen, number, strong });
        }
    }

    /// A write that was held can be seen.
    fn landed(&mut self, by: Lanes, range: Range, number: u64, last: bool) {
        let thread = thread(by, by.mask.trailing_zeros());
        for place in places(range.memory, range.address, range.bytes) {
            let Some(issued) = self.shadow.release(place, thread, number) else { continue };
            if last {
                self.meet(place, Touch { seen: issued.seen, writes: true, strong: issued.strong });
                self.shadow.write(place, issued);
            }
        }
    }

    /// It is told what a read has read.
    fn sourced(&mut self, by: Lanes, range: Range, number: u64) {
        let thread = thread(by, by.mask.trailing_zeros());
        for place in places(range.memory, range.address, range.bytes) {
            let Some(open) = self.open.get_mut(&thread) else { return };
            let Some(at) = open.iter().position(|(known, _)| *known == place) else { continue };
            let (_, role) = open.swap_remove(at);
            match self.shadow.last(place) {
                Some(write) if write.number == number => self.look(place, thread, role),
                Some(newer) => self.read(thread, role, newer.seen, true),
                None => self.look(place, thread, role),
            }
        }
    }
}

impl Observer for Coverage {
    fn wants(&self) -> Wants {
        Wants { sources: true, ..Wants::default() }
    }

    fn access(&mut self, access: &Access<'_>) {
        let site = access.site.wrapping_sub(self.first_site);
        for lane in access.by.each() {
            let kind = match access.kind {
                AccessKind::Load => 0,
                AccessKind::Store => 1,
                AccessKind::Atomic(_) => 2 + (access.wrote >> lane & 1),
            };
            let role = site.wrapping_mul(ROLES).wrapping_add(kind);
            for place in places(access.memory, access.address(lane), u64::from(access.bytes())) {
                self.touch(access, lane, place, role);
            }
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::GridBegin { first_site, .. } => self.first_site = first_site,
            // A slot's shared memory is new.
            Event::BlockBegin { cta, .. } => self.shadow.forget(cta),
            Event::Landed { by, range, write, last } => self.landed(by, range, write, last),
            Event::ReadFrom { by, range, write } => self.sourced(by, range, write),
            _ => {}
        }
    }
}

/// A number for a thread: block by block.
fn thread(by: Lanes, lane: u32) -> u64 {
    by.block.wrapping_mul(THREADS).wrapping_add(u64::from(by.first + lane))
}

/// How far apart two threads are: 0 for one warp, 1 for one block, 2 for the grid.
fn apart(one: u64, other: u64) -> u32 {
    match () {
        () if one / THREADS != other / THREADS => 2,
        () if one / 32 != other / 32 => 1,
        () => 0,
    }
}

/// Numbers of the places that these bytes touch: those of shared memory have the slot of the CTA above an address of 32 bits, and the
/// highest bit.
fn places(memory: WhoseBytes, address: u64, bytes: u64) -> impl Iterator<Item = u64> {
    let base = match memory {
        WhoseBytes::Global => 0,
        WhoseBytes::Shared(cta) => shadow::SHARED | u64::from(cta) << 32,
    };
    let last = address.saturating_add(bytes.saturating_sub(1)) / PLACE;
    (address / PLACE..=last).map(move |place| base | place)
}
