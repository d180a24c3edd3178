//! What a program's instructions are to race detectors, besides what they say themselves ([`bugaroo_semantics::inferred`]).

use bugaroo_ptx::op::FenceKind;
use bugaroo_ptx::types::{Scope, Semantics};
use bugaroo_semantics::Spares;
use bugaroo_semantics::event::AccessKind;
use bugaroo_semantics::inferred::{AccessedOperand, Order, Reach, Role, Step, What, Writes, roles};
use bugaroo_semantics::scope::Strength;

use super::Program;
use crate::decoded::{Base, DecodedAccess, Inst, Kind, NO_GUARD};

/// Accesses that tell a detector nothing that others do not tell it.
#[derive(Clone, Debug)]
pub(crate) struct Spared {
    /// Weak ones that an earlier one has covered ([`Role::covered`]).
    covered: Box<[bool]>,
    /// These, those that a later one makes up for ([`Role::overwritten`]), and those that go by an earlier one ([`Role::led_by`]).
    and_led: Box<[bool]>,
}

impl Program {
    /// What an instruction does to memory, if it is a load, a store or an atomic: how, how strongly, and the bytes of an element.
    pub fn stated(&self, pc: u32) -> Option<(AccessKind, Strength, u32)> {
        let inst = self.code.get(pc as usize)?;
        let at = inst.extra as usize;
        match inst.kind {
            Kind::Load | Kind::Store => {
                let access = &self.accesses[at];
                let kind = if inst.kind == Kind::Load { AccessKind::Load } else { AccessKind::Store };
                Some((kind, Strength::of(access.semantics), access.size.into()))
            }
            Kind::Atomic => {
                let atomic = &self.atomics[at];
                Some((AccessKind::Atomic(atomic.op), Strength::of(atomic.semantics), atomic.ty.bytes()))
            }
            _ => None,
        }
    }

    /// Each instruction's role, by its number.
    pub fn roles(&self) -> Vec<Role> {
        let begins = self.blocks_begin();
        let mut written: Vec<[u32; 8]> = vec![[0; 8]; self.code.len()];
        let counts: Vec<Option<usize>> =
            self.code.iter().zip(&mut written).map(|(inst, rows)| self.rows_written(inst, rows)).collect();
        let steps: Vec<Step<'_>> = (0..self.code.len())
            .map(|at| {
                let writes = counts[at].map_or(Writes::Any, |count| Writes::These(&written[at][..count]));
                Step { writes, begins_block: begins[at], ..self.role_step(&self.code[at]) }
            })
            .collect();
        roles(&steps)
    }

    /// By instruction: who spares so much is not told of it, wherever it goes. Empty where that is so of none.
    pub(crate) fn spared(&self, spares: Spares) -> &[bool] {
        let spared = self.spared.get_or_init(|| {
            let weak = |inst: &Inst| {
                matches!(inst.kind, Kind::Load | Kind::Store)
                    && self.accesses[inst.extra as usize].semantics == Semantics::Weak
            };
            let covered = |(inst, role): (&Inst, &Role)| role.covered && weak(inst);
            let roles = self.roles();
            let all = || self.code.iter().zip(&roles);
            Spared {
                covered: all().map(covered).collect(),
                and_led: all()
                    .map(|one| covered(one) || one.1.overwritten || one.1.led_by.is_some())
                    .collect(),
            }
        });
        match spares {
            Spares { covered: false, .. } => &[],
            Spares { led: false, .. } => &spared.covered,
            Spares { led: true, .. } => &spared.and_led,
        }
    }

    /// Where basic blocks begin: what is jumped to, what is called, and what is behind a branch.
    fn blocks_begin(&self) -> Vec<bool> {
        let mut begins = vec![false; self.code.len() + 1];
        let mut mark = |at: usize| begins.get_mut(at).map(|begins| *begins = true);
        for (at, inst) in self.code.iter().enumerate() {
            match inst.kind {
                Kind::Branch => {
                    mark(inst.extra as usize);
                    mark(at + 1);
                }
                Kind::IndexedBranch => {
                    self.tables[inst.extra as usize].iter().for_each(|target| {
                        mark(*target as usize);
                    });
                    mark(at + 1);
                }
                _ => {}
            }
        }
        self.functions.iter().for_each(|function| {
            mark(function.entry as usize);
        });
        begins
    }

    /// The rows that an instruction writes, and how many they are; None where that is not known. Rows that overlap are the same.
    fn rows_written(&self, inst: &Inst, rows: &mut [u32; 8]) -> Option<usize> {
        match inst.kind {
            Kind::Alu => {
                // Where there is no second destination, it is the first, or names a row too many.
                (rows[0], rows[1]) = (inst.ops.dst, inst.ops.dst2);
                Some(2)
            }
            Kind::Load => {
                let access = &self.accesses[inst.extra as usize];
                let count = usize::from(access.vec);
                for (to, from) in rows.iter_mut().zip(&access.rows[..count]) {
                    // Destinations are rows of the frame.
                    *to = u32::try_from(*from).ok()?;
                }
                Some(count)
            }
            Kind::Special => {
                rows[0] = self.specials[inst.extra as usize].dst;
                Some(1)
            }
            Kind::Store | Kind::Fence | Kind::Branch | Kind::Nop => Some(0),
            _ => None,
        }
    }

    /// An instruction, without what it writes and where blocks begin.
    fn role_step(&self, inst: &Inst) -> Step<'static> {
        let at = inst.extra as usize;
        let order = |semantics| match semantics {
            Semantics::Weak => Order::Weak,
            Semantics::Volatile => Order::Volatile,
            _ => Order::Strong,
        };
        let mut operand = None;
        let (what, order) = match inst.kind {
            Kind::Load | Kind::Store if self.accesses[at].visible => {
                let access = &self.accesses[at];
                operand = Some(place(access));
                let what = if inst.kind == Kind::Load { What::Load } else { What::Store };
                (what, order(access.semantics))
            }
            Kind::Atomic => (What::Atomic(self.atomics[at].op), Order::Strong),
            Kind::Fence => (self.role_fence(at), Order::Weak),
            Kind::Call
            | Kind::Ret
            | Kind::Exit
            | Kind::Trap
            | Kind::Barrier
            | Kind::Collective
            | Kind::Provided
            | Kind::Asynchronous
            | Kind::Texture
            | Kind::ClusterBarrier => (What::Stop, Order::Weak),
            _ => (What::Other, Order::Weak),
        };
        let guard = (inst.guard != NO_GUARD).then_some((inst.guard, inst.guard_flip != 0));
        Step { what, order, guard, operand, writes: Writes::Any, begins_block: false }
    }

    /// A fence, by its number as instructions have it.
    fn role_fence(&self, extra: usize) -> What {
        // `nanosleep` is told as a fence behind the table's end.
        match self.fences.get(extra >> 1) {
            Some(fence) if fence.kind != FenceKind::Proxy => {
                let reach = if fence.scope == Scope::Cta { Reach::Block } else { Reach::Grid };
                What::Fence { reach, acquire: fence.kind.acquires(), release: fence.kind.releases() }
            }
            _ => What::Other,
        }
    }
}

/// Where an access goes, as its instruction says it.
fn place(access: &DecodedAccess) -> AccessedOperand {
    let register = match access.address.base {
        // Constants have numbers of their own, as they have slots of their own.
        Base::Row64(slot) | Base::Row32(slot) => Some(slot as u32),
        Base::Fixed | Base::FrameLocal => None,
    };
    AccessedOperand {
        register,
        offset: access.address.offset,
        space: access.address.space as u8,
        size: u32::from(access.size),
        elements: u32::from(access.vec),
    }
}
