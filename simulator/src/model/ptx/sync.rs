//! What orders: fences, barriers, the end of a thread, and the settling of what waits.

use std::rc::Rc;

use super::stale::Edge;
use super::thread::Late;
use super::warp::{slot_of, warp_and_lane};
use super::{PlainMemory, PtxMachine};
use bugaroo_ptx::op::FenceKind;
use bugaroo_semantics::clocks::release::{self as entry, Entries, Release};
use bugaroo_semantics::clocks::{View, WriterSet, joined};
use bugaroo_semantics::location::{GranuleSpan, Value};
use bugaroo_semantics::scope::Scope;

impl PtxMachine {
    /// An access of a thread begins: what is due happens, and late loads of the same bytes are resolved.
    #[inline]
    pub(super) fn step(&mut self, memory: &mut impl PlainMemory, slot: usize, span: Option<GranuleSpan>) {
        let (warp, lane) = warp_and_lane(slot);
        self.step_lanes(memory, warp, 1 << lane);
        if let Some(span) = span
            && self.held.warps[warp].late >> lane & 1 != 0
        {
            self.settle_where(memory, slot, |late| late.span.meets(span));
        }
    }

    /// Resolves a thread's late loads of which `which` is true, in program order.
    pub(super) fn settle_where(
        &mut self,
        memory: &mut impl PlainMemory,
        slot: usize,
        which: impl Fn(&Late) -> bool,
    ) {
        let mut index = 0;
        while index < self.threads[slot].loads.late.len() {
            if which(&self.threads[slot].loads.late[index]) {
                let mut late = self.threads[slot].loads.late.remove(index);
                let value = match late.passed.take() {
                    Some(passed) => self.resolve_passed(memory, slot, &late, &passed),
                    None => {
                        let order = (late.strength, false);
                        self.resolve(memory, slot, late.span, order, late.origin, false)
                    }
                };
                self.threads[slot].loads.settled.push((late, value));
            } else {
                index += 1;
            }
        }
        if self.threads[slot].loads.late.is_empty() {
            let (warp, lane) = self.warp(slot);
            warp.late &= !(1 << lane);
        }
    }

    /// The value of a late load is needed. None if it is not pending: it has been resolved already.
    pub fn settle(&mut self, memory: &mut impl PlainMemory, slot: usize, token: u64) {
        self.settle_where(memory, slot, |late| late.token == token);
    }

    /// Resolves all late loads of a thread.
    pub fn settle_all(&mut self, memory: &mut impl PlainMemory, slot: usize) {
        if !self.threads[slot].loads.late.is_empty() {
            self.settle_where(memory, slot, |_| true);
        }
    }

    /// The late loads of a thread that have been resolved since the last call, with their values.
    pub fn take_settled(&mut self, slot: usize) -> Vec<(Late, Value)> {
        std::mem::take(&mut self.threads[slot].loads.settled)
    }

    /// Everything of a thread that waits happens: loads are resolved, then stores are written.
    pub fn order(&mut self, memory: &mut impl PlainMemory, slot: usize) {
        let (warp, lane) = warp_and_lane(slot);
        self.order_lanes(memory, warp, 1 << lane);
    }

    /// The same of some lanes of a warp.
    pub(super) fn order_lanes(&mut self, memory: &mut impl PlainMemory, warp: usize, lanes: u32) {
        for lane in crate::exec::lanes(self.held.warps[warp].late & lanes) {
            self.settle_all(memory, slot_of(warp, lane));
        }
        self.drain_lanes(memory, warp, lanes);
    }

    /// These lanes are about to release, one after another: what waits is written as it is for each of them, of all at once. Those that
    /// have late loads have to look at these first.
    pub(super) fn drain_for_release(&mut self, memory: &mut impl PlainMemory, warp: usize, lanes: u32) {
        let among = lanes & !self.held.warps[warp].late;
        self.drain_lanes(memory, warp, among);
    }

    /// All stores of these lanes that wait are written.
    pub(super) fn drain_lanes(&mut self, memory: &mut impl PlainMemory, warp: usize, lanes: u32) {
        if self.held.warps[warp].waiting.mark_all(lanes) {
            self.drain(memory, warp);
        }
    }

    /// What a thread knows now, its own writes included.
    pub(super) fn own_view(&mut self, slot: usize) -> Rc<View> {
        self.clock.now += 1;
        let thread = &self.threads[slot];
        let own =
            if self.launch.lonely { WriterSet::cta(thread.key.cta()) } else { WriterSet::thread(thread.key) };
        let mut view = View::clone(&thread.view);
        view.advance(own, self.clock.now);
        view.belongs_to(thread.key, self.clock.now);
        Rc::new(view)
    }

    /// What a release that a thread performs now hands over.
    pub(super) fn release(&mut self, slot: usize, scope: Scope) -> Entries {
        let view = self.own_view(slot);
        self.threads[slot].edges.released = Edge { time: self.clock.now, scope };
        Some(Rc::new(Release::new(self.threads[slot].key, scope, &view)))
    }

    /// A fence of a thread, other than a proxy fence.
    pub fn fence(&mut self, memory: &mut impl PlainMemory, slot: usize, scope: Scope, kind: FenceKind) {
        self.step(memory, slot, None);
        if kind.releases() {
            self.order_for_release(memory, slot);
        } else {
            // Stores before an acquire may still become visible behind it.
            self.settle_all(memory, slot);
        }
        if kind.acquires() && !self.threads[slot].hands.bank.is_empty() {
            self.take_banked(slot, scope, None);
        }
        if !kind.releases() {
            self.threads[slot].edges.acquired = Edge { time: self.clock.now, scope };
            return;
        }
        let sc = kind == FenceKind::Sc;
        if sc {
            self.join_sc(slot, scope);
        }
        let view = self.own_view(slot);
        if sc {
            self.add_sc(slot, scope, &view);
        }
        let edge = Edge { time: self.clock.now, scope };
        let thread = &mut self.threads[slot];
        thread.edges.released = edge;
        if kind.acquires() {
            thread.edges.acquired = edge;
        }
        let new = Some(Rc::new(Release::new(thread.key, scope, &view)));
        if scope == Scope::Cta {
            thread.hands.fences = entry::both(&new, &thread.hands.fences);
        } else {
            // It says all that the thread has released before.
            thread.hands.fences = new;
            thread.hands.released_at.clear();
        }
    }

    /// Fence-SC order is the order in which fences are executed. A pair is morally strong if both reach the
    /// whole device, or both are of one CTA. A thread takes what the fences before have known.
    fn join_sc(&mut self, slot: usize, scope: Scope) {
        if scope != Scope::Cta {
            let device = Rc::clone(&self.sc.device);
            self.take(slot, &device);
        }
        if let Some(of_cta) = self.sc.by_cta.get(&self.threads[slot].key.cta()) {
            let [of_wide, of_narrow] = of_cta.clone();
            self.take(slot, &of_wide);
            self.take(slot, &of_narrow);
        }
    }

    /// And the fences behind take what it has known.
    fn add_sc(&mut self, slot: usize, scope: Scope, known: &Rc<View>) {
        let wide = scope != Scope::Cta;
        if wide {
            self.sc.device = joined(known, &self.sc.device);
        }
        let of_cta = &mut self.sc.by_cta.entry(self.threads[slot].key.cta()).or_default()[usize::from(!wide)];
        *of_cta = joined(known, of_cta);
    }

    /// What a thread brings to a barrier: called when it arrives. What it holds back is written first.
    pub fn arrive(&mut self, memory: &mut impl PlainMemory, slot: usize) {
        self.step(memory, slot, None);
        self.order(memory, slot);
    }

    /// A barrier completes: whoever waits at it knows from now on what all who arrived knew and wrote.
    /// `writers` stands for those who arrived: one entry for all, if they are a whole CTA or warp.
    pub fn barrier(&mut self, arrived: &[usize], waiting: &[usize], writers: Option<WriterSet>) {
        let each = || arrived.iter().map(|slot| WriterSet::thread(self.threads[*slot].key)).collect();
        let writers: Vec<WriterSet> = writers.map_or_else(each, |writers| vec![writers]);
        let all = self.gathered(arrived, &writers);
        for slot in waiting {
            self.knows_all(*slot, &all);
        }
    }

    /// What threads know together that meet, all that they wrote included: `writers` stands for them.
    pub(super) fn gathered(&mut self, arrived: &[usize], writers: &[WriterSet]) -> Rc<View> {
        self.clock.now += 1;
        let mut all = arrived.first().map(|first| Rc::clone(&self.threads[*first].view)).unwrap_or_default();
        for slot in arrived {
            let view = &self.threads[*slot].view;
            if !Rc::ptr_eq(&all, view) {
                all = joined(&all, view);
            }
        }
        let view = Rc::make_mut(&mut all);
        if self.clock.floor > 0 {
            view.forget(self.clock.floor);
        }
        writers.iter().for_each(|writers| view.advance(*writers, self.clock.now));
        all
    }

    /// A thread goes on with what it and others have gathered.
    pub(super) fn knows_all(&mut self, slot: usize, view: &Rc<View>) {
        let thread = &mut self.threads[slot];
        if !Rc::ptr_eq(&thread.view, view) {
            thread.view = Rc::clone(view);
        }
        thread.edges.met = self.clock.now;
    }

    /// Strong stores of threads that wait are written: they will do nothing for a while.
    pub(super) fn drain_strong(&mut self, memory: &mut impl PlainMemory, warp: usize, lanes: u32) {
        if self.held.warps[warp].waiting.mark_strong(lanes) {
            self.drain(memory, warp);
        }
    }

    /// All threads of a CTA have ended.
    pub(super) fn end_cta(&mut self, cta: u32) {
        self.sc.by_cta.remove(&cta);
    }

    /// A thread ends.
    pub fn exit(&mut self, memory: &mut impl PlainMemory, slot: usize) {
        self.order(memory, slot);
        self.threads[slot].lives = false;
    }
}
