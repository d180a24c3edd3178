//! The general form of a vector clock: what the hierarchy of warp and block does not say.

use std::rc::Rc;

/// What is known of a warp's lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LaneClocks {
    /// All of them at least at this.
    Same(u32),
    /// Each at its own.
    Each(Rc<[u32; 32]>),
}

impl LaneClocks {
    /// Of one lane.
    #[inline]
    pub fn lane(&self, lane: u32) -> u32 {
        match self {
            LaneClocks::Same(clock) => *clock,
            LaneClocks::Each(each) => each[lane as usize],
        }
    }

    /// From all lanes' clocks, as small as it can be.
    pub fn from_each(each: [u32; 32]) -> LaneClocks {
        if each.iter().all(|clock| *clock == each[0]) {
            LaneClocks::Same(each[0])
        } else {
            LaneClocks::Each(Rc::new(each))
        }
    }

    /// Whether nothing in `other` is above it.
    fn covers(&self, other: &LaneClocks) -> bool {
        match (self, other) {
            (LaneClocks::Same(a), LaneClocks::Same(b)) => b <= a,
            (LaneClocks::Each(a), LaneClocks::Each(b)) if Rc::ptr_eq(a, b) => true,
            _ => (0..32).all(|lane| other.lane(lane) <= self.lane(lane)),
        }
    }

    fn joined(&self, other: &LaneClocks) -> LaneClocks {
        if self.covers(other) {
            return self.clone();
        }
        if other.covers(self) {
            return other.clone();
        }
        LaneClocks::from_each(std::array::from_fn(|lane| self.lane(lane as u32).max(other.lane(lane as u32))))
    }
}

/// A vector clock over the threads of a grid. A thread that is in neither list is at 0; one that is in both, at the larger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sparse {
    /// What all threads of a block are at least at, by block.
    pub blocks: Vec<(u32, u32)>,
    /// By warp.
    pub warps: Vec<(u32, LaneClocks)>,
}

impl Sparse {
    /// What all threads of a block are at least at.
    #[inline]
    pub fn block(&self, block: u32) -> u32 {
        let found = self.blocks.binary_search_by_key(&block, |entry| entry.0);
        found.map_or(0, |at| self.blocks[at].1)
    }

    /// What it says of a warp by itself.
    #[inline]
    pub fn warp(&self, warp: u32) -> Option<&LaneClocks> {
        let found = self.warps.binary_search_by_key(&warp, |entry| entry.0);
        found.ok().map(|at| &self.warps[at].1)
    }

    /// What it says of a thread.
    #[inline]
    pub fn thread(&self, block: u32, warp: u32, lane: u32) -> u32 {
        self.block(block).max(self.warp(warp).map_or(0, |clocks| clocks.lane(lane)))
    }

    fn covers(&self, other: &Sparse) -> bool {
        let blocks = covers(&self.blocks, &other.blocks, |own, others| others <= own);
        blocks && covers(&self.warps, &other.warps, |own, others| own.covers(others))
    }

    /// The least clock above both.
    pub fn joined(a: &Rc<Sparse>, b: &Rc<Sparse>) -> Rc<Sparse> {
        if Rc::ptr_eq(a, b) || a.covers(b) {
            return a.clone();
        }
        if b.covers(a) {
            return b.clone();
        }
        let blocks = merged(&a.blocks, &b.blocks, |a, b| *a.max(b));
        let warps = merged(&a.warps, &b.warps, LaneClocks::joined);
        Rc::new(Sparse { blocks, warps })
    }

    /// The same without what it says of a block and its warps, where that is less than `floor`.
    pub fn without(self: &Rc<Sparse>, block: u32, warps: std::ops::Range<u32>) -> Option<Rc<Sparse>> {
        let other = |entry: &&(u32, u32)| entry.0 != block;
        let foreign = |entry: &&(u32, LaneClocks)| !warps.contains(&entry.0);
        if self.blocks.iter().all(|e| other(&e)) && self.warps.iter().all(|e| foreign(&e)) {
            return Some(self.clone());
        }
        let blocks: Vec<_> = self.blocks.iter().filter(other).copied().collect();
        let warps: Vec<_> = self.warps.iter().filter(foreign).cloned().collect();
        (!blocks.is_empty() || !warps.is_empty()).then(|| Rc::new(Sparse { blocks, warps }))
    }

    /// Bytes that it takes, what it shares counted as its own.
    pub fn bytes(&self) -> u64 {
        let each = self.warps.iter().filter(|(_, clocks)| matches!(clocks, LaneClocks::Each(_))).count();
        let lists =
            self.blocks.len() * size_of::<(u32, u32)>() + self.warps.len() * size_of::<(u32, LaneClocks)>();
        (size_of::<Sparse>() + lists + each * (128 + 16)) as u64
    }
}

/// Joins what may be there or not.
pub(super) fn join(into: &mut Option<Rc<Sparse>>, from: &Rc<Sparse>) {
    *into = Some(match into {
        Some(known) => Sparse::joined(known, from),
        None => from.clone(),
    });
}

/// Whether each entry of `small` has one in `large` that covers it.
fn covers<T>(large: &[(u32, T)], small: &[(u32, T)], over: impl Fn(&T, &T) -> bool) -> bool {
    let mut at = 0;
    small.len() <= large.len()
        && small.iter().all(|(key, clock)| {
            while at < large.len() && large[at].0 < *key {
                at += 1;
            }
            at < large.len() && large[at].0 == *key && over(&large[at].1, clock)
        })
}

/// Both lists in order; entries of one key become one.
fn merged<T: Clone>(a: &[(u32, T)], b: &[(u32, T)], both: impl Fn(&T, &T) -> T) -> Vec<(u32, T)> {
    let mut all = Vec::with_capacity(a.len().max(b.len()));
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if j == b.len() || (i < a.len() && a[i].0 < b[j].0) {
            all.push(a[i].clone());
            i += 1;
        } else if i == a.len() || b[j].0 < a[i].0 {
            all.push(b[j].clone());
            j += 1;
        } else {
            all.push((a[i].0, both(&a[i].1, &b[j].1)));
            i += 1;
            j += 1;
        }
    }
    all
}
