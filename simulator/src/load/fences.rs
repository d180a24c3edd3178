//! The program with the fences that a trial's orders ask for.
//!
//! A fence that is inserted behind an access or a barrier, left out, or narrowed to the block shows the same outcomes as
//! one that was compiled in, deleted from the source, or written `__threadfence_block()`: the program that runs is the
//! decoded form of that text. An inserted fence is a `fence.sc.gpu` of its own, with the guard of the access, so other
//! threads run between the two, and late loads come no later than they may before a fence. Nothing of it is
//! decided while the program runs, so where the orders ask for no fences there is nothing to pay.
//!
//! Instructions are moved, and what names them by number (branches, tables of branches, the entries of functions) is
//! moved with them. A label behind an access stands behind the fence that is inserted there. Origins stay: an inserted
//! fence has that of its access.
//!
//! Rows need no second look. An access's guard is read once more by the fence, and no access writes a row that it reads
//! ([`super::liveness`]). A reduction of a barrier that writes its own guard is the one exception, which no compiler
//! makes; the fence goes by what it wrote then, as the text would.

use bugaroo_device_handlers::flags;
use bugaroo_injector::collect_sites::{PointKind, SiteTable};
use bugaroo_ptx::op::FenceKind;
use bugaroo_ptx::types::Scope;
use rustc_hash::FxHashMap;

use super::Program;
use super::function::{count_runs, no_operands, nothing};
use crate::decoded::{Inst, Kind};
use crate::model::Fence;

/// Words of [`flags`] by span of the text.
type Asked = FxHashMap<(usize, usize), u32>;

/// What is asked of the places of the table; `words` are by number of the site, none where there are fewer.
fn asked(table: &SiteTable, words: &[u32]) -> Asked {
    let word = |point: &bugaroo_injector::collect_sites::Point| {
        let word = words.get(point.site? as usize)?;
        let may = match point.kind {
            PointKind::Fence(_) => flags::OMIT | flags::NARROW,
            _ if point.takes_fence && word & flags::INSERT != 0 => flags::INSERT | flags::NARROW,
            _ => 0,
        };
        (word & may != 0).then_some(((point.span.start, point.span.end), word & may))
    };
    table.points.iter().filter_map(word).collect()
}

impl Program {
    /// This program with fences inserted, left out and narrowed: `words` are those of
    /// [`bugaroo_device_handlers::flags`] by number of the site, the table is that of the text that the program was
    /// loaded from. None where they ask for nothing.
    ///
    /// The module's variables are this program's, which is the one to unload.
    pub fn with_fences(&self, table: &SiteTable, words: &[u32]) -> Option<Program> {
        let asked = asked(table, words);
        (!asked.is_empty()).then(|| self.rewritten(&asked))
    }

    fn rewritten(&self, asked: &Asked) -> Program {
        let mut program = self.clone();
        program.allocations.clear();
        program.code.clear();
        program.origins.clear();
        // Where each instruction has gone; one that was left out: where the next has.
        let mut moved = Vec::with_capacity(self.code.len());
        for (pc, inst) in self.code.iter().enumerate() {
            moved.push(program.code.len() as u32);
            let origin = self.origins[pc];
            let word = asked.get(&origin.text).copied().unwrap_or(0);
            let fence = inst.kind == Kind::Fence;
            if fence && word & flags::OMIT != 0 {
                continue;
            }
            let mut inst = *inst;
            if fence && word & flags::NARROW != 0 {
                let own = self.fences[(inst.extra >> 1) as usize];
                inst.extra = program.add_fence(Fence { scope: Scope::Cta, ..own }) | inst.extra & 1;
            }
            program.code.push(inst);
            program.origins.push(origin);
            if word & flags::INSERT != 0 && self.is_last_of_its_text(pc) {
                let scope = if word & flags::NARROW != 0 { Scope::Cta } else { Scope::Gpu };
                let extra = program.add_fence(Fence { kind: FenceKind::Sc, scope }) | 1;
                let (guard, guard_flip) = self.guard_of_text(pc);
                let (run, ops) = (nothing as _, no_operands());
                program.code.push(Inst { run, ops, guard, guard_flip, extra, kind: Kind::Fence });
                program.origins.push(origin);
            }
        }
        for inst in program.code.iter_mut().filter(|inst| inst.kind == Kind::Branch) {
            inst.extra = moved[inst.extra as usize];
        }
        for target in program.tables.iter_mut().flatten() {
            *target = moved[*target as usize];
        }
        for function in program.functions.iter_mut().filter(|function| function.defined) {
            function.entry = moved[function.entry as usize];
        }
        count_runs(&mut program.code);
        program
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
    fn guard_of_text(&self, pc: usize) -> (u32, u32) {
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
}
