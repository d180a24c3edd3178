//! What the arms of a branch look like before they are run: whether they come back to it, and whether they hold what is refused there, or
//! come to it for certain.

use bugaroo_simulator::decoded::{Kind, NO_GUARD};
use rustc_hash::FxHashSet;

use super::doubt::Shape;
use super::flow::successors;
use super::machine::Machine;

impl Machine<'_> {
    /// The shape of the branch at `pc`, up to where its arms meet or one of `stops`.
    pub fn shape(&mut self, function: usize, pc: u32, stops: &[u32]) -> Shape {
        let known = self.ways.doubt.shapes.get(&pc).into_iter().flatten();
        if let Some((_, shape)) = known.into_iter().find(|(stopped, _)| stopped == stops) {
            return *shape;
        }
        let meet = self.set.code.flows[function].meet(pc);
        let mut shape = Shape { cyclic: false, waits: false, refused: None };
        let mut seen = FxHashSet::default();
        let mut next = Vec::new();
        let mut arms = Vec::new();
        successors(&self.set.code.image, pc, |to| arms.push(to));
        shape.refused = arms.iter().find_map(|arm| self.refused_on(function, *arm, meet));
        next.extend(arms);
        while let Some(at) = next.pop() {
            if at == pc {
                shape.cyclic = true;
                continue;
            }
            if Some(at) == meet
                || stops.contains(&at)
                || !self.set.code.flows[function].holds(at)
                || !seen.insert(at)
            {
                continue;
            }
            shape.waits |= !self.is_harmless(at);
            successors(&self.set.code.image, at, |to| next.push(to));
        }
        self.ways.doubt.shapes.entry(pc).or_default().push((stops.to_vec(), shape));
        shape
    }

    /// A wait for other threads that all ways from `start` come to before `meet`.
    fn refused_on(&self, function: usize, start: u32, meet: Option<u32>) -> Option<u32> {
        let flow = &self.set.code.flows[function];
        let waits = |at: &u32| {
            let inst = &self.set.code.image.code[*at as usize];
            inst.guard == NO_GUARD
                && match inst.kind {
                    Kind::Barrier | Kind::ClusterBarrier => true,
                    Kind::Collective => !(self.ways.doubt.joins && self.is_exchange(inst.extra)),
                    _ => false,
                }
        };
        let mut blocks = std::iter::successors(Some(start), |at| flow.meet(*at));
        let mut before = blocks.by_ref().take_while(|at| Some(*at) != meet && flow.holds(*at));
        before.find_map(|first| flow.rest_of_block(first).find(waits))
    }

    /// Whether an instruction can be run in an arm whatever it finds.
    pub fn is_harmless(&self, pc: u32) -> bool {
        let inst = &self.set.code.image.code[pc as usize];
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
