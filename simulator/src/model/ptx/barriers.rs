//! Who has arrived at a CTA's barriers, and what those who are let go know.

use std::rc::Rc;

use super::view::View;

/// Lanes of a warp that arrived together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub warp: u32,
    pub lanes: u32,
    /// These are all lanes of the warp that have not ended.
    pub whole: bool,
}

/// One barrier: a phase ends when its first warp is let go, and the next begins with the next arrival.
#[derive(Debug, Default)]
struct Phase {
    arrivals: Vec<Arrival>,
    known: Option<Rc<View>>,
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

    pub fn arrive(&mut self, barrier: u32, warp: u32, lanes: u32, whole: bool) {
        let phase = self.phase(barrier);
        if phase.known.take().is_some() {
            phase.arrivals.clear();
        }
        phase.arrivals.push(Arrival { warp, lanes, whole });
    }

    /// What all who arrived in this phase have brought, as `gather` makes it of their arrivals.
    pub fn known(&mut self, barrier: u32, gather: impl FnOnce(&[Arrival]) -> Rc<View>) -> Rc<View> {
        let phase = self.phase(barrier);
        Rc::clone(phase.known.get_or_insert_with(|| gather(&phase.arrivals)))
    }
}
