//! Accesses and fences of a launch that has no memory model, with somebody looking on.
//!
//! The engine does them as it does where nobody looks on, and tells of each when it is done. What is told is what
//! [`crate::exec::modelled`] tells under a model that only looks on (`tests/told.rs`), and costs less: no hook is asked, and where
//! lanes go is what the engine has found out anyway.

use std::mem::MaybeUninit;

use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::Type;
use bugaroo_semantics::event::{Access, AccessKind, Addresses, Values, WhoseBytes};

use super::Machine;
use super::sourced::Marks;
use super::values::{Halves, Moved};
use super::{Doing, Observed};
use crate::decoded;
use crate::exec::Trouble;
use crate::exec::resolve::{Pattern, Request, Resolved, Whose};
use crate::fault;
use crate::model::accessed::Accessed;
use crate::model::ptx;

/// Addresses of lanes that follow no pattern.
type Each = MaybeUninit<[u64; 32]>;

impl Machine<'_> {
    /// `ld`, as [`Machine::load`] does it.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(in crate::exec) unsafe fn told_load<const V3: bool>(
        &mut self,
        w: usize,
        pc: u32,
        (frame, consts): (*mut u8, *const u8),
        index: u32,
        mask: u32,
    ) -> Result<bool, Trouble> {
        let program = self.given.program;
        let access = &program.accesses[index as usize];
        let bytes = u32::from(access.size) * u32::from(access.vec);
        let (site, kind) = (index as usize, fault::TouchKind::Read);
        let request = Request { address: access.address, bytes, site, kind };
        // SAFETY: the loader's rows; pointers are checked by `resolve`.
        unsafe {
            let found = self.resolve(w, frame, consts, &request, mask)?;
            let tells = access.watched && found.visible && self.tells_of(pc, &found);
            if tells && self.takes_down(&found) {
                self.take_down(w, access, (frame, consts), &found, mask);
            }
            self.load_rows::<V3>(frame, access, found, mask);
            if tells {
                self.tell_move(w, (pc, AccessKind::Load), access, (frame, consts), &found, mask);
            }
            Ok(access.visible && found.visible && !found.quiet)
        }
    }

    /// `st`, as [`Machine::store`] does it.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(in crate::exec) unsafe fn told_store(
        &mut self,
        w: usize,
        pc: u32,
        (frame, consts): (*mut u8, *const u8),
        index: u32,
        mask: u32,
    ) -> Result<bool, Trouble> {
        let program = self.given.program;
        let access = &program.accesses[index as usize];
        let bytes = u32::from(access.size) * u32::from(access.vec);
        let (site, kind) = (index as usize, fault::TouchKind::Write);
        let request = Request { address: access.address, bytes, site, kind };
        // SAFETY: the loader's rows; pointers are checked by `resolve`.
        unsafe {
            let found = self.resolve(w, frame, consts, &request, mask)?;
            self.count_stores(w, (access.counted, index), &found, mask, bytes);
            let visible = access.visible && found.visible;
            let tells = visible && self.tells_of(pc, &found);
            if tells && self.takes_down(&found) {
                self.take_down(w, access, (frame, consts), &found, mask);
            }
            self.store_rows(frame, consts, access, found, mask);
            if tells {
                self.tell_move(w, (pc, AccessKind::Store), access, (frame, consts), &found, mask);
            }
            Ok(visible)
        }
    }

    /// `atom` and `red`, as [`Machine::atomic`] does them.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    pub(in crate::exec) unsafe fn told_atomic(
        &mut self,
        w: usize,
        pc: u32,
        (frame, consts): (*mut u8, *const u8),
        index: u32,
        mask: u32,
    ) -> Result<bool, Trouble> {
        let program = self.given.program;
        let atomic = &program.atomics[index as usize];
        let bytes = atomic.ty.bytes();
        let site = program.accesses.len() + index as usize;
        let request = Request { address: atomic.address, bytes, site, kind: fault::TouchKind::Atomic };
        // SAFETY: the loader's rows; pointers are checked by `resolve`.
        unsafe {
            let found = self.resolve(w, frame, consts, &request, mask)?;
            if !(found.visible && self.tells_of(pc, &found)) {
                self.combine_rows::<false>((w, site), (frame, consts), atomic, &found, mask);
                return Ok(found.visible);
            }
            if found.whose == Whose::Unsaid {
                self.foresee(w, &atomic.address, (frame, consts), &found, bytes, mask);
            }
            self.combine_rows::<true>((w, site), (frame, consts), atomic, &found, mask);
            self.tell_atomic(w, pc, atomic, &found, mask);
            Ok(true)
        }
    }

    /// `fence`, and `nanosleep`, which is none.
    #[inline(never)]
    pub(in crate::exec) fn told_fence(&mut self, w: usize, pc: u32, extra: u32, mask: u32) {
        self.count_fences(extra & 1, mask);
        if let Some(fence) = self.given.program.fences.get((extra >> 1) as usize) {
            self.observed_fence(w, pc, mask, *fence);
        }
    }

    /// Whether who looks on is to be told of an access of visible memory.
    #[inline(always)]
    fn tells_of(&self, pc: u32, found: &Resolved) -> bool {
        let spares = |watch: &Observed| {
            watch.sparing.has(pc)
                || found.whose == Whose::Unwritten
                || watch.sparing.spares.shared && found.whose == Whose::Shared
        };
        self.hooks.watch.as_ref().is_some_and(|watch| !spares(watch))
    }

    /// Whether something has to be taken down before the lanes move what they move.
    #[inline(always)]
    fn takes_down(&self, found: &Resolved) -> bool {
        found.whose == Whose::Unsaid || self.hooks.watch.as_ref().is_some_and(|watch| watch.wants.before)
    }

    /// Takes it down.
    ///
    /// # Safety
    /// The access is one of the frame's function, and was resolved for these lanes.
    #[cold]
    unsafe fn take_down(
        &mut self,
        w: usize,
        access: &decoded::DecodedAccess,
        (frame, consts): (*mut u8, *const u8),
        found: &Resolved,
        mask: u32,
    ) {
        let bytes = u32::from(access.size) * u32::from(access.vec);
        if found.whose == Whose::Unsaid {
            // SAFETY: the caller's promise.
            unsafe { self.foresee(w, &access.address, (frame, consts), found, bytes, mask) };
        }
        if let Some(watch) = &mut self.hooks.watch {
            watch.look(&Accessed::moved(access, (frame, consts), (*found, &self.paths.pointers)), mask);
        }
    }

    /// Lanes have loaded or stored.
    ///
    /// # Safety
    /// The access is one of the frame's function, and was resolved for these lanes.
    #[inline(never)]
    unsafe fn tell_move(
        &self,
        w: usize,
        (pc, kind): (u32, AccessKind),
        access: &decoded::DecodedAccess,
        (frame, consts): (*mut u8, *const u8),
        found: &Resolved,
        mask: u32,
    ) {
        let Some(watch) = &self.hooks.watch else { return };
        let accessed = Accessed::moved(access, (frame, consts), (*found, &self.paths.pointers));
        let (semantics, size, elements) = (access.semantics, accessed.size, accessed.elements);
        let doing = Doing { pc, kind, semantics, size, elements };
        let wrote = if kind == AccessKind::Store { mask } else { 0 };
        let values = Moved(accessed, watch.at.before.as_deref());
        self.tell_access(watch, w, &doing, found, (mask, wrote), &values);
    }

    /// Lanes have done an atomic.
    #[inline(always)]
    fn tell_atomic(&self, w: usize, pc: u32, atomic: &decoded::Atomic, found: &Resolved, mask: u32) {
        let Some(watch) = &self.hooks.watch else { return };
        let (doing, wrote) = watch.atomic(pc, atomic, mask);
        if doing.elements == 1 {
            return self.tell_access(watch, w, &doing, found, (mask, wrote), &watch.made);
        }
        let (mut each, by) = (Each::uninit(), self.observed_lanes(w, mask));
        match self.told_places(w, found, &mut each) {
            Some(at) => watch.access_of(by, &doing, at, wrote, &Halves(&watch.made), &Marks::NONE),
            None => watch.access(by, &doing, wrote, &Halves(&watch.made), &Marks::NONE),
        }
    }

    /// Where lanes went, where the engine knows it of all of them together.
    #[inline(always)]
    fn told_places<'b>(
        &self,
        w: usize,
        found: &Resolved,
        each: &'b mut Each,
    ) -> Option<(WhoseBytes, Addresses<'b>)> {
        let memory = match found.whose {
            Whose::Global | Whose::Unwritten => WhoseBytes::Global,
            Whose::Shared => WhoseBytes::Shared(self.residents.warps[w].cta),
            Whose::Unsaid => return None,
        };
        let at = |pointer: *mut u8| (pointer as u64).wrapping_sub(found.origin);
        Some((
            memory,
            match found.pattern {
                Pattern::Consecutive(first) => Addresses::Consecutive(at(first)),
                Pattern::Same(all) => Addresses::Same(at(all)),
                Pattern::Each => Addresses::Each(
                    each.write(self.paths.pointers.map(|pointer| pointer.wrapping_sub(found.origin))),
                ),
            },
        ))
    }

    /// Tells of an access that is one to whoever looks on, too.
    #[inline(always)]
    fn tell_access(
        &self,
        watch: &Observed,
        w: usize,
        doing: &Doing,
        found: &Resolved,
        (mask, wrote): (u32, u32),
        values: &dyn Values,
    ) {
        let (by, mut each) = (self.observed_lanes(w, mask), Each::uninit());
        let Some((memory, at)) = self.told_places(w, found, &mut each) else {
            return watch.access(by, doing, wrote, values, &Marks::NONE);
        };
        let (strength, acquire, release) = ptx::order(doing.semantics);
        watch.watch.observer.borrow_mut().access(&Access {
            by,
            site: watch.site(doing.pc),
            kind: doing.kind,
            strength,
            acquire,
            release,
            memory,
            size: doing.size,
            elements: doing.elements,
            at,
            wrote,
            held: 0,
            own: 0,
            sourced: 0,
            numbers: None,
            values,
        });
    }
}

impl Observed {
    /// An atomic that lanes have done, and which of them have written: [`Observed::made`] says what.
    pub(super) fn atomic(&self, pc: u32, atomic: &decoded::Atomic, mask: u32) -> (Doing, u32) {
        let packed = matches!(atomic.ty, Type::F16x2 | Type::BF16x2);
        let (size, elements) = if packed { (2, 2) } else { (atomic.ty.bytes(), 1) };
        let (kind, semantics) = (AccessKind::Atomic(atomic.op), atomic.semantics);
        let wrote = match atomic.op {
            AtomOp::Cas => super::lanes(mask)
                .filter(|lane| self.made.changed(*lane))
                .fold(0, |wrote, lane| wrote | 1 << lane),
            _ => mask,
        };
        (Doing { pc, kind, semantics, size, elements }, wrote)
    }
}
