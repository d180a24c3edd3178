//! What the arms of a branch look like before they are run: whether they come back to it, and whether they hold what is refused there.

use bugaroo_simulator::decoded::Kind;
use rustc_hash::FxHashSet;

use super::doubt::Shape;
use super::flow::successors;
use super::machine::Machine;

impl Machine<'_> {
    /// The shape of the branch at `pc`, up to where its arms meet.
    pub fn shape(&mut self, function: usize, pc: u32) -> Shape {
        if let Some(shape) = self.doubt.shapes.get(&pc) {
            return *shape;
        }
        let meet = self.set.flows[function].meet(pc);
        let mut shape = Shape { cyclic: false, waits: false };
        let mut seen = FxHashSet::default();
        let mut next = Vec::new();
        let mut arms = Vec::new();
        successors(&self.set.image, pc, |to| arms.push(to));
        next.extend(arms);
        while let Some(at) = next.pop() {
            if at == pc {
                shape.cyclic = true;
                continue;
            }
            if Some(at) == meet || !self.set.flows[function].holds(at) || !seen.insert(at) {
                continue;
            }
            shape.waits |= !self.is_harmless(at);
            successors(&self.set.image, at, |to| next.push(to));
        }
        self.doubt.shapes.insert(pc, shape);
        shape
    }

    /// Whether an instruction can be run in an arm whatever it finds.
    pub fn is_harmless(&self, pc: u32) -> bool {
        let inst = &self.set.image.code[pc as usize];
        match inst.kind {
            Kind::Fence => self.is_idle_fence(pc),
            Kind::Alu
            | Kind::Branch
            | Kind::IndexedBranch
            | Kind::Load
            | Kind::Store
            | Kind::Atomic
            | Kind::Nop
            | Kind::ParamLoad
            | Kind::ParamStore
            | Kind::LocalAddress
            | Kind::Special
            | Kind::Pack
            | Kind::Unpack
            | Kind::IsSpace
            | Kind::Ret
            | Kind::Exit
            | Kind::Trap
            | Kind::ActiveMask
            | Kind::Provided
            | Kind::Lanewise
            | Kind::Texture => true,
            _ => false,
        }
    }
}
