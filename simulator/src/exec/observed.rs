//! What an observer is told of a launch: see [`bugaroo_semantics::event`].
//!
//! It is told here and nowhere else; what calls this says what has happened, and pays one comparison where nobody looks on.
//! Accesses are told after they have been done. Where they go is taken down before: a load may overwrite the register that holds its address.

mod asynchronous;
mod branches;
mod matrices;
mod sourced;
mod sparing;
mod told;
mod values;

use std::cell::RefCell;
use std::rc::Rc;

use bugaroo_ptx::op::FenceKind;
use bugaroo_ptx::types::Semantics;
use bugaroo_semantics::event::{
    Access, AccessKind, Addresses, Event, Lanes, Range, SiteNumber, Values, WhoseBytes, WorkId,
};
use bugaroo_semantics::parts::Parts;
use bugaroo_semantics::{Observer, Wants};

pub(super) use matrices::Elements;
use sourced::Marks;
use sparing::Sparing;
pub(crate) use values::Made;
use values::{Before, Element, Halves, Moved};

use super::Machine;
use super::cluster::RANK_SHIFT;
use super::data::lanes;
use super::resolve::{Pattern, Resolved, Whose};
use crate::address::{SHARED_WINDOW, Window, window};
use crate::decoded::{self, Address};
use crate::load::Program;
use crate::model::accessed::{Accessed, generic_address, generic_addresses};
use crate::model::{self, ptx};

/// The first generic address beyond all windows.
const FIRST_BEYOND: u64 = 1 << 34;

/// Somebody who looks on at a launch.
#[derive(Clone)]
pub struct LaunchWatch {
    /// Who.
    pub observer: Rc<RefCell<dyn Observer>>,
    /// What it knows the launch by.
    pub grid: WorkId,
    /// What it knows the program's instruction 0 by.
    pub first_site: SiteNumber,
}

impl std::fmt::Debug for LaunchWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LaunchWatch { grid, first_site, .. } = self;
        f.debug_struct("Watch").field("grid", grid).field("first_site", first_site).finish_non_exhaustive()
    }
}

/// Where the lanes of the access in progress go.
#[derive(Clone, Copy)]
enum Going {
    /// To no memory that is told of.
    Nowhere,
    Consecutive(WhoseBytes, u64),
    Same(WhoseBytes, u64),
    /// To this memory, each to its place in [`Accessing::addresses`].
    Each(WhoseBytes),
    /// To several: [`Accessing::memories`].
    Several,
}

/// An instruction that accesses memory.
#[derive(Clone, Copy)]
pub(super) struct Doing {
    pub pc: u32,
    pub kind: AccessKind,
    pub semantics: Semantics,
    pub size: u32,
    pub elements: u32,
}

/// The launch's observer, and what is kept for it.
pub(super) struct Observed {
    watch: LaunchWatch,
    pub wants: Wants,
    ended: bool,
    at: Accessing,
    pub made: Made,
    issued: asynchronous::Issued,
    /// How the lanes of each warp have parted, where it is asked for: in lockstep.
    parts: Vec<Parts>,
    sparing: Sparing,
}

/// What is taken down of the access in progress.
pub(super) struct Accessing {
    going: Going,
    /// Of an access whose lanes follow no pattern.
    addresses: [u64; 32],
    memories: [Option<WhoseBytes>; 32],
    /// Of the load or store at hand, where it is asked for.
    before: Option<Box<Before>>,
}

impl Observed {
    pub fn new(watch: LaunchWatch, warps: usize, program: &Program) -> Observed {
        let (wants, spares) = (watch.observer.borrow().wants(), watch.observer.borrow().spares());
        Observed {
            watch,
            wants,
            ended: false,
            at: Accessing {
                going: Going::Nowhere,
                addresses: [0; 32],
                memories: [None; 32],
                before: wants.before.then(|| Box::new([[0; 8]; 32])),
            },
            made: Made::default(),
            issued: asynchronous::Issued::new(warps),
            parts: vec![Parts::default(); warps],
            sparing: Sparing { spares, spared: program.spared(spares).into() },
        }
    }

    /// Takes down what memory holds where lanes are about to load or store.
    pub fn look(&mut self, accessed: &Accessed<'_>, mask: u32) {
        let Some(before) = &mut self.at.before else { return };
        for lane in lanes(mask) {
            for element in 0..accessed.elements {
                before[lane][element as usize] = accessed.read(lane, element);
            }
        }
    }

    /// Whether the generic addresses of these lanes, which are taken down, are all in the memory in which the first is, and there
    /// `at`. Then they are made into addresses there. (Where it cannot be told at a glance: no.)
    #[inline]
    fn are_all_in(&mut self, memory: WhoseBytes, at: u64, mask: u32) -> bool {
        let live = |lane: usize| u64::from(mask >> lane & 1).wrapping_neg();
        let all = &mut self.at.addresses;
        if memory == WhoseBytes::Global {
            // Below are the windows.
            let low = |lane: usize| u64::from(all[lane] < FIRST_BEYOND) & live(lane);
            return (0..32).fold(0, |some, lane| some | low(lane)) == 0;
        }
        let first = all[mask.trailing_zeros() as usize];
        let apart = (0..32).fold(0, |bits, lane| bits | (all[lane] ^ first) & live(lane));
        if apart >> RANK_SHIFT != 0 {
            return false;
        }
        let base = first.wrapping_sub(at);
        all.iter_mut().for_each(|address| *address = address.wrapping_sub(base));
        true
    }

    fn tell(&self, event: &Event<'_>) {
        self.watch.observer.borrow_mut().event(event);
    }

    /// Whether it need not be told of loads of memory that the launch does not write.
    pub fn spares_unwritten(&self) -> bool {
        self.sparing.spares.unwritten
    }

    /// The launch writes to memory of which it was taken for granted that it does not.
    pub fn tell_unforeseen(&self, range: Range) {
        self.tell(&Event::UnforeseenWrite { grid: self.watch.grid, range });
    }

    fn site(&self, pc: u32) -> SiteNumber {
        self.watch.first_site.wrapping_add(pc)
    }

    /// The launch has ended.
    pub fn end(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            self.tell(&Event::GridEnd { grid: self.watch.grid });
        }
    }

    /// Tells that lanes have done an access that was foreseen.
    fn access(&self, by: Lanes, doing: &Doing, wrote: u32, values: &dyn Values, marks: &Marks) {
        if self.sparing.has(doing.pc) {
            return;
        }
        let (memory, at) = match self.at.going {
            Going::Nowhere => return,
            Going::Consecutive(memory, first) => (memory, Addresses::Consecutive(first)),
            Going::Same(memory, all) => (memory, Addresses::Same(all)),
            Going::Each(memory) => (memory, Addresses::Each(&self.at.addresses)),
            Going::Several => {
                let mut rest = by.mask;
                while rest != 0 {
                    let first = self.at.memories[rest.trailing_zeros() as usize];
                    let alike = |lane: &usize| self.at.memories[*lane] == first;
                    let mask = lanes(rest).filter(alike).fold(0, |mask, lane| mask | 1 << lane);
                    rest &= !mask;
                    if let Some(memory) = first {
                        let at = (memory, Addresses::Each(&self.at.addresses));
                        self.access_of(Lanes { mask, ..by }, doing, at, wrote, values, marks);
                    }
                }
                return;
            }
        };
        self.access_of(by, doing, (memory, at), wrote, values, marks);
    }

    fn access_of(
        &self,
        by: Lanes,
        doing: &Doing,
        (memory, at): (WhoseBytes, Addresses<'_>),
        wrote: u32,
        values: &dyn Values,
        marks: &Marks,
    ) {
        if self.sparing.spares.shared && memory != WhoseBytes::Global {
            return;
        }
        let (strength, acquire, release) = ptx::order(doing.semantics);
        let access = Access {
            by,
            site: self.site(doing.pc),
            kind: doing.kind,
            strength,
            acquire,
            release,
            memory,
            size: doing.size,
            elements: doing.elements,
            at,
            wrote: wrote & by.mask,
            held: marks.held & by.mask,
            own: marks.own[0] & by.mask,
            sourced: marks.sourced[0] & by.mask,
            numbers: marks.numbered.then_some(&marks.numbers),
            values,
        };
        let mut observer = self.watch.observer.borrow_mut();
        // A packed atomic is one of each of its elements (PTX ISA, "Packed Data-types").
        let packed = doing.elements > 1 && matches!(doing.kind, AccessKind::Atomic(_));
        if !packed && marks.is_alike(by.mask, doing.elements) {
            return observer.access(&access);
        }
        // The elements of some lanes come from several places: each is an access of its own.
        for element in 0..doing.elements {
            let mut addresses = [0; 32];
            for lane in by.each() {
                addresses[lane as usize] = access.address(lane).wrapping_add(u64::from(element * doing.size));
            }
            observer.access(&Access {
                elements: 1,
                at: Addresses::Each(&addresses),
                own: marks.own[element as usize] & by.mask,
                sourced: marks.sourced[element as usize] & by.mask,
                values: &Element(values, element),
                ..access
            });
        }
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        // Where the observer itself has failed, it is not to be told more.
        if !self.ended
            && let Ok(mut observer) = self.watch.observer.try_borrow_mut()
        {
            observer.event(&Event::GridEnd { grid: self.watch.grid });
        }
    }
}

impl Machine<'_> {
    /// Lanes of a warp, as an observer knows them.
    pub(super) fn observed_lanes(&self, w: usize, mask: u32) -> Lanes {
        let warp = &self.residents.warps[w];
        Lanes {
            grid: self.hooks.watch.as_ref().map_or(0, |watch| watch.watch.grid),
            warp: w as u32,
            cta: warp.cta,
            block: self.residents.ctas[warp.cta as usize].block,
            first: warp.index * 32,
            mask,
        }
    }

    /// Tells what has happened, if somebody looks on.
    #[inline(always)]
    pub(super) fn tell(&self, event: impl FnOnce(&Machine<'_>, &Observed) -> Event<'static>) {
        if let Some(watch) = &self.hooks.watch {
            watch.tell(&event(self, watch));
        }
    }

    /// The launch begins.
    pub(super) fn observed_begin(&self) {
        let (shape, lockstep) = (self.shape(), self.given.config.lockstep);
        self.tell(|_, watch| Event::GridBegin {
            grid: watch.watch.grid,
            shape,
            lockstep,
            first_site: watch.watch.first_site,
        });
    }

    pub(super) fn observed_block_begins(&mut self, cta: u32) {
        if let Some(watch) = &mut self.hooks.watch {
            let warps = self.given.plan.warps_per_block as usize;
            watch.parts[cta as usize * warps..][..warps].iter_mut().for_each(Parts::clear);
        }
        let block = self.residents.ctas[cta as usize].block;
        self.tell(|_, watch| Event::BlockBegin { grid: watch.watch.grid, cta, block });
    }

    pub(super) fn observed_block_ends(&self, cta: u32) {
        self.tell(|_, watch| Event::BlockEnd { grid: watch.watch.grid, cta });
    }

    pub(super) fn observed_exit(&self, w: usize, mask: u32) {
        self.tell(|machine, _| Event::Exit(machine.observed_lanes(w, mask)));
    }

    /// Lanes have done a fence.
    pub(super) fn observed_fence(&self, w: usize, pc: u32, mask: u32, fence: model::Fence) {
        if mask == 0 {
            return;
        }
        self.tell(|machine, watch| {
            let (by, site) = (machine.observed_lanes(w, mask), watch.site(pc));
            match fence.kind {
                FenceKind::Proxy => Event::ProxyFence { by, site },
                _ => Event::Fence { by, site, fence },
            }
        });
    }

    pub(super) fn observed_arrive(&self, w: usize, pc: u32, mask: u32, barrier: u32, waits: bool) {
        self.tell(|machine, watch| Event::Arrive {
            by: machine.observed_lanes(w, mask),
            site: watch.site(pc),
            barrier,
            waits,
        });
    }

    pub(super) fn observed_leave(&self, w: usize, mask: u32, barrier: u32) {
        self.tell(|machine, _| Event::Leave { by: machine.observed_lanes(w, mask), barrier });
    }

    pub(super) fn observed_completed(&self, cta: u32, barrier: u32) {
        self.tell(|_, watch| Event::Completed { grid: watch.watch.grid, cta, barrier });
    }

    pub(super) fn observed_meeting(&self, w: usize, pc: u32, mask: u32) {
        self.tell(|machine, watch| Event::WarpBarrier {
            by: machine.observed_lanes(w, mask),
            site: watch.site(pc),
        });
    }

    /// Takes down where lanes go that are about to access memory.
    ///
    /// # Safety
    /// The address's slots are rows of the frame or the constants.
    pub(super) unsafe fn foresee(
        &mut self,
        w: usize,
        address: &Address,
        (frame, consts): (*const u8, *const u8),
        found: &Resolved,
        bytes: u32,
        mask: u32,
    ) {
        let (cta, cluster) = (self.residents.warps[w].cta, self.cluster_size());
        let Some(watch) = &mut self.hooks.watch else { return };
        if found.whose == Whose::Unwritten {
            watch.at.going = Going::Nowhere;
            return;
        }
        // SAFETY: the caller's promise.
        let generic = |lane| unsafe { generic_address(address, (frame, consts), found.own_window, lane) };
        let place = |address: u64| match window(address) {
            Window::Global => Some((WhoseBytes::Global, address)),
            Window::Shared => {
                let offset = address - SHARED_WINDOW;
                let within = offset & ((1 << RANK_SHIFT) - 1);
                let owner = match (offset >> RANK_SHIFT) as u32 {
                    0 => cta,
                    rank => cta - cta % cluster + rank - 1,
                };
                Some((WhoseBytes::Shared(owner), within))
            }
            Window::Local | Window::Param => None,
        };
        let first = mask.trailing_zeros();
        watch.at.going = match (found.pattern, place(generic(first as usize))) {
            (Pattern::Consecutive(_) | Pattern::Same(_), None) => Going::Nowhere,
            (Pattern::Consecutive(_), Some((memory, at))) => {
                Going::Consecutive(memory, at.wrapping_sub(u64::from(first * bytes)))
            }
            (Pattern::Same(_), Some((memory, at))) => Going::Same(memory, at),
            (Pattern::Each, to) => {
                if let Some((memory, at)) = to
                    && found.own_window == 0
                {
                    // SAFETY: the caller's promise.
                    unsafe { generic_addresses(address, (frame, consts), &mut watch.at.addresses) };
                    if watch.are_all_in(memory, at, mask) {
                        watch.at.going = Going::Each(memory);
                        return;
                    }
                }
                let mut alike = true;
                for lane in lanes(mask) {
                    let place = place(generic(lane));
                    let memory = place.map(|(memory, _)| memory);
                    alike &= memory == to.map(|(memory, _)| memory);
                    watch.at.memories[lane] = memory;
                    watch.at.addresses[lane] = place.map_or(0, |(_, at)| at);
                }
                match to {
                    _ if !alike => Going::Several,
                    None => Going::Nowhere,
                    Some((memory, _)) => Going::Each(memory),
                }
            }
        };
    }

    /// Lanes have done a load or a store.
    ///
    /// # Safety
    /// The access is one of the frame's function.
    #[allow(clippy::too_many_arguments, reason = "the instruction taken apart")]
    pub(super) unsafe fn observed_move(
        &mut self,
        w: usize,
        pc: u32,
        access: &decoded::DecodedAccess,
        rows: (*mut u8, *const u8),
        found: Resolved,
        kind: AccessKind,
        done: (u32, u32),
    ) {
        let accessed = Accessed::moved(access, rows, (found, &self.paths.pointers));
        let (semantics, size, elements) = (access.semantics, accessed.size, accessed.elements);
        let doing = Doing { pc, kind, semantics, size, elements };
        let wrote = if kind.writes() { u32::MAX } else { 0 };
        let before = self.hooks.watch.as_ref().and_then(|watch| watch.at.before.as_deref());
        self.observed_access(w, &doing, done, wrote, &Moved(accessed, before));
        self.forget_notes();
    }

    /// Lanes are about to do an atomic in memory: takes down what each makes of it, one after another.
    ///
    /// # Safety
    /// The atomic is one of the frame's function, and was resolved for these lanes.
    pub(super) unsafe fn foresee_atomic(
        &self,
        (frame, consts): (*mut u8, *const u8),
        atomic: &decoded::Atomic,
        found: Resolved,
        flush: bool,
        mask: u32,
    ) {
        let Some(watch) = &self.hooks.watch else { return };
        let accessed = Accessed::combined(
            atomic,
            flush,
            (frame, consts),
            (found, &self.paths.pointers),
            Some(&watch.made),
        );
        let mut before = [0; 32];
        for (index, lane) in lanes(mask).enumerate() {
            before[index] = lane;
            let place = found.lane(&self.paths.pointers, lane, accessed.size);
            let same = |earlier: &&usize| found.lane(&self.paths.pointers, **earlier, accessed.size) == place;
            let old = match before[..index].iter().rev().find(same) {
                Some(earlier) => watch.made.value(*earlier as u32, 0),
                None => accessed.read_whole(lane),
            };
            accessed.combine(lane, old);
        }
    }

    /// Lanes have done an atomic.
    pub(super) fn observed_atomic(&mut self, w: usize, pc: u32, atomic: &decoded::Atomic, done: (u32, u32)) {
        let Some(watch) = &self.hooks.watch else { return };
        let (doing, wrote) = watch.atomic(pc, atomic, done.0 | done.1);
        let made: &dyn Values = if doing.elements > 1 { &Halves(&watch.made) } else { &watch.made };
        self.observed_access(w, &doing, done, wrote, made);
        self.forget_notes();
    }
}
