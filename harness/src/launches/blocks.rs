//! Which blocks of a grid are looked at, where not all of them can be looked at at once.
//!
//! First every one of a small grid, and of others the corners: in each dimension the first, where much starts, and the last, where data
//! that is no multiple of a block ends. Then all others, if that takes little work ([`WORK`]). Clusters are looked at whole, so that their
//! first blocks stand for them.

/// Blocks of a grid that are all looked at, whatever work that is; in clusters, so many clusters.
const SMALL: u64 = 8;
/// Warp instructions for which all blocks of a grid are looked at.
pub(super) const WORK: u64 = 2_000_000;
/// Blocks that are looked at for little work each; in clusters, so many clusters.
const MOST: u64 = 4096;

/// A grid in units that are looked at one by one: blocks, or clusters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// Blocks of a unit.
    each: [u32; 3],
    /// Units of the grid.
    count: [u32; 3],
}

impl Units {
    /// Those of a grid.
    pub fn new(grid: [u32; 3], cluster: [u32; 3]) -> Units {
        let each = cluster.map(|extent| extent.max(1));
        Units { each, count: std::array::from_fn(|d| (grid[d] / each[d]).max(1)) }
    }

    /// How many there are.
    pub fn all(&self) -> u64 {
        self.count.iter().fold(1, |all: u64, n| all.saturating_mul(u64::from(*n)))
    }

    /// The first blocks of those to begin with, the first of the grid in front.
    pub fn chosen(&self) -> Vec<[u32; 3]> {
        if self.all() <= SMALL {
            return self.every();
        }
        let ends = |n: u32| if n == 1 { vec![0] } else { vec![0, n - 1] };
        self.places(self.count.map(ends))
    }

    /// The first blocks of all others, where one is so many warp instructions; none if that is too much work.
    pub fn others(&self, steps: u64) -> Vec<[u32; 3]> {
        let all = self.all();
        if all <= SMALL || all > MOST || all.saturating_mul(steps) > WORK {
            return Vec::new();
        }
        let chosen = self.chosen();
        self.every().into_iter().filter(|block| !chosen.contains(block)).collect()
    }

    fn every(&self) -> Vec<[u32; 3]> {
        self.places(self.count.map(|n| (0..n).collect()))
    }

    /// Blocks by their places along each dimension.
    fn places(&self, [xs, ys, zs]: [Vec<u32>; 3]) -> Vec<[u32; 3]> {
        let mut blocks = Vec::new();
        for z in &zs {
            for y in &ys {
                blocks.extend(xs.iter().map(|x| [x * self.each[0], y * self.each[1], z * self.each[2]]));
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::{Units, WORK};

    #[test]
    fn small_grids_whole_and_corners_of_others() {
        let chosen = |grid, cluster| Units::new(grid, cluster).chosen();
        let one = [1; 3];
        assert_eq!(chosen([1, 1, 1], one), [[0; 3]]);
        assert_eq!(chosen([2, 2, 1], one), [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]);
        assert_eq!(chosen([8, 1, 1], one).len(), 8);
        assert_eq!(chosen([9, 1, 1], one), [[0; 3], [8, 0, 0]]);
        assert_eq!(chosen([43, 43, 1], one), [[0, 0, 0], [42, 0, 0], [0, 42, 0], [42, 42, 0]]);
        assert_eq!(chosen([40, 1, 1], [4, 1, 1]), [[0; 3], [36, 0, 0]]);
        assert_eq!(chosen([u32::MAX, 65535, 65535], one).len(), 8);
        assert_eq!(chosen([4, 1, 1], [2, 1, 1]), [[0; 3], [2, 0, 0]]);
    }

    #[test]
    fn others_where_they_are_little_work() {
        let units = Units::new([36, 3, 1], [4, 1, 1]);
        let mut all = units.chosen();
        assert_eq!((units.all(), all.len()), (27, 4));
        assert_eq!(units.others(WORK / 26).len(), 0);
        all.extend(units.others(WORK / 27));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 27);
        assert_eq!(Units::new([4097, 1, 1], [1; 3]).others(1).len(), 0);
        assert_eq!(Units::new([8, 1, 1], [1; 3]).others(1).len(), 0);
    }
}
