//! The state at a cut or a pause: all that what follows depends on.

use std::hash::{Hash, Hasher};

use bugaroo_simulator::SHARED_WINDOW;
use bugaroo_simulator::alu::Width;

use super::standing::Standing;
use crate::emulate::flow::Flow;
use crate::emulate::held::multiplying::Multiplying;
use crate::emulate::held::warp::State;
use crate::emulate::local::Local;
use crate::emulate::registers::{Registers, lanes};
use crate::emulate::shared::Shared;
use crate::emulate::symbol::Source;

/// All that what follows depends on.
pub(super) struct Cut<'a> {
    pub warps: Vec<Waiting<'a>>,
    /// Of each CTA.
    pub shared: Vec<Shared>,
    pub escaped: bool,
    pub standing: (Vec<Standing>, Vec<u32>),
}

/// A warp between two rounds.
pub(super) struct Waiting<'a> {
    pub lanes: u32,
    /// Its lanes by where they are, the lowest first.
    pub fragments: Vec<Placed>,
    /// Its calls, the innermost ones first.
    pub calls: Vec<Call<'a>>,
    pub local: Local,
    pub multiplying: Multiplying,
}

/// Lanes at one instruction of one call.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Placed {
    pub mask: u32,
    pub pc: u32,
    pub state: State,
    /// Number of the call.
    pub call: usize,
}

/// A call in progress.
pub(super) struct Call<'a> {
    pub function: u32,
    /// Lanes that are in it.
    pub lanes: u32,
    pub return_pc: u32,
    pub local_base: u32,
    pub grown: u32,
    /// Number of the call around it.
    pub parent: Option<usize>,
    pub registers: Registers<'a>,
}

impl Cut<'_> {
    /// Whether the same threads are at the same places of the same calls, and barriers stand alike.
    pub fn is_alike(&self, other: &Cut<'_>) -> bool {
        let same = |(a, b): (&Waiting<'_>, &Waiting<'_>)| {
            let place = |c: &Call<'_>| (c.function, c.lanes, c.return_pc, c.local_base, c.grown, c.parent);
            a.lanes == b.lanes
                && a.fragments == b.fragments
                && a.multiplying == b.multiplying
                && a.calls.iter().map(place).eq(b.calls.iter().map(place))
        };
        self.escaped == other.escaped
            && self.standing == other.standing
            && self.warps.iter().zip(&other.warps).all(same)
    }

    /// Tells a hasher where threads are, and how barriers stand.
    pub fn hash_places(&self, hasher: &mut impl Hasher) {
        (self.escaped, &self.standing).hash(hasher);
        for warp in &self.warps {
            (warp.lanes, &warp.fragments).hash(hasher);
            for call in &warp.calls {
                (call.function, call.lanes, call.return_pc, call.local_base, call.grown, call.parent)
                    .hash(hasher);
            }
        }
    }

    /// Lanes that a row is of.
    pub fn lanes(&self, row: &Row) -> u32 {
        self.warps[row.warp].calls[row.call].lanes
    }
}

/// A row of one of a warp's calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
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
