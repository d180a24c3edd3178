//! The state at a cut: all that what follows depends on.

use bugaroo_simulator::SHARED_WINDOW;
use bugaroo_simulator::alu::Width;

use crate::emulate::flow::Flow;
use crate::emulate::local::Local;
use crate::emulate::machine::{Machine, ROOT};
use crate::emulate::registers::{Registers, lanes};
use crate::emulate::shared::Shared;
use crate::emulate::symbol::Source;
use crate::emulate::warp::Warp;

/// All that what follows depends on.
pub(super) struct Cut<'a> {
    pub warps: Vec<Waiting<'a>>,
    pub shared: Shared,
    pub escaped: bool,
}

/// A warp at a barrier.
pub(super) struct Waiting<'a> {
    pub lanes: u32,
    /// Its calls, the innermost first.
    pub calls: Vec<Call<'a>>,
    pub local: Local,
}

/// A call in progress.
pub(super) struct Call<'a> {
    pub function: u32,
    return_pc: u32,
    local_base: u32,
    grown: u32,
    pub registers: Registers<'a>,
}

impl Cut<'_> {
    /// Whether the same threads are in the same calls.
    pub fn is_alike(&self, other: &Cut<'_>) -> bool {
        let same = |(a, b): (&Waiting<'_>, &Waiting<'_>)| {
            let place = |c: &Call<'_>| (c.function, c.return_pc, c.local_base, c.grown);
            a.lanes == b.lanes && a.calls.iter().map(place).eq(b.calls.iter().map(place))
        };
        self.escaped == other.escaped && self.warps.iter().zip(&other.warps).all(same)
    }
}

/// A row of one of a warp's calls.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub warp: usize,
    pub call: usize,
    pub row: u32,
    pub width: Width,
}

/// What a lane of a row holds, if it is a number or an expression.
pub(super) fn held(registers: &Registers<'_>, row: &Row, lane: usize) -> Option<Source> {
    let slot = row.row as i32;
    if registers.known(slot) >> lane & 1 != 0 {
        return Some(Source::Known(registers.read(slot, row.width, lane)));
    }
    registers.symbol(slot, lane).map(Source::Symbol)
}

/// Whether an address of shared memory may be in a lane of a row.
pub(super) fn may_point(registers: &Registers<'_>, row: &Row, lane: usize) -> bool {
    let slot = row.row as i32;
    if registers.known(slot) >> lane & 1 == 0 {
        return registers.why(slot).is_tainted();
    }
    let in_window = |value: u64| value.wrapping_sub(SHARED_WINDOW) < 1 << 32;
    row.width == Width::W64 && in_window(registers.read(slot, Width::W64, lane))
}

/// All rows of a state.
pub(super) fn rows<'s>(state: &'s Cut<'_>, flows: &'s [Flow]) -> impl Iterator<Item = Row> + 's {
    let of_call = |warp, (call, of): (usize, &Call<'_>)| {
        let rows = flows[of.function as usize].rows.iter();
        rows.map(move |(row, width)| Row { warp, call, row: *row, width: *width })
    };
    let of_warp = move |(warp, waiting): (usize, &'s Waiting<'_>)| {
        waiting.calls.iter().enumerate().flat_map(move |call| of_call(warp, call))
    };
    state.warps.iter().enumerate().flat_map(of_warp)
}

impl<'s, 'a> Cut<'a> {
    pub fn registers(&'s self, row: &Row) -> &'s Registers<'a> {
        &self.warps[row.warp].calls[row.call].registers
    }
}

/// Lanes of a row that do not hold the same in all of these states. What is unknown in all of them is the same.
pub(super) fn moved(row: &Row, lanes_of: u32, states: &[&Cut<'_>]) -> u32 {
    let moved = |lane: &usize| {
        let mut held = states.iter().map(|state| held(state.registers(row), row, *lane));
        let first = held.next().flatten();
        held.any(|other| other != first)
    };
    lanes(lanes_of).filter(moved).fold(0, |mask, lane| mask | 1 << lane)
}

impl<'a> Machine<'a> {
    /// The registers of a row, as they are now.
    pub(super) fn registers_with(&mut self, row: &Row) -> &mut Registers<'a> {
        let mut frame = self.warps[row.warp].fragments[0].frame;
        for _ in 0..row.call {
            frame = self.frames[frame as usize].parent;
        }
        &mut self.frames[frame as usize].registers
    }

    pub(super) fn cut_now(&self) -> Cut<'a> {
        let waiting = |warp: &Warp| {
            let mut calls = Vec::new();
            let mut frame = warp.fragments.first().map_or(ROOT, |only| only.frame);
            while frame != ROOT {
                let of = &self.frames[frame as usize];
                calls.push(Call {
                    function: of.function,
                    return_pc: of.return_pc,
                    local_base: of.local_base,
                    grown: of.grown,
                    registers: of.registers.clone(),
                });
                frame = of.parent;
            }
            Waiting { lanes: warp.alive, calls, local: warp.local.clone() }
        };
        let warps = self.warps.iter().map(waiting).collect();
        Cut { warps, shared: self.ctas[0].shared.clone(), escaped: self.escaped }
    }
}
