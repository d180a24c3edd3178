//! What each lane of a warp has, where most have the same: that is kept once, and changed once where lanes do the same.

use bugaroo_semantics::event::each;

/// What lanes have.
#[derive(Clone, Debug, Default)]
pub(super) struct ByLane<T> {
    /// Of all that are not apart.
    common: T,
    /// Lanes that have their own.
    apart: u32,
    /// Theirs, in the order of lanes.
    own: Vec<T>,
}

impl<T> ByLane<T> {
    pub fn new(common: T) -> ByLane<T> {
        ByLane { common, apart: 0, own: Vec::new() }
    }

    /// Where a lane's own is, or would be.
    #[inline]
    fn at(&self, bit: u32) -> usize {
        (self.apart & (bit - 1)).count_ones() as usize
    }

    #[inline]
    pub fn of(&self, lane: u32) -> &T {
        let bit = 1 << (lane & 31);
        if self.apart & bit == 0 { &self.common } else { &self.own[self.at(bit)] }
    }

    /// What all have, where none is apart.
    #[inline]
    pub fn one(&self) -> Option<&T> {
        (self.apart == 0).then_some(&self.common)
    }

    #[inline]
    pub fn one_mut(&mut self) -> Option<&mut T> {
        (self.apart == 0).then_some(&mut self.common)
    }

    /// What those have that are not apart.
    #[inline]
    pub fn common(&self) -> &T {
        &self.common
    }

    /// What these lanes have, once for all that are not apart.
    pub fn each(&self, lanes: u32) -> impl Iterator<Item = (u32, &T)> {
        let together = lanes & !self.apart;
        let common = (together != 0).then_some((together, &self.common));
        common.into_iter().chain(each(lanes & self.apart).map(|lane| (1 << lane, self.of(lane))))
    }

    /// Lanes that are apart.
    #[inline]
    pub fn apart(&self) -> u32 {
        self.apart
    }

    /// Bytes of what lanes have for themselves, about.
    pub fn held(&self) -> usize {
        self.own.capacity() * size_of::<T>()
    }
}

impl<T: Clone> ByLane<T> {
    /// A lane's, to be changed: it is apart from now on, unless it is the only one there is.
    pub fn lane(&mut self, lane: u32, lanes_of_warp: u32) -> &mut T {
        let bit = 1 << (lane & 31);
        let at = self.at(bit);
        if self.apart & bit == 0 {
            if lanes_of_warp & !bit == 0 {
                return &mut self.common;
            }
            self.own.insert(at, self.common.clone());
            self.apart |= bit;
        }
        &mut self.own[at]
    }

    /// Lanes have this from now on.
    pub fn set(&mut self, lanes: u32, lanes_of_warp: u32, value: &T) {
        let (left, lanes) = (lanes_of_warp & !lanes, lanes & lanes_of_warp);
        let others = left & !self.apart;
        if others.count_ones() > lanes.count_ones() {
            // The common one stays that of others.
            each(lanes).for_each(|lane| value.clone_into(self.lane(lane, lanes_of_warp)));
            return;
        }
        each(others).for_each(|lane| _ = self.lane(lane, lanes_of_warp));
        self.common = value.clone();
        let mut kept = each(self.apart).map(|lane| left >> lane & 1 != 0);
        self.own.retain(|_| kept.next() == Some(true));
        self.apart &= left;
    }

    /// What lanes have changes, once for all that are not apart.
    pub fn change(&mut self, lanes: u32, lanes_of_warp: u32, mut change: impl FnMut(&mut T)) {
        let (together, apart) = (lanes & lanes_of_warp & !self.apart, lanes & self.apart);
        if together != 0 {
            let mut new = self.common.clone();
            change(&mut new);
            self.set(together, lanes_of_warp, &new);
        }
        each(apart).for_each(|lane| change(self.lane(lane, lanes_of_warp)));
    }
}
