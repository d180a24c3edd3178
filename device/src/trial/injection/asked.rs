//! What launches of the program's own text are looked at for, and who is held back in them.

use bugaroo_protocol::{MOST_DEVICES, Orders};

use super::Injection;
use crate::seeds::scheduler_seed;

impl Injection {
    /// Whether launches are reported with their conflicts: those of the program's own text.
    pub fn conflicts(&self) -> bool {
        self.orders.as_ref().is_some_and(|orders| orders.conflicts && self.runs_as_it_stands(orders))
    }

    /// Whether launches are reported with what they have shown: those of the program's own text.
    pub fn coverage(&self) -> bool {
        self.orders.as_ref().is_some_and(|orders| orders.variation.coverage && self.runs_as_it_stands(orders))
    }

    /// Behind which place warps of a launch are held back, and by which seed.
    pub fn hold(&self, ordinal: u64) -> Option<(u32, u64)> {
        let orders = self.orders.as_ref().filter(|orders| self.runs_as_it_stands(orders))?;
        Some((orders.variation.hold?, scheduler_seed(orders.seed, ordinal)))
    }

    /// The places where who runs next in a launch is chosen, and by which seed.
    pub fn switches(&self, ordinal: u64) -> Option<(&[u32], u64)> {
        let orders = self.orders.as_ref().filter(|orders| self.runs_as_it_stands(orders))?;
        (!orders.variation.switches.is_empty())
            .then(|| (&orders.variation.switches[..], scheduler_seed(orders.seed, ordinal)))
    }

    /// Whether somebody wants to know the sites of a text that runs as it stands.
    pub fn wants_table(&self) -> bool {
        let checks = self.orders.as_ref().is_some_and(|orders| !orders.check_insert.is_empty());
        let asked = self.report_sites() || checks || !self.race().is_empty();
        asked || self.conflicts() || self.native_model().is_some()
    }

    /// Whether launches of a text that runs as it stands have to know of its sites.
    pub fn wants_native(&self) -> bool {
        self.native_model().is_some() || !self.race().is_empty()
    }

    /// Why a program whose processes share device memory or events cannot be looked at as the orders want, if it cannot: what one process
    /// orders for another, nobody knows.
    pub fn cannot_share(&self) -> Option<&'static str> {
        let orders = self.orders.as_ref()?;
        if !orders.check_insert.is_empty() {
            return Some(
                "bisect cannot weigh the fences of a program whose processes share device memory or events (cuIpc…): `bugaroo run` shows its failures",
            );
        }
        let races = !self.race().is_empty();
        races.then_some("race does not follow what processes say to each other through shared device memory or events (cuIpc…): `bugaroo run` shows failures")
    }

    /// Virtual GPUs that the program finds.
    pub fn devices(&self) -> u32 {
        self.orders.as_ref().map_or(1, |orders| orders.devices.clamp(1, MOST_DEVICES))
    }

    fn runs_as_it_stands(&self, orders: &Orders) -> bool {
        orders.model().is_none() || self.native_model().is_some()
    }
}
