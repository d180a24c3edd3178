//! The state of a warp's lanes, each by itself: where it stands and all that its registers and its local memory hold.

use crate::exec::Machine;
use crate::exec::data::{lanes, read_lane};
use crate::exec::frames::ROOT;
use crate::exec::warp::State;

/// One list of words for each lane; of lanes that have exited, an empty one.
#[derive(Debug, Default)]
pub(super) struct LaneStates {
    lanes: [Vec<u64>; 32],
}

impl LaneStates {
    /// The lanes for which both hold the same, of those in `among`.
    pub fn same(&self, other: &LaneStates, among: u32) -> u32 {
        lanes(among).filter(|lane| self.lanes[*lane] == other.lanes[*lane]).fold(0, |m, lane| m | 1 << lane)
    }

    /// Takes the state of warp `w` as it stands.
    pub fn take(&mut self, machine: &Machine<'_>, w: usize) {
        let warp = &machine.residents.warps[w];
        self.lanes.iter_mut().for_each(Vec::clear);
        for fragment in &*warp.fragments {
            let state = match fragment.state {
                State::Ready => 0,
                State::Barrier(id) => 1 << 32 | u64::from(id),
                State::Mask(mask) => 2 << 32 | u64::from(mask),
                State::Mbarrier => 3 << 32,
                State::Cluster => 4 << 32,
                State::Gathering(id) => 5 << 32 | u64::from(id),
            };
            let mut each = |f: &dyn Fn(usize) -> u64| {
                lanes(fragment.mask).for_each(|lane| self.lanes[lane].push(f(lane)));
            };
            each(&|_| u64::from(fragment.pc));
            each(&|_| state);
            let mut local = 0;
            let mut frame = fragment.frame;
            while frame != ROOT {
                let head = machine.residents.frames.get(frame);
                let function = &machine.given.program.functions[head.function as usize];
                local = local.max(head.local_base + function.local_bytes + head.grown);
                each(&|_| u64::from(head.function) << 32 | u64::from(head.return_pc));
                each(&|_| u64::from(head.local_base) << 32 | u64::from(head.grown));
                for (offset, width) in &function.rows {
                    let row = head.rows.wrapping_add(*offset as usize).cast_const();
                    // SAFETY: the loader's rows, of these widths.
                    each(&|lane| unsafe { read_lane(row, *width, lane) });
                }
                frame = head.parent;
            }
            for word in 0..(local.min(machine.given.plan.local_bytes) as usize).div_ceil(8) {
                each(&|lane| {
                    let at = warp.local.wrapping_add(lane * machine.given.layout.local_stride + word * 8);
                    // SAFETY: each lane has `local_bytes` bytes, rounded up to a cache line.
                    unsafe { at.cast::<u64>().read() }
                });
            }
        }
    }
}
