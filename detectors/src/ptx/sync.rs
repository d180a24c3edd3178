//! What orders threads: barriers, the end of threads, mbarriers, copies. (Fences: [`super::fences`].)

use std::rc::Rc;

use bugaroo_semantics::clocks::{View, WriterSet, joined};
use bugaroo_semantics::event::{AccessKind, CopyId, Lanes, Proxy, Range, SiteNumber, each};
use bugaroo_semantics::scope::Strength;

use super::check::{Actor, Check};
use super::copies::{Copy, Issuer};
use super::detector::ExactDetector;
use super::record::{COPY, Kind, ONE, Record, WRITES, key};

use super::known::{Known, Views, last};
use super::places::place_of;
use super::state::{Arrival, Barrier, Grid};
use crate::shadow::{ROW, ROW_SHIFT, bytes};

impl Grid {
    /// Lanes arrive at a barrier of their CTA.
    pub fn arrive(&mut self, by: &Lanes, barrier: u32, waits: bool) {
        let warp = &self.warps[by.warp as usize];
        let cta = &mut self.ctas[by.cta as usize];
        let at = barrier as usize;
        if cta.barriers.len() <= at {
            cta.barriers.resize_with(at + 1, Barrier::default);
        }
        let phase = &mut cta.barriers[at];
        if phase.known.take().is_some() {
            phase.arrivals.clear();
            phase.kept = None;
        }
        if waits {
            phase.arrivals.push((by.warp, by.first, by.mask, None));
            return;
        }
        let time = cta.clock;
        for (lanes, known) in warp.views.each(by.mask) {
            phase.arrivals.push((by.warp, by.first, lanes, Some((time, known.clone()))));
        }
        self.tick(by.cta);
    }

    /// A barrier has completed at which nobody waited.
    pub fn completed(&mut self, slot: u32, barrier: u32) {
        if let Some(phase) =
            self.ctas.get_mut(slot as usize).and_then(|cta| cta.barriers.get_mut(barrier as usize))
        {
            phase.arrivals.clear();
            phase.known = None;
            phase.kept = None;
        }
    }

    /// Lanes go on behind a barrier.
    pub fn leave(&mut self, by: &Lanes, barrier: u32) {
        let slot = by.cta as usize;
        let Some(phase) = self.ctas[slot].barriers.get(barrier as usize) else { return };
        let known = match &phase.known {
            Some(known) => known.clone(),
            None => {
                let known = self.gather(by.cta, barrier as usize);
                let kept = self.kept_at(by.cta, barrier as usize);
                let phase = &mut self.ctas[slot].barriers[barrier as usize];
                phase.known = Some(known.clone());
                phase.kept = kept;
                known
            }
        };
        if let Some(kept) = self.ctas[slot].barriers[barrier as usize].kept.clone() {
            self.keep(by, &kept);
        }
        let warp = &mut self.warps[by.warp as usize];
        let all = by.mask & warp.live() == warp.live();
        if all && known.met == self.ctas[slot].clock - 1 {
            warp.views = Views::new(known);
            return;
        }
        if known.met == 0
            && all
            && let Some(own) = warp.views.one_mut()
        {
            own.take(&known.view);
            return;
        }
        warp.views.change(by.mask, warp.full, |own| {
            own.take(&known.view);
            own.met = own.met.max(known.met);
        });
    }

    /// What all know that have arrived at a barrier.
    fn gather(&mut self, slot: u32, barrier: usize) -> Known {
        let at = slot as usize;
        let phase = &self.ctas[at].barriers[barrier];
        let arrived: u32 = phase.arrivals.iter().map(|arrival| arrival.2.count_ones()).sum();
        let all_there = arrived + self.ctas[at].exited_count >= self.shape.threads_per_cta;
        let all_wait = phase.arrivals.iter().all(|arrival| arrival.3.is_none());
        let time = self.ctas[at].clock;
        let cta = self.ctas[at].block;
        let mut view: Option<Rc<View>> = None;
        let mut add = |other: &Rc<View>| {
            view = Some(match &view {
                Some(view) => joined(view, other),
                None => Rc::clone(other),
            });
        };
        let mut entries: Vec<(WriterSet, u64)> = Vec::new();
        let whole = all_there && all_wait;
        let exited = if all_there { self.ctas[at].exited.as_slice() } else { &[] };
        for (warp, first, lanes, arrived) in phase.arrivals.iter().chain(exited) {
            let warp = &self.warps[*warp as usize];
            let mut of = |known: &Known, place: u32| {
                if whole { add(&known.view) } else { add(&known.whole(cta, place)) }
            };
            let when = match arrived {
                Some((when, known)) => {
                    of(known, *first + last(*lanes));
                    *when
                }
                None => {
                    warp.views.each(*lanes).for_each(|(lanes, known)| of(known, *first + last(lanes)));
                    time
                }
            };
            if whole {
                continue;
            }
            if *lanes == warp.full {
                entries.push((WriterSet::warp(key(cta, *first)), u64::from(when)));
            } else {
                entries.extend(
                    each(*lanes).map(|lane| (WriterSet::thread(key(cta, *first + lane)), u64::from(when))),
                );
            }
        }
        let mut view = view.unwrap_or_default();
        if !entries.is_empty() {
            let changed = Rc::make_mut(&mut view);
            entries.into_iter().for_each(|(writers, time)| changed.advance(writers, time));
        }
        self.tick(slot);
        Known { view, met: if whole { time } else { 0 }, ..Known::default() }
    }

    /// Lanes of a warp have met.
    pub fn warp_barrier(&mut self, by: &Lanes) {
        self.kept_in_warp(by);
        let time = self.ctas[by.cta as usize].clock;
        let cta = by.block as u32;
        let warp = &mut self.warps[by.warp as usize];
        let lanes = by.mask & warp.full;
        if by.mask | warp.exited == warp.full {
            let mut all = warp.known_together(cta, by.first, warp.full);
            all.met_warp = time;
            warp.views = Views::new(all);
        } else {
            if lanes == 0 {
                return;
            }
            let mut all = warp.known_together(cta, by.first, lanes);
            let view = Rc::make_mut(&mut all.view);
            view.advance_lanes(key(cta, by.first), lanes, u64::from(time));
            warp.views.set(lanes, warp.full, &all);
        }
        self.tick(by.cta);
    }

    /// Lanes arrive at their cluster's barrier without releasing: what they knew at a fence goes on (PTX ISA, "barrier.cluster", the example of
    /// a relaxed barrier), and mbarriers that they have initialised with a fence for them.
    fn cluster_arrive_relaxed(&mut self, by: &Lanes) {
        let cta = by.block as u32;
        for lane in each(by.mask) {
            let thread = key(cta, by.first + lane);
            let mut known = Known::default();
            if let Some(fences) = self.fences(by, lane)
                && let Some(view) = fences.in_cluster(cta, self.cluster)
            {
                known.take(view);
            }
            if let Some(time) = self.objects.fenced(thread) {
                Rc::make_mut(&mut known.view).advance(WriterSet::thread(thread), u64::from(time));
            }
            let phase = self.blocks.clusters.entry(cta / self.cluster).or_default();
            phase.arrivals.push((by.warp, by.first, 1 << lane, Some((0, known))));
        }
    }

    /// Lanes arrive at their cluster's barrier.
    pub fn cluster_arrive(&mut self, by: &Lanes, relaxed: bool) {
        if relaxed {
            return self.cluster_arrive_relaxed(by);
        }
        let time = self.ctas[by.cta as usize].clock;
        let (cta, warp) = (by.block as u32, &self.warps[by.warp as usize]);
        let phase = self.blocks.clusters.entry(cta / self.cluster).or_default();
        let mut add = |lanes: u32, known: &Known| {
            let place = by.first + last(lanes);
            let mut view = View::clone(&known.whole(cta, place));
            if lanes == warp.full {
                view.advance(WriterSet::warp(key(cta, place)), u64::from(time));
            } else {
                view.advance_lanes(key(cta, by.first), lanes, u64::from(time));
            }
            let known = Known { view: Rc::new(view), ..Known::default() };
            phase.arrivals.push((by.warp, by.first, lanes, Some((time, known))));
        };
        warp.views.each(by.mask).for_each(|(lanes, known)| add(lanes, known));
        self.tick(by.cta);
    }

    /// Lanes go on behind it.
    pub fn cluster_leave(&mut self, by: &Lanes) {
        let cluster = by.block as u32 / self.cluster;
        let Some(phase) = self.blocks.clusters.get_mut(&cluster) else { return };
        let arrived = |arrival: &Arrival| arrival.0 == by.warp && arrival.2 & by.mask != 0;
        if phase.arrivals.iter().any(arrived) {
            // All that it waited for have arrived, and nobody can have arrived again.
            let mut all = Known::default();
            for arrival in phase.arrivals.drain(..) {
                if let Some((_, known)) = arrival.3 {
                    all.take(&known.view);
                }
            }
            for cta in self.ctas.iter().filter(|cta| cta.clock > 0 && cta.block / self.cluster == cluster) {
                for (warp, first, lanes, _) in &cta.exited {
                    let views = &self.warps[*warp as usize].views;
                    each(*lanes).for_each(|lane| {
                        let own = views.of(lane).own_view(cta.block, *first + lane, cta.clock);
                        all.take(&own);
                    });
                }
            }
            phase.known = Some(all);
        }
        let Some(known) = &phase.known else { return };
        let view = Rc::clone(&known.view);
        self.by_letter(by, by.mask);
        let warp = &mut self.warps[by.warp as usize];
        if by.mask & warp.live() == warp.live()
            && let Some(own) = warp.views.one_mut()
        {
            own.take(&view);
            return;
        }
        warp.views.change(by.mask, warp.full, |own| own.take(&view));
    }

    /// Lanes end.
    pub fn exit(&mut self, by: &Lanes) {
        let warp = &mut self.warps[by.warp as usize];
        let new = by.mask & warp.full & !warp.exited;
        warp.exited |= new;
        let cta = &mut self.ctas[by.cta as usize];
        cta.exited_count += new.count_ones();
        if new != 0 {
            cta.exited.push((by.warp, by.first, new, None));
        }
    }

    /// A block has ended: for explanations, what its threads released last is kept.
    pub fn end_block(&mut self, slot: u32) {
        let Some(block) = self.ctas.get(slot as usize).map(|cta| cta.block) else { return };
        let per = self.shape.warps_per_cta.max(1);
        let warps = (slot * per) as usize..((slot + 1) * per) as usize;
        let warps = self.warps.get_mut(warps).into_iter().flatten();
        let mut last = None;
        for warp in warps {
            last = last.max(warp.sync.each(warp.full).filter_map(|(_, sync)| sync.released).max());
            warp.sync = Default::default();
        }
        if let Some(last) = last {
            self.blocks.released.insert(block, last);
        }
        self.blocks.slot_of.remove(&block);
        self.ctas[slot as usize] = Default::default();
    }

    /// A lane arrives at an mbarrier.
    pub fn mbarrier_arrive(&mut self, by: &Lanes, at: &Range, relaxed: bool) {
        self.total.letter = true;
        if relaxed {
            return;
        }
        let time = self.ctas[by.cta as usize].clock;
        for lane in each(by.mask) {
            let known = self.warps[by.warp as usize].views.of(lane);
            let view = known.own_view(by.block as u32, by.first + lane, time);
            let mbarrier = self.copies.mbarrier(place_of(at.memory, at.address, 8));
            mbarrier.gathering = joined(&mbarrier.gathering, &view);
        }
        self.tick(by.cta);
    }

    /// A lane has found a phase completed.
    pub fn mbarrier_passed(&mut self, by: &Lanes, at: &Range, relaxed: bool) {
        self.total.letter = true;
        if relaxed {
            return;
        }
        let done = Rc::clone(&self.copies.mbarrier(place_of(at.memory, at.address, 8)).done);
        let warp = &mut self.warps[by.warp as usize];
        warp.views.change(by.mask, warp.full, |own| own.take(&done));
    }

    /// A copy is issued.
    pub fn copy_issued(
        &mut self,
        by: &Lanes,
        site: SiteNumber,
        id: CopyId,
        proxy: Proxy,
        from: Option<Range>,
        to: Option<Range>,
    ) {
        let lane = by.mask.trailing_zeros();
        let time = self.ctas[by.cta as usize].clock;
        let known = self.warps[by.warp as usize].views.of(lane).clone();
        let issuer = Issuer { slot: by.cta, cta: by.block as u32, place: by.first + lane, time, known };
        self.copies.add(
            id,
            Copy { issuer, proxy, site, from, to, waited: None, waited_reads: None, counted: Vec::new() },
        );
        self.tick(by.cta);
    }

    /// An issuer has waited for its copy.
    pub fn copy_awaited(&mut self, by: &Lanes, id: CopyId, read_only: bool) {
        let time = self.ctas[by.cta as usize].clock;
        let Some(copy) = self.copies.get_mut(id) else { return };
        copy.waited_reads.get_or_insert(time);
        if !read_only {
            copy.waited.get_or_insert(time);
        }
    }

    /// An mbarrier's phase counts a copy.
    pub fn copy_counted(&mut self, id: CopyId, at: &Range) {
        self.total.letter = true;
        let mbarrier = self.copies.mbarrier(place_of(at.memory, at.address, 8));
        let counted = (mbarrier.token, mbarrier.phase);
        let Some(copy) = self.copies.get_mut(id) else { return };
        if copy.counted.iter().any(|(token, _)| *token == counted.0) {
            return;
        }
        copy.counted.push(counted);
        let view = copy.issuer.known.own_view(copy.issuer.cta, copy.issuer.place, copy.issuer.time);
        let mbarrier = self.copies.mbarrier(place_of(at.memory, at.address, 8));
        mbarrier.gathering = joined(&mbarrier.gathering, &view);
    }

    /// A proxy fence of lanes.
    pub fn proxy_fence(&mut self, by: &Lanes) {
        each(by.mask).for_each(|lane| self.objects.fence(key(by.block as u32, by.first + lane)));
        let cta = &mut self.ctas[by.cta as usize];
        cta.proxy_fence = cta.clock;
        self.tick(by.cta);
    }
}

impl ExactDetector {
    /// A copy reads and writes.
    pub(super) fn copy_done(&mut self, grid: u32, id: CopyId) {
        let Some(copy) = self.grids.get(&grid).and_then(|grid| grid.copies.get(id as u32)) else { return };
        let parts = [(copy.from, false), (copy.to, true)];
        for (range, writes) in parts {
            if let Some(range) = range {
                self.copy_access(grid, id, &range, writes);
            }
        }
    }

    fn copy_access(&mut self, id: u32, copy_id: CopyId, range: &Range, writes: bool) {
        let Some(grid) = self.grids.get(&id) else { return };
        let Some(copy) = grid.copies.get(copy_id as u32) else { return };
        let kind = Kind {
            site: copy.site,
            kind: if writes { AccessKind::Store } else { AccessKind::Load },
            strength: Strength::Weak,
            size: u32::try_from(range.bytes).unwrap_or(u32::MAX),
            asynchronous: true,
        };
        let record = Record {
            mask: 0,
            lanes: 0,
            warps: 0,
            grid: id,
            cta: copy.issuer.cta,
            time: copy.issuer.time,
            kind: self.report.kinds.number(kind),
            link: copy_id as u32,
            base: copy.issuer.place as i16,
            shape: ONE,
            flags: COPY | if writes { WRITES } else { 0 },
        };
        let lives = grid
            .ctas
            .get(copy.issuer.slot as usize)
            .filter(|cta| cta.clock > 0 && cta.block == copy.issuer.cta);
        let fenced = lives.filter(|_| copy.proxy == Proxy::Async).map(|cta| cta.proxy_fence);
        let end = range.address.saturating_add(range.bytes);
        let mut at = range.address;
        while at < end {
            let here = (end - at).min(ROW - (at & (ROW - 1)));
            let from = (at & (ROW - 1)) as u32;
            let record = Record { mask: bytes(from, from + here as u32), ..record };
            self.report.here = (range.memory, at >> ROW_SHIFT << ROW_SHIFT);
            let log = &self.host;
            let row = self.shadow.row(id, range.memory, at >> ROW_SHIFT, |first, rows| log.fill(first, rows));
            let mut check = Check {
                works: &self.works,
                links: &mut self.links,
                grid: Some(grid),
                actor: Actor::Copy(&copy.issuer.known, copy.issuer.place, copy.issuer.time, fenced),
                settled: 0,
                report: &mut self.report,
                candidates: None,
            };
            row.plain(&record, &mut check, record.mask, &mut self.spare);
            at += here;
        }
    }
}
