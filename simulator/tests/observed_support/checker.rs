//! An observer that holds what it is told against what the contract promises, and against memory.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_semantics::event::{Access, AccessKind, CopyId, Event, Lanes, Range, WhoseBytes, WriteId};
use bugaroo_semantics::{Observer, Wants};

/// A byte.
type Place = (u8, u32, u64);

fn place(memory: WhoseBytes, address: u64) -> Place {
    match memory {
        WhoseBytes::Global => (0, 0, address),
        WhoseBytes::Shared(slot) => (1, slot, address),
    }
}

/// A store that is held: its bytes that have not landed, with their values, and its number.
#[derive(Clone, Debug)]
struct Held {
    left: BTreeMap<Place, u8>,
    number: WriteId,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    exited: bool,
    held: Vec<Held>,
    /// Bytes whose source is to be told.
    unsourced: BTreeSet<Place>,
}

/// What it knows of a launch.
#[derive(Debug, Default)]
pub struct Checker {
    pub branches: bool,
    pub sources: bool,
    pub before: bool,
    /// What it is told is all that there is to know: values are compared.
    pub strict: bool,
    pub begun: u32,
    pub ended: u32,
    lockstep: bool,
    warps_per_cta: u32,
    threads_per_cta: u32,
    /// By CTA slot: the block.
    blocks: BTreeMap<u32, u64>,
    threads: BTreeMap<(u32, u32), Thread>,
    /// What memory holds; None: something else has written it.
    pub memory: BTreeMap<Place, Option<u8>>,
    /// By warp slot and barrier: lanes that wait.
    waiting: BTreeMap<(u32, u32), u32>,
    /// Numbers of the writes to a byte.
    numbers: BTreeMap<Place, BTreeSet<WriteId>>,
    copies: BTreeMap<CopyId, (Option<Range>, bool)>,
    pub told: BTreeMap<&'static str, u64>,
    /// Loads whose value was compared.
    pub compared: u64,
    /// In lockstep, by warp slot: the parts of a warp that has parted, and last the one that runs.
    parts: BTreeMap<u32, Vec<u32>>,
}

impl Checker {
    pub fn new(wants: Wants) -> Checker {
        let Wants { branches, sources, before } = wants;
        Checker { branches, sources, before, strict: true, ..Checker::default() }
    }

    fn count(&mut self, what: &'static str) {
        *self.told.entry(what).or_default() += 1;
    }

    fn who(&mut self, by: Lanes) {
        assert_eq!((by.grid, self.begun, self.ended), (7, 1, 0));
        assert_ne!(by.mask, 0);
        assert_eq!(self.blocks.get(&by.cta), Some(&by.block), "the block is there");
        assert_eq!(by.warp / self.warps_per_cta, by.cta);
        assert_eq!(by.first, by.warp % self.warps_per_cta * 32);
    }

    fn alive(&mut self, by: Lanes) {
        self.who(by);
        for lane in by.each() {
            assert!(!self.thread(by.warp, lane).exited, "a thread that has ended does something");
        }
    }

    /// In lockstep: only lanes of the part that runs do something.
    fn runs(&self, by: Lanes) {
        if let Some(running) = self.parts.get(&by.warp).and_then(|parts| parts.last()) {
            assert_eq!(by.mask & !running, 0, "{by:?} does something while {running:x} runs");
        }
    }

    /// In lockstep: the parts of a warp, those who have ended aside.
    fn parts(&mut self, by: Lanes) -> &mut Vec<u32> {
        let threads = self.threads_per_cta - by.first;
        let alive = (0..threads.min(32)).filter(|lane| !self.thread(by.warp, *lane).exited);
        let alive = alive.fold(0, |alive, lane| alive | 1 << lane);
        let parts = self.parts.entry(by.warp).or_insert_with(|| vec![u32::MAX]);
        parts.iter_mut().for_each(|part| *part &= alive);
        parts.retain(|part| *part != 0);
        parts
    }

    /// What memory is said to have held before a load or a store is what it held.
    fn held_before(&mut self, access: &Access<'_>) {
        for lane in access.by.each() {
            for element in 0..access.elements {
                let first = access.address(lane) + u64::from(element * access.size);
                let before = access.values.before(lane, element).to_le_bytes();
                for (byte, before) in (0..u64::from(access.size)).zip(before) {
                    if let Some(Some(there)) = self.memory.get(&place(access.memory, first + byte)) {
                        assert_eq!(*there, before, "{access:?}, lane {lane}");
                        self.count("before");
                    }
                }
            }
        }
    }

    fn thread(&mut self, warp: u32, lane: u32) -> &mut Thread {
        self.threads.entry((warp, lane)).or_default()
    }

    /// Something other than an access changes memory, nobody says to what.
    fn forget(&mut self, range: Range) {
        for byte in 0..range.bytes {
            self.memory.insert(place(range.memory, range.address + byte), None);
        }
    }

    /// No lane waits at a barrier.
    fn nowhere(&self, by: Lanes) {
        let waits =
            self.waiting.iter().filter(|(at, _)| at.0 == by.warp).fold(0, |all, (_, lanes)| all | lanes);
        assert_eq!(waits & by.mask, 0, "a lane that waits does something");
    }

    /// Nothing of these bytes that the lane has read is still to be told.
    fn settled(&mut self, by: Lanes, bytes: Option<&[Place]>) {
        for lane in by.each() {
            let unsourced = &self.thread(by.warp, lane).unsourced;
            match bytes {
                None => assert!(unsourced.is_empty(), "a source comes late: {by:?} {unsourced:?}"),
                Some(bytes) => {
                    assert!(bytes.iter().all(|byte| !unsourced.contains(byte)), "a source comes late")
                }
            }
        }
    }

    pub fn finish(&self) {
        assert_eq!((self.begun, self.ended), (1, 1));
    }

    /// Compares what has been told with what a buffer holds.
    pub fn compare(&self, address: u64, before: &[u8], bytes: &[u8]) -> usize {
        let mut known = 0;
        for (byte, there) in bytes.iter().enumerate() {
            match self.memory.get(&(0, 0, address + byte as u64)) {
                Some(Some(told)) => {
                    known += 1;
                    assert_eq!(told, there, "byte {byte}");
                }
                Some(None) => {}
                None => assert_eq!(*there, before[byte], "byte {byte}, of which nothing was told"),
            }
        }
        known
    }
}

impl Observer for Checker {
    fn wants(&self) -> Wants {
        Wants { branches: self.branches, sources: self.sources, before: self.before }
    }

    fn access(&mut self, access: &Access<'_>) {
        let by = access.by;
        self.alive(by);
        self.nowhere(by);
        self.runs(by);
        self.count(match access.kind {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Atomic(_) => "atomic",
        });
        assert_eq!(access.wrote & !by.mask, 0);
        assert_eq!(access.held & !access.wrote, 0);
        assert_eq!((access.own | access.sourced) & !by.mask, 0);
        assert_eq!(access.own & access.sourced, 0);
        if !self.sources {
            assert_eq!((access.held, access.own, access.sourced), (0, 0, 0));
        }
        match access.kind {
            AccessKind::Load => assert_eq!(access.wrote, 0),
            AccessKind::Store => {
                assert_eq!(access.wrote, by.mask);
                assert_eq!(access.own | access.sourced, 0);
            }
            AccessKind::Atomic(_) => {}
        }
        if self.before && !matches!(access.kind, AccessKind::Atomic(_)) {
            self.held_before(access);
        }
        for lane in by.each() {
            let mut held = Held { left: BTreeMap::new(), number: 0 };
            for element in 0..access.elements {
                let value = access.values.value(lane, element).to_le_bytes();
                let first = access.address(lane) + u64::from(element * access.size);
                let places: Vec<Place> =
                    (0..u64::from(access.size)).map(|byte| place(access.memory, first + byte)).collect();
                let one = Lanes { mask: 1 << lane, ..by };
                self.settled(one, Some(&places));
                let writes = access.wrote >> lane & 1 != 0;
                let number = access.numbers.map_or(0, |numbers| numbers[lane as usize]);
                for (place, value) in places.into_iter().zip(value) {
                    if writes && number != 0 {
                        self.numbers.entry(place).or_default().insert(number);
                    }
                    if access.sourced >> lane & 1 != 0 {
                        if access.strength != bugaroo_semantics::scope::Strength::Weak {
                            self.thread(by.warp, lane).unsourced.insert(place);
                        }
                    } else if access.own >> lane & 1 != 0 {
                        let held = &self.thread(by.warp, lane).held;
                        let own = held.iter().rev().find_map(|held| held.left.get(&place));
                        assert_eq!(own, Some(&value), "its own held store");
                        self.compared += 1;
                    } else if access.kind == AccessKind::Load
                        && let Some(there) = self.memory.entry(place).or_insert(Some(value))
                    {
                        assert!(!self.strict || *there == value, "{access:?} lane {lane}, {place:?}");
                        self.compared += 1;
                    }
                    if writes && access.held >> lane & 1 != 0 {
                        held.left.insert(place, value);
                    } else if writes {
                        self.memory.insert(place, Some(value));
                    }
                }
                held.number = number;
            }
            if !held.left.is_empty() {
                self.thread(by.warp, lane).held.push(held);
            }
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::GridBegin { grid, shape, lockstep, first_site } => {
                assert_eq!((grid, first_site, self.begun), (7, 1000, 0));
                self.begun += 1;
                self.lockstep = lockstep;
                self.warps_per_cta = shape.warps_per_cta;
                self.threads_per_cta = shape.threads_per_cta;
            }
            Event::GridEnd { grid } => {
                assert_eq!((grid, self.begun, self.ended), (7, 1, 0));
                self.ended += 1;
            }
            Event::BlockBegin { cta, block, .. } => {
                assert_eq!(self.blocks.insert(cta, block), None);
                self.memory.retain(|place, _| (place.0, place.1) != (1, cta));
                self.numbers.retain(|place, _| (place.0, place.1) != (1, cta));
                self.threads.retain(|(warp, _), _| warp / self.warps_per_cta != cta);
                self.parts.retain(|warp, _| warp / self.warps_per_cta != cta);
            }
            Event::BlockEnd { cta, .. } => {
                assert!(self.blocks.remove(&cta).is_some());
                for ((warp, lane), thread) in &self.threads {
                    if warp / self.warps_per_cta == cta {
                        assert!(
                            thread.exited && thread.held.is_empty(),
                            "warp {warp}, lane {lane}: {thread:?}"
                        );
                    }
                }
                self.count("block");
            }
            Event::Exit(by) => {
                self.alive(by);
                self.nowhere(by);
                self.settled(by, None);
                by.each().for_each(|lane| self.thread(by.warp, lane).exited = true);
            }
            Event::Landed { by, range, write, last } => {
                self.who(by);
                assert_eq!(by.mask.count_ones(), 1);
                self.count("landed");
                let held = &mut self.thread(by.warp, by.mask.trailing_zeros()).held;
                let mut landed = Vec::new();
                for byte in 0..range.bytes {
                    let place = place(range.memory, range.address + byte);
                    let store =
                        held.iter_mut().find(|held| held.left.contains_key(&place) && held.number == write);
                    let store = store.unwrap_or_else(|| panic!("no such store is held: {event:?}"));
                    let value = store.left.remove(&place);
                    landed.push((place, value));
                }
                held.retain(|held| !held.left.is_empty());
                if last {
                    self.memory.extend(landed);
                }
            }
            Event::ReadFrom { by, range, write } => {
                self.who(by);
                assert_eq!(by.mask.count_ones(), 1);
                self.count("read from");
                for byte in 0..range.bytes {
                    let place = place(range.memory, range.address + byte);
                    self.thread(by.warp, by.mask.trailing_zeros()).unsourced.remove(&place);
                    self.compared += 1;
                    let known = self.numbers.get(&place).is_some_and(|all| all.contains(&write));
                    assert!(write == 0 || known, "{event:?}");
                }
            }
            Event::Fence { by, .. } => {
                self.alive(by);
                self.nowhere(by);
                self.count("fence");
            }
            Event::ProxyFence { by, .. } => self.alive(by),
            Event::Arrive { by, barrier, waits, .. } => {
                self.alive(by);
                self.nowhere(by);
                self.settled(by, None);
                self.count("arrive");
                if waits {
                    *self.waiting.entry((by.warp, barrier)).or_default() |= by.mask;
                }
            }
            Event::Leave { by, barrier } => {
                self.alive(by);
                assert_eq!(self.waiting.remove(&(by.warp, barrier)), Some(by.mask), "who leaves has waited");
                self.count("leave");
            }
            Event::Completed { cta, barrier, .. } => {
                let (first, each) = (cta * self.warps_per_cta, self.warps_per_cta);
                assert!((first..first + each).all(|warp| !self.waiting.contains_key(&(warp, barrier))));
                self.count("completed");
            }
            Event::WarpBarrier { by, .. } => {
                self.alive(by);
                self.nowhere(by);
                self.settled(by, None);
                self.count("warp barrier");
            }
            Event::ClusterArrive { by, .. } => {
                self.alive(by);
                self.count("cluster arrive");
            }
            Event::ClusterLeave(by) => {
                self.alive(by);
                self.count("cluster leave");
            }
            Event::Asked { by, .. } => {
                self.alive(by);
                self.count("asked");
            }
            Event::UnforeseenWrite { .. } => panic!("it spares nothing, so that this is not told"),
            Event::MbarrierInit { by, at, .. } => {
                self.alive(by);
                self.forget(at);
                self.count("mbarrier init");
            }
            Event::MbarrierArrive { by, at, .. } => {
                self.alive(by);
                self.forget(at);
                self.count("mbarrier arrive");
            }
            Event::MbarrierPhase { at, .. } => {
                self.forget(at);
                self.count("mbarrier phase");
            }
            Event::MbarrierPassed { by, .. } => {
                self.alive(by);
                self.count("mbarrier passed");
            }
            Event::CopyIssued { by, copy, to, .. } => {
                self.alive(by);
                assert_ne!(copy, 0);
                assert!(self.copies.insert(copy, (to, false)).is_none(), "copies have numbers of their own");
                self.count("copy issued");
            }
            Event::CopyDone { copy, .. } => {
                let (to, done) = self.copies.get_mut(&copy).expect("it was issued");
                assert!(!std::mem::replace(done, true), "a copy is done once");
                if let Some(range) = *to {
                    self.forget(range);
                }
                self.count("copy done");
            }
            Event::CopyAwaited { by, copy, .. } => {
                self.alive(by);
                assert!(self.copies[&copy].1, "it has been done");
                self.count("copy awaited");
            }
            Event::CopyCounted { copy, at, .. } => {
                assert!(self.copies[&copy].1, "it has been done");
                self.forget(at);
                self.count("copy counted");
            }
            Event::Split { by, taken, first, .. } => {
                self.alive(by);
                assert!(taken & by.mask != 0 && by.mask & !taken != 0 && taken & !by.mask == 0);
                if self.lockstep {
                    assert!(first == taken || first == by.mask & !taken);
                    let parts = self.parts(by);
                    let whole = parts.iter().position(|part| *part == by.mask);
                    parts.remove(whole.expect("those who part were together"));
                    parts.extend([by.mask & !first, first]);
                } else {
                    assert_eq!(first, 0);
                }
                self.count("split");
            }
            Event::Else(by) => {
                self.alive(by);
                assert!(self.lockstep);
                let parts = self.parts(by);
                let other = parts.iter().position(|part| *part == by.mask).expect("it is a part");
                let other = parts.remove(other);
                parts.push(other);
                self.count("else");
            }
            Event::Join(by) => {
                self.alive(by);
                assert!(self.lockstep);
                let parts = self.parts(by);
                let joined = parts.extract_if(.., |part| *part & by.mask != 0).collect::<Vec<u32>>();
                assert!(joined.len() > 1 && joined.iter().sum::<u32>() == by.mask, "{joined:x?} {by:?}");
                parts.push(by.mask);
                self.count("join");
            }
            Event::Work { .. }
            | Event::OnDevice { .. }
            | Event::Retired { .. }
            | Event::HostAccess { .. }
            | Event::Allocated(_)
            | Event::Freed(_) => {
                panic!("nothing of a grid's")
            }
        }
    }
}
