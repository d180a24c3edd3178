//! Chains: threads of a warp that take part in the same synchronisation.
//!
//! The paper keeps a happens-before point for every thread. Threads of one warp whose programs have the same synchronising
//! commands have the same points, so that one serves them all: as a rule one a warp, two where one lane is elected for
//! mbarriers and bulk copies. Within a chain nothing is ordered but by a barrier that the whole chain waits at: see
//! [`crate::machine`].

use rustc_hash::FxHashMap;

use crate::program::{Completion, GroupKind, Opcode, Packed, Program};

/// Lanes of one warp that synchronise alike.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub warp: u32,
    pub lanes: u32,
    /// Components of clocks for its asynchronous copies in groups, where it has any.
    pub groups: [Option<u32>; 2],
}

/// Who runs, and what a clock's components stand for.
#[derive(Debug)]
pub(crate) struct Layout {
    /// All chains, those of a warp in order of their lowest lane; chain `i` has component `i` of the clocks.
    pub chains: Vec<Chain>,
    /// For each warp its synchronising commands. A copy that completes on an mbarrier is one.
    pub synchronising: Vec<Vec<u32>>,
    /// Mbarriers by address: the component that counts the phases that are over.
    pub mbarriers: FxHashMap<u32, u32>,
    /// The component of accesses that nothing later is ordered with, where there are any.
    pub never: Option<u32>,
    /// Components of a clock.
    pub components: u32,
    /// Whether there are accesses of the asynchronous proxy, for which proxy fences matter.
    pub has_async_proxy: bool,
}

pub(crate) fn group_index(kind: GroupKind) -> usize {
    match kind {
        GroupKind::CpAsync => 0,
        GroupKind::Bulk => 1,
    }
}

fn is_synchronising(command: &Packed) -> bool {
    command.opcode() != Opcode::Access || matches!(command.completion(), Completion::Mbarrier { .. })
}

fn mbarrier_of(command: &Packed) -> Option<u32> {
    match command.opcode() {
        Opcode::MbarrierInit
        | Opcode::MbarrierInval
        | Opcode::MbarrierArrive
        | Opcode::MbarrierCompleteTx
        | Opcode::MbarrierWait
        | Opcode::CpAsyncArrive => Some(command.a),
        Opcode::Access => match command.completion() {
            Completion::Mbarrier { address } => Some(address),
            _ => None,
        },
        _ => None,
    }
}

impl Layout {
    pub(crate) fn new(program: &Program) -> Layout {
        let mut layout = Layout {
            chains: Vec::new(),
            synchronising: Vec::new(),
            mbarriers: FxHashMap::default(),
            never: None,
            components: 0,
            has_async_proxy: false,
        };
        let mut mbarriers = Vec::new();
        let mut grouped = Vec::new();
        for (number, warp) in program.warps().iter().enumerate() {
            let mut classes = vec![warp.lanes()];
            let mut synchronising = Vec::new();
            let mut groups = [0u32; 2];
            for (index, command) in warp.packed().iter().enumerate() {
                if command.opcode() == Opcode::Access {
                    match command.completion() {
                        Completion::Now => continue,
                        Completion::Group(kind) => {
                            groups[group_index(kind)] |= command.lanes;
                            layout.has_async_proxy |= kind == GroupKind::Bulk;
                            continue;
                        }
                        Completion::Mbarrier { .. } => layout.has_async_proxy = true,
                    }
                }
                debug_assert!(is_synchronising(command));
                // What one lane does for an mbarrier concerns its order alone; a wide chain splits where some lanes do not.
                if !program.warp_synchronous() && command.lanes != warp.lanes() {
                    split(&mut classes, command.lanes);
                }
                mbarriers.extend(mbarrier_of(command));
                synchronising.push(index as u32);
            }
            classes.sort_by_key(|c: &u32| c.trailing_zeros());
            for lanes in classes {
                layout.chains.push(Chain { warp: number as u32, lanes, groups: [None; 2] });
                grouped.push(groups.map(|g| g & lanes != 0));
            }
            layout.synchronising.push(synchronising);
        }
        layout.components = layout.chains.len() as u32;
        for (chain, grouped) in layout.chains.iter_mut().zip(grouped) {
            for (slot, used) in chain.groups.iter_mut().zip(grouped) {
                if used {
                    *slot = Some(layout.components);
                    layout.components += 1;
                }
            }
        }
        mbarriers.sort_unstable();
        mbarriers.dedup();
        for address in mbarriers {
            layout.mbarriers.insert(address, layout.components);
            layout.components += 1;
        }
        if program.has_last() {
            layout.never = Some(layout.components);
            layout.components += 1;
        }
        layout
    }
}

/// Parts every class by membership in `lanes`.
fn split(classes: &mut Vec<u32>, lanes: u32) {
    for index in 0..classes.len() {
        let (inside, outside) = (classes[index] & lanes, classes[index] & !lanes);
        if inside != 0 && outside != 0 {
            classes[index] = inside;
            classes.push(outside);
        }
    }
}
