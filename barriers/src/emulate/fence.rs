//! Fences: those of the asynchronous proxy, and those of memory where they matter, which is beside relaxed arrivals and waits at mbarriers. Whatever
//! else orders the threads of a kernel orders their memory, too.

use bugaroo_ptx::op::MbarrierOp;
use bugaroo_ptx::types::{Scope, Semantics};
use bugaroo_semantics::effect::{acquires, releases};
use bugaroo_simulator::CodeImage;
use bugaroo_simulator::decoded::{Asynchronous, Inst};

use super::machine::Machine;
use super::refusal::Refusal;
use super::text::Extra;
use crate::program::{CommandAction, Fenced};

/// Whether an operation on an mbarrier orders no memory where others of its kind do.
pub(super) fn is_relaxed(operation: &Asynchronous) -> bool {
    let Asynchronous::Mbarrier { op, order, .. } = operation else { return false };
    let orders = matches!(op, MbarrierOp::Arrive { .. } | MbarrierOp::Wait { .. });
    orders && matches!(order, Semantics::Relaxed(_))
}

/// Whether an operation is a test of an mbarrier.
pub(super) fn is_wait(operation: &Asynchronous) -> bool {
    matches!(operation, Asynchronous::Mbarrier { op: MbarrierOp::Wait { .. }, .. })
}

/// Whether threads can order memory by flags: there are fences of memory, or accesses that acquire or release.
pub(super) fn has_flags(image: &CodeImage<'_>, extras: &[Extra]) -> bool {
    let orders = |semantics| acquires(semantics) || releases(semantics);
    extras.iter().any(|extra| extra.fence.is_some())
        || image.accesses.iter().any(|access| orders(access.semantics))
        || image.atomics.iter().any(|atomic| orders(atomic.semantics))
}

impl Machine<'_> {
    /// Whether a fence makes no difference here.
    pub fn is_idle_fence(&self, pc: u32) -> bool {
        let extra = self.set.code.extras[pc as usize];
        !(extra.is_proxy_fence() || self.set.orders.relaxed && extra.fence.is_some())
    }

    /// A fence.
    pub fn fence(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        [active, doubtful]: [u32; 2],
    ) -> Result<(), Refusal> {
        let extra = self.set.code.extras[pc as usize];
        if extra.is_proxy_fence() {
            self.certain(w, frame, pc, inst, doubtful, "a fence of the asynchronous proxy")?;
            let fenced = if extra.proxy_fence { Fenced::Proxy } else { Fenced::Inits };
            self.emit(w, active, pc, CommandAction::Fence(fenced))?;
        }
        if let (Some((scope, is_half)), true) = (extra.fence, self.set.orders.relaxed) {
            self.certain(w, frame, pc, inst, doubtful, "a fence beside relaxed mbarrier operations")?;
            let lane = active.trailing_zeros() as usize;
            if is_half && active != 0 {
                let message = "a fence that only acquires or releases beside relaxed mbarrier operations is not modelled";
                return Err(self.unsupported(w, pc, lane, message));
            }
            if scope == Scope::Cta && self.ctas.len() > 1 && active != 0 {
                let message = "a fence for the block alone beside relaxed mbarrier operations in a cluster is not modelled";
                return Err(self.unsupported(w, pc, lane, message));
            }
            self.emit(w, active, pc, CommandAction::Fence(Fenced::Memory))?;
        }
        if extra.releases && doubtful == 0 {
            self.warps[w].released = (active, self.out.warps()[w].len());
        }
        Ok(())
    }
}
