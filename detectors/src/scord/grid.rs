//! One grid: its warps, blocks and metadata, and what its events do to them.

use std::rc::Rc;

use bugaroo_ptx::op::AtomOp;
use bugaroo_semantics::event::{Access, AccessKind, Lanes, Range, Shape, SiteNumber, WhoseBytes, WorkId};
use bugaroo_semantics::inferred::Role;
use bugaroo_semantics::scope::{Scope, Strength};

use super::cache::Metadata;
use super::check::Now;
use super::cta::Cta;
use super::fences::ScordBlocks;
use super::layout::{EntryLayout, LaunchFacts};
use super::options::{LayoutChoice, ScordOptions};
use super::raced::Sites;
use super::report::{self, Reports};
use super::sweep::Sweep;
use super::warp::Warp;
use crate::watched::Watched;

/// What a program was found to do, which its layout has to have room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    pub fences: bool,
    pub locks: bool,
}

/// A program, as far as it is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    /// What its instructions are; None while nobody has said.
    pub roles: Option<Rc<[Role]>>,
    pub needs: Needs,
}

/// A grid that is running.
#[derive(Debug)]
pub(super) struct Grid {
    pub given: Given,
    layout: EntryLayout,
    pub(super) warps: Vec<Warp>,
    pub(super) ctas: Vec<Cta>,
    pub(super) blocks: ScordBlocks,
    metadata: Metadata,
    sites: Sites,
    /// A number has wrapped, and that was told.
    wrapped: bool,
    /// Phases of mbarriers that have completed.
    pub(super) phases: u32,
    /// Accesses up to now.
    pub(super) accesses: u64,
}

/// What is launched, and how it is looked at.
#[derive(Debug)]
pub(super) struct Given {
    pub id: WorkId,
    pub first_site: SiteNumber,
    pub needs: Needs,
    /// What is looked at; None: everything.
    pub watched: Option<Watched>,
    shape: Shape,
    options: ScordOptions,
    roles: Option<Rc<[Role]>>,
}

impl Grid {
    /// A grid begins.
    pub fn new(
        (id, first_site): (WorkId, SiteNumber),
        shape: Shape,
        options: ScordOptions,
        program: &Program,
        reports: &mut Reports,
    ) -> Grid {
        let layout = layout_of(&shape, options, program.roles.as_deref(), program.needs);
        if shape.blocks > layout.blocks() {
            reports.warn(report::TOO_MANY_BLOCKS, 1);
        }
        let tag = options.cache.map(|bits| bits.min(layout.widths().tag));
        Grid {
            given: Given {
                id,
                first_site,
                needs: program.needs,
                watched: None,
                shape,
                options,
                roles: program.roles.clone(),
            },
            layout,
            warps: (0..shape.warps).map(|_| Warp::default()).collect(),
            ctas: (0..shape.ctas).map(|_| Cta::default()).collect(),
            blocks: ScordBlocks::new(shape.warps_per_cta, shape.cluster),
            metadata: Metadata::new(tag, options.most_bytes),
            sites: Sites::new(first_site),
            wrapped: false,
            phases: 0,
            accesses: 0,
        }
    }

    /// A block begins in a slot.
    pub fn begin_block(&mut self, slot: u32, block: u64) {
        let Some(cta) = self.ctas.get_mut(slot as usize) else { return };
        let number = self.layout.block(block);
        *cta = Cta::new(number, self.given.shape.threads_per_cta, self.phases);
        for index in 0..self.given.shape.warps_per_cta {
            let threads = self.given.shape.threads_per_cta.saturating_sub(index * 32).min(32);
            let at = (slot * self.given.shape.warps_per_cta + index) as usize;
            let Some(warp) = self.warps.get_mut(at) else { continue };
            *warp = Warp::new(number, index, threads);
            warp.tell(&self.layout, self.blocks.fences(number, index), self.blocks.barriers(number));
        }
    }

    /// A block has ended.
    pub fn end_block(&mut self, slot: u32) {
        if let Some(cta) = self.ctas.get_mut(slot as usize) {
            cta.end();
        }
    }

    /// Lanes of a warp access global memory.
    pub fn access(&mut self, access: &Access<'_>, reports: &mut Reports) {
        let number = self.sites.number(access.site);
        let role = match &self.given.roles {
            Some(roles) => roles.get(number as usize).copied().unwrap_or_default(),
            // Who has not been learnt is as old as the paper.
            None => Role { volatile: true, ..Role::default() },
        };
        let strong = access.strength != Strength::Weak;
        if role.covered && !strong {
            return;
        }
        if self.given.options.cache.is_some() && access.bytes() < 4 {
            reports.warn_once(
                "scord: accesses of less than four bytes are not looked at where metadata is a cache",
            );
            return;
        }
        let device_scope = access.strength != Strength::Strong(Scope::Cta);
        if access.release {
            self.fence(&access.by, device_scope, false, reports);
        }
        self.accesses += 1;
        let Some(warp) = self.warps.get_mut(access.by.warp as usize) else { return };
        let diverged = self.given.options.independent_threads && warp.meet(access.by.mask, &self.layout);
        let wrapped = warp.epoch_wrapped(&self.layout);
        let mut now = Now {
            who: warp.who,
            writes: access.kind.writes(),
            atomic: matches!(access.kind, AccessKind::Atomic(_)) || strong && !role.volatile,
            device_scope,
            strong,
            keeps_both: self.layout.keeps_both(),
        };
        warp.touched();
        warp.opened = 0;
        if !warp.held.is_empty() {
            let opened = warp.unlock(access, strong, device_scope, &self.layout);
            // What opens a lock is an atomic, though it be written as a store.
            now.atomic |= opened != 0;
            now.who.bloom = warp.who.bloom;
        }
        now.who.site = self.layout.site(number);
        if diverged {
            now.who.flags = super::metadata::DIVERGED;
        }
        self.sites.see(number, access);
        // A compare-and-swap that has not written is a read.
        let failed = match access.kind {
            AccessKind::Atomic(AtomOp::Cas) => access.by.mask & !access.wrote,
            _ => 0,
        };
        // Locks and fences count, whoever looks at the memory.
        let watched = self.given.watched.as_ref().map_or(u32::MAX, |watched| watched.lanes(access));
        for (lanes, writes) in [(access.by.mask & !failed, now.writes), (failed, false)] {
            let lanes = lanes & watched;
            if lanes != 0 {
                let held = Some(&warp.held).filter(|held| held.by_lane());
                let now = Now { writes, ..now };
                let by = (&self.layout, &self.blocks, &self.sites);
                Sweep::new(access, now, by, held, reports).run(lanes, &mut self.metadata);
            }
        }
        self.wrap(wrapped, reports);
        let swapped = matches!(access.kind, AccessKind::Atomic(AtomOp::Cas)) && access.wrote != 0;
        if swapped || !self.warps[access.by.warp as usize].held.is_empty() {
            self.lock(access, now.atomic, device_scope, reports);
        }
    }

    /// What an access means for locks, behind it.
    fn lock(&mut self, access: &Access<'_>, atomic: bool, device: bool, reports: &mut Reports) {
        if matches!(access.kind, AccessKind::Atomic(AtomOp::Cas))
            && access.wrote != 0
            && !self.given.needs.locks
        {
            self.given.needs.locks = true;
            self.refit();
        }
        let Some(warp) = self.warps.get_mut(access.by.warp as usize) else { return };
        if let AccessKind::Atomic(AtomOp::Cas) = access.kind {
            let taken = access.by.mask & access.wrote & !warp.opened;
            if taken != 0 && warp.held.take(taken, device, |lane| access.address(lane)) {
                reports.warn_once(report::TOO_MANY_LOCKS);
            }
        } else if !atomic {
            warp.held.drop_inactive(access.by.mask);
        }
        if access.acquire && warp.held.activate(access.by.mask, device) {
            reports.warn_once(report::TOO_MANY_LOCKS);
        }
        warp.summarise(&self.layout);
    }

    /// A fence, or a release, which is one before its access. `locks`: it makes locks active.
    pub fn fence(&mut self, by: &Lanes, device: bool, locks: bool, reports: &mut Reports) {
        if !self.given.needs.fences {
            self.given.needs.fences = true;
            self.refit();
        }
        let Some(warp) = self.warps.get_mut(by.warp as usize) else { return };
        if self.given.options.independent_threads {
            warp.meet(by.mask, &self.layout);
        }
        let counts = warp.fenced(device);
        let fences = self.blocks.fence(warp.who.block, warp.who.warp, device, counts);
        warp.tell(&self.layout, fences, self.blocks.barriers(warp.who.block));
        let wrapped = self.layout.dev_fence(fences.dev) != fences.dev
            || self.layout.blk_fence(fences.blk) != fences.blk;
        if locks && !warp.held.is_empty() {
            if warp.held.activate(by.mask, device) {
                reports.warn_once(report::TOO_MANY_LOCKS);
            }
            warp.summarise(&self.layout);
        }
        self.wrap(wrapped, reports);
    }

    /// A number has grown; tells once where it no longer fits.
    pub(super) fn wrap(&mut self, wrapped: bool, reports: &mut Reports) {
        if wrapped && !self.wrapped {
            self.wrapped = true;
            reports.warn(report::WRAPPED, 1);
        }
    }

    /// Threads of a block have met.
    pub(super) fn tell_barriers(&mut self, number: u32, barriers: u32, reports: &mut Reports) {
        let per_cta = self.given.shape.warps_per_cta as usize;
        for slot in 0..self.ctas.len() {
            if self.ctas[slot].is(number) {
                let warps = self.warps.iter_mut().skip(slot * per_cta).take(per_cta);
                warps.for_each(|warp| warp.who.barrier = self.layout.barrier(barriers));
            }
        }
        self.wrap(self.layout.barrier(barriers) != barriers, reports);
    }

    /// Lanes have met at a barrier of the warp.
    pub fn warp_barrier(&mut self, by: &Lanes) {
        if let Some(warp) = self.warps.get_mut(by.warp as usize)
            && self.given.options.independent_threads
        {
            warp.together(&self.layout);
        }
    }

    /// Lanes end.
    pub fn exit(&mut self, by: &Lanes) {
        if let Some(warp) = self.warps.get_mut(by.warp as usize) {
            warp.live &= !by.mask;
        }
        if let Some(cta) = self.ctas.get_mut(by.cta as usize) {
            cta.exit(by.mask);
        }
    }

    /// The program turns out to fence, or to lock: the words get the fields for it.
    fn refit(&mut self) {
        let layout =
            layout_of(&self.given.shape, self.given.options, self.given.roles.as_deref(), self.given.needs);
        let old = std::mem::replace(&mut self.layout, layout);
        if old == layout {
            return;
        }
        self.metadata.change(|word| {
            let mut entry = old.unpack(word);
            let (mut site, writer) = (old.instruction(entry.site), old.writer(entry.wrote));
            if old.keeps_both() && !layout.keeps_both() && entry.is_alone() {
                // Where there is room for one, that is the write.
                site = writer;
            }
            entry.site = layout.site(site.unwrap_or(u32::MAX));
            entry.wrote = layout.site(writer.unwrap_or(u32::MAX));
            layout.pack(&entry)
        });
        for warp in &mut self.warps {
            let (block, index) = (warp.who.block, warp.who.warp);
            warp.tell(&layout, self.blocks.fences(block, index), self.blocks.barriers(block));
            warp.summarise(&layout);
        }
    }

    /// Bytes that mean something else from here on.
    pub fn forget(&mut self, range: Range) {
        if range.memory == WhoseBytes::Global {
            self.metadata.forget(&self.layout, range.address, range.bytes);
        }
    }

    /// How many blocks a cluster has.
    pub(super) fn cluster(&self) -> u32 {
        self.given.shape.cluster.max(1)
    }

    /// Rows that there was no room for since the last call.
    pub fn take_refused(&mut self) -> u64 {
        self.metadata.take_refused()
    }

    /// Bytes of metadata.
    pub fn metadata_bytes(&self) -> u64 {
        self.metadata.words_bytes()
    }

    /// Bytes of all else.
    pub fn table_bytes(&self) -> u64 {
        let warps = (self.warps.len() * size_of::<Warp>()) as u64;
        let held: u64 = self.warps.iter().map(|warp| warp.held.bytes()).sum();
        let ctas = (self.ctas.len() * size_of::<Cta>()) as u64;
        warps + held + ctas + self.blocks.bytes() + self.metadata.table_bytes() + self.sites.bytes()
    }
}

fn layout_of(shape: &Shape, options: ScordOptions, roles: Option<&[Role]>, needs: Needs) -> EntryLayout {
    let threads = options.independent_threads;
    match options.layout {
        LayoutChoice::Paper => EntryLayout::paper(threads),
        LayoutChoice::Given(layout) => layout,
        LayoutChoice::Fit => EntryLayout::fit(&LaunchFacts {
            blocks: shape.blocks,
            warps: shape.warps_per_cta,
            threads,
            tag: options.cache.unwrap_or(0).min(8),
            sites: roles.map(|roles| u32::try_from(roles.len()).unwrap_or(u32::MAX)),
            fences: needs.fences,
            locks: needs.locks,
        }),
    }
}
