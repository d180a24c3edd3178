//! Barrier divergence: parts of a warp at a barrier (section 3.3.2).
//!
//! Lanes that come without the rest of their warp are an error, unless the rest comes to the same instruction before the barrier
//! completes: then nobody is elsewhere, but a compiler has laid out the code so that lanes did not get there together (a loop whose
//! beginning stands before the place where the sides of a branch in it meet). The price: lanes that come to one barrier
//! instruction in different rounds of a loop, which is an error, pass for such lanes. Who the others are shows later: lanes that come to the
//! same barrier at another instruction; or, if none come, those who parted from them at a branch.

use super::part::Part;

use super::report::Reports;

/// Those that have not been told of.
#[derive(Debug, Default)]
pub(super) struct Parts(Vec<(Part, bool)>);

impl Parts {
    /// Lanes come in part.
    pub fn come(&mut self, part: Part, reports: &mut Reports) {
        let same = |other: &Part| other.by.warp == part.by.warp && other.barrier == part.barrier;
        let beside =
            |other: &Part| same(other) && other.site == part.site && other.by.mask & part.by.mask == 0;
        if let Some(at) = self.0.iter().position(|(other, told)| !told && beside(other)) {
            let (other, _) = &mut self.0[at];
            other.by.mask |= part.by.mask;
            other.absent &= !part.by.mask;
            if other.absent == 0 {
                self.0.remove(at);
            }
            return;
        }
        let other = self.0.iter_mut().find(|(other, _)| same(other) && other.by.mask & part.by.mask == 0);
        if let Some((other, told)) = other {
            *told = true;
            reports.divergence(&part, other.by.mask, other.site);
        }
        let told = self.0.iter().any(|(other, told)| same(other) && *told);
        self.0.push((part, told));
    }

    /// Nobody else comes to this barrier, or to any.
    pub fn tell(&mut self, barrier: Option<u32>, reports: &mut Reports) {
        self.0.retain(|(part, told)| {
            let over = barrier.is_none_or(|barrier| barrier == part.barrier);
            if over && !told {
                reports.divergence(part, part.absent, part.parted_at.unwrap_or(part.site));
            }
            !over
        });
    }
}
