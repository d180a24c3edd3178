//! How barriers stand: who has come to those that are not complete. Uses that are over count for nothing, but for an mbarrier's parity.

use crate::emulate::alike::Products;
use crate::emulate::held::cta::Cta;
use crate::emulate::held::named::Come;
use crate::emulate::held::phases::Phases;

/// How the barriers of a CTA stand.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Standing {
    named: [Come; 16],
    /// By offset.
    mbarriers: Vec<(u32, Phases)>,
    products: Vec<Products>,
}

impl Standing {
    pub fn of(cta: &Cta) -> Standing {
        let parity = |(at, phases): (&u32, &Phases)| (*at, Phases { phase: phases.phase & 1, ..*phases });
        let mut mbarriers: Vec<_> = cta.mbarriers.iter().map(parity).collect();
        mbarriers.sort_unstable_by_key(|(at, _)| *at);
        let named = std::array::from_fn(|id| cta.barriers[id].come());
        Standing { named, mbarriers, products: cta.products.clone() }
    }
}
