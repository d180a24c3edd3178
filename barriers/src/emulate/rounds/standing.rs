//! How barriers stand: who has come to those that are not complete. Uses that are over count for nothing, but for an mbarrier's parity.

use crate::emulate::alike::Products;
use crate::emulate::barrier::Come;
use crate::emulate::machine::Machine;
use crate::emulate::mbarrier::Phases;

/// How the barriers of a CTA stand.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Standing {
    named: [Come; 16],
    /// By offset.
    mbarriers: Vec<(u32, Phases)>,
    cluster_arrived: Vec<u32>,
    products: Vec<Products>,
}

impl Machine<'_> {
    /// How the barriers of the first CTA stand.
    pub(super) fn standing(&self) -> Standing {
        let cta = &self.ctas[0];
        let parity = |(at, phases): (&u32, &Phases)| (*at, Phases { phase: phases.phase & 1, ..*phases });
        let mut mbarriers: Vec<_> = cta.mbarriers.iter().map(parity).collect();
        mbarriers.sort_unstable_by_key(|(at, _)| *at);
        let named = std::array::from_fn(|id| cta.barriers[id].come());
        Standing {
            named,
            mbarriers,
            cluster_arrived: self.cluster_arrived.clone(),
            products: cta.products.clone(),
        }
    }
}
