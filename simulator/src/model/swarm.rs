//! Which instructions a model may delay at all, drawn once for a launch.
//!
//! After Groce, Zhang, Eide, Chen, Regehr, "Swarm Testing" (ISSTA 2012): tests that leave out some of what they could do reach what
//! tests that do a little of everything do not. Here it is the instructions that are left out: where one store must be late each
//! time and all others prompt, coins for each execution hardly ever fall so. What is in is delayed each time, what is left out never:
//! each is one way in which the coins could have fallen, so nothing is shown that the model would not show.
//!
//! It departs in what is in. In every second launch these are all weak accesses, and no strong ones: flags that come at once and data
//! that come late are what a missing fence needs, however many words the data have. In the others it is a quarter, half, or three quarters
//! of the instructions.

use bugaroo_device_handlers::mix;

/// A choice of instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Swarm {
    key: u64,
    /// Quarters that are in; None: those with weak accesses.
    quarters: Option<u64>,
}

impl Swarm {
    /// The one of a launch's key.
    pub fn new(key: u64) -> Swarm {
        let key = mix(key ^ 0x0073_7761_726d);
        Swarm { key, quarters: (key & 1 == 0).then_some(1 + (key >> 1) % 3) }
    }

    /// Whether an instruction is in, whose access is weak or not.
    #[inline]
    pub fn has(self, site: u32, weak: bool) -> bool {
        self.quarters.map_or(weak, |quarters| mix(self.key ^ u64::from(site)) & 3 < quarters)
    }
}
