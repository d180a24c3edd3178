//! Who has arrived at a CTA's barriers, and what those who are let go know.

use std::rc::Rc;

use bugaroo_semantics::clocks::View;

/// Lanes of a warp that arrived together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub warp: u32,
    pub lanes: u32,
}

/// One barrier: a phase ends when its first warp is let go, and the next begins with the next arrival.
#[derive(Debug, Default)]
struct Phase {
    arrivals: Vec<Arrival>,
    known: Option<Rc<View>>,
    /// Threads that have been let go.
    let_go: u32,
}

/// The barriers of a CTA, by number.
#[derive(Debug, Default)]
pub(super) struct Barriers {
    phases: Vec<Phase>,
}

impl Barriers {
    fn phase(&mut self, barrier: u32) -> &mut Phase {
        let index = barrier as usize;
        if self.phases.len() <= index {
            self.phases.resize_with(index + 1, Phase::default);
        }
        &mut self.phases[index]
    }

    pub fn arrive(&mut self, barrier: u32, warp: u32, lanes: u32) {
        let phase = self.phase(barrier);
        if phase.known.take().is_some() {
            phase.arrivals.clear();
            phase.let_go = 0;
        }
        phase.arrivals.push(Arrival { warp, lanes });
    }

    /// What all who arrived in this phase have brought, as `gather` makes it of their arrivals.
    pub fn known(&mut self, barrier: u32, gather: impl FnOnce(&[Arrival]) -> Rc<View>) -> Rc<View> {
        let phase = self.phase(barrier);
        Rc::clone(phase.known.get_or_insert_with(|| gather(&phase.arrivals)))
    }

    /// More threads are let go; answers how many have been in this phase.
    pub fn let_go(&mut self, barrier: u32, lanes: u32) -> u32 {
        let phase = self.phase(barrier);
        phase.let_go += lanes.count_ones();
        phase.let_go
    }
}
