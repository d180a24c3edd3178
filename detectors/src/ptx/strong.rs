//! Strong accesses: what they come across, carry and hand on, element by element.
//!
//! A strong write is a message with what its thread has released so far ([`Message::entries`]); an atomic hands on what it has read.
//! A strong read that is morally strong with a message has observed it, and may take what it carries: an acquire at once, a fence
//! or an acquire of the same place later.

use bugaroo_ptx::types::Scope;
use bugaroo_semantics::event::{Access, AccessKind, Lanes, WhoseBytes, WorkId, WriteId, each};
use bugaroo_semantics::scope::{Strength, ThreadKey};

use super::check::{Actor, Check};
use super::detector::ExactDetector;
use super::few::Few;
use super::links::Name;
use super::messages::ANY;
use super::places::place_of;
use super::record::{Kind, ONE, Record, STRONG, SYSTEM, WRITES, key};
use super::release::{self, Entries, Reach};
use super::rows::granule;
use super::state::{Chain, Held, Message, Observers, Pending, Writer};
use super::works::Works;
use crate::shadow::{Bytes, ROW_SHIFT, bytes};

/// One element of one lane's access.
#[derive(Clone, Copy)]
pub(super) struct Element {
    pub lane: u32,
    pub address: u64,
    pub row: u64,
    pub mask: Bytes,
    pub me: ThreadKey,
    pub reach: Reach,
}

/// What a read has come across.
#[derive(Default)]
pub(super) struct Sources {
    /// Observed writes: their links, with the use.
    links: Few<Name>,
    /// The numbers of all writes that it has come across, morally strong or not, and the bytes that are theirs.
    numbers: Few<WriteId>,
    theirs: Bytes,
    /// The writes that it has observed: what it has read, and what is before that in chains of atomics.
    pub chain: Few<Name>,
    pub entries: Entries,
    /// Where there are several devices: grids of which threads have released for the system what it has observed, and of these
    /// those of other devices.
    pub handed: Few<WorkId>,
    pub heard: Few<WorkId>,
    /// Writes of other grids that it has observed, or that these have handed on.
    pub far: Few<Name>,
    /// It has read what another grid has released: what that knows of this one may come back.
    pub back: bool,
}

impl Sources {
    fn observe(&mut self, message: &Message) {
        self.chain.add_all(message.chain.before.iter().copied());
        if message.observers.link != 0 {
            self.chain.add((message.observers.link, message.observers.use_of));
            self.links.add((message.observers.link, message.observers.use_of));
        }
    }

    /// A message of another grid is observed.
    fn observe_beyond(&mut self, message: &Message) {
        self.far.add_all(message.chain.before.iter().chain(&*message.chain.far).copied());
        if message.observers.link != 0 {
            self.far.add((message.observers.link, message.observers.use_of));
        }
    }

    /// A message is observed that may have come from another device.
    fn take_handed(&mut self, handed: &[WorkId], me: WorkId, works: &Works) {
        self.handed.add_all(handed.iter().copied());
        self.heard.add_all(handed.iter().copied().filter(|grid| works.apart(*grid, me)));
    }
}

/// The granules of some bytes of a row.
pub(super) fn granules(mask: Bytes) -> impl Iterator<Item = usize> {
    let (first, last) = (mask.trailing_zeros() / 4, (127 - mask.leading_zeros()) / 4);
    first as usize..=last as usize
}

impl ExactDetector {
    /// Lanes access memory strongly.
    pub(super) fn strong(&mut self, access: &Access<'_>) {
        let Some(grid) = self.grids.get(&access.by.grid) else { return };
        let cluster = grid.cluster;
        let kind = Kind {
            site: access.site,
            kind: access.kind,
            strength: access.strength,
            size: access.size,
            asynchronous: false,
        };
        let reach = match access.strength {
            // An atomic is strong, whatever it says.
            Strength::Weak => Reach::Device,
            Strength::Strong(scope) => Reach::of(scope, cluster),
        };
        let atomic = matches!(access.kind, AccessKind::Atomic(_));
        let system = access.strength == Strength::Strong(Scope::Sys);
        let wide = if system && self.devices.several { Reach::System } else { reach };
        let record = Record {
            mask: 0,
            lanes: 0,
            warps: 0,
            grid: access.by.grid,
            cta: access.by.block as u32,
            time: grid.ctas[access.by.cta as usize].clock,
            kind: self.report.kinds.number(kind),
            link: 0,
            base: 0,
            shape: (access.size.trailing_zeros() as u8) << 3 | ONE,
            flags: STRONG | (wide as u8) << 6 | if system { SYSTEM } else { 0 },
        };
        let mut released = false;
        for lane in each(self.quick(access, &record)) {
            let wrote = access.kind == AccessKind::Store || (atomic && access.wrote >> lane & 1 != 0);
            let flags = record.flags | if wrote { WRITES } else { 0 };
            for element in 0..access.elements {
                let address = access.address(lane).wrapping_add(u64::from(element * access.size));
                let from = (address & 127) as u32;
                let mask = bytes(from, (from + access.size).min(128));
                let me = key(access.by.block as u32, access.by.first + lane);
                let at = Element { lane, address, row: address >> ROW_SHIFT, mask, me, reach };
                let base = (access.by.first + lane) as i16;
                self.element(access, &Record { mask, base, flags, ..record }, at);
            }
            released |= access.release;
        }
        if released && let Some(grid) = self.grids.get_mut(&access.by.grid) {
            grid.tick(access.by.cta);
        }
    }

    fn element(&mut self, access: &Access<'_>, record: &Record, at: Element) {
        let (by, lane) = (&access.by, at.lane);
        let place = place_of(access.memory, at.address, access.size);
        let bit = |mask: u32| mask >> lane & 1 != 0;
        let reads = access.kind != AccessKind::Store;
        let atomic = matches!(access.kind, AccessKind::Atomic(_));
        let later = reads && bit(access.sourced) && !bit(access.own);
        let mut sources = Sources::default();
        if reads && !later && !bit(access.own) {
            sources = self.come_across(by, access.memory, at, record, None);
        }
        if self.devices.several {
            self.touch(by, access.memory, at);
            self.hear(by, lane, &sources.heard, access.acquire && record.is(SYSTEM));
        }
        let Some(grid) = self.grids.get_mut(&by.grid) else { return };
        if let Some(scope) = access.strength.scope() {
            grid.release_beyond(by, scope, access.release);
        }
        if sources.back {
            grid.learn_back(by, lane);
        }
        if reads {
            if access.acquire {
                grid.take_banked(by, lane, at.reach, Some(place));
                grid.acquire(by, lane, at.reach, &sources.entries);
                if at.reach != Reach::Device {
                    grid.bank(by, lane, place, &sources.entries);
                }
            } else {
                grid.bank(by, lane, place, &sources.entries);
            }
        }
        self.stamp(by, lane, access.memory, at.row, at.mask);
        let mut candidates = Vec::new();
        let chain = self.still(&sources.chain);
        let link =
            self.record(access, record, at, &chain, (later && access.acquire).then_some(&mut candidates));
        chain.iter().for_each(|name| self.links.observe(*name, at.me, record.time));
        let far = &sources.far;
        far.iter().for_each(|name| self.links.observe_beyond(*name, by.grid, at.me, record.time));
        if later {
            self.links.freeze();
            let Some(grid) = self.grids.get_mut(&by.grid) else { return };
            grid.later.pending.entry(at.me).or_default().push(Pending {
                memory: access.memory,
                address: at.address,
                size: access.size,
                record: Record { link, ..*record },
                acquire: access.acquire,
                release: access.release,
                link,
                carried: None,
                told: 0,
                candidates,
            });
        }
        if !access.kind.writes() {
            return;
        }
        let before = if atomic { self.still(&chain) } else { Few::default() };
        let far = if atomic { self.still(&sources.far) } else { Few::default() };
        let Some(grid) = self.grids.get_mut(&by.grid) else { return };
        let own = if access.release { grid.release(by, lane, at.reach) } else { None };
        let carried = grid.carried(by, lane, place, &own);
        let mut handed = Few::default();
        if self.devices.several {
            handed.add_all((grid.warps[by.warp as usize].beyond >> lane & 1 != 0).then_some(by.grid));
            handed.add_all(sources.handed.iter().copied().filter(|_| atomic));
        }
        if record.is(WRITES) {
            let entries = if atomic { release::both(&carried, &sources.entries) } else { carried };
            let message = Message {
                live: at.mask,
                mask: at.mask,
                by: Writer { grid: by.grid, thread: at.me, cta: by.block as u32 },
                reach: record.reach(),
                size: record.size(),
                observers: Observers { link, use_of: if link == 0 { 0 } else { self.links.use_of(link) } },
                number: access.numbers.map_or(0, |numbers| numbers[lane as usize]),
                failed: false,
                chain: Chain { before, handed, far },
                entries,
            };
            if bit(access.held) {
                let held = Held { address: at.address, memory: access.memory, message };
                grid.later.held.entry(at.me).or_default().push(held);
            } else {
                self.tell(by.grid, access.memory, at.row, message);
            }
        } else if later {
            if let Some(pending) = grid.later.pending.get_mut(&at.me).and_then(|all| all.last_mut()) {
                pending.carried = Some(carried);
            }
        } else {
            sources.chain = chain;
            sources.handed = handed;
            let numbered = access.numbers.is_some();
            self.hand_over(by, access.memory, (record, at), &sources, carried, (numbered, false));
        }
    }

    /// The messages that a strong read comes across: what memory holds, or those of a number.
    pub(super) fn come_across(
        &mut self,
        by: &Lanes,
        memory: WhoseBytes,
        at: Element,
        record: &Record,
        number: Option<WriteId>,
    ) -> Sources {
        let mut sources = Sources::default();
        let log = &self.host;
        let row = self.shadow.row(by.grid, memory, at.row, |first, rows| log.fill(first, rows));
        let Some(cells) = &mut row.cells else { return sources };
        let cluster = self.grids.get(&by.grid).map_or(1, |grid| grid.cluster);
        for index in granules(at.mask) {
            let Some(messages) = cells[index].messages() else { continue };
            let mut found = false;
            for message in messages.read(at.mask & granule(index as u32), number) {
                found = true;
                if !message.failed {
                    sources.theirs |= if number.is_some() { message.mask } else { message.live };
                    sources.numbers.add(message.number);
                }
                if message.by.grid != by.grid && self.works.apart(message.by.grid, by.grid) {
                    if message.reach == Reach::System && record.reach() == Reach::System {
                        sources.take_handed(&message.chain.handed, by.grid, &self.works);
                        sources.observe_beyond(message);
                    }
                    continue;
                }
                if message.by.grid != by.grid {
                    let both = message.reach >= Reach::Device && at.reach == Reach::Device;
                    if both {
                        sources.take_handed(&message.chain.handed, by.grid, &self.works);
                        sources.observe_beyond(message);
                        sources.back |= message.entries.is_some();
                    }
                    if both
                        && !self.works.wholly_ordered(message.by.grid, by.grid)
                        && self.works.talk(message.by.grid, by.grid)
                    {
                        self.report.all.warn(super::report::SIDE_BY_SIDE, 1);
                        for grid in [message.by.grid, by.grid] {
                            if let Some(grid) = self.grids.get_mut(&grid) {
                                grid.total.letter = true;
                            }
                        }
                    }
                    continue;
                }
                let apart = message.apart(by.block as u32, cluster);
                let both = message.reach >= apart && at.reach >= apart;
                let strong = message.size == record.size() && (message.by.thread == at.me || both);
                if !strong {
                    continue;
                }
                sources.entries = release::both(&sources.entries, &message.entries);
                sources.observe(message);
                sources.far.add_all(message.chain.far.iter().copied());
                sources.take_handed(&message.chain.handed, by.grid, &self.works);
            }
            if !found && number.is_some_and(|number| number != 0 && number <= messages.lost_up_to) {
                sources.entries = release::both(&sources.entries, &messages.lost);
                sources.take_handed(&messages.lost_handed, by.grid, &self.works);
                self.report.all.warn("a read's source is too old to be known; it is taken to synchronise with all that came before", 1);
            }
        }
        sources
    }

    /// Compares with what is in the shadow and keeps the access there. Gives its link, if it writes.
    fn record(
        &mut self,
        access: &Access<'_>,
        record: &Record,
        at: Element,
        seen: &[Name],
        mut candidates: Option<&mut Vec<(Record, Bytes)>>,
    ) -> u32 {
        let by = &access.by;
        let writes = record.is(WRITES);
        let link = if writes { self.links.open(granules(at.mask).count() as u32, by.grid) } else { 0 };
        let Some(grid) = self.grids.get(&by.grid) else { return link };
        let warp = &grid.warps[by.warp as usize];
        self.report.here = (access.memory, at.row << ROW_SHIFT);
        let log = &self.host;
        let row = self.shadow.row(by.grid, access.memory, at.row, |first, rows| log.fill(first, rows));
        let cells = row.split(&mut self.spare);
        for index in granules(at.mask) {
            let mut check = Check {
                works: &self.works,
                links: &mut self.links,
                grid: Some(grid),
                actor: Actor::Lanes(&warp.views, by.first),
                settled: grid.settled(access.memory, warp),
                report: &mut self.report,
                candidates: candidates.as_deref_mut(),
            };
            let mask = at.mask & granule(index as u32);
            cells[index].lists().access(
                &Record { mask, link, ..*record },
                &mut check,
                if writes { seen } else { &[] },
            );
        }
        link
    }

    /// A strong write is visible, or can be named from now on.
    pub(super) fn tell(&mut self, grid: u32, memory: WhoseBytes, row: u64, message: Message) {
        self.told[usize::from(memory != WhoseBytes::Global)] = true;
        let log = &self.host;
        let row = self.shadow.row(grid, memory, row, |first, rows| log.fill(first, rows));
        let cells = row.split(&mut self.spare);
        for index in granules(message.mask) {
            let part = granule(index as u32);
            let message = Message { live: message.live & part, mask: message.mask & part, ..message.clone() };
            cells[index].messages().get_or_insert_with(Box::default).add(message);
        }
    }

    /// An atomic that wrote nothing hands over what its write would have carried: by the letter, it writes what it has
    /// read.
    pub(super) fn hand_over(
        &mut self,
        by: &Lanes,
        memory: WhoseBytes,
        (record, at): (&Record, Element),
        sources: &Sources,
        carried: Entries,
        (numbered, later): (bool, bool),
    ) {
        if carried.is_none()
            && sources.links.is_empty()
            && sources.entries.is_none()
            && sources.handed.is_empty()
        {
            return;
        }
        self.told[usize::from(memory != WhoseBytes::Global)] = true;
        let before = self.still(&sources.chain);
        let log = &self.host;
        let row = self.shadow.row(by.grid, memory, at.row, |first, rows| log.fill(first, rows));
        let cells = row.split(&mut self.spare);
        // Reads of what it has read, by name or as what memory holds, read it, too.
        let (link, use_of) = match &*sources.links {
            [name] => *name,
            _ => (0, 0),
        };
        for index in granules(at.mask) {
            let mask = at.mask & granule(index as u32);
            let messages = cells[index].messages().get_or_insert_with(Box::default);
            let entries = release::both(&carried, &sources.entries);
            // Told later, it may have been written over by now.
            let read = |message: &&Message| !message.failed && sources.numbers.contains(&message.number);
            let mut live = mask;
            if later && mask & !sources.theirs == 0 {
                live &= messages.all.iter().filter(read).fold(0, |live, message| live | message.live);
            }
            let mut numbers = sources.numbers.clone();
            if numbers.is_empty() || (numbered && mask & !sources.theirs != 0) {
                numbers.add(if numbered { ANY } else { 0 });
            }
            for number in numbers.iter().copied() {
                messages.fail(Message {
                    live,
                    mask,
                    by: Writer { grid: by.grid, thread: ThreadKey::NOBODY, cta: by.block as u32 },
                    reach: record.reach(),
                    size: record.size(),
                    observers: Observers { link, use_of },
                    number,
                    failed: true,
                    chain: Chain {
                        before: before.clone(),
                        handed: sources.handed.clone(),
                        far: sources.far.clone(),
                    },
                    entries: entries.clone(),
                });
            }
        }
    }

    /// Those that are in the shadow still.
    pub(super) fn still(&self, chain: &[Name]) -> Few<Name> {
        let mut still = Few::default();
        still.add_all(chain.iter().copied().filter(|name| self.links.is_valid(name.0, name.1)));
        still
    }
}
