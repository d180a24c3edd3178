//! `mbarrier` instructions, and who waits for a phase.

use bugaroo_ptx::op::MbarrierOp;
use bugaroo_ptx::types::{Semantics, Space};

use super::mbarrier::{self, Word};
use crate::alu::Width;
use crate::decoded::{Address, Asynchronous};
use crate::exec::data::{lanes, read_lane, row, write_lane};
use crate::exec::spot::Spot;
use crate::exec::step::Flow;
use crate::exec::warp::State;
use crate::exec::{Machine, Trouble};
use crate::fault::{Activity, LaunchFault, StopKind, TouchKind};

/// Lanes that wait: a fragment of theirs alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    w: usize,
    lanes: u32,
    pointer: *mut u8,
    address: u64,
    /// The phase that they wait for.
    odd: bool,
    /// The turn at which they are told that it has not passed.
    until: u64,
}

/// Times in a row that everybody may be woken in vain.
const ROUNDS: u32 = 4096;

impl Machine<'_> {
    /// Finds an mbarrier's word.
    pub(super) fn mbarrier_pointer(&self, w: usize, space: Space, address: u64) -> Result<*mut u8, StopKind> {
        match self.spot(w, space, address, 8, 8, TouchKind::Atomic)? {
            Spot::Shared(pointer) => Ok(pointer),
            Spot::Read(_) | Spot::Written(_) => {
                Err(StopKind::BadMbarrier { address, problem: "does not lie in shared memory" })
            }
        }
    }

    /// Changes a barrier; when its phase is complete then, who waits for it goes on.
    pub(super) fn change_mbarrier(
        &mut self,
        pointer: *mut u8,
        address: u64,
        change: impl FnOnce(&mut Word) -> Result<(), &'static str>,
    ) -> Result<(), StopKind> {
        let bad = |problem| StopKind::BadMbarrier { address, problem };
        let word = pointer.cast::<u64>();
        // SAFETY: `mbarrier_pointer` found eight bytes of a block's shared memory, which does not move.
        let mut now =
            Word::read(unsafe { word.read_unaligned() }).ok_or_else(|| bad("is not initialised"))?;
        change(&mut now).map_err(bad)?;
        let passed = now.complete();
        // SAFETY: as above.
        unsafe { word.write_unaligned(now.bits()) };
        if passed {
            self.observed_phase(pointer);
            self.asynchrony.progress();
            self.wake(true, |waiter| waiter.pointer == pointer && waiter.odd != now.odd);
        }
        Ok(())
    }

    pub(super) fn mbarrier(
        &mut self,
        (w, fragment, active): (usize, usize, u32),
        (op, order): (MbarrierOp, Semantics),
        address: &Address,
        value: Option<i32>,
        dst: Option<u32>,
    ) -> Result<Flow, Trouble> {
        let (frame, pc) = (
            self.residents.warps[w].fragments[fragment].rows,
            self.residents.warps[w].fragments[fragment].pc,
        );
        let consts = self.given.constants.base();
        let wide = matches!(op, MbarrierOp::Wait { parity: false, .. });
        let width = if wide { Width::W64 } else { Width::W32 };
        // SAFETY: the loader's slot, of this width.
        let given = |lane| value.map(|slot| unsafe { read_lane(row(frame, consts, slot), width, lane) });
        let mut waits = [(std::ptr::null_mut(), 0, false); 32];
        let (mut passed, mut waiting) = (0, 0);
        for lane in lanes(active) {
            let at = self.lane_address(w, frame, address, lane);
            let trouble = |kind| Box::new((kind, lane as u32));
            let pointer = self.mbarrier_pointer(w, address.space, at).map_err(trouble)?;
            let word = pointer.cast::<u64>();
            let bad = |problem| trouble(StopKind::BadMbarrier { address: at, problem });
            // SAFETY: eight bytes of shared memory.
            let bits = unsafe { word.read_unaligned() };
            let given = given(lane);
            let count = given.map(|count| count as u32);
            match op {
                MbarrierOp::Init => {
                    let count = count.unwrap_or(0);
                    if count == 0 || count > mbarrier::MOST {
                        return Err(bad("is initialised with an arrival count that it cannot have"));
                    }
                    // SAFETY: as above.
                    unsafe { word.write_unaligned(Word::new(count).bits()) };
                    self.observed_mbarrier((w, lane as u32, pc), pointer);
                }
                MbarrierOp::Inval => {
                    // SAFETY: as above.
                    unsafe { word.write_unaligned(0) };
                    self.observed_mbarrier((w, lane as u32, pc), pointer);
                }
                MbarrierOp::Arrive { drop, expect_tx, .. } => {
                    let arrivals = if expect_tx { 1 } else { count.unwrap_or(1) };
                    self.observed_mbarrier_arrive((w, 1 << lane, pc), pointer, order);
                    self.change_mbarrier(pointer, at, |word| {
                        if expect_tx {
                            word.expect(i64::from(count.unwrap_or(0)))?;
                        }
                        if drop {
                            let fewer = word.expected.checked_sub(arrivals);
                            word.expected = fewer.ok_or("is dropped by more threads than it counts")?;
                        }
                        word.arrive(arrivals)
                    })
                    .map_err(trouble)?;
                    if let Some(dst) = dst {
                        // SAFETY: the loader's 64-bit destination.
                        unsafe { write_lane(frame.add(dst as usize), Width::W64, lane, bits) };
                    }
                }
                MbarrierOp::ExpectTx | MbarrierOp::CompleteTx => {
                    let bytes = i64::from(count.unwrap_or(0));
                    let bytes = if op == MbarrierOp::ExpectTx { bytes } else { -bytes };
                    self.change_mbarrier(pointer, at, |word| word.expect(bytes)).map_err(trouble)?;
                }
                MbarrierOp::Wait { parity, .. } => {
                    let now = Word::read(bits).ok_or_else(|| bad("is not initialised"))?;
                    let state = given.unwrap_or(0);
                    let odd = if parity { state & 1 != 0 } else { state >> 63 != 0 };
                    let done = if parity { now.odd != odd } else { mbarrier::passed(now, state) };
                    if done {
                        self.observed_passed((w, 1 << lane, pc), pointer, order);
                        passed |= 1 << lane;
                    } else {
                        waiting |= 1 << lane;
                        waits[lane] = (pointer, at, odd);
                    }
                }
                MbarrierOp::PendingCount => unreachable!("it names no barrier"),
            }
        }
        let MbarrierOp::Wait { blocking, .. } = op else { return Ok(Flow::Visible) };
        self.answer(frame, dst, passed, true);
        // A test mostly answers at once.
        if waiting != 0 && !blocking && self.asynchrony.rng.next() & 3 != 0 && !self.runnable_alone(w) {
            self.answer(frame, dst, waiting, false);
            waiting = 0;
        }
        if waiting == 0 {
            return Ok(Flow::Visible);
        }
        if passed != 0 {
            let at = self.residents.warps[w].split(fragment, passed);
            self.residents.warps[w].fragments[at].pc += 1;
        }
        let patience = if blocking { 256 + (self.asynchrony.rng.next() & 1023) } else { 32 };
        while waiting != 0 {
            let first = waits[waiting.trailing_zeros() as usize];
            let group = lanes(waiting).filter(|l| waits[*l] == first).fold(0, |g, l| g | 1 << l);
            let at = self.isolate(w, fragment, group, waiting);
            self.residents.warps[w].fragments[at].state = State::Mbarrier;
            let (pointer, address, odd) = first;
            let until = self.progress.counts.turns + patience;
            self.asynchrony.due = self.asynchrony.due.min(until);
            self.asynchrony.waiters.push(Waiter { w, lanes: group, pointer, address, odd, until });
            waiting &= !group;
        }
        Ok(Flow::Select)
    }

    /// Is nobody else runnable? Then answering at once would only be asked again.
    fn runnable_alone(&self, w: usize) -> bool {
        self.residents.runnable.len() <= 1 && self.residents.warps[w].fragments.len() == 1
    }

    fn answer(&self, frame: *mut u8, dst: Option<u32>, lanes_told: u32, passed: bool) {
        let Some(dst) = dst else { return };
        for lane in lanes(lanes_told) {
            // SAFETY: the loader's predicate row.
            unsafe { write_lane(frame.add(dst as usize), Width::Pred, lane, u64::from(passed)) };
        }
    }

    /// Tells waiters, and lets them go on.
    fn wake(&mut self, passed: bool, chosen: impl Fn(&Waiter) -> bool) {
        let program = self.given.program;
        let waiters = std::mem::take(&mut self.asynchrony.waiters);
        for waiter in waiters {
            if !chosen(&waiter) {
                self.asynchrony.waiters.push(waiter);
                continue;
            }
            let fragments = &mut self.residents.warps[waiter.w].fragments;
            let fragment = fragments
                .iter_mut()
                .find(|f| f.state == State::Mbarrier && f.mask == waiter.lanes)
                .expect("a waiting fragment stays as it is");
            fragment.state = State::Ready;
            let (frame, pc) = (fragment.rows, fragment.pc);
            fragment.pc += 1;
            let (dst, order) = match &program.asyncs[program.code[pc as usize].extra as usize] {
                Asynchronous::Mbarrier { dst, order, .. } => (*dst, *order),
                _ => unreachable!("only an mbarrier's instructions wait"),
            };
            self.answer(frame, dst, waiter.lanes, passed);
            if passed {
                self.observed_passed((waiter.w, waiter.lanes, pc), waiter.pointer, order);
            }
            self.enqueue(waiter.w as u32);
            self.progress.woken = true;
        }
    }

    /// Does what is due by now.
    pub(in crate::exec) fn settle_due(&mut self) -> Result<(), Box<LaunchFault>> {
        let now = self.progress.counts.turns;
        self.occur_until(now)?;
        self.wake(false, |waiter| waiter.until <= now);
        let waits = self.asynchrony.waiters.iter().map(|waiter| waiter.until).min();
        self.asynchrony.due = waits.into_iter().chain(self.next_event()).min().unwrap_or(u64::MAX);
        self.progress.woken = false;
        Ok(())
    }

    /// Nobody can run: lets the next event happen, or tells all waiters that nothing has happened. Answers
    /// whether there is hope.
    pub(in crate::exec) fn idle(&mut self) -> Result<bool, Box<LaunchFault>> {
        if let Some(next) = self.next_event() {
            return self.occur_until(next);
        }
        if self.asynchrony.waiters.is_empty() {
            return Ok(false);
        }
        let held = self.registers_of_waiters();
        let same = self.asynchrony.vain.rounds > 0 && held == self.asynchrony.vain.held;
        if same || self.asynchrony.vain.rounds == ROUNDS {
            return Ok(false);
        }
        self.asynchrony.vain.held = held;
        self.asynchrony.skew += 1000 << self.asynchrony.vain.rounds.min(40);
        self.asynchrony.vain.rounds += 1;
        self.wake(false, |_| true);
        self.progress.woken = false;
        Ok(true)
    }

    /// A hash of where the waiting lanes stand and what their frames hold.
    fn registers_of_waiters(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut step = |word: u64| hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        for (w, warp) in self.residents.warps.iter().enumerate() {
            for fragment in warp.fragments.iter().filter(|f| f.state == State::Mbarrier) {
                let function = self.residents.frames.get(fragment.frame).function;
                let words = self.given.program.functions[function as usize].frame_bytes as usize / 8;
                step(w as u64 ^ u64::from(fragment.mask) << 32);
                step(u64::from(fragment.pc));
                for word in 0..words {
                    // SAFETY: the frame has so many bytes.
                    step(unsafe { fragment.rows.cast::<u64>().add(word).read() });
                }
            }
        }
        hash
    }

    /// For a diagnosis.
    pub(in crate::exec) fn mbarrier_activity(&self, w: usize, mask: u32) -> Activity {
        let waiter = self.asynchrony.waiters.iter().find(|waiter| waiter.w == w && waiter.lanes == mask);
        let Some(waiter) = waiter else { return Activity::Running };
        // SAFETY: eight bytes of a resident block's shared memory.
        let word = Word::read(unsafe { waiter.pointer.cast::<u64>().read_unaligned() });
        let (pending, transactions) = word.map_or((0, 0), |word| (word.pending, word.transactions));
        Activity::Mbarrier { address: waiter.address & 0xffff_ffff, pending, transactions }
    }
}
