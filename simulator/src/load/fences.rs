//! The program with the fences and barriers that a trial's orders ask for.
//!
//! A fence that is inserted behind an access or a barrier, left out, narrowed to the block or widened to the device (or, where there are
//! several, to the system) shows the
//! same outcomes as one that was compiled in, deleted from the source, or written with the other scope: the program that
//! runs is the decoded form of that text. An inserted fence is a `fence.sc.gpu` of its own, with the guard of the access,
//! so other threads run between the two, and late loads come no later than they may before a fence. Nothing of it is
//! decided while the program runs, so where the orders ask for nothing there is nothing to pay.
//!
//! What is inserted beside a stretch of the source ([`super::places`]) may lie on the way from a branch to its target:
//! then it is a piece of code of its own in front of the target, and the branch leads there. A barrier of the block is one that
//! the program cannot name, so a place that not all threads pass never pairs with a barrier of the program.
//!
//! Instructions are moved, and what names them by number (branches, tables of branches, the entries of functions) is
//! moved with them. A label behind an access stands behind the fence that is inserted there. Origins stay: what is inserted
//! has that of the instruction that it stands beside.
//!
//! Rows need no second look. An access's guard is read once more by the fence, and no access writes a row that it reads
//! ([`super::liveness`]). A reduction of a barrier that writes its own guard is the one exception, which no compiler
//! makes; the fence goes by what it wrote then, as the text would.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use bugaroo_device_handlers::flags;
use bugaroo_injector::collect_sites::{PointKind, SiteTable};
use bugaroo_protocol::{Inserted, Insertion, Side};
use bugaroo_ptx::op::FenceKind;
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::effect::widened;
use rustc_hash::FxHashMap;

use super::Program;
use super::function::{count_runs, no_operands, nothing};
use super::places::{Places, Spot, Under, falls_through};
use super::polls::polls;
use crate::alu::Width;
use crate::decoded::{Barrier, BarrierAction, Collective, Inst, Kind, NO_GUARD, Origin, Together};
use crate::model::Fence;

/// Words of [`flags`] by span of the text.
type Asked = FxHashMap<(usize, usize), u32>;

/// The bit of a word that widens, beside those of [`flags`].
const WIDEN: u32 = 1 << 31;

/// What goes to which place, in this order.
type Inserts = BTreeMap<Spot, Vec<Inserted>>;

/// What is asked of the places of the table; `words` are by number of the site, none where there are fewer.
fn asked(table: &SiteTable, words: &[u32], widen: &BTreeSet<u32>) -> Asked {
    let word = |point: &bugaroo_injector::collect_sites::InjectionPoint| {
        let site = point.site?;
        let word = words.get(site as usize).copied().unwrap_or(0);
        let may = match point.kind {
            PointKind::Fence(_) => flags::OMIT | flags::NARROW,
            _ if point.takes_fence && word & flags::INSERT != 0 => flags::INSERT | flags::NARROW,
            _ => 0,
        };
        let word = word & may | if widen.contains(&site) { WIDEN } else { 0 };
        (word != 0).then_some(((point.span.start, point.span.end), word))
    };
    table.points.iter().filter_map(word).collect()
}

/// A program as it is written anew.
struct Rewriting {
    program: Program,
    /// Where each instruction's label has gone: behind what only those pass who do not jump there.
    labels: Vec<u32>,
    /// By instruction as it is now: what it was, if it was one.
    was: Vec<Option<u32>>,
    /// Where branches lead that pass something on the way, by branch and target as they were.
    detours: FxHashMap<(u32, u32), u32>,
    /// The same for the entries of functions, by number.
    entries: FxHashMap<u32, u32>,
}

impl Program {
    /// This program with fences inserted, left out and narrowed: `words` are those of
    /// [`bugaroo_device_handlers::flags`] by number of the site, the table is that of the text that the program was
    /// loaded from. None where they ask for nothing.
    ///
    /// The module's variables are this program's, which is the one to unload.
    pub fn with_fences(&self, table: &SiteTable, words: &[u32]) -> Option<Program> {
        let asked = asked(table, words, &BTreeSet::new());
        (!asked.is_empty()).then(|| self.rewritten(&asked, &Inserts::new(), Scope::Gpu))
    }

    /// The same, with something inserted beside stretches of the source, and sites of these numbers widened to the
    /// device. `wide` is the scope of fences that are inserted at sites or widened.
    ///
    /// # Errors
    /// The first insertion for which the program has no place, and why. One of which nothing is in this program is passed
    /// over.
    pub fn changed<'i>(
        &self,
        table: &SiteTable,
        words: &[u32],
        (widen, wide): (&BTreeSet<u32>, Scope),
        insert: impl IntoIterator<Item = &'i Insertion>,
    ) -> Result<Option<Program>, (&'i Insertion, String)> {
        let asked = asked(table, words, widen);
        let inserts = self.inserts(table, insert)?;
        Ok((!asked.is_empty() || !inserts.is_empty()).then(|| self.rewritten(&asked, &inserts, wide)))
    }

    fn inserts<'i>(
        &self,
        table: &SiteTable,
        insert: impl IntoIterator<Item = &'i Insertion>,
    ) -> Result<Inserts, (&'i Insertion, String)> {
        let mut insert: Vec<&Insertion> = insert.into_iter().collect();
        let mut inserts = Inserts::new();
        if insert.is_empty() {
            return Ok(inserts);
        }
        // What stands behind one stretch comes before what stands in front of the next; of nested stretches, the inner one
        // begins later.
        insert.sort_by_key(|insertion| {
            let (from, to) = (insertion.span.from, insertion.span.to);
            let outer_first = (from, Reverse(to));
            match insertion.side {
                Side::Behind => (false, Some(Reverse(outer_first)), None, insertion.what),
                Side::Before => (true, None, Some(outer_first), insertion.what),
            }
        });
        let places = Places::new(self, table);
        for insertion in insert {
            let placed = places.place(insertion);
            if let Some(reason) = placed.refused {
                return Err((insertion, reason));
            }
            for spot in placed.spots {
                inserts.entry(spot).or_default().push(insertion.what);
            }
        }
        Ok(inserts)
    }

    fn rewritten(&self, asked: &Asked, inserts: &Inserts, wide: Scope) -> Program {
        let mut program = self.clone();
        program.allocations.clear();
        program.spared = OnceLock::new();
        program.code.clear();
        program.origins.clear();
        let (labels, was) = (Vec::with_capacity(self.code.len()), Vec::with_capacity(self.code.len()));
        let (detours, entries) = (FxHashMap::default(), FxHashMap::default());
        let mut new = Rewriting { program, labels, was, detours, entries };
        // By target: where something is passed on the way to it.
        let mut on_the_way: BTreeMap<u32, Vec<(Spot, &Vec<Inserted>)>> = BTreeMap::new();
        for (spot, what) in inserts {
            match *spot {
                Spot::Jump(_, target) => on_the_way.entry(target).or_default().push((*spot, what)),
                Spot::Entry(function) => {
                    let entry = self.functions[function as usize].entry;
                    on_the_way.entry(entry).or_default().push((*spot, what));
                }
                Spot::Behind(..) | Spot::Front(..) => {}
            }
        }
        for (pc, inst) in self.code.iter().enumerate() {
            let at = pc as u32;
            let origin = self.origins[pc];
            if let Some(ways) = on_the_way.get(&at) {
                new.detours(self, at, ways);
            }
            new.labels.push(new.program.code.len() as u32);
            for under in [Under::Everybody, Under::Guard, Under::NotGuard] {
                new.insert(inserts.get(&Spot::Front(at, under)), self.under(pc, under), origin);
            }
            let word = asked.get(&origin.text).copied().unwrap_or(0);
            let fence = inst.kind == Kind::Fence;
            if !(fence && word & flags::OMIT != 0) {
                let inst = new.program.with_scope(*inst, word, wide);
                new.push(inst, origin, Some(at));
            }
            if !fence && word & flags::INSERT != 0 && self.is_last_of_its_text(pc) {
                let scope = if word & flags::NARROW != 0 { Scope::Cta } else { wide };
                new.fence(scope, self.guard_of_text(pc), origin);
            }
            for under in [Under::Guard, Under::NotGuard, Under::Everybody] {
                new.insert(inserts.get(&Spot::Behind(at, under)), self.under(pc, under), origin);
            }
        }
        let mut program = new.finish(self);
        program.polls = polls(&program.code, &program.accesses, &program.atomics);
        program
    }

    /// The guard of what is for these only.
    fn under(&self, pc: usize, under: Under) -> (u32, u32) {
        let guard = |flip: u32| {
            let (guard, own) = self.guard_of_text_at(pc);
            (guard, own ^ flip)
        };
        match under {
            Under::Everybody => (NO_GUARD, 0),
            Under::Guard => guard(0),
            Under::NotGuard => guard(!0),
        }
    }

    /// An instruction with the scope that is asked for.
    fn with_scope(&mut self, mut inst: Inst, word: u32, wide: Scope) -> Inst {
        if word & (flags::NARROW | WIDEN) == 0 {
            return inst;
        }
        let widen = word & WIDEN != 0;
        match inst.kind {
            Kind::Fence => {
                if let Some(own) = self.fences.get((inst.extra >> 1) as usize).copied() {
                    let scope = if widen { own.scope.max(wide) } else { Scope::Cta };
                    inst.extra = self.add_fence(Fence { scope, ..own }) | inst.extra & 1;
                }
            }
            Kind::Load | Kind::Store if widen => {
                let own = self.accesses[inst.extra as usize];
                self.accesses.push(crate::decoded::DecodedAccess {
                    semantics: widened(own.semantics, Scope::Gpu),
                    ..own
                });
                inst.extra = self.accesses.len() as u32 - 1;
            }
            Kind::Atomic if widen => {
                let own = self.atomics[inst.extra as usize];
                self.atomics
                    .push(crate::decoded::Atomic { semantics: widened(own.semantics, Scope::Gpu), ..own });
                inst.extra = self.atomics.len() as u32 - 1;
            }
            _ => {}
        }
        inst
    }

    /// Adds a fence; answers `Inst::extra` for it, without the bit that has it counted.
    fn add_fence(&mut self, fence: Fence) -> u32 {
        self.fences.push(fence);
        (self.fences.len() as u32 - 1) << 1
    }

    /// Is this the last of the instructions that one of the text became? (What returns at the end of a body has the
    /// origin of the text's last one.)
    fn is_last_of_its_text(&self, pc: usize) -> bool {
        let same = |at: usize| {
            let (here, there) = (&self.origins[pc], self.origins.get(at)?);
            Some(here.function == there.function && here.text == there.text)
        };
        let ends = |at: usize| self.code[at].kind == Kind::Ret;
        !ends(pc) && (same(pc + 1) != Some(true) || ends(pc + 1))
    }

    /// The guard of the instruction of the text that this one is the last of: that of what it does to memory or to other
    /// threads; what prepares operands has none.
    pub(super) fn guard_of_text(&self, pc: usize) -> (u32, u32) {
        let origin = &self.origins[pc];
        let mine = |at: &usize| {
            let other = &self.origins[*at];
            other.function == origin.function && other.text == origin.text
        };
        let acts = |at: &usize| {
            let kind = self.code[*at].kind;
            matches!(kind, Kind::Load | Kind::Store | Kind::Atomic | Kind::Barrier | Kind::Collective)
        };
        let at = (0..=pc).rev().take_while(mine).find(acts).unwrap_or(pc);
        (self.code[at].guard, self.code[at].guard_flip)
    }

    /// The same, for any instruction of the text.
    fn guard_of_text_at(&self, pc: usize) -> (u32, u32) {
        let last = (pc..self.code.len())
            .find(|at| self.is_last_of_its_text(*at) || self.code[*at].kind == Kind::Ret);
        self.guard_of_text(last.unwrap_or(pc))
    }
}

impl Rewriting {
    fn push(&mut self, inst: Inst, origin: Origin, was: Option<u32>) {
        self.program.code.push(inst);
        self.program.origins.push(origin);
        self.was.push(was);
    }

    /// An instruction that none was before.
    fn add(&mut self, kind: Kind, extra: u32, (guard, guard_flip): (u32, u32), origin: Origin) {
        let inst = Inst { run: nothing as _, ops: no_operands(), guard, guard_flip, extra, kind };
        self.push(inst, origin, None);
    }

    fn fence(&mut self, scope: Scope, guard: (u32, u32), origin: Origin) {
        let extra = self.program.add_fence(Fence { kind: FenceKind::Sc, scope }) | 1;
        self.add(Kind::Fence, extra, guard, origin);
    }

    fn insert(&mut self, what: Option<&Vec<Inserted>>, guard: (u32, u32), origin: Origin) {
        for what in what.into_iter().flatten() {
            let program = &mut self.program;
            match what {
                Inserted::Fence => self.fence(Scope::Gpu, guard, origin),
                Inserted::SystemFence => self.fence(Scope::Sys, guard, origin),
                Inserted::BlockFence => self.fence(Scope::Cta, guard, origin),
                Inserted::BlockBarrier => {
                    let id = program.constants.slot(Width::W32, u64::from(Barrier::INSERTED));
                    // Copies of one place are one barrier in the source.
                    let (action, aligned) = (BarrierAction::Sync, false);
                    program.barriers.push(Barrier { action, aligned, id, count: None, inserted: true });
                    let extra = program.barriers.len() as u32 - 1;
                    self.add(Kind::Barrier, extra, guard, origin);
                }
                Inserted::WarpBarrier => {
                    let mask = Some(program.constants.slot(Width::W32, u64::from(u32::MAX)));
                    let (what, src) = (Together::Sync, [0; 3]);
                    let all = Collective { what, mask, dst: None, dst_pred: None, src, negated: false };
                    program.collectives.push(all);
                    let extra = program.collectives.len() as u32 - 1;
                    self.add(Kind::Collective, extra, guard, origin);
                }
            }
        }
    }

    /// Puts what is passed on the way to an instruction in front of it, for those alone who come that way.
    fn detours(&mut self, old: &Program, target: u32, ways: &[(Spot, &Vec<Inserted>)]) {
        let origin = old.origins[target as usize];
        let everybody = (NO_GUARD, 0);
        let mut kinds: BTreeMap<&Vec<Inserted>, Vec<Spot>> = BTreeMap::new();
        for (spot, what) in ways {
            kinds.entry(what).or_default().push(*spot);
        }
        let before = (target as usize).checked_sub(1);
        let mut passes = before
            .is_some_and(|at| old.origins[at].function == origin.function && falls_through(&old.code[at]));
        for (what, spots) in kinds {
            if passes {
                self.add(Kind::Branch, target, everybody, origin);
            }
            let place = self.program.code.len() as u32;
            for spot in spots {
                match spot {
                    Spot::Jump(from, _) => drop(self.detours.insert((from, target), place)),
                    Spot::Entry(function) => drop(self.entries.insert(function, place)),
                    Spot::Behind(..) | Spot::Front(..) => {}
                }
            }
            self.insert(Some(what), everybody, origin);
            passes = true;
        }
    }

    /// Points branches at where their targets have gone.
    fn finish(mut self, old: &Program) -> Program {
        let place = |from: Option<u32>, target: u32| {
            let detour = from.and_then(|from| self.detours.get(&(from, target)));
            detour.copied().unwrap_or_else(|| self.labels[target as usize])
        };
        for (inst, was) in self.program.code.iter_mut().zip(&self.was) {
            match inst.kind {
                Kind::Branch => inst.extra = place(*was, inst.extra),
                Kind::IndexedBranch => {
                    for target in &mut self.program.tables[inst.extra as usize] {
                        *target = place(*was, *target);
                    }
                }
                _ => {}
            }
        }
        for (index, function) in self.program.functions.iter_mut().enumerate().filter(|(_, f)| f.defined) {
            let entry = old.functions[index].entry;
            let detour = self.entries.get(&(index as u32)).copied();
            function.entry = detour.unwrap_or_else(|| self.labels[entry as usize]);
        }
        count_runs(&mut self.program.code);
        self.program
    }
}
