//! Shared memory of another CTA of the cluster: is there such a CTA while it is accessed?
//!
//! Source: CUDA Programming Guide, "Distributed Shared Memory"; PTX ISA, "State Spaces". A CTA must be known to have started before
//! others touch its shared memory, and must not have ended before they are done. It has started for those who have waited at the cluster's
//! barrier, or who know of anything that one of its threads did. It is there as long as one of its threads is: an access comes in time if
//! some thread of the CTA knows of it in the end.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::chains::Layout;
use crate::machine::{Context, Machine, Observer};
use crate::program::{Opcode, Packed, RANK_SHIFT, WarpPrograms};
use crate::races::stamp;
use crate::verdict::{Misuse, ThreadsPlace};

/// The last that one component does to a CTA's shared memory.
#[derive(Debug, Clone, Copy)]
struct Last {
    epoch: u32,
    chain: u32,
    command: u32,
}

/// Gathers accesses of other CTAs' shared memory.
#[derive(Debug, Default)]
struct Lifetimes {
    /// By CTA and component.
    last: FxHashMap<(u32, u32), Last>,
    /// Where a CTA is touched that may not have started: CTA, chain, command.
    early: Option<(u32, u32, u32)>,
}

/// Finds an access of a CTA's shared memory by another one, which may come before the CTA's start or after its end, in a
/// well-synchronised program.
pub(crate) fn check(program: &WarpPrograms, layout: &Layout) -> Option<Misuse> {
    if program.shape().ctas == 1 {
        return None;
    }
    let mut seen = Lifetimes::default();
    let mut machine = Machine::new(program, layout);
    let finished = machine.run(&mut seen);
    debug_assert!(finished.is_ok(), "a well-synchronised program comes to its end");
    if let Some((cta, chain, command)) = seen.early {
        return Some(Misuse::NotStarted { cta, place: machine.place(chain, command) });
    }
    if program.has_open_end() {
        // When it ends, others say.
        return None;
    }
    let shape = program.shape();
    let known = |cta: u32, component: u32, epoch: u32| {
        let own = (0..).zip(&layout.chains).filter(|(_, chain)| shape.cta_of(chain.warp) == cta);
        own.into_iter().any(|(chain, _)| machine.clock(chain)[component as usize] > epoch)
    };
    let late = seen.last.iter().filter(|((cta, component), last)| !known(*cta, *component, last.epoch));
    let first: Option<(u32, ThreadsPlace)> = late
        .map(|((cta, _), last)| (*cta, machine.place(last.chain, last.command)))
        .min_by_key(|(cta, place)| (*cta, *place));
    first.map(|(cta, place)| Misuse::Ended { cta, place })
}

/// CTAs whose shared memory a command touches, other than its own.
fn others(program: &WarpPrograms, warp: u32, command: &Packed, on: u32) -> Vec<u32> {
    let own = program.shape().cta_of(warp);
    let mut ranks = Vec::new();
    match command.opcode() {
        Opcode::Access => {
            let addresses = program.warps()[warp as usize].addresses_of(command);
            ranks.extend(crate::races::lanes(on).map(|lane| addresses.lane(lane) >> RANK_SHIFT));
            ranks.extend(command.completion().mbarrier().map(|address| address >> RANK_SHIFT));
        }
        Opcode::MbarrierInit
        | Opcode::MbarrierInval
        | Opcode::MbarrierArrive
        | Opcode::MbarrierCompleteTx
        | Opcode::CpAsyncArrive => ranks.push(command.a >> RANK_SHIFT),
        _ => {}
    }
    ranks.sort_unstable();
    ranks.dedup();
    ranks.retain(|rank| *rank != own);
    ranks
}

impl Observer for Lifetimes {
    fn accesses(&mut self, context: &mut Context<'_>, range: Range<usize>) {
        let warp = &context.program.warps()[context.own.warp as usize];
        for (index, packed) in range.clone().zip(&warp.packed()[range]) {
            let on = packed.lanes & context.own.lanes;
            if on == 0 {
                continue;
            }
            let ranks = others(context.program, context.own.warp, packed, on);
            if ranks.is_empty() {
                continue;
            }
            // A copy that counts on an mbarrier is shown when it is issued, an operation on one after its own registration.
            let mut stamp = stamp(context, packed, index);
            if packed.opcode() != Opcode::Access && !context.program.warp_synchronous() {
                stamp.epoch = stamp.epoch.saturating_sub(1);
            }
            for cta in ranks {
                let shape = context.program.shape();
                let of = |chain: u32| shape.cta_of(context.layout.chains[chain as usize].warp) == cta;
                let chains = context.layout.chains.len() as u32;
                let started = context.met_cluster
                    || (0..chains).any(|chain| of(chain) && context.clock[chain as usize] > 0);
                if !started && self.early.is_none() {
                    self.early = Some((cta, context.chain, index as u32));
                }
                let new = Last { epoch: stamp.epoch, chain: context.chain, command: index as u32 };
                let last = self.last.entry((cta, stamp.component)).or_insert(new);
                if new.epoch >= last.epoch {
                    *last = new;
                }
            }
        }
    }
}
