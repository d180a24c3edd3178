//! What orders: fences, barriers, the end of a thread, and the settling of what waits.

use std::rc::Rc;

use super::entry::{self, Entry};
use super::scope::{Scope, Strength, ThreadKey};
use super::stale::Edge;
use super::thread::Late;
use super::view::{View, Writers};
use super::{Machine, Plain, Span, Value};

impl Machine {
    /// An access of a thread begins: what is due happens, and late loads of the same bytes are resolved.
    #[inline]
    pub(super) fn step(&mut self, memory: &mut impl Plain, slot: usize, span: Option<Span>) {
        let thread = &mut self.threads[slot];
        thread.count += 1;
        if thread.due <= thread.count {
            self.do_what_is_due(memory, slot);
        }
        if let Some(span) = span
            && !self.threads[slot].late.is_empty()
        {
            self.settle_where(memory, slot, |late| late.span.meets(span));
        }
    }

    fn do_what_is_due(&mut self, memory: &mut impl Plain, slot: usize) {
        let count = self.threads[slot].count;
        self.settle_where(memory, slot, |late| late.due <= count);
        let due: Vec<Span> = self.threads[slot]
            .waiting
            .iter()
            .filter(|store| store.due <= count)
            .map(|store| store.span)
            .collect();
        if !due.is_empty() {
            self.drain_where(memory, slot, |span| due.contains(&span));
        }
        self.threads[slot].set_due();
    }

    /// Resolves a thread's late loads of which `which` is true, in program order.
    pub(super) fn settle_where(
        &mut self,
        memory: &mut impl Plain,
        slot: usize,
        which: impl Fn(&Late) -> bool,
    ) {
        let mut index = 0;
        while index < self.threads[slot].late.len() {
            if which(&self.threads[slot].late[index]) {
                let mut late = self.threads[slot].late.remove(index);
                let value = match late.passed.take() {
                    Some(passed) => self.resolve_passed(memory, slot, &late, &passed),
                    None => self.resolve(memory, slot, late.span, (late.strength, false), late.origin),
                };
                self.threads[slot].settled.push((late, value));
            } else {
                index += 1;
            }
        }
    }

    /// The value of a late load is needed. None if it is not pending: it has been resolved already.
    pub fn settle(&mut self, memory: &mut impl Plain, slot: usize, token: u64) {
        self.settle_where(memory, slot, |late| late.token == token);
    }

    /// Resolves all late loads of a thread.
    pub fn settle_all(&mut self, memory: &mut impl Plain, slot: usize) {
        if !self.threads[slot].late.is_empty() {
            self.settle_where(memory, slot, |_| true);
        }
    }

    /// The late loads of a thread that have been resolved since the last call, with their values.
    pub fn take_settled(&mut self, slot: usize) -> Vec<(Late, Value)> {
        std::mem::take(&mut self.threads[slot].settled)
    }

    /// Everything of a thread that waits happens: loads are resolved, then stores are written.
    pub fn order(&mut self, memory: &mut impl Plain, slot: usize) {
        self.settle_all(memory, slot);
        if !self.threads[slot].waiting.is_empty() {
            self.drain_where(memory, slot, |_| true);
        }
    }

    /// The entry of a release that a thread performs now.
    pub(super) fn release_entry(&self, slot: usize, scope: Scope) -> Entry {
        let thread = &self.threads[slot];
        Entry { thread: thread.key, scope, time: self.now, view: Rc::clone(&thread.view) }
    }

    /// A thread takes what a release hands over.
    pub(super) fn take(&mut self, slot: usize, entry: &Entry) {
        self.join(slot, &entry.view);
        if entry.thread != ThreadKey::NOBODY {
            let view = &mut self.threads[slot].view;
            if !view.knows(entry.thread, entry.time) {
                Rc::make_mut(view).advance(Writers::thread(entry.thread), entry.time);
            }
        }
    }

    /// A thread's view takes in another.
    fn join(&mut self, slot: usize, other: &Rc<View>) {
        let view = &self.threads[slot].view;
        if Rc::ptr_eq(view, other) || view.covers(other) {
            return;
        }
        if other.covers(view) {
            self.threads[slot].view = Rc::clone(other);
            return;
        }
        let mut view = Rc::clone(view);
        let histories = &self.histories;
        Rc::make_mut(&mut view).join(other, |granule, a, b| histories.later(granule, a, b));
        self.threads[slot].view = view;
    }

    /// A fence of a thread: `fence.acq_rel`, or `fence.sc`.
    pub fn fence(&mut self, memory: &mut impl Plain, slot: usize, scope: Scope, sc: bool) {
        self.step(memory, slot, None);
        self.order_for_release(memory, slot);
        if !self.threads[slot].bank.is_empty() {
            self.take_banked(slot, scope, None);
        }
        if sc {
            self.fence_sc(slot, scope);
        }
        let edge = Edge { time: self.now, scope };
        (self.threads[slot].released, self.threads[slot].acquired) = (edge, edge);
        let entry = self.release_entry(slot, scope);
        entry::add(Rc::make_mut(&mut self.threads[slot].fences), entry);
    }

    /// Fence-SC order is the order in which fences are executed. A pair is morally strong if both reach the
    /// whole device, or both are of one CTA.
    fn fence_sc(&mut self, slot: usize, scope: Scope) {
        let key = self.threads[slot].key;
        let wide = scope != Scope::Cta;
        if wide {
            let device = Rc::clone(&self.sc_device);
            self.join(slot, &device);
        }
        let [of_wide, of_narrow] = self.sc_cta.entry(key.cta()).or_default().clone();
        self.join(slot, &of_wide);
        self.join(slot, &of_narrow);
        let mut known = Rc::clone(&self.threads[slot].view);
        if !known.knows(key, self.now) {
            Rc::make_mut(&mut known).advance(Writers::thread(key), self.now);
        }
        if wide {
            self.sc_device = self.joined(&self.sc_device, &known);
        }
        let [of_wide, of_narrow] = &self.sc_cta[&key.cta()];
        let both = if wide {
            [self.joined(of_wide, &known), Rc::clone(of_narrow)]
        } else {
            [Rc::clone(of_wide), self.joined(of_narrow, &known)]
        };
        self.sc_cta.insert(key.cta(), both);
    }

    fn joined(&self, one: &Rc<View>, other: &Rc<View>) -> Rc<View> {
        if other.covers(one) {
            return Rc::clone(other);
        }
        let mut all = Rc::clone(one);
        Rc::make_mut(&mut all).join(other, |granule, a, b| self.histories.later(granule, a, b));
        all
    }

    /// What a thread brings to a barrier: called when it arrives. What it holds back is written first.
    pub fn arrive(&mut self, memory: &mut impl Plain, slot: usize) {
        self.step(memory, slot, None);
        self.order(memory, slot);
    }

    /// A barrier completes: whoever waits at it knows from now on what all who arrived knew and wrote.
    /// `writers` stands for those who arrived: one entry for all, if they are a whole CTA or warp.
    pub fn barrier(&mut self, arrived: &[usize], waiting: &[usize], writers: Option<Writers>) {
        let each = || arrived.iter().map(|slot| Writers::thread(self.threads[*slot].key)).collect();
        let writers: Vec<Writers> = writers.map_or_else(each, |writers| vec![writers]);
        let all = self.gathered(arrived, &writers);
        for slot in waiting {
            self.knows_all(*slot, &all);
        }
    }

    /// What threads know together that meet, all that they wrote included: `writers` stands for them.
    pub(super) fn gathered(&self, arrived: &[usize], writers: &[Writers]) -> Rc<View> {
        let mut all = arrived.first().map(|first| Rc::clone(&self.threads[*first].view)).unwrap_or_default();
        for slot in arrived {
            let view = &self.threads[*slot].view;
            if !Rc::ptr_eq(view, &all) && !all.covers(view) {
                all = self.joined(&all, view);
            }
        }
        let view = Rc::make_mut(&mut all);
        view.forget(self.floor);
        writers.iter().for_each(|writers| view.advance(*writers, self.now));
        all
    }

    /// A thread goes on with what it and others have gathered.
    pub(super) fn knows_all(&mut self, slot: usize, view: &Rc<View>) {
        let thread = &mut self.threads[slot];
        thread.view = Rc::clone(view);
        thread.met = self.now;
    }

    /// Strong stores of a thread that waits are written: it will do nothing for a while.
    pub(super) fn drain_strong(&mut self, memory: &mut impl Plain, slot: usize) {
        let waiting = &self.threads[slot].waiting;
        let strong: Vec<Span> =
            waiting.iter().filter(|store| store.strength != Strength::Weak).map(|store| store.span).collect();
        if !strong.is_empty() {
            self.drain_where(memory, slot, |span| strong.contains(&span));
        }
    }

    /// All threads of a CTA have ended.
    pub(super) fn end_cta(&mut self, cta: u32) {
        self.sc_cta.remove(&cta);
    }

    /// A thread ends.
    pub fn exit(&mut self, memory: &mut impl Plain, slot: usize) {
        self.order(memory, slot);
    }
}
