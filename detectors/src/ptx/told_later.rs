//! What is told of strong accesses later: stores that land, and what reads have read.

use std::rc::Rc;

use bugaroo_semantics::event::{Lanes, Range, WhoseBytes, WriteId};

use super::check::Check;
use super::detector::ExactDetector;
use super::places::{Place, overlap, place_of};
use super::record::{Record, SYSTEM, key};
use super::release::{self, Reach, Release};
use super::rows::Row;
use super::state::Message;
use super::strong::{Element, Sources, granules};
use crate::shadow::{Bytes, ROW_SHIFT, bytes};

impl ExactDetector {
    /// A held store is visible.
    pub(super) fn landed(&mut self, by: &Lanes, range: &Range, number: WriteId, last: bool) {
        let lane = by.mask.trailing_zeros();
        let me = key(by.block as u32, by.first + lane);
        let Some(grid) = self.grids.get_mut(&by.grid) else { return };
        if grid.later.held.is_empty() && !self.told[usize::from(range.memory != WhoseBytes::Global)] {
            // It was not a strong one, and stands over nothing.
            return;
        }
        let mut landed: Vec<(u64, Message)> = Vec::new();
        let mut covered = Vec::new();
        if let Some(held) = grid.later.held.get_mut(&me) {
            held.retain_mut(|store| {
                let size = 1u32 << store.message.size;
                let is_it = store.memory == range.memory && (number == 0 || store.message.number == number);
                let Some((from, to)) = overlap(range, store.address, size).filter(|_| is_it) else {
                    return true;
                };
                let part = bytes((from & 127) as u32, (from & 127) as u32 + (to - from) as u32);
                if store.message.live & part != part {
                    return true;
                }
                store.message.live &= !part;
                covered.push((from, to));
                let live = if last { part } else { 0 };
                landed.push((
                    store.address >> ROW_SHIFT,
                    Message { live, mask: part, ..store.message.clone() },
                ));
                store.message.live != 0
            });
            if held.is_empty() {
                grid.later.held.remove(&me);
            }
        }
        if last && covered.is_empty() {
            // It was not a strong one: it stands over what was there.
            self.overwrite(by.grid, range);
        }
        for (row, message) in landed {
            self.stamp(by, lane, range.memory, row, message.mask);
            self.tell(by.grid, range.memory, row, message);
        }
    }

    fn overwrite(&mut self, grid: u32, range: &Range) {
        let end = range.address.saturating_add(range.bytes);
        let mut at = range.address;
        while at < end {
            let here = (end - at).min(128 - (at & 127));
            let mask = bytes((at & 127) as u32, ((at & 127) + here) as u32);
            let log = &self.host;
            let row =
                self.shadow.row(grid, range.memory, at >> ROW_SHIFT, |first, rows| log.fill(first, rows));
            row.overwrite(mask);
            at += here;
        }
    }

    /// What a strong read has read.
    pub(super) fn read_from(&mut self, by: &Lanes, range: &Range, number: WriteId) {
        let lane = by.mask.trailing_zeros();
        let me = key(by.block as u32, by.first + lane);
        let Some(grid) = self.grids.get_mut(&by.grid) else { return };
        let Some(mut pending) = grid.later.pending.remove(&me) else { return };
        let mut index = 0;
        while index < pending.len() {
            let read = &mut pending[index];
            let here = overlap(range, read.address, read.size).filter(|_| read.memory == range.memory);
            let Some((from, to)) = here else {
                index += 1;
                continue;
            };
            let part = bytes((from & 127) as u32, (from & 127) as u32 + (to - from) as u32);
            let told = (part >> (read.address & 127)) as u32;
            if read.told & told != 0 {
                index += 1;
                continue;
            }
            read.told |= told;
            let whole = if read.size >= 32 { u32::MAX } else { (1 << read.size) - 1 };
            let complete = read.told == whole;
            let read_of = (read.memory, read.address, read.size, read.record, read.acquire, read.link);
            let releases = read.release;
            let carried = read.carried.clone();
            let candidates = if complete { std::mem::take(&mut read.candidates) } else { Vec::new() };
            if complete {
                pending.remove(index);
            } else {
                index += 1;
            }
            let (memory, address, size, record, acquire, link) = read_of;
            let reach = record.reach().min(Reach::Device);
            let at = Element { lane, address, row: address >> ROW_SHIFT, mask: part, me, reach };
            let mut sources = self.come_across(by, memory, at, &record, Some(number));
            let place = place_of(memory, address, size);
            self.take_sources(by, at, place, acquire, &sources);
            if self.devices.several {
                self.hear(by, lane, &sources.heard, acquire && record.is(SYSTEM));
            }
            if acquire && releases {
                self.release_acquired(by, at, place, &mut sources);
            }
            if let Some(carried) = carried {
                self.hand_over(by, memory, (&record, at), &sources, carried, (true, true));
            }
            if link != 0 {
                self.inherit(by, memory, at, link, &sources);
            }
            if complete && link != 0 {
                self.has_seen(by, memory, &record, at, &sources);
            }
            if complete {
                self.links.thaw(1);
                self.decide(by, memory, at.row, &record, &candidates);
            }
            // What it has observed is before what follows it, not before itself.
            sources.chain.iter().for_each(|name| self.links.observe(*name, me, record.time));
            let far = &sources.far;
            far.iter().for_each(|name| self.links.observe_beyond(*name, by.grid, me, record.time));
        }
        if !pending.is_empty()
            && let Some(grid) = self.grids.get_mut(&by.grid)
        {
            grid.later.pending.insert(me, pending);
        }
    }

    fn take_sources(&mut self, by: &Lanes, at: Element, place: Place, acquire: bool, sources: &Sources) {
        let Some(grid) = self.grids.get_mut(&by.grid) else { return };
        if sources.back {
            grid.learn_back(by, at.lane);
        }
        if acquire {
            grid.acquire(by, at.lane, at.reach, &sources.entries);
        }
        if !acquire || at.reach != Reach::Device {
            grid.bank(by, at.lane, place, &sources.entries);
        }
    }

    /// An atomic that acquires and releases hands over, as its own release, what it turns out to have acquired.
    fn release_acquired(&mut self, by: &Lanes, at: Element, place: Place, sources: &mut Sources) {
        let Some(grid) = self.grids.get_mut(&by.grid) else { return };
        let Some(read) = &sources.entries else { return };
        let (cta, cluster) = (by.block as u32, grid.cluster);
        let mut own = None;
        for view in read.reaching(cta, cluster, at.reach) {
            own = release::both(&own, &Some(Rc::new(Release::new(cta, cluster, at.reach, view))));
        }
        let sync = grid.warps[by.warp as usize].sync(at.lane);
        if let Some(released) = sync.released_at.get_mut(&place) {
            *released = release::both(released, &own);
        }
        sources.entries = release::both(&sources.entries, &own);
    }

    /// An atomic's write hands on what it turns out to have read.
    fn inherit(&mut self, by: &Lanes, memory: WhoseBytes, at: Element, link: u32, sources: &Sources) {
        let before = self.still(&sources.chain);
        // Others may have had its number before.
        let use_of = self.links.use_of(link);
        let log = &self.host;
        let row = self.shadow.row(by.grid, memory, at.row, |first, rows| log.fill(first, rows));
        let Some(cells) = &mut row.cells else { return };
        for cell in cells.iter_mut() {
            let Some(messages) = cell.messages() else { continue };
            let its = |message: &&mut Message| {
                (message.observers.link, message.observers.use_of) == (link, use_of) && !message.failed
            };
            for message in messages.all.iter_mut().filter(its) {
                message.entries = release::both(&message.entries, &sources.entries);
                message.chain.handed.add_all(sources.handed.iter().copied());
                message.chain.far.add_all(sources.far.iter().copied());
                message.chain.before.add_all(before.iter().copied().filter(|name| name.0 != link));
            }
        }
    }

    /// Of the writes that an atomic turns out to have read, those need not be kept that it stands for: chains of atomics would grow for
    /// ever.
    fn has_seen(&mut self, by: &Lanes, memory: WhoseBytes, record: &Record, at: Element, sources: &Sources) {
        let chain = self.still(&sources.chain);
        let Some(grid) = self.grids.get(&by.grid) else { return };
        let log = &self.host;
        let row = self.shadow.row(by.grid, memory, at.row, |first, rows| log.fill(first, rows));
        let Some(cells) = &mut row.cells else { return };
        let mut check = Check::of_lanes((&self.works, &mut self.links, &mut self.report), grid, by);
        for index in granules(at.mask) {
            cells[index].lists().has_seen(record, &mut check, &chain);
        }
    }

    /// Now that its source is known: which of what it may race with it does race with.
    fn decide(
        &mut self,
        by: &Lanes,
        memory: WhoseBytes,
        row: u64,
        record: &Record,
        candidates: &[(Record, Bytes)],
    ) {
        let Some(grid) = self.grids.get(&by.grid) else { return };
        self.report.here = (memory, row << ROW_SHIFT);
        let mut check = Check::of_lanes((&self.works, &mut self.links, &mut self.report), grid, by);
        for (old, at) in candidates {
            check.compare(old, record, *at, false);
        }
    }
}

impl Row {
    /// A write that is not strong stands over these bytes.
    fn overwrite(&mut self, mask: Bytes) {
        let Some(cells) = &mut self.cells else { return };
        for index in granules(mask) {
            if let Some(messages) = cells[index].messages() {
                messages.overwrite(mask);
            }
        }
    }
}
