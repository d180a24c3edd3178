//! What threads that wait for ever would have done next: only to explain a deadlock (who waits for whom is a matter of who would have
//! come later). They are let go, with nothing known of shared memory or of what they waited for, until they end or something unknown stops
//! the emulation. Nothing of this goes into a verdict.

use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::{BarrierAction, Kind};

use super::held::warp::State;
use super::machine::Machine;
use super::registers::{Why, lanes};
use super::rounds::seen::Rounds;
use crate::program::WarpPrograms;

/// Times that everybody is let go.
const ROUNDS: u32 = 4096;

impl Machine<'_> {
    /// The thread programs as they might go on.
    pub fn beyond(mut self, backwards: bool) -> WarpPrograms {
        // A bound of its own: an endless loop explains nothing.
        self.set.max_steps =
            self.set.max_steps.min(self.course.steps.saturating_mul(2).saturating_add(100_000));
        self.ways.rounds = Rounds::default();
        for _ in 0..ROUNDS {
            self.let_go();
            if self.run(backwards) != Ok(false) {
                break;
            }
        }
        self.out
    }

    fn let_go(&mut self) {
        let image = self.set.code.image;
        for cta in &mut self.ctas {
            let bytes = cta.shared.len() as usize;
            cta.shared.forget(0, bytes, Why::SHARED);
            cta.barriers = Default::default();
        }
        self.course.cluster_arrived.fill(0);
        for warp in &mut self.warps {
            for fragment in &mut warp.fragments {
                let registers = &mut self.calls.frames[fragment.frame as usize].registers;
                let inst = image.code[fragment.pc as usize];
                let mut behind = fragment.pc + 1;
                let mut forget = |row: u32| registers.mark(row, fragment.mask, 0, Why::at(fragment.pc));
                match fragment.state {
                    State::Ready => continue,
                    State::Barrier(_) | State::Gathering(_) => {
                        if let BarrierAction::Reduce(_, dst, ..) = image.barriers[inst.extra as usize].action
                        {
                            forget(dst);
                        }
                    }
                    State::Mask(_) => {
                        let collective = image.collectives[inst.extra as usize];
                        collective.dst.into_iter().chain(collective.dst_pred).for_each(&mut forget);
                        debug_assert!(inst.kind == Kind::Collective, "only these wait for a mask");
                    }
                    State::Phase { answer: Some(row), behind: then, .. } => {
                        behind = then;
                        lanes(fragment.mask).for_each(|lane| registers.write(row, Width::Pred, lane, 1));
                        registers.mark(row, fragment.mask, !0, Why::NEVER);
                    }
                    State::Phase { answer: None, behind: then, .. } => behind = then,
                    State::Cluster | State::Converging => {}
                    State::Pausing => behind = fragment.pc,
                }
                fragment.state = State::Ready;
                fragment.pc = behind;
            }
        }
    }
}
