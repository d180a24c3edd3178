//! Chains: threads of a warp that take part in the same synchronisation.
//!
//! The paper keeps a happens-before point for every thread. Threads of one warp whose programs have the same synchronising
//! commands have the same points, so that one serves them all: as a rule one a warp, two where one lane is elected for
//! mbarriers and bulk copies. Within a chain nothing is ordered but by a barrier that the whole chain waits at: see
//! [`crate::machine`].

use rustc_hash::FxHashMap;

use crate::program::{Completion, Fenced, GroupKind, Opcode, Packed, ProgramShape, WarpPrograms};

/// Lanes of one warp that synchronise alike.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub warp: u32,
    pub lanes: u32,
    /// Components of clocks for its asynchronous copies in groups, where it has any; that of `wgmma` is its warpgroup's.
    pub groups: [Option<u32>; GROUPS],
}

/// Kinds of groups.
pub(crate) const GROUPS: usize = 3;
/// Warps of a warpgroup.
pub(crate) const WARPGROUP: u32 = 4;

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
    /// Whether there are fences of `mbarrier.init`s alone.
    pub has_init_fences: bool,
    /// Whether anything orders time and not memory: copies that count on mbarriers, `wgmma`, relaxed arrivals and waits, exchanges of warps.
    pub has_time: bool,
}

pub(crate) fn group_index(kind: GroupKind) -> usize {
    match kind {
        GroupKind::CpAsync => 0,
        GroupKind::Bulk => 1,
        GroupKind::Wgmma => 2,
    }
}

/// The CTA and number in it of a warp's warpgroup.
pub(crate) fn warpgroup(shape: ProgramShape, warp: u32) -> (u32, u32) {
    (shape.cta_of(warp), warp % shape.warps_per_cta() / WARPGROUP)
}

fn is_synchronising(command: &Packed) -> bool {
    command.opcode() != Opcode::Access || command.completion().mbarrier().is_some()
}

fn mbarrier_of(command: &Packed) -> Option<u32> {
    match command.opcode() {
        Opcode::MbarrierInit
        | Opcode::MbarrierInval
        | Opcode::MbarrierArrive
        | Opcode::MbarrierCompleteTx
        | Opcode::MbarrierWait
        | Opcode::CpAsyncArrive => Some(command.a),
        Opcode::Access => command.completion().mbarrier(),
        _ => None,
    }
}

impl Layout {
    pub(crate) fn new(program: &WarpPrograms) -> Layout {
        let mut layout = Layout {
            chains: Vec::new(),
            synchronising: Vec::new(),
            mbarriers: FxHashMap::default(),
            never: None,
            components: 0,
            has_async_proxy: false,
            has_init_fences: false,
            has_time: false,
        };
        let mut mbarriers = Vec::new();
        let mut grouped = Vec::new();
        for (number, warp) in program.warps().iter().enumerate() {
            let mut classes = vec![warp.lanes()];
            let mut synchronising = Vec::new();
            let mut groups = [0u32; GROUPS];
            for (index, command) in warp.packed().iter().enumerate() {
                if command.opcode() == Opcode::Access {
                    match command.completion() {
                        Completion::Now => continue,
                        Completion::Group(kind) => {
                            groups[group_index(kind)] |= command.lanes;
                            layout.has_async_proxy |= kind != GroupKind::CpAsync;
                            layout.has_time |= kind == GroupKind::Wgmma;
                            continue;
                        }
                        Completion::Mbarrier { .. } => {
                            (layout.has_async_proxy, layout.has_time) = (true, true);
                        }
                        Completion::Store { .. } => layout.has_time = true,
                    }
                }
                debug_assert!(is_synchronising(command));
                layout.has_time |= command.opcode() == Opcode::ClusterArrive && command.flag();
                layout.has_time |= command.opcode() == Opcode::CpAsyncArrive || command.is_meeting();
                layout.has_init_fences |=
                    command.opcode() == Opcode::Fence && command.fenced() == Fenced::Inits;
                layout.has_time |= match command.opcode() {
                    Opcode::MbarrierArrive | Opcode::MbarrierWait => command.is_relaxed(),
                    _ => false,
                };
                // What one lane does for an mbarrier concerns its order alone; a wide chain splits where some lanes do not.
                if !program.warp_synchronous() && command.lanes != warp.lanes() {
                    split(&mut classes, command.lanes);
                }
                mbarriers.extend(mbarrier_of(command));
                synchronising.push(index as u32);
            }
            classes.sort_by_key(|c: &u32| c.trailing_zeros());
            for lanes in classes {
                layout.chains.push(Chain { warp: number as u32, lanes, groups: [None; GROUPS] });
                grouped.push(groups.map(|g| g & lanes != 0));
            }
            layout.synchronising.push(synchronising);
        }
        layout.components = layout.chains.len() as u32;
        let wgmma = group_index(GroupKind::Wgmma);
        let shape = program.shape();
        let mut warpgroups = FxHashMap::default();
        for (chain, grouped) in layout.chains.iter().zip(&grouped) {
            if grouped[wgmma] {
                warpgroups.insert(warpgroup(shape, chain.warp), u32::MAX);
            }
        }
        for (chain, grouped) in layout.chains.iter_mut().zip(grouped) {
            for (kind, (slot, used)) in chain.groups.iter_mut().zip(grouped).enumerate() {
                if used && kind != wgmma {
                    *slot = Some(layout.components);
                    layout.components += 1;
                }
            }
            // A warpgroup's matrices are read by all of it together.
            if let Some(component) = warpgroups.get_mut(&warpgroup(shape, chain.warp)) {
                if *component == u32::MAX {
                    *component = layout.components;
                    layout.components += 1;
                }
                chain.groups[wgmma] = Some(*component);
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

impl Layout {
    /// Length of the clocks beside the main one, which have a component each for: what `fence.proxy.async` makes visible; what
    /// `fence.mbarrier_init` does; what has been done before in time alone. 0 if nobody asks.
    pub(crate) fn fenced_len(&self) -> usize {
        let clocks = match (self.has_async_proxy || self.has_init_fences, self.has_time) {
            (_, true) => 3,
            (true, false) => 2,
            (false, false) => 0,
        };
        clocks * self.components as usize
    }

    /// Where in such a clock it stands up to where the `mbarrier.init`s of a chain are known and fenced.
    pub(crate) fn inits_of(&self, chain: u32) -> usize {
        (self.components + chain) as usize
    }

    /// Where in such a clock it stands how much of a component has been done before in time.
    pub(crate) fn time_of(&self, component: u32) -> usize {
        (2 * self.components + component) as usize
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
