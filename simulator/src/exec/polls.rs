//! Warps that poll: a turn in which a warp would only find again what it has found before is counted, and not executed.
//!
//! Of a contended lock's time nearly all goes to threads that try to take it in vain. Once a warp's turn has ended behind an
//! access that may be polled ([`crate::load::polls`]), the next round is tried out on its registers: arithmetic and branches back
//! to the access, and what the access would read. When all registers are then what they were, the access would write nothing,
//! and nothing else is executed on the way, each further round does the same for as long as memory holds that
//! value there. So when the scheduler gives the warp its next turn, and the value is still there, the turn's operations and
//! instructions are added to the counts, and that was the turn.
//!
//! Who has how many turns, and when, stays as the scheduler says: the same random numbers are drawn, and everything that others
//! can see comes out as if the rounds had been executed. Under a memory model this is so while it lets the access through,
//! as if nothing were there, or counts it itself ([`MemoryModel::polls`](crate::MemoryModel::polls)).
//!
//! Rounds are executed where somebody looks on, in lockstep, and where the round has a second visible operation (a fence, a pause).

use bugaroo_ptx::op::AtomOp;

use super::atomic::{combine, read_memory};
use super::data::{lanes, read_lane, row, write_lane};
use super::resolve::{Pattern, Request};
use super::step::SLICE;
use super::warp::{Fragment, Parting, State};
use super::{Machine, Trouble};
use crate::alu::Width;
use crate::decoded::{Atomic, DecodedAccess, Kind, NO_GUARD};
use crate::fault::TouchKind;
use crate::load::Program;
use crate::load::polls::{LONGEST, computes};
use crate::model::{Accessed, Poll};

/// Times in a row that an access was not polled after all, until it counts as one that is not.
const TRIES: u8 = 64;

/// What is known of a warp.
#[derive(Clone, Copy, Debug, Default)]
enum Polling {
    #[default]
    Nothing,
    /// A turn has ended behind this access of these lanes, of which the first had read this.
    Once(Read),
    /// It goes round.
    Round(Round),
}

/// What lanes have read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Read {
    /// The access.
    pc: u32,
    mask: u32,
    /// In the row of the result, for the first of them.
    value: u64,
}

/// A round of polling: behind the access, and again there.
#[derive(Clone, Copy, Debug)]
struct Round {
    read: Read,
    /// Where all lanes read what they read.
    place: *mut u8,
    poll: Poll,
    /// Instructions of a round.
    length: u32,
}

/// The launch's warps, as pollers.
#[derive(Debug, Default)]
pub(super) struct Polls {
    /// By warp slot. Empty where every turn is executed.
    warps: Vec<Polling>,
    /// By warp slot: whether anything is known of it, which is rare.
    known: Vec<bool>,
    /// By number in [`Program::polls`]: see [`TRIES`].
    failures: Vec<u8>,
    /// By instruction, as bits: whether an access that may still be polled is in front of it.
    behind: Vec<u64>,
}

impl Polls {
    pub fn new(program: &Program, warps: usize) -> Polls {
        match program.polls.len() {
            0 => Polls::default(),
            some => {
                let mut behind = vec![0; program.code.len() / 64 + 1];
                for pc in &program.polls {
                    let next = *pc as usize + 1;
                    behind[next / 64] |= 1 << (next % 64);
                }
                Polls {
                    warps: vec![Polling::Nothing; warps],
                    known: vec![false; warps],
                    failures: vec![0; some],
                    behind,
                }
            }
        }
    }

    /// Whether the turn of this warp has left nothing to look at, it being there with its only fragment: most turns do.
    #[inline(always)]
    fn is_elsewhere(&self, w: usize, pc: u32) -> bool {
        !self.known[w] && self.behind[pc as usize / 64] >> (pc % 64) & 1 == 0
    }

    /// Memory may have gone.
    pub fn forget(&mut self) {
        self.warps.fill(Polling::Nothing);
        self.known.fill(false);
    }

    fn set(&mut self, w: usize, polling: Polling) {
        self.warps[w] = polling;
        self.known[w] = !matches!(polling, Polling::Nothing);
    }

    fn take(&mut self, w: usize) -> Polling {
        self.known[w] = false;
        std::mem::take(&mut self.warps[w])
    }

    fn fail(&mut self, poll: usize, pc: u32) {
        self.failures[poll] += 1;
        if self.failures[poll] >= TRIES {
            let next = pc as usize + 1;
            self.behind[next / 64] &= !(1 << (next % 64));
        }
        if self.failures.iter().all(|failures| *failures >= TRIES) {
            // Nobody polls.
            self.warps.clear();
            self.known.clear();
        }
    }
}

/// The access of a round.
enum Polled<'p> {
    Load(&'p DecodedAccess),
    Atomic(&'p Atomic),
}

impl Polled<'_> {
    fn of(program: &Program, pc: u32) -> Polled<'_> {
        let inst = &program.code[pc as usize];
        match inst.kind {
            Kind::Atomic => Polled::Atomic(&program.atomics[inst.extra as usize]),
            _ => Polled::Load(&program.accesses[inst.extra as usize]),
        }
    }

    fn request(&self, program: &Program, pc: u32) -> Request {
        let index = program.code[pc as usize].extra as usize;
        match self {
            Polled::Load(access) => {
                let bytes = u32::from(access.size);
                Request { address: access.address, bytes, site: index, kind: TouchKind::Read }
            }
            Polled::Atomic(atomic) => {
                let site = program.accesses.len() + index;
                let bytes = atomic.ty.bytes();
                Request { address: atomic.address, bytes, site, kind: TouchKind::Atomic }
            }
        }
    }

    /// The row that holds what was read.
    fn row(&self) -> (u32, Width) {
        match self {
            Polled::Load(access) => (access.rows[0] as u32, access.width[0]),
            Polled::Atomic(atomic) => {
                (atomic.dst.expect("only those with a result are polled"), atomic.width)
            }
        }
    }
}

impl Machine<'_> {
    /// Has the turn of a warp that polls, if it would find what it found before.
    #[inline(always)]
    pub(super) fn polls_on(&mut self, w: usize, operations: u32) -> bool {
        if !self.polls.known.get(w).is_some_and(|known| *known) {
            return false;
        }
        match self.polls.warps[w] {
            Polling::Round(round) => self.goes_round_again(w, round, operations),
            _ => false,
        }
    }

    #[inline(never)]
    fn goes_round_again(&mut self, w: usize, round: Round, operations: u32) -> bool {
        let length = u64::from(operations) * u64::from(round.length);
        let left = self.given.budget - self.progress.counts.warp_instructions;
        let stands = self
            .only_ready(w)
            .is_some_and(|only| only.pc == round.read.pc + 1 && only.mask == round.read.mask);
        // SAFETY: it was resolved for so many bytes, and nothing has been freed since.
        let holds = || unsafe { read_memory(round.place, round.poll.bytes) } == round.poll.value;
        let goes = stands
            && length < SLICE.min(left)
            && self.residents.warps[w].parting == Parting::None
            && self.may_poll()
            && holds();
        if !goes {
            self.polls.set(w, Polling::Nothing);
            return false;
        }
        if !self.lets_poll(w, &round, operations) {
            // It mostly does when it has seen one more.
            self.polls.set(w, Polling::Once(round.read));
            return false;
        }
        let counts = &mut self.progress.counts;
        counts.warp_instructions += length;
        counts.thread_instructions += length * u64::from(round.read.mask.count_ones());
        counts.operations += u64::from(operations);
        true
    }

    /// A turn of this warp is over.
    #[inline(always)]
    pub(super) fn note_poll(&mut self, w: usize) {
        if self.polls.known.is_empty() {
            return;
        }
        if let [only] = &self.residents.warps[w].fragments[..]
            && self.polls.is_elsewhere(w, only.pc)
        {
            return;
        }
        self.look_for_round(w);
    }

    #[inline(never)]
    fn look_for_round(&mut self, w: usize) {
        let before = self.polls.take(w);
        let Some(only) = self.only_ready(w).copied() else { return };
        let program = self.given.program;
        let pc = only.pc.wrapping_sub(1);
        let Ok(poll) = program.polls.binary_search(&pc) else { return };
        if self.polls.failures[poll] >= TRIES || !self.may_poll() {
            return;
        }
        let (dst, width) = Polled::of(program, pc).row();
        let first = only.mask.trailing_zeros() as usize;
        // SAFETY: the loader's row, of the function that the lanes are in.
        let value = unsafe { read_lane(only.rows.add(dst as usize), width, first) };
        let read = Read { pc, mask: only.mask, value };
        self.polls.set(w, Polling::Once(read));
        let again = match before {
            Polling::Once(before) => before == read,
            _ => return,
        };
        // SAFETY: the lanes stand behind the access.
        match again.then(|| unsafe { self.round(w, &only, read) }).flatten() {
            Some(round) => {
                self.polls.failures[poll] = 0;
                self.polls.set(w, Polling::Round(round));
            }
            None => self.polls.fail(poll, pc),
        }
    }

    /// Turns may be left out.
    fn may_poll(&self) -> bool {
        self.hooks.watch.is_none() && !self.hang.watching && !self.given.config.lockstep
    }

    /// The only fragment of a warp that can run.
    fn only_ready(&self, w: usize) -> Option<&Fragment> {
        let mut ready = self.residents.warps[w].fragments.iter().filter(|f| f.state == State::Ready);
        ready.next().filter(|_| ready.next().is_none())
    }

    /// Whether the memory model, if there is one, has no more to do with so many rounds.
    fn lets_poll(&mut self, w: usize, round: &Round, times: u32) -> bool {
        let at = self.at(w, round.read.pc, round.read.mask);
        self.hooks.model.as_mut().is_none_or(|model| model.polls(&at, &round.poll, times))
    }

    /// Tries out the next round of lanes that stand behind an access and have read this. Registers stay as they are.
    ///
    /// # Safety
    /// The fragment is one of the warp's, and stands there.
    unsafe fn round(&mut self, w: usize, fragment: &Fragment, read: Read) -> Option<Round> {
        let function = self.residents.frames.get(fragment.frame).function;
        let bytes = self.given.program.functions[function as usize].frame_bytes as usize;
        // SAFETY: the frame has so many bytes, and nobody else touches it meanwhile.
        unsafe {
            let before = std::slice::from_raw_parts(fragment.rows, bytes).to_vec();
            let round = self.try_round(w, fragment, read).ok().flatten();
            let same = std::slice::from_raw_parts(fragment.rows, bytes) == &before[..];
            std::ptr::copy_nonoverlapping(before.as_ptr(), fragment.rows, bytes);
            round.filter(|_| same)
        }
    }

    /// Does what the next round does to the registers; the round itself, if it leads back, and reads and writes nothing else
    /// than this one value.
    ///
    /// # Safety
    /// As for [`Machine::round`].
    unsafe fn try_round(&mut self, w: usize, at: &Fragment, read: Read) -> Result<Option<Round>, Trouble> {
        let pc = read.pc;
        let program = self.given.program;
        let (frame, consts, mask) = (at.rows, self.given.constants.base(), at.mask);
        // SAFETY: the caller's promise; rows are the loader's, and pointers are checked by `resolve`.
        unsafe {
            let Some(length) = self.way_back(frame, pc, mask) else { return Ok(None) };
            let polled = Polled::of(program, pc);
            let request = polled.request(program, pc);
            let bytes = request.bytes;
            let found = self.resolve(w, frame, consts, &request, mask)?;
            let first = mask.trailing_zeros() as usize;
            let place = match found.pattern {
                Pattern::Same(all) => all,
                _ if mask.count_ones() == 1 => found.lane(&self.paths.pointers, first, bytes),
                _ => return Ok(None),
            };
            if !found.visible {
                return Ok(None);
            }
            let value = read_memory(place, bytes);
            let (rows, pointers) = ((frame, consts), &self.paths.pointers);
            let (address, semantics) = match polled {
                Polled::Load(access) => {
                    self.load_rows::<false>(frame, access, found, mask);
                    let accessed = Accessed::moved(access, rows, (found, pointers));
                    (accessed.address(first), access.semantics)
                }
                Polled::Atomic(atomic) => {
                    if !leaves(atomic, (frame, consts), mask, value) {
                        return Ok(None);
                    }
                    let accessed = Accessed::combined(atomic, false, rows, (found, pointers), None);
                    let address = accessed.address(first);
                    let (dst, width) = polled.row();
                    lanes(mask).for_each(|lane| write_lane(frame.add(dst as usize), width, lane, value));
                    (address, atomic.semantics)
                }
            };
            let atomic = matches!(polled, Polled::Atomic(_));
            let compares = matches!(polled, Polled::Atomic(atomic) if atomic.op == AtomOp::Cas);
            let poll = Poll { atomic, compares, address, bytes, value, semantics };
            Ok(Some(Round { read, place, poll, length }))
        }
    }

    /// Executes what lies between an access and its next execution by the same lanes; how many instructions that are, with the access,
    /// if they come there together.
    ///
    /// # Safety
    /// The access is one of the frame's function.
    unsafe fn way_back(&self, frame: *mut u8, access: u32, mask: u32) -> Option<u32> {
        let code = &self.given.program.code;
        let consts = self.given.constants.base();
        let mut pc = access + 1;
        for length in 1..=LONGEST {
            if pc == access {
                return Some(length);
            }
            let inst = code.get(pc as usize).filter(|inst| computes(inst))?;
            let mut active = mask;
            if inst.guard != NO_GUARD {
                // SAFETY: the guard is a predicate row of the frame.
                active &= unsafe { *frame.add(inst.guard as usize).cast::<u32>() } ^ inst.guard_flip;
            }
            pc += 1;
            match inst.kind {
                // SAFETY: the loader chose the function for these rows, and for the processor that we run on.
                Kind::Alu => unsafe { (inst.run)(frame, consts, &inst.ops, active) },
                // SAFETY: word rows of this frame.
                Kind::ParamLoad => unsafe { self.param_load(frame, inst.extra, active) },
                Kind::Branch if active == mask => pc = inst.extra,
                // Lanes part.
                Kind::Branch if active != 0 => return None,
                _ => {}
            }
        }
        None
    }
}

/// Whether an atomic of these lanes leaves this value as it is.
///
/// # Safety
/// The atomic is one of the frame's function.
unsafe fn leaves(atomic: &Atomic, (frame, consts): (*const u8, *const u8), mask: u32, value: u64) -> bool {
    let cut = u64::MAX >> (64 - 8 * atomic.ty.bytes().min(8));
    let same = |lane: usize| {
        // SAFETY: the loader's rows, of this width.
        let operand =
            |index: usize| unsafe { read_lane(row(frame, consts, atomic.src[index]), atomic.width, lane) };
        combine(atomic, value, operand(0), || operand(1), false) & cut == value & cut
    };
    lanes(mask).all(same)
}
