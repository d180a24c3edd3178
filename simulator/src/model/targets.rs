//! Where the lanes of a warp access: mostly one step apart, so that a base says it all.

/// The addresses of lanes that access together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Targets {
    /// That of lane 0, whether it accesses or not.
    pub base: u64,
    /// From one lane to the next. None: they have no common one.
    pub step: Option<u64>,
    /// Of each lane, where there is no step.
    pub each: [u64; 32],
}

impl Targets {
    /// Addresses with a step.
    #[inline(always)]
    pub fn stepped(base: u64, step: u64) -> Targets {
        Targets { base, step: Some(step), each: [0; 32] }
    }

    /// Any addresses of these lanes, each aligned to so many bytes: finds the step, if there is one of whole accesses. (Then the
    /// base is aligned, too.)
    pub fn any(each: [u64; 32], lanes: u32, bytes: u32) -> Targets {
        let mut targets = Targets { base: 0, step: None, each };
        targets.find_step(lanes, bytes);
        targets
    }

    /// The same, of the addresses in `each`.
    #[inline(always)]
    pub fn find_step(&mut self, lanes: u32, bytes: u32) {
        let each = &self.each;
        (self.base, self.step) = (0, None);
        let first = lanes.trailing_zeros();
        let rest = lanes & lanes.wrapping_sub(1);
        if rest == 0 {
            let step = u64::from(bytes);
            self.base = each[first as usize & 31].wrapping_sub(u64::from(first) * step);
            self.step = Some(step);
            return;
        }
        let second = rest.trailing_zeros();
        let (apart, distance) =
            (i64::from(second - first), each[second as usize].wrapping_sub(each[first as usize]) as i64);
        let step = (distance / apart) as u64;
        if distance % apart != 0 || step & u64::from(bytes - 1) != 0 {
            return;
        }
        let base = each[first as usize].wrapping_sub(u64::from(first).wrapping_mul(step));
        let mut differ = 0;
        let mut next = base;
        for (lane, address) in each.iter().enumerate() {
            // All bits where the lane is one of them.
            let counts = 0_u64.wrapping_sub(u64::from(lanes >> lane & 1));
            differ |= (next ^ *address) & counts;
            next = next.wrapping_add(step);
        }
        if differ == 0 {
            (self.base, self.step) = (base, Some(step));
        }
    }

    /// Where a lane accesses.
    #[inline(always)]
    pub fn address(&self, lane: usize) -> u64 {
        match self.step {
            Some(step) => self.base.wrapping_add(step.wrapping_mul(lane as u64)),
            None => self.each[lane],
        }
    }

    /// The first byte that one of these lanes accesses, and the last, where each accesses so many.
    #[inline(always)]
    pub fn hull(&self, lanes: u32, bytes: u32) -> (u64, u64) {
        let last = u64::from(bytes.max(1) - 1);
        match self.step {
            Some(_) => {
                let (first, end) = (lanes.trailing_zeros() & 31, 31 - (lanes | 1).leading_zeros());
                let (a, b) = (self.address(first as usize), self.address(end as usize));
                (a.min(b), a.max(b).saturating_add(last))
            }
            None => {
                let (mut low, mut high) = (u64::MAX, 0);
                for (lane, address) in self.each.iter().enumerate() {
                    let out = u64::from(lanes >> lane & 1).wrapping_sub(1);
                    low = low.min(address | out);
                    high = high.max(address & !out);
                }
                (low, high.saturating_add(last))
            }
        }
    }

    /// Which of these lanes access some of the same bytes as they do elsewhere.
    pub fn meet(&self, other: &Targets, (bytes, others): (u32, u32), lanes: u32) -> u32 {
        let mut met = 0;
        for lane in 0..32 {
            met |= u32::from(overlap((self.address(lane), bytes), (other.address(lane), others))) << lane;
        }
        met & lanes
    }
}

/// Do two ranges of bytes have one in common? That does not change when both are moved, even round the end of all addresses.
#[inline(always)]
pub(crate) fn overlap(a: (u64, u32), b: (u64, u32)) -> bool {
    b.0.wrapping_sub(a.0) < u64::from(a.1) || a.0.wrapping_sub(b.0) < u64::from(b.1)
}
