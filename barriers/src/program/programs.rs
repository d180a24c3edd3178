//! The programs of all warps: commands, and beside them signals and conditions.

use super::condition::AccessCondition;
use super::error::ProgramError;
use super::packed::Packed;
use super::shape::{MAX_THREADS, ProgramShape};
use super::signal::{Signal, Signalled};

/// The commands of one warp. 24 bytes a command; addresses and values that follow no pattern stand in a list beside.
#[derive(Debug, Clone)]
pub struct WarpProgram {
    pub(super) warp: u32,
    pub(super) lanes: u32,
    pub(super) ptx_counts: bool,
    pub(super) commands: Vec<Packed>,
    pub(super) addresses: Vec<[u32; 32]>,
    pub(super) values: Vec<u64>,
    pub(super) signals: Vec<Signalled>,
}

/// All warps' programs.
#[derive(Debug, Clone)]
pub struct WarpPrograms {
    pub(super) shape: ProgramShape,
    pub(super) warp_synchronous: bool,
    pub(super) ptx_counts: bool,
    pub(super) open_end: bool,
    pub(super) warps: Vec<WarpProgram>,
    pub(super) conditions: Vec<AccessCondition>,
}

impl WarpPrograms {
    /// Programs without commands for every thread of `shape`.
    pub fn new(shape: ProgramShape) -> Result<WarpPrograms, ProgramError> {
        if shape.threads == 0 || shape.ctas == 0 {
            return Err(ProgramError::NoThreads);
        }
        if shape.threads > MAX_THREADS {
            return Err(ProgramError::TooManyThreads(shape.threads));
        }
        if shape.ctas > 16 {
            return Err(ProgramError::TooManyCtas(shape.ctas));
        }
        let warps = (0..shape.warps())
            .map(|warp| WarpProgram {
                warp,
                lanes: shape.lanes(warp),
                ptx_counts: true,
                commands: Vec::new(),
                addresses: Vec::new(),
                values: Vec::new(),
                signals: Vec::new(),
            })
            .collect();
        Ok(WarpPrograms {
            shape,
            warp_synchronous: false,
            ptx_counts: true,
            open_end: false,
            warps,
            conditions: Vec::new(),
        })
    }

    /// The paper's counts instead of PTX's: any number of threads, each counted as one, also a warp's.
    pub fn with_paper_counts(shape: ProgramShape) -> Result<WarpPrograms, ProgramError> {
        let mut program = WarpPrograms::new(shape)?;
        program.ptx_counts = false;
        for warp in &mut program.warps {
            warp.ptx_counts = false;
        }
        Ok(program)
    }

    /// The threads of a warp run in lockstep: its commands happen one after the other, as if a barrier of the whole warp stood
    /// behind each of them.
    pub fn set_warp_synchronous(&mut self, yes: bool) {
        self.warp_synchronous = yes;
    }

    /// Whether warps run in lockstep.
    pub fn warp_synchronous(&self) -> bool {
        self.warp_synchronous
    }

    /// Whether counts are PTX's (multiples of 32; a whole warp counts 32).
    pub fn ptx_counts(&self) -> bool {
        self.ptx_counts
    }

    /// The CTAs and their threads.
    pub fn shape(&self) -> ProgramShape {
        self.shape
    }

    /// A warp's program, to write to.
    ///
    /// # Panics
    /// When there is no such warp: a mistake of the caller, who made the shape.
    pub fn warp_mut(&mut self, warp: u32) -> &mut WarpProgram {
        &mut self.warps[warp as usize]
    }

    /// All warps' programs.
    pub fn warps(&self) -> &[WarpProgram] {
        &self.warps
    }

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
    /// Commands.
    pub fn len(&self) -> usize {
        self.commands.len()
    }

    /// Whether the warp does nothing.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// The lanes that are threads.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

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
