//! Asynchronous copies. In this one order of execution they are done where they are issued; when they are over for other threads, the
//! checker knows from the command.

use bugaroo_ptx::types::Semantics;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::{Address, Asynchronous};

use super::held::warp::Flow;
use super::machine::{Machine, Target};
use super::memory::Touched;
use super::refusal::Refusal;
use super::registers::{Why, lanes};
use crate::program::{
    CommandAction, Completion, GroupKind, RANK_SHIFT, SharedAccess, SharedAccessKind, SharedAddresses,
    SharedStrength, WrittenValues,
};

/// A bulk copy.
struct Bulk<'a> {
    dst: &'a Address,
    src: &'a Address,
    mbarrier: Option<&'a Address>,
    /// It is a reduction.
    reduces: bool,
    /// It goes to these blocks of the cluster, as bits.
    several: Option<u32>,
}

impl Machine<'_> {
    /// One such instruction of a fragment's active lanes.
    pub fn asynchronous(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        index: u32,
        active: u32,
    ) -> Result<Flow, Refusal> {
        let frame = self.warps[w].fragments[fragment].frame;
        let asyncs = self.set.code.image.asyncs;
        match &asyncs[index as usize] {
            Asynchronous::Mbarrier { op, address, value, dst, order } => {
                let relaxed = matches!(order, Semantics::Relaxed(_));
                return self.mbarrier(w, fragment, pc, active, (*op, relaxed), address, *value, *dst);
            }
            // How many arrivals are missing depends on the order of threads.
            Asynchronous::PendingCount { dst, .. } => {
                self.calls.frames[frame as usize].registers.mark(*dst, active, 0, Why::at(pc));
            }
            Asynchronous::Copy { .. } => self.group_copy(w, frame, pc, index, active)?,
            Asynchronous::Commit { bulk } => {
                self.emit(w, active, pc, CommandAction::CommitGroup(group(*bulk)))?
            }
            Asynchronous::Wait { bulk, keep: Some(keep), .. } => {
                self.emit(w, active, pc, CommandAction::WaitGroup(group(*bulk), *keep))?;
            }
            // `wait_all` waits for what is in no group yet, too.
            Asynchronous::Wait { bulk, keep: None, .. } => {
                self.emit(w, active, pc, CommandAction::CommitGroup(group(*bulk)))?;
                self.emit(w, active, pc, CommandAction::WaitGroup(group(*bulk), 0))?;
            }
            Asynchronous::Arrive { address, noinc } => {
                let mut rest = active;
                while rest != 0 {
                    let first = rest.trailing_zeros() as usize;
                    let (rank, offset, at) = self.mbarrier_at(w, frame, pc, address, first)?;
                    let mut group = 0;
                    for lane in lanes(rest) {
                        if self.mbarrier_at(w, frame, pc, address, lane)?.2 == at {
                            group |= 1 << lane;
                        }
                    }
                    rest &= !group;
                    self.used(w, (rank, offset));
                    self.emit(w, group, pc, CommandAction::CpAsyncArrive { address: at, noinc: *noinc })?;
                    for _ in lanes(group) {
                        let Some(state) = self.ctas[rank as usize].mbarriers.get_mut(&offset) else {
                            let message = format!("no mbarrier was initialised at {offset:#x}");
                            return Err(self.illegal(w, pc, first, message));
                        };
                        if *noinc {
                            state.pending = state.pending.saturating_sub(1);
                        }
                        self.complete_phase(rank, offset);
                    }
                }
            }
            Asynchronous::Bulk { dst, src, bytes, mbarrier, reduce, multicast } => {
                for lane in lanes(active) {
                    let size = (*bytes, Width::W32);
                    let bytes = self.needed(w, frame, pc, lane, size, "the size of a copy")? as u32;
                    let several = match multicast {
                        Some(mask) => Some(self.destinations(w, frame, pc, lane, *mask)?),
                        None => None,
                    };
                    let bulk =
                        Bulk { dst, src, mbarrier: mbarrier.as_ref(), reduces: reduce.is_some(), several };
                    self.bulk(w, frame, pc, lane, bytes, &bulk)?;
                }
            }
            Asynchronous::Warpgroup(warpgroup) => {
                return self.warpgroup(w, fragment, pc, active, warpgroup);
            }
            // Those that are modelled became bulk copies ([`super::tensor`]).
            Asynchronous::Tensor { .. } => {
                let lane = active.trailing_zeros() as usize;
                return Err(self.illegal(w, pc, lane, "a tensor copy of this form"));
            }
            Asynchronous::Store { dst, ty, sources, mbarrier, reduce } => {
                let bytes = ty.bytes() * sources.len() as u32;
                let kind = if reduce.is_some() { SharedAccessKind::Atomic } else { SharedAccessKind::Write };
                for lane in lanes(active) {
                    let (rank, at) =
                        self.destination(w, frame, pc, dst, lane, u64::from(bytes), u64::from(bytes))?;
                    self.ctas[rank as usize].shared.forget(at as usize, bytes as usize, Why::at(pc));
                    let mut touched = Touched::none();
                    touched.add(lane, rank, at);
                    let (counter, offset, _) = self.mbarrier_at(w, frame, pc, mbarrier, lane)?;
                    let completion = |address| Completion::Store { address };
                    self.counted(w, pc, lane, kind, bytes, &touched, (counter, offset), completion)?;
                }
            }
        }
        Ok(Flow::Next)
    }

    /// `cp.async` by lanes of a frame.
    pub fn group_copy(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        index: u32,
        active: u32,
    ) -> Result<(), Refusal> {
        let Asynchronous::Copy { dst, bytes, .. } = &self.set.code.image.asyncs[index as usize] else {
            return Ok(());
        };
        let mut touched = Touched::none();
        for lane in lanes(active) {
            let size = u64::from(*bytes);
            let (rank, at) = self.destination(w, frame, pc, dst, lane, size, size)?;
            self.forget_shared(rank, at as usize, *bytes as usize, Why::at(pc));
            touched.add(lane, rank, at);
        }
        if touched.lanes == 0 {
            return Ok(());
        }
        let completion = Completion::Group(GroupKind::CpAsync);
        self.copy_command(w, pc, SharedAccessKind::Write, *bytes, &touched, completion)
    }

    /// The ranks of the blocks that a copy to several goes to, as bits.
    fn destinations(&self, w: usize, frame: u32, pc: u32, lane: usize, mask: i32) -> Result<u32, Refusal> {
        if !self.set.extent.clustered {
            return Err(self.no_cluster(w, pc, lane));
        }
        let what = "the mask of the blocks that a copy goes to";
        let ranks = self.needed(w, frame, pc, lane, (mask, Width::W16), what)? as u32;
        let blocks = self.ctas.len();
        if ranks >> blocks != 0 || ranks == 0 {
            let message = format!("a copy to the blocks {ranks:#x} of a cluster of {blocks}");
            return Err(self.illegal(w, pc, lane, message));
        }
        Ok(ranks)
    }

    /// A bulk copy of one lane.
    fn bulk(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        lane: usize,
        bytes: u32,
        bulk: &Bulk<'_>,
    ) -> Result<(), Refusal> {
        let Bulk { dst, src, mbarrier, .. } = *bulk;
        let bytes = if self.set.code.extras[pc as usize].tensor {
            let (map, expected) = match mbarrier {
                Some(mbarrier) => {
                    let (own, offset, _) = self.mbarrier_at(w, frame, pc, mbarrier, lane)?;
                    (src, Some((bulk.several.map_or(own, u32::trailing_zeros), offset)))
                }
                None => (dst, None),
            };
            self.tensor_bytes(w, frame, pc, lane, map, expected)?
        } else {
            bytes
        };
        if bytes == 0 || !bytes.is_multiple_of(16) {
            return Err(self.illegal(
                w,
                pc,
                lane,
                format!("a bulk copy of {bytes} bytes, which is no multiple of 16"),
            ));
        }
        if matches!(self.target(w, frame, dst, lane), Target::Global(_)) {
            // From shared to global memory: what is read must stay until the group is waited for.
            let (rank, at) = self.destination(w, frame, pc, src, lane, u64::from(bytes), 16)?;
            let mut touched = Touched::none();
            touched.add(lane, rank, at);
            let completion = Completion::Group(GroupKind::Bulk);
            return self.copy_command(w, pc, SharedAccessKind::Read, bytes, &touched, completion);
        }
        let Some(mbarrier) = mbarrier else {
            return Err(self.unsupported(w, pc, lane, "a copy to shared memory without an mbarrier"));
        };
        if !matches!(self.target(w, frame, src, lane), Target::Global(_)) {
            // From shared to shared memory: it reads until the phase is over into which it is counted.
            let (rank, at) = self.destination(w, frame, pc, src, lane, u64::from(bytes), 16)?;
            let (_, _, address) = self.mbarrier_at(w, frame, pc, mbarrier, lane)?;
            let mut touched = Touched::none();
            touched.add(lane, rank, at);
            self.copy_command(
                w,
                pc,
                SharedAccessKind::Read,
                bytes,
                &touched,
                Completion::Mbarrier { address },
            )?;
        }
        let (own, at) = self.destination(w, frame, pc, dst, lane, u64::from(bytes), 16)?;
        let kind = if bulk.reduces { SharedAccessKind::Atomic } else { SharedAccessKind::Write };
        let (counter, offset, _) = self.mbarrier_at(w, frame, pc, mbarrier, lane)?;
        // To several blocks: to the same place in each, and counted at the mbarrier at the same place in each.
        for rank in lanes(bulk.several.unwrap_or(1 << own)) {
            let rank = rank as u32;
            self.ctas[rank as usize].shared.forget(at as usize, bytes as usize, Why::at(pc));
            let mut touched = Touched::none();
            touched.add(lane, rank, at);
            let counter = if bulk.several.is_some() { rank } else { counter };
            let completion = |address| Completion::Mbarrier { address };
            self.counted(w, pc, lane, kind, bytes, &touched, (counter, offset), completion)?;
        }
        Ok(())
    }

    /// A copy whose bytes an mbarrier counts.
    #[allow(clippy::too_many_arguments, reason = "who, where, what")]
    fn counted(
        &mut self,
        w: usize,
        pc: u32,
        lane: usize,
        kind: SharedAccessKind,
        bytes: u32,
        touched: &Touched,
        (rank, offset): (u32, u32),
        completion: impl Fn(u32) -> Completion,
    ) -> Result<(), Refusal> {
        self.used(w, (rank, offset));
        let completion = completion(rank << RANK_SHIFT | offset);
        self.copy_command(w, pc, kind, bytes, touched, completion)?;
        let Some(state) = self.ctas[rank as usize].mbarriers.get_mut(&offset) else {
            return Err(self.illegal(w, pc, lane, format!("no mbarrier was initialised at {offset:#x}")));
        };
        if let (Some(map), true) = (state.guessed, state.bytes <= 0) {
            // One that was taken to be the only one of its phase is not.
            return Err(self.size_unknown(w, pc, lane, Some(map)));
        }
        state.bytes -= i64::from(bytes);
        self.complete_phase(rank, offset);
        Ok(())
    }

    /// Appends what a copy reads or writes.
    pub fn copy_command(
        &mut self,
        w: usize,
        pc: u32,
        kind: SharedAccessKind,
        size: u32,
        touched: &Touched,
        completion: Completion,
    ) -> Result<(), Refusal> {
        let addresses: SharedAddresses<'_> = touched.addresses();
        let access = SharedAccess {
            kind,
            size,
            strength: SharedStrength::Weak,
            addresses,
            values: WrittenValues::Unknown,
            completion,
        };
        self.emit(w, touched.lanes, pc, CommandAction::Access(access))
    }

    /// A place in shared memory that a copy goes to or comes from.
    #[allow(clippy::too_many_arguments, reason = "who, where, how much")]
    fn destination(
        &self,
        w: usize,
        frame: u32,
        pc: u32,
        address: &Address,
        lane: usize,
        bytes: u64,
        align: u64,
    ) -> Result<(u32, u64), Refusal> {
        match self.target(w, frame, address, lane) {
            Target::Shared(rank, at) => {
                self.inside(w, pc, lane, (rank, at), bytes, align)?;
                Ok((rank, at))
            }
            Target::Unknown(why) => Err(self.unknown(w, pc, lane, "the shared address of a copy", why)),
            _ => Err(self.illegal(w, pc, lane, "a copy whose one end should be in shared memory and is not")),
        }
    }
}

fn group(bulk: bool) -> GroupKind {
    if bulk { GroupKind::Bulk } else { GroupKind::CpAsync }
}
