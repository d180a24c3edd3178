//! Signals: what flags, counters and locks in memory are made of. They are no commands, as nobody waits at them and nothing is known to be
//! ordered by them; they say where threads could be ordered beside barriers.

use super::{Program, WarpProgram};

/// What a thread does that can be a part of a release or an acquire pattern (PTX ISA, "Release and Acquire Patterns").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// A strong read whose value is used: of the access with this number among the warp's commands, or not of shared memory.
    Read(Option<u32>),
    /// A strong write, likewise.
    Write(Option<u32>),
    /// What the strong reads before it have seen happens before what comes behind it.
    Acquire,
    /// What comes before it happens before what the strong writes behind it are seen by.
    Release,
}

/// A signal of some lanes of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signalled {
    /// It comes before the command with this number, and behind those before it.
    pub before: u32,
    /// The lanes.
    pub lanes: u32,
    /// The emulator's number of the PTX instruction.
    pub origin: u32,
    /// What they do.
    pub what: Signal,
}

impl Program {
    /// Whether a thread could learn of what another one did by flags in memory.
    pub fn has_signals(&self) -> bool {
        let any = |test: &dyn Fn(Signal) -> bool| {
            self.warps.iter().any(|warp| warp.signals.iter().any(|signalled| test(signalled.what)))
        };
        any(&|what| matches!(what, Signal::Read(_)))
            && any(&|what| matches!(what, Signal::Write(_)))
            && any(&|what| what == Signal::Acquire)
            && any(&|what| what == Signal::Release)
    }
}

impl WarpProgram {
    /// Appends a signal: behind the commands so far.
    pub fn signal(&mut self, lanes: u32, origin: u32, what: Signal) {
        let before = self.commands.len() as u32;
        let same = Signalled { before, lanes, origin, what };
        if lanes != 0 && self.signals.last() != Some(&same) {
            self.signals.push(same);
        }
    }

    /// The signals, in order.
    pub fn signals(&self) -> &[Signalled] {
        &self.signals
    }
}
