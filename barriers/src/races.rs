//! Races of shared memory, without testing pairs.
//!
//! Source: the paper tests each pair of accesses to an address in constant time. Here the accesses are read in an order that
//! agrees with happens-before, and for each piece of memory only what matters for later accesses is kept: the last write and
//! the reads since ("FastTrack", Flanagan and Freund, PLDI 2009): while nothing has raced there, every earlier write happens
//! before the last one, so whoever comes after the last write comes after all. That finds out exactly *where* something races
//! ([`shadow`]); only there are all pairs gathered ([`pairs`]), in a second reading.
//!
//! Morally strong accesses do not race. The first reading takes them for races; the second one sorts them out. It asks whether flags may
//! order a pair ([`flags`]), too.

pub(crate) mod flags;
mod pages;
pub(crate) mod pairs;
pub(crate) mod shadow;

use crate::machine::Context;
use crate::program::{
    Completion, GroupKind, Opcode, Packed, SharedAccessKind, SharedAddresses, SharedStrength, WarpPrograms,
};

/// An access's part in happens-before: a component and an epoch; later accesses know it if their clock is beyond the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub component: u32,
    pub epoch: u32,
    /// Whether it goes on by itself, so that even its own thread is not ordered after it.
    pub asynchronous: bool,
    /// For copies in groups: which kind.
    pub group: Option<usize>,
}

/// The stamp of a chain's command; in lockstep, also sets the chain's own component, which every command advances.
pub(crate) fn stamp(context: &mut Context<'_>, command: &Packed, index: usize) -> Stamp {
    let lockstep = context.program.warp_synchronous();
    let mut stamp =
        Stamp { component: context.chain, epoch: context.epoch, asynchronous: false, group: None };
    if lockstep {
        context.clock[context.chain as usize] = index as u32;
        stamp.epoch = index as u32;
    }
    match command.completion() {
        Completion::Now => {
            if let Some(never) = context.layout.never
                && command.condition().is_some_and(|condition| context.program.is_last(condition))
            {
                (stamp.component, stamp.epoch) = (never, 1);
            }
        }
        Completion::Group(kind) => {
            let kind = crate::chains::group_index(kind);
            let component = context.layout.chains[context.chain as usize].groups[kind];
            if let Some(component) = component {
                stamp = Stamp {
                    component,
                    epoch: context.groups[kind].epoch,
                    asynchronous: true,
                    group: Some(kind),
                };
            }
        }
        Completion::Mbarrier { .. } | Completion::Store { .. } => {
            if let Some((component, epoch)) = context.phase {
                stamp = Stamp { component, epoch, asynchronous: true, group: None };
            }
        }
    }
    stamp
}

/// For an access of the asynchronous proxy: up to where generic writes are made visible to it by proxy fences.
pub(crate) fn fenced<'a>(context: &'a Context<'_>, command: &Packed) -> Option<&'a [u32]> {
    let proxy = match command.completion() {
        Completion::Mbarrier { .. } | Completion::Group(GroupKind::Bulk | GroupKind::Wgmma) => true,
        Completion::Now | Completion::Store { .. } | Completion::Group(GroupKind::CpAsync) => false,
    };
    proxy.then_some(context.fenced)
}

/// The largest power of two, at most 16, that divides all accesses' places and sizes: memory is watched in such pieces.
pub(crate) fn granule(program: &WarpPrograms) -> u32 {
    let mut all = 16;
    for warp in program.warps() {
        for command in warp.packed() {
            if command.opcode() != Opcode::Access {
                continue;
            }
            all |= command.size();
            match warp.addresses_of(command) {
                SharedAddresses::Affine { base, stride } => all |= base | stride as u32,
                SharedAddresses::Each(addresses) => {
                    let on = (0..32).filter(|l| command.lanes >> l & 1 != 0);
                    all |= on.fold(0, |bits, l| bits | addresses[l]);
                }
            }
            if all & 1 != 0 {
                return 1;
            }
        }
    }
    1 << all.trailing_zeros()
}

/// The lanes set in a mask.
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane)
    })
}

/// Whether two accesses that meet in full are morally strong (PTX ISA, "Memory Consistency Model"): both strong, each in the scope of the
/// other. Those that meet in part never are.
pub(crate) fn morally_strong(a: SharedStrength, b: SharedStrength, same_cta: bool) -> bool {
    let enough = if same_cta { SharedStrength::Cta } else { SharedStrength::Cluster };
    a.min(b) >= enough
}

/// Whether two kinds of access race, if they are not morally strong.
pub(crate) fn conflict(a: SharedAccessKind, b: SharedAccessKind) -> bool {
    !matches!(
        (a, b),
        (SharedAccessKind::Read, SharedAccessKind::Read)
            | (SharedAccessKind::Atomic, SharedAccessKind::Atomic)
    )
}
