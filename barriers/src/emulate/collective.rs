//! What the lanes of a warp do together: `shfl`, `vote`, `match`, `redux`, `elect`, `bar.warp.sync`, matrices.
//!
//! The `.sync` forms wait until every lane that the member mask names and that has not exited has come to an instruction of the
//! same kind with the same mask. Only `bar.warp.sync` orders memory. That the others wait matters beside mbarriers: which phase a wait or an
//! arrival belongs to is a matter of time. So there they are commands, too, which order nothing else ([`CommandAction::WarpMeet`]). The deprecated
//! forms act on the lanes that happen to be together, which is known in lockstep, and when it is the whole warp; they need not wait. `elect`
//! takes the lowest lane, as hardware does; the ISA leaves it open.
//!
//! # What it can miss
//! In arms of branches on unknown values exchanges are no commands, so that an unsafe use of an mbarrier can be told that they rule out.

use bugaroo_ptx::op::{ShflMode, VoteMode};
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::{Collective, Together};
use bugaroo_simulator::{reduce, shuffle_source};

use super::held::warp::{Flow, State};
use super::machine::Machine;
use super::refusal::Refusal;
use super::registers::{Why, lanes};
use super::symbol::Symbol;
use crate::program::CommandAction;

/// Lanes that take part from one place in the program.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub lanes: u32,
    pub frame: u32,
    pub index: u32,
    pub pc: u32,
}

/// A source of each lane, as far as it is known.
struct Gathered {
    values: [u64; 32],
    known: u32,
    why: Why,
}

/// What comes out: for each lane, and how much of it is known.
struct Outcome {
    values: [u64; 32],
    known: u32,
    predicates: u32,
    predicates_known: u32,
    width: Width,
    why: Why,
    /// What values that are not known are, where lanes have the same one.
    symbols: [Option<Symbol>; 32],
}

impl Machine<'_> {
    /// A fragment's active lanes come to such an instruction.
    pub fn collective(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        index: u32,
        active: u32,
    ) -> Result<Flow, Refusal> {
        let at = self.warps[w].fragments[fragment];
        let alive = self.warps[w].alive;
        if self.warps[w].leavers.lanes & alive != 0 {
            return Err(self.left(w, pc, alive));
        }
        let Some(slot) = self.set.code.image.collectives[index as usize].mask else {
            if active != alive && !self.set.lockstep {
                let lane = active.trailing_zeros() as usize;
                let message = "an exchange without `.sync` by a part of a warp: which lanes are together is open \
                               (--warp-synchronous says that it is not)";
                return Err(self.unsupported(w, pc, lane, message));
            }
            self.perform(w, &[Part { lanes: active, frame: at.frame, index, pc }])?;
            return Ok(Flow::Next);
        };
        let registers = &self.calls.frames[at.frame as usize].registers;
        let missing = active & !registers.known(slot);
        if missing != 0 {
            let lane = missing.trailing_zeros() as usize;
            return Err(self.unknown(
                w,
                pc,
                lane,
                "which lanes take part in an exchange",
                registers.why(slot),
            ));
        }
        let named: [u32; 32] = std::array::from_fn(|lane| registers.read(slot, Width::W32, lane) as u32);
        if let Some(lane) = lanes(active).find(|l| named[*l] >> l & 1 == 0) {
            let message = format!("lane {lane} is not in its own member mask {:#010x}", named[lane]);
            return Err(self.illegal(w, pc, lane, message));
        }
        let first = named[active.trailing_zeros() as usize];
        if lanes(active).all(|lane| named[lane] == first) && first & alive == active {
            // Everybody is there.
            self.perform_waiting(w, &[Part { lanes: active, frame: at.frame, index, pc }])?;
            return Ok(Flow::Next);
        }
        let mut waiting = active;
        while waiting != 0 {
            let mask = named[waiting.trailing_zeros() as usize];
            let group = lanes(waiting).filter(|l| named[*l] == mask).fold(0, |g, l| g | 1 << l);
            let part = self.warps[w].isolate(fragment, group, waiting);
            self.warps[w].fragments[part].state = State::Mask(mask);
            waiting &= !group;
        }
        self.complete_masks(w)?;
        Ok(Flow::Select)
    }

    /// Lets go on whoever waits for lanes that have all come, or exited.
    pub fn complete_masks(&mut self, w: usize) -> Result<(), Refusal> {
        let image = self.set.code.image;
        let mut next = 0;
        while next < self.warps[w].fragments.len() {
            let fragment = self.warps[w].fragments[next];
            next += 1;
            let State::Mask(mask) = fragment.state else { continue };
            let what = |pc: u32| image.collectives[image.code[pc as usize].extra as usize].what;
            let kind = what(fragment.pc);
            let fellows =
                |f: &super::held::warp::Fragment| f.state == State::Mask(mask) && what(f.pc) == kind;
            let warp = &mut self.warps[w];
            let here = warp.fragments.iter().filter(|f| fellows(f)).fold(0, |lanes, f| lanes | f.mask);
            if here != mask & warp.alive {
                continue;
            }
            let mut parts = Vec::new();
            for f in warp.fragments.iter_mut().filter(|f| fellows(f)) {
                let index = image.code[f.pc as usize].extra;
                parts.push(Part { lanes: f.mask, frame: f.frame, index, pc: f.pc });
                f.state = State::Ready;
                f.pc += 1;
            }
            self.perform_waiting(w, &parts)?;
        }
        Ok(())
    }

    /// Does it, for lanes that have waited for each other.
    fn perform_waiting(&mut self, w: usize, parts: &[Part]) -> Result<(), Refusal> {
        let what = self.set.code.image.collectives[parts[0].index as usize].what;
        if self.set.orders.meetings
            && self.ways.doubt.depth == 0
            && !matches!(what, Together::Sync | Together::Matrix(_))
        {
            let members = parts.iter().fold(0, |all, part| all | part.lanes);
            // Behind another one, without anything between, it orders nothing more.
            let last = self.out.warps()[w].packed().last();
            let again =
                last.is_some_and(|last| last.is_meeting() && (last.a, last.lanes) == (members, members));
            for part in parts.iter().filter(|_| !again) {
                self.emit(w, part.lanes, part.pc, CommandAction::WarpMeet { members })?;
            }
        }
        self.perform(w, parts)
    }

    /// Does it, for lanes that are all there.
    fn perform(&mut self, w: usize, parts: &[Part]) -> Result<(), Refusal> {
        let everybody = parts.iter().fold(0, |all, part| all | part.lanes);
        if everybody == self.warps[w].alive {
            self.warps[w].met = self.course.steps;
        }
        match self.set.code.image.collectives[parts[0].index as usize].what {
            Together::Matrix(matrix) => self.matrix(w, parts, matrix),
            Together::Sync => {
                self.show_sums();
                for part in parts {
                    self.emit(w, part.lanes, part.pc, CommandAction::WarpSync { members: everybody })?;
                }
                Ok(())
            }
            _ => {
                self.exchange(w, parts, everybody);
                Ok(())
            }
        }
    }

    fn gather(&self, parts: &[Part], source: usize, width: Width) -> Gathered {
        let mut found = Gathered { values: [0; 32], known: 0, why: Why::NEVER };
        for part in parts {
            let slot = self.set.code.image.collectives[part.index as usize].src[source];
            let registers = &self.calls.frames[part.frame as usize].registers;
            found.known |= registers.known(slot) & part.lanes;
            if registers.known(slot) & part.lanes != part.lanes {
                found.why = registers.why(slot);
            }
            for lane in lanes(part.lanes) {
                found.values[lane] = registers.read(slot, width, lane);
            }
        }
        found
    }

    /// What moves values between registers only.
    pub fn exchange(&mut self, w: usize, parts: &[Part], everybody: u32) {
        let what = self.set.code.image.collectives[parts[0].index as usize].what;
        let mut out = Outcome {
            values: [0; 32],
            known: everybody,
            predicates: 0,
            predicates_known: everybody,
            width: Width::W32,
            why: Why::NEVER,
            symbols: [None; 32],
        };
        // Known only as a whole.
        let whole = |out: &mut Outcome, from: &Gathered| {
            if from.known != everybody {
                (out.known, out.predicates_known, out.why) = (0, 0, from.why);
            }
        };
        let is_one_for_all = match what {
            Together::Redux(..) | Together::Vote(_) => true,
            Together::Match { all, .. } => all,
            _ => false,
        };
        match what {
            Together::Sync | Together::Matrix(_) => return,
            Together::Elect => {
                let leader = everybody.trailing_zeros();
                out.values = [u64::from(leader); 32];
                out.predicates = 1 << leader;
            }
            Together::Redux(op, ty, abs, nan) => {
                let from = self.gather(parts, 0, Width::W32);
                let clear = |v: u32| if abs { v & 0x7fff_ffff } else { v };
                let mut members = lanes(everybody).map(|lane| clear(from.values[lane] as u32));
                let first = members.next().expect("somebody takes part");
                out.values = [u64::from(members.fold(first, |a, b| reduce(op, ty, nan, a, b))); 32];
                whole(&mut out, &from);
            }
            Together::Match { all, wide } => {
                let from = self.gather(parts, 0, if wide { Width::W64 } else { Width::W32 });
                let alike = |value| {
                    lanes(everybody).filter(|l| from.values[*l] == value).fold(0u32, |m, l| m | 1 << l)
                };
                for lane in lanes(everybody) {
                    let same = alike(from.values[lane]);
                    out.values[lane] = u64::from(if !all || same == everybody { same } else { 0 });
                    out.predicates |= u32::from(same == everybody) << lane;
                }
                whole(&mut out, &from);
            }
            Together::Vote(mode) => self.vote(parts, everybody, mode, &mut out),
            Together::Shfl(mode) => self.shuffle(parts, everybody, mode, &mut out),
        }
        if is_one_for_all && out.known == 0 && self.ways.doubt.depth == 0 {
            out.symbols = [Some(self.known.symbols.content(true)); 32];
        }
        for part in parts {
            let collective = self.set.code.image.collectives[part.index as usize];
            self.scatter(w, part, &collective, &out);
        }
    }

    fn vote(&self, parts: &[Part], everybody: u32, mode: VoteMode, out: &mut Outcome) {
        let (mut yes, mut known) = (0, 0);
        for part in parts {
            let collective = &self.set.code.image.collectives[part.index as usize];
            let registers = &self.calls.frames[part.frame as usize].registers;
            let slot = collective.src[0];
            yes |= (registers.predicate(slot) ^ if collective.negated { !0 } else { 0 }) & part.lanes;
            known |= registers.known(slot) & part.lanes;
            if registers.known(slot) & part.lanes != part.lanes {
                out.why = registers.why(slot);
            }
        }
        let (some_yes, some_no) = (yes & known != 0, !yes & known != 0);
        let (answer, sure) = match mode {
            VoteMode::Ballot => (u64::from(yes), known == everybody),
            VoteMode::All => (u64::from(yes == everybody), known == everybody || some_no),
            VoteMode::Any => (u64::from(yes != 0), known == everybody || some_yes),
            VoteMode::Uni => {
                (u64::from(yes == everybody || yes == 0), known == everybody || (some_yes && some_no))
            }
        };
        let answer = match mode {
            VoteMode::All | VoteMode::Uni if some_no && known != everybody => 0,
            VoteMode::Any if some_yes => 1,
            _ => answer,
        };
        out.width = if mode == VoteMode::Ballot { Width::W32 } else { Width::Pred };
        out.values = [answer; 32];
        out.known = if sure { everybody } else { 0 };
    }

    fn shuffle(&mut self, parts: &[Part], everybody: u32, mode: ShflMode, out: &mut Outcome) {
        let [a, b, c] = [0, 1, 2].map(|i| self.gather(parts, i, Width::W32));
        (out.known, out.predicates_known) = (0, b.known & c.known);
        // By lane that is read: what its value is, given a name where it has none.
        let mut named: [Option<Symbol>; 32] = [None; 32];
        for lane in lanes(everybody) {
            if out.predicates_known >> lane & 1 == 0 {
                out.why = if b.known >> lane & 1 == 0 { b.why } else { c.why };
                continue;
            }
            let (from, inside) =
                shuffle_source(mode, lane as i32, b.values[lane] as u32, c.values[lane] as u32);
            out.predicates |= u32::from(inside) << lane;
            // What a lane reads from one that takes no part, the ISA leaves open.
            if everybody & a.known & 1 << from != 0 {
                out.values[lane] = a.values[from];
                out.known |= 1 << lane;
            } else {
                out.why = a.why;
                if everybody >> from & 1 != 0 && self.ways.doubt.depth == 0 {
                    let symbol = named[from].or_else(|| self.symbol_of(parts, from));
                    named[from] = symbol.or_else(|| Some(self.known.symbols.content(true)));
                    out.symbols[lane] = named[from];
                }
            }
        }
    }

    /// What the unknown first source of a lane is.
    fn symbol_of(&self, parts: &[Part], lane: usize) -> Option<Symbol> {
        let part = parts.iter().find(|part| part.lanes >> lane & 1 != 0)?;
        let slot = self.set.code.image.collectives[part.index as usize].src[0];
        self.calls.frames[part.frame as usize].registers.symbol(slot, lane)
    }

    fn scatter(&mut self, w: usize, part: &Part, collective: &Collective, out: &Outcome) {
        let registers = &mut self.calls.frames[part.frame as usize].registers;
        let why = if out.why == Why::NEVER { Why::at(part.pc) } else { out.why };
        if let Some(dst) = collective.dst {
            lanes(part.lanes).for_each(|lane| registers.write(dst, out.width, lane, out.values[lane]));
            registers.mark(dst, part.lanes, out.known, why);
            for lane in lanes(part.lanes & !out.known) {
                let Some(symbol) = out.symbols[lane] else { continue };
                let decided =
                    if out.width == Width::Pred { self.known.symbols.decided(symbol) } else { None };
                match decided {
                    Some(holds) => {
                        registers.set_predicate(dst, 1 << lane, holds);
                        self.ways.rounds.decided(w, part.pc, Some(symbol));
                    }
                    None => registers.set_symbol(dst, lane, symbol),
                }
            }
        }
        if let Some(dst) = collective.dst_pred {
            for lane in lanes(part.lanes) {
                registers.write(dst, Width::Pred, lane, u64::from(out.predicates >> lane & 1));
            }
            registers.mark(dst, part.lanes, out.predicates_known, why);
        }
    }
}
