//! How barriers stand: who has come to those that are not complete. Uses that are over count for nothing, but for an mbarrier's parity.

use crate::emulate::alike::Products;
use crate::emulate::barrier::Come;
use crate::emulate::machine::{Cta, Machine};
use crate::emulate::mbarrier::Phases;

/// How the barriers of a CTA stand.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Standing {
    named: [Come; 16],
    /// By offset.
    mbarriers: Vec<(u32, Phases)>,
    products: Vec<Products>,
}

impl Standing {
    fn of(cta: &Cta) -> Standing {
        let parity = |(at, phases): (&u32, &Phases)| (*at, Phases { phase: phases.phase & 1, ..*phases });
        let mut mbarriers: Vec<_> = cta.mbarriers.iter().map(parity).collect();
        mbarriers.sort_unstable_by_key(|(at, _)| *at);
        let named = std::array::from_fn(|id| cta.barriers[id].come());
        Standing { named, mbarriers, products: cta.products.clone() }
    }
}

impl Machine<'_> {
    /// How the barriers of all CTAs stand, and who has arrived at the cluster's.
    pub(super) fn standing(&self) -> (Vec<Standing>, Vec<u32>) {
        (self.ctas.iter().map(Standing::of).collect(), self.cluster_arrived.clone())
    }
}
