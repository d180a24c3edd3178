//! The emulation in progress: warps, frames, memory, and who runs next.
//!
//! Warps run in turn, each until none of its lanes can go on. As threads wait only for what is deterministic in a kernel that
//! is well synchronised, one order of execution stands for all (see the module above).

use bugaroo_ptx::ast::Function;
use bugaroo_ptx::types::Space;
use bugaroo_simulator::decoded::{Address, Base, Kind, SpecialValue};
use bugaroo_simulator::{CodeImage, Place, SHARED_WINDOW};
use rustc_hash::FxHashSet;

use super::constants::ConstantMemory;
use super::flow::Flow;
use super::held::cta::Cta;
use super::held::frame::{Frame, ROOT};
use super::held::parts::{Addressing, Calls, Course, Knowledge, Ways};
use super::held::warp::{Fragment, State, Warp};
use super::params::Params;
use super::refusal::{Cause, Refusal, RefusalKind};
use super::registers::{Registers, Why};
use super::text::Extra;
use crate::program::{Command, CommandAction, WarpPrograms};

/// What is fixed while the kernel runs.
pub(super) struct Setting<'a> {
    pub code: Code<'a>,
    pub memory: Given<'a>,
    pub extent: Extent,
    pub lockstep: bool,
    pub orders: Orders,
    pub max_steps: u64,
}

/// The kernel.
pub(super) struct Code<'a> {
    pub image: CodeImage<'a>,
    pub program: &'a bugaroo_simulator::Program,
    pub extras: &'a [Extra],
    pub function: &'a Function,
    pub flows: &'a [Flow],
    /// Instructions that access shared memory in no order with others, without racing: what they read, or leave there, is open.
    pub open: &'a FxHashSet<u32>,
}

/// Memory that nobody writes.
pub(super) struct Given<'a> {
    pub constants: &'a [u8],
    pub params: &'a Params,
    pub constant_memory: &'a ConstantMemory,
}

/// Which threads there are.
pub(super) struct Extent {
    pub block: [u32; 3],
    pub cluster: [u32; 3],
    /// Somebody says how large a cluster is.
    pub clustered: bool,
    /// In which dimensions the CTA's index is not known; there is one CTA then.
    pub any_cta: [bool; 3],
}

/// What of the kernel orders threads, besides barriers.
pub(super) struct Orders {
    /// That lanes of a warp wait for each other where they exchange values matters: there are waits at mbarriers.
    pub meetings: bool,
    /// Arrivals or waits at mbarriers are relaxed: fences of memory matter.
    pub relaxed: bool,
    /// There are fences, or accesses that acquire or release: flags in memory may order threads.
    pub flags: bool,
}

/// An emulation in progress.
pub(super) struct Machine<'a> {
    pub set: Setting<'a>,
    pub warps: Vec<Warp>,
    pub ctas: Vec<Cta>,
    pub out: WarpPrograms,
    pub calls: Calls<'a>,
    pub course: Course,
    pub known: Knowledge,
    pub ways: Ways<'a>,
    pub addressing: Addressing<'a>,
}

/// Where an address points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Shared memory: the CTA (by rank) and the offset.
    Shared(u32, u64),
    /// Local memory.
    Local(u64),
    /// The kernel's parameters.
    Param(u64),
    /// Global memory, at this address if it is known.
    Global(Option<u64>),
    /// An address that is not known, in shared or local memory or anywhere.
    Unknown(Why),
}

impl<'a> Machine<'a> {
    /// Runs everything to its end, a misuse, or a round that has been seen, the last warp first if `backwards`; answers whether all threads came to theirs.
    pub fn run(&mut self, backwards: bool) -> Result<bool, Refusal> {
        let last = self.warps.len() - 1;
        loop {
            let mut progress = false;
            for w in 0..=last {
                progress |= self.turn(if backwards { last - w } else { w })?;
                if self.course.misuse.is_some() || self.ways.rounds.covered {
                    return Ok(true);
                }
            }
            if self.warps.iter().all(|warp| warp.fragments.is_empty()) {
                return Ok(true);
            }
            if !progress && !self.pause()? {
                return Ok(false);
            }
            if self.ways.rounds.covered {
                return Ok(true);
            }
        }
    }

    /// Puts the kernel's first frame under every warp.
    pub fn start(&mut self, function: u32) {
        let loaded = &self.set.code.image.functions[function as usize];
        let entry = loaded.entry;
        for w in 0..self.warps.len() {
            let mask = self.warps[w].alive;
            let frame = self.enter(function, ROOT, 0, mask, 0, 0);
            self.warps[w].fragments =
                vec![Fragment { mask, pc: entry, frame, depth: 0, state: State::Ready }];
        }
    }

    /// A frame for a call.
    pub fn enter(
        &mut self,
        function: u32,
        parent: u32,
        return_pc: u32,
        live: u32,
        depth: u32,
        local_base: u32,
    ) -> u32 {
        if let Some(frame) = self.calls.free[function as usize].pop() {
            let old = &mut self.calls.frames[frame as usize];
            old.registers.forget();
            (old.parent, old.return_pc, old.live, old.depth) = (parent, return_pc, live, depth);
            (old.local_base, old.grown) = (local_base, 0);
            return frame;
        }
        let bytes = self.set.code.image.functions[function as usize].frame_bytes;
        let registers = Registers::new(bytes, self.set.memory.constants);
        self.calls.frames.push(Frame {
            registers,
            function,
            parent,
            return_pc,
            live,
            depth,
            local_base,
            grown: 0,
        });
        self.calls.frames.len() as u32 - 1
    }

    /// Lanes leave a frame; it is free when nobody is left in it.
    pub fn leave(&mut self, frame: u32, lanes: u32) {
        let head = &mut self.calls.frames[frame as usize];
        head.live &= !lanes;
        if head.live == 0 {
            self.calls.free[head.function as usize].push(frame);
        }
    }

    /// Lanes of a fragment exit.
    pub fn exit_lanes(&mut self, w: usize, fragment: usize, lanes: u32, pc: u32) -> Result<(), Refusal> {
        self.emit(w, lanes, pc, CommandAction::Exit)?;
        let warp = &mut self.warps[w];
        let mut frame = warp.fragments[fragment].frame;
        warp.fragments[fragment].mask &= !lanes;
        if warp.fragments[fragment].mask == 0 {
            warp.fragments.swap_remove(fragment);
        }
        warp.alive &= !lanes;
        let cta = warp.own.cta as usize;
        while frame != ROOT {
            let parent = self.calls.frames[frame as usize].parent;
            self.leave(frame, lanes);
            frame = parent;
        }
        self.ctas[cta].alive -= lanes.count_ones();
        self.barriers_after_exit(w)?;
        self.converge(w);
        self.complete_cluster();
        self.complete_masks(w)
    }

    /// Appends a command.
    pub fn emit(&mut self, w: usize, lanes: u32, pc: u32, action: CommandAction<'_>) -> Result<(), Refusal> {
        if self.ways.doubt.silent {
            return Ok(());
        }
        if lanes & self.warps[w].leavers.lanes != 0 {
            return self.emit_of_leavers(w, lanes, pc, action);
        }
        let condition = self.ways.doubt.condition;
        self.push(w, lanes, pc, action, condition)
    }

    /// Appends a command; an access happens under the condition.
    pub fn push(
        &mut self,
        w: usize,
        lanes: u32,
        pc: u32,
        action: CommandAction<'_>,
        condition: Option<u32>,
    ) -> Result<(), Refusal> {
        if let CommandAction::Access(access) = &action {
            self.beside_mbarriers(w, lanes, pc, access, condition.is_some())?;
        }
        self.ways.rounds.under_way |= action.outlasts_barriers();
        let command = Command { lanes, origin: pc, action };
        let program = self.out.warp_mut(w as u32);
        let pushed = match condition {
            Some(condition) => program.push_possible(&command, condition),
            None => program.push(&command),
        };
        match pushed {
            Ok(()) => Ok(()),
            Err(error) => Err(self.illegal(w, pc, lanes.trailing_zeros() as usize, error.to_string())),
        }
    }

    /// `threadIdx` of a lane.
    pub fn thread(&self, w: usize, lane: usize) -> [u32; 3] {
        let linear = self.warps[w].own.index * 32 + lane as u32;
        let [x, y, _] = self.set.extent.block;
        [linear % x, linear / x % y, linear / x / y]
    }

    /// Where an instruction stands.
    pub fn place(&self, pc: u32) -> Place {
        self.set.code.program.place(pc)
    }

    fn refusal(&self, kind: RefusalKind, w: usize, pc: u32, lane: usize, message: String) -> Refusal {
        let (place, thread) = (Some(Box::new(self.place(pc))), Some(self.thread(w, lane)));
        Refusal { kind, message, place, thread, cause: None }
    }

    /// The kernel does what no kernel may.
    #[cold]
    pub fn illegal(&self, w: usize, pc: u32, lane: usize, message: impl Into<String>) -> Refusal {
        self.refusal(RefusalKind::Illegal, w, pc, lane, message.into())
    }

    /// The verifier does not model this.
    #[cold]
    pub fn unsupported(&self, w: usize, pc: u32, lane: usize, message: impl Into<String>) -> Refusal {
        self.refusal(RefusalKind::Unsupported, w, pc, lane, message.into())
    }

    /// The kernel works with its cluster, of which nobody says how large it is.
    #[cold]
    pub fn no_cluster(&self, w: usize, pc: u32, lane: usize) -> Refusal {
        let message = "the kernel works with other blocks of its cluster, and nothing says how large that is: --cluster X,Y,Z \
                       (or .reqnctapercluster)";
        self.refusal(RefusalKind::NotVerifiable, w, pc, lane, message.to_string())
    }

    /// Something that must be known is not.
    #[cold]
    pub fn unknown(&self, w: usize, pc: u32, lane: usize, what: &str, why: Why) -> Refusal {
        let message = format!("{what} depends on a value that is not known");
        let refusal = self.refusal(RefusalKind::NotVerifiable, w, pc, lane, message);
        Refusal { cause: Some(Box::new(self.cause(why))), ..refusal }
    }

    /// Where an unknown value came from, in words.
    pub fn cause(&self, why: Why) -> Cause {
        let plain = why.plain();
        let Some(pc) = plain.pc() else {
            let text = match plain {
                Why::SHARED => "shared memory that nobody has written",
                Why::LOCAL => "local memory that was never written",
                _ => "a register that was never written",
            };
            return Cause { text: text.to_string(), parameter: None, place: None };
        };
        let inst = &self.set.code.image.code[pc as usize];
        let mut parameter = None;
        let text = match inst.kind {
            Kind::Load => {
                let access = &self.set.code.image.accesses[inst.extra as usize];
                match access.address.space {
                    Space::Param => {
                        let found = match access.address.base {
                            Base::Fixed => {
                                self.set.memory.params.name_at(self.set.code.function, access.address.offset)
                            }
                            _ => None,
                        };
                        let text = match &found {
                            Some((name, given)) => format!(
                                "the kernel's parameter `{name}` (--param {given}=VALUE gives it a value)"
                            ),
                            None => "a parameter of the kernel".to_string(),
                        };
                        parameter = found.map(|(name, _)| name);
                        text
                    }
                    _ if self.set.code.open.contains(&pc) => {
                        "a value in shared memory that threads read and write in no order".to_string()
                    }
                    Space::Shared => "a value read from shared memory".to_string(),
                    Space::Local => "a value read from local memory".to_string(),
                    _ => "a value loaded from global memory".to_string(),
                }
            }
            Kind::Store => "a value in shared memory that threads read and write in no order".to_string(),
            Kind::Atomic => "the result of an atomic operation".to_string(),
            Kind::Texture => "a value read from a texture or a surface".to_string(),
            Kind::Special | Kind::Alu | Kind::Mapa | Kind::Getctarank
                if !self.set.extent.clustered
                    && ["cluster", "mapa", "getctarank"]
                        .iter()
                        .any(|word| self.place(pc).instruction.contains(word)) =>
            {
                "the cluster, of which nothing says how large it is (--cluster X,Y,Z)".to_string()
            }
            Kind::Special | Kind::Alu => "a special register whose value is not known".to_string(),
            Kind::Barrier | Kind::Collective => {
                "what threads decide together by an unknown value".to_string()
            }
            Kind::Asynchronous => {
                "data that is copied from global memory, or the state of an mbarrier".to_string()
            }
            Kind::Provided | Kind::Call => "the result of a function of the device's own".to_string(),
            _ => "an instruction whose result is not modelled".to_string(),
        };
        Cause { text, parameter, place: Some(self.place(pc)) }
    }

    /// The address of a lane, as the instruction computes it; `Err` when it is not known.
    #[inline(always)]
    pub fn address(&self, frame: u32, address: &Address, lane: usize) -> Result<u64, Why> {
        use bugaroo_simulator::alu::Width;
        let head = &self.calls.frames[frame as usize];
        let registers = &head.registers;
        match address.base {
            Base::Row64(slot) if registers.known(slot) >> lane & 1 != 0 => {
                Ok(registers.read(slot, Width::W64, lane).wrapping_add(address.offset))
            }
            // 32-bit addresses come round.
            Base::Row32(slot) if registers.known(slot) >> lane & 1 != 0 => {
                let sum = (registers.read(slot, Width::W32, lane) as u32).wrapping_add(address.offset as u32);
                Ok(u64::from(sum))
            }
            Base::Row64(slot) | Base::Row32(slot) => Err(registers.why(slot)),
            Base::Fixed => Ok(address.offset),
            Base::FrameLocal => Ok(u64::from(head.local_base).wrapping_add(address.offset)),
        }
    }

    /// Where a lane's address points.
    #[inline(always)]
    pub fn target(&self, w: usize, frame: u32, address: &Address, lane: usize) -> Target {
        let found = self.address(frame, address, lane);
        match (address.space, found) {
            (Space::Shared | Space::SharedCluster, Ok(at)) => self.shared_target(w, at),
            (Space::Local, Ok(at)) => Target::Local(at),
            (Space::Param, Ok(at)) => Target::Param(at),
            (Space::Global | Space::Const, found) => Target::Global(found.ok()),
            (Space::Generic, Ok(at)) => match at >> 32 {
                1 => self.shared_target(w, at - SHARED_WINDOW),
                2 => Target::Local(at & 0xffff_ffff),
                3 => Target::Param(at & 0xffff_ffff),
                _ => Target::Global(Some(at)),
            },
            // Nothing that comes from outside the kernel points into this CTA's shared memory.
            (Space::Generic, Err(why))
                if !why.is_tainted() && why.pc().is_some() && !self.addressing.escaped =>
            {
                Target::Global(None)
            }
            (_, Err(why)) => Target::Unknown(why),
        }
    }

    /// Where an address of shared memory points.
    pub fn shared_target(&self, w: usize, at: u64) -> Target {
        match at >> 24 {
            0 => Target::Shared(self.warps[w].own.cta, at),
            rank if rank <= self.ctas.len() as u64 => Target::Shared(rank as u32 - 1, at & 0xff_ffff),
            _ => Target::Shared(self.warps[w].own.cta, at),
        }
    }

    /// A special register; None when no launch fixes it.
    pub fn special(&self, w: usize, value: SpecialValue, lane: usize) -> Option<u64> {
        let warp = &self.warps[w];
        let cta = &self.ctas[warp.own.cta as usize];
        let bit = |d: u8| usize::from(d);
        let extent = self.set.extent.cluster;
        if !self.set.extent.clustered
            && matches!(
                value,
                SpecialValue::Clusterid(_) | SpecialValue::ClusterCtaid(_) | SpecialValue::ClusterCtarank
            )
        {
            return None;
        }
        if let SpecialValue::Ctaid(d) | SpecialValue::Clusterid(d) = value
            && self.set.extent.any_cta[bit(d)]
        {
            return None;
        }
        Some(match value {
            SpecialValue::Tid(d) => u64::from(self.thread(w, lane)[bit(d)]),
            SpecialValue::Ctaid(d) => u64::from(cta.index[bit(d)]),
            SpecialValue::Laneid => lane as u64,
            SpecialValue::Warpid => u64::from(warp.own.index),
            SpecialValue::LanemaskEq => 1 << lane,
            SpecialValue::LanemaskLt => (1 << lane) - 1,
            SpecialValue::LanemaskLe => (2 << lane) - 1,
            SpecialValue::LanemaskGt => !((2 << lane) - 1) & 0xffff_ffff,
            SpecialValue::LanemaskGe => !((1 << lane) - 1) & 0xffff_ffff,
            SpecialValue::Clusterid(d) => u64::from(cta.index[bit(d)] / extent[bit(d)]),
            SpecialValue::ClusterCtaid(d) => u64::from(cta.index[bit(d)] % extent[bit(d)]),
            SpecialValue::ClusterCtarank => u64::from(warp.own.cta),
            SpecialValue::Smid
            | SpecialValue::Clock
            | SpecialValue::ClockHi
            | SpecialValue::Clock64
            | SpecialValue::GlobalTimer
            | SpecialValue::GlobalTimerLow
            | SpecialValue::GlobalTimerHigh => return None,
        })
    }
}
