//! The general form of a vector clock: what the hierarchy of warp and block does not say.

use std::rc::Rc;

use bugaroo_semantics::clocks::shared_map::{Joined, SharedMap};

/// Blocks or warps that share a chunk, as a power of two. Where many take turns at one location, what each of them knows differs from
/// what the last one did in a chunk or two.
const RANGE: u32 = 4;

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
            (LaneClocks::Each(a), LaneClocks::Each(b)) => a.iter().zip(b.iter()).all(|(a, b)| b <= a),
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

/// A vector clock over the threads of a grid. A thread that is in neither map is at 0; one that is in both, at the larger.
#[derive(Clone, Debug, Default)]
pub(super) struct Sparse {
    /// What all threads of a block are at least at, by block.
    blocks: SharedMap<u32>,
    /// By warp.
    warps: SharedMap<LaneClocks>,
}

impl Sparse {
    /// Of a warp's lanes, and what all threads of a block are at least at.
    pub fn new((warp, lanes): (u32, LaneClocks), (block, clock): (u32, u32)) -> Sparse {
        let mut new = Sparse::default();
        new.warps.change::<RANGE>(warp.into(), |_| vec![(warp.into(), lanes)]);
        if clock > 0 {
            new.blocks.change::<RANGE>(block.into(), |_| vec![(block.into(), clock)]);
        }
        new
    }

    /// What all threads of a block are at least at.
    #[inline]
    pub fn block(&self, block: u32) -> u32 {
        self.blocks.get::<RANGE>(block.into()).copied().unwrap_or(0)
    }

    /// What it says of a warp by itself.
    #[inline]
    pub fn warp(&self, warp: u32) -> Option<&LaneClocks> {
        self.warps.get::<RANGE>(warp.into())
    }

    /// What it says of a thread.
    #[inline]
    pub fn thread(&self, block: u32, warp: u32, lane: u32) -> u32 {
        self.block(block).max(self.warp(warp).map_or(0, |clocks| clocks.lane(lane)))
    }

    /// The least clock above both.
    pub fn joined(a: &Rc<Sparse>, b: &Rc<Sparse>) -> Rc<Sparse> {
        if Rc::ptr_eq(a, b) || a.covers(b) {
            return a.clone();
        }
        if b.covers(a) {
            return b.clone();
        }
        let blocks = joined(&a.blocks, &b.blocks, |a, b| *a.max(b));
        let warps = joined(&a.warps, &b.warps, LaneClocks::joined);
        Rc::new(Sparse { blocks, warps })
    }

    fn covers(&self, other: &Sparse) -> bool {
        self.blocks.covers(&other.blocks, |own, others| others <= own)
            && self.warps.covers(&other.warps, LaneClocks::covers)
    }

    /// The same without what it says of a block and its warps, if anything is left.
    pub fn without(self: &Rc<Sparse>, block: u32, warps: std::ops::Range<u32>) -> Option<Rc<Sparse>> {
        let warps = u64::from(warps.start)..u64::from(warps.end);
        let block = u64::from(block);
        let ranges = || warps.start >> RANGE..(warps.end + (1 << RANGE) - 1) >> RANGE;
        let has = |range: u64| self.warps.range::<RANGE>(range << RANGE).iter().any(|e| warps.contains(&e.0));
        if self.blocks.get::<RANGE>(block).is_none() && !ranges().any(has) {
            return Some(self.clone());
        }
        let mut rest = Sparse::clone(self);
        rest.blocks.change::<RANGE>(block, |all| all.iter().filter(|e| e.0 != block).copied().collect());
        for range in ranges().filter(|range| has(*range)) {
            let others =
                |all: &[(u64, LaneClocks)]| all.iter().filter(|e| !warps.contains(&e.0)).cloned().collect();
            rest.warps.change::<RANGE>(range << RANGE, others);
        }
        (!rest.blocks.is_empty() || !rest.warps.is_empty()).then(|| Rc::new(rest))
    }

    /// Bytes that it takes, what it shares counted as its own.
    pub fn bytes(&self) -> u64 {
        let each = |clocks: &LaneClocks| if matches!(clocks, LaneClocks::Each(_)) { 128 + 16 } else { 0 };
        let warps = self.warps.iter().map(|(_, clocks)| size_of::<(u64, LaneClocks)>() + each(clocks));
        let blocks = self.blocks.iter().count() * size_of::<(u64, u32)>();
        (size_of::<Sparse>() + blocks + warps.sum::<usize>()) as u64
    }
}

/// The least map above both.
fn joined<T: Clone + PartialEq>(
    a: &SharedMap<T>,
    b: &SharedMap<T>,
    both: impl Fn(&T, &T) -> T,
) -> SharedMap<T> {
    match a.join(b, |x, y| merged(x, y, &both), T::eq) {
        Joined::First => a.clone(),
        Joined::Second => b.clone(),
        Joined::New(all) => all,
    }
}

/// Joins what may be there or not.
pub(super) fn join(into: &mut Option<Rc<Sparse>>, from: &Rc<Sparse>) {
    *into = Some(match into {
        Some(known) => Sparse::joined(known, from),
        None => from.clone(),
    });
}

/// Both lists in order; entries of one key become one.
fn merged<T: Clone>(a: &[(u64, T)], b: &[(u64, T)], both: impl Fn(&T, &T) -> T) -> Vec<(u64, T)> {
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
