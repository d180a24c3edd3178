//! What the lanes of a warp do together: `shfl`, `vote`, `match`, `redux`, `elect`, `bar.warp.sync` (PTX ISA,
//! "shfl.sync" and so on); for matrices see [`super::matrix`]. `elect` takes the lowest lane.
//!
//! The `.sync` forms wait until every lane that the member mask names and that has not exited has come to
//! an instruction of the same kind with the same mask; where in the program does not matter. The deprecated
//! forms act on the lanes that happen to be converged. A lane that reads from one that takes no part, which
//! the ISA leaves undefined, reads its own value.

use bugaroo_ptx::op::{AtomOp, ShflMode, VoteMode};
use bugaroo_ptx::types::Type;

use super::data::{lanes, read_lane, row, write_lane};
use super::step::Flow;
use super::warp::State;
use super::{Machine, Trouble};
use crate::alu::Width;
use crate::alu::row::{RowMemory, store_lanes};
use crate::decoded::{Collective, Together};
use crate::fault::StopKind;

/// Lanes that take part from one place in the program.
#[derive(Clone, Copy)]
struct Part {
    lanes: u32,
    rows: *mut u8,
    index: u32,
    pc: u32,
}

impl Machine<'_> {
    /// A fragment's active lanes come to such an instruction.
    pub(super) fn collective(
        &mut self,
        w: usize,
        fragment: usize,
        index: u32,
        active: u32,
    ) -> Result<Flow, Trouble> {
        let (rows, pc) = (
            self.residents.warps[w].fragments[fragment].rows,
            self.residents.warps[w].fragments[fragment].pc,
        );
        let Some(slot) = self.given.program.collectives[index as usize].mask else {
            // Who takes part is the schedule's choice.
            self.hang.unproven.set(true);
            self.perform(w, &[Part { lanes: active, rows, index, pc }])?;
            return Ok(Flow::Next);
        };
        let consts = self.given.constants.base();
        // SAFETY: the loader's slot, 32 bits wide.
        let masks = unsafe { *row(rows, consts, slot).cast::<RowMemory<u32>>() };
        let named = |lane: usize| masks.0[lane];
        // Most often all name the same lanes, and these are here.
        let first = named(active.trailing_zeros() as usize);
        let differ =
            masks.0.iter().zip(0..).fold(0, |lanes, (mask, l)| lanes | u32::from(*mask != first) << l);
        if differ & active == 0 && active & !first == 0 && first & self.residents.warps[w].alive == active {
            self.perform(w, &[Part { lanes: active, rows, index, pc }])?;
            return Ok(self.after(index));
        }
        if let Some(lane) = lanes(active).find(|l| named(*l) >> l & 1 == 0) {
            let kind = StopKind::BadMemberMask { mask: named(lane), lane: lane as u32 };
            return Err(Box::new((kind, lane as u32)));
        }
        // Groups of lanes with the same mask.
        let alive = self.residents.warps[w].alive;
        let group_of = |mask: u32| lanes(active).filter(|l| named(*l) == mask).fold(0, |g, l| g | 1 << l);
        let mut rest = active;
        let mut complete = 0;
        while rest != 0 {
            let mask = named(rest.trailing_zeros() as usize);
            let group = group_of(mask);
            if mask & alive == group {
                self.perform(w, &[Part { lanes: group, rows, index, pc }])?;
                complete |= group;
            }
            rest &= !group;
        }
        if complete == active {
            return Ok(self.after(index));
        }
        let mut waiting = active & !complete;
        if complete != 0 {
            let done = self.residents.warps[w].split(fragment, complete);
            self.residents.warps[w].fragments[done].pc += 1;
        }
        while waiting != 0 {
            let mask = named(waiting.trailing_zeros() as usize);
            let group = group_of(mask);
            let at = self.isolate(w, fragment, group, waiting);
            self.residents.warps[w].fragments[at].state = State::Mask(mask);
            waiting &= !group;
        }
        self.complete_masks(w)?;
        Ok(Flow::Select)
    }

    /// How lanes that are all there go on.
    fn after(&self, index: u32) -> Flow {
        match self.given.program.collectives[index as usize].what {
            Together::Matrix(matrix) if self.given.program.matrices[matrix as usize].visible() => {
                Flow::Visible
            }
            _ => Flow::Next,
        }
    }

    /// Lets go on whoever waits for lanes that have all come, or exited.
    pub(super) fn complete_masks(&mut self, w: usize) -> Result<(), Trouble> {
        let program = self.given.program;
        let mut next = 0;
        while next < self.residents.warps[w].fragments.len() {
            let fragment = self.residents.warps[w].fragments[next];
            next += 1;
            let State::Mask(mask) = fragment.state else { continue };
            let what = |pc: u32| program.collectives[program.code[pc as usize].extra as usize].what;
            let kind = what(fragment.pc);
            let fellows = |f: &super::warp::Fragment| f.state == State::Mask(mask) && what(f.pc) == kind;
            let warp = &self.residents.warps[w];
            let here = warp.fragments.iter().filter(|f| fellows(f)).fold(0, |lanes, f| lanes | f.mask);
            if here != mask & warp.alive {
                continue;
            }
            let mut parts = [Part { lanes: 0, rows: std::ptr::null_mut(), index: 0, pc: 0 }; 32];
            let mut count = 0;
            for f in self.residents.warps[w].fragments.iter_mut().filter(|f| fellows(f)) {
                let index = program.code[f.pc as usize].extra;
                parts[count] = Part { lanes: f.mask, rows: f.rows, index, pc: f.pc };
                count += 1;
                f.state = State::Ready;
                f.pc += 1;
            }
            self.perform(w, &parts[..count])?;
        }
        Ok(())
    }

    /// Does it, for lanes that are all there.
    fn perform(&mut self, w: usize, parts: &[Part]) -> Result<(), Trouble> {
        match self.given.program.collectives[parts[0].index as usize].what {
            Together::Matrix(matrix) => {
                let mut frames = [std::ptr::null_mut(); 32];
                match parts {
                    [all] if all.lanes == u32::MAX => frames = [all.rows; 32],
                    _ => {
                        for part in parts {
                            lanes(part.lanes).for_each(|lane| frames[lane] = part.rows);
                        }
                    }
                }
                self.matrix(w, &frames, matrix, parts[0].pc)?;
            }
            Together::Sync => {
                let lanes = parts.iter().fold(0, |all, part| all | part.lanes);
                self.model_released(w, None, lanes);
                self.observed_meeting(w, parts[0].pc, lanes);
            }
            _ => self.exchange(parts),
        }
        Ok(())
    }

    /// `shfl` of lanes that are at one place, a row at a time.
    fn shuffle(&self, part: &Part, mode: ShflMode) {
        let consts = self.given.constants.base();
        let collective = &self.given.program.collectives[part.index as usize];
        // SAFETY: the loader's source rows, of 32 bits.
        let [a, b, c] =
            collective.src.map(|slot| unsafe { *row(part.rows, consts, slot).cast::<RowMemory<u32>>() });
        let mut results = RowMemory([0; 32]);
        let mut predicates = 0;
        // In each arm the mode is known, and a loop is made for it.
        let mut each = |mode| {
            for lane in 0..32 {
                let (from, inside) = shuffle_source(mode, lane as i32, b.0[lane], c.0[lane]);
                let from = if part.lanes >> from & 1 != 0 { from } else { lane };
                results.0[lane] = a.0[from & 31];
                predicates |= u32::from(inside) << lane;
            }
        };
        match mode {
            ShflMode::Up => each(ShflMode::Up),
            ShflMode::Down => each(ShflMode::Down),
            ShflMode::Bfly => each(ShflMode::Bfly),
            ShflMode::Idx => each(ShflMode::Idx),
        }
        // SAFETY: the loader's destination rows, of 32 bits and of predicates.
        unsafe {
            if let Some(dst) = collective.dst {
                store_lanes::<false, u32>(&results, part.rows.add(dst as usize), part.lanes);
            }
            if let Some(dst) = collective.dst_pred {
                let row = part.rows.add(dst as usize).cast::<u32>();
                *row = *row & !part.lanes | predicates & part.lanes;
            }
        }
    }

    /// What moves values between registers only.
    fn exchange(&self, parts: &[Part]) {
        if let [part] = parts
            && let Together::Shfl(mode) = self.given.program.collectives[part.index as usize].what
        {
            return self.shuffle(part, mode);
        }
        let consts = self.given.constants.base();
        let of = |part: &Part| &self.given.program.collectives[part.index as usize];
        let everybody = parts.iter().fold(0, |all, part| all | part.lanes);
        let what = of(&parts[0]).what;
        // SAFETY (all rows below): the loader's slots and widths.
        let gather = |source: usize, width: Width| {
            let mut values = [0; 32];
            for part in parts {
                for lane in lanes(part.lanes) {
                    let slot = of(part).src[source];
                    // SAFETY: a source row of this width.
                    values[lane] = unsafe { read_lane(row(part.rows, consts, slot), width, lane) };
                }
            }
            values
        };
        let mut results = [0; 32];
        let mut predicates = 0;
        let mut width = Width::W32;
        match what {
            // Matrices have been done.
            Together::Sync | Together::Matrix(_) => return,
            Together::Redux(op, ty, abs, nan) => {
                let values = gather(0, Width::W32);
                let mut members = lanes(everybody).map(|lane| values[lane] as u32);
                let fold = |a, b| reduce(op, ty, nan, a, b);
                let clear = |v: u32| if abs { v & 0x7fff_ffff } else { v };
                let first = clear(members.next().expect("somebody takes part"));
                results = [u64::from(members.map(clear).fold(first, fold)); 32];
            }
            Together::Elect => {
                let leader = everybody.trailing_zeros();
                results = [u64::from(leader); 32];
                predicates = 1 << leader;
            }
            Together::Shfl(mode) => {
                let [a, b, c] = [0, 1, 2].map(|i| gather(i, Width::W32));
                for lane in lanes(everybody) {
                    let (from, inside) = shuffle_source(mode, lane as i32, b[lane] as u32, c[lane] as u32);
                    let from = if everybody >> from & 1 != 0 { from } else { lane };
                    results[lane] = a[from];
                    predicates |= u32::from(inside) << lane;
                }
            }
            Together::Vote(mode) => {
                let mut yes = 0;
                for part in parts {
                    // SAFETY: a predicate row.
                    let votes = unsafe { *row(part.rows, consts, of(part).src[0]).cast::<u32>() };
                    yes |= (votes ^ if of(part).negated { !0 } else { 0 }) & part.lanes;
                }
                let answer = match mode {
                    VoteMode::Ballot => u64::from(yes),
                    VoteMode::All => u64::from(yes == everybody),
                    VoteMode::Any => u64::from(yes != 0),
                    VoteMode::Uni => u64::from(yes == everybody || yes == 0),
                };
                width = if mode == VoteMode::Ballot { Width::W32 } else { Width::Pred };
                results = [answer; 32];
            }
            Together::Match { all, wide } => {
                let values = gather(0, if wide { Width::W64 } else { Width::W32 });
                let alike =
                    |value| lanes(everybody).filter(|l| values[*l] == value).fold(0u32, |m, l| m | 1 << l);
                for lane in lanes(everybody) {
                    let same = alike(values[lane]);
                    let answer = if !all || same == everybody { same } else { 0 };
                    results[lane] = u64::from(answer);
                    predicates |= u32::from(same == everybody) << lane;
                }
            }
        }
        for part in parts {
            scatter(part, of(part), &results, predicates, width);
        }
    }
}

/// One step of `redux`.
pub fn reduce(op: AtomOp, ty: Type, nan: bool, a: u32, b: u32) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    match (op, ty) {
        (AtomOp::And, _) => a & b,
        (AtomOp::Or, _) => a | b,
        (AtomOp::Xor, _) => a ^ b,
        (AtomOp::Min | AtomOp::Max, Type::F32) => match (x.is_nan(), y.is_nan()) {
            (true, true) => 0x7fff_ffff,
            (true, _) | (_, true) if nan => 0x7fff_ffff,
            (true, _) => b,
            (_, true) => a,
            // -0 is less than +0.
            _ => {
                let first_less = x < y || (x == y && x.is_sign_negative());
                if first_less == (op == AtomOp::Min) { a } else { b }
            }
        },
        (AtomOp::Min, Type::S32) => (a as i32).min(b as i32) as u32,
        (AtomOp::Max, Type::S32) => (a as i32).max(b as i32) as u32,
        (AtomOp::Min, _) => a.min(b),
        (AtomOp::Max, _) => a.max(b),
        _ => a.wrapping_add(b),
    }
}

fn scatter(part: &Part, collective: &Collective, results: &[u64; 32], predicates: u32, width: Width) {
    for lane in lanes(part.lanes) {
        if let Some(dst) = collective.dst {
            // SAFETY: the loader's destination row of this width.
            unsafe { write_lane(part.rows.add(dst as usize), width, lane, results[lane]) };
        }
        if let Some(dst) = collective.dst_pred {
            let value = u64::from(predicates >> lane & 1);
            // SAFETY: the loader's predicate row.
            unsafe { write_lane(part.rows.add(dst as usize), Width::Pred, lane, value) };
        }
    }
}

/// The lane that `shfl` reads from, and whether it lies in the segment (PTX ISA, "shfl.sync", semantics).
#[inline(always)]
pub fn shuffle_source(mode: ShflMode, lane: i32, b: u32, c: u32) -> (usize, bool) {
    let (offset, clamp, segment) = ((b & 31) as i32, (c & 31) as i32, (c >> 8 & 31) as i32);
    let max = lane & segment | clamp & !segment;
    let (from, inside) = match mode {
        ShflMode::Up => (lane - offset, lane - offset >= max),
        ShflMode::Down => (lane + offset, lane + offset <= max),
        ShflMode::Bfly => (lane ^ offset, lane ^ offset <= max),
        ShflMode::Idx => {
            let from = lane & segment | offset & !segment;
            (from, from <= max)
        }
    };
    if inside { ((from & 31) as usize, true) } else { (lane as usize, false) }
}
