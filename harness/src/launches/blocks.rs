//! Which blocks of a grid are looked at, where not all of them can be looked at at once.
//!
//! Every one of a small grid. Of others the corners: in each dimension the first, where much starts, and the last, where data that
//! is no multiple of a block ends. Clusters are looked at whole, so that their first blocks stand for them.

/// Blocks of a grid that are all looked at; in clusters, so many clusters.
const ALL: u64 = 8;

/// Blocks to look at, the first of the grid in front; the first block of each cluster.
pub(super) fn chosen(grid: [u32; 3], cluster: [u32; 3]) -> Vec<[u32; 3]> {
    let units: [u32; 3] = std::array::from_fn(|d| (grid[d] / cluster[d].max(1)).max(1));
    let all = units.iter().fold(1, |all: u64, n| all.saturating_mul(u64::from(*n))) <= ALL;
    let along = |d: usize| -> Vec<u32> {
        let last = units[d] - 1;
        let mut places: Vec<u32> = if all { (0..=last).collect() } else { vec![0, last] };
        places.dedup();
        places.iter().map(|at| at * cluster[d].max(1)).collect()
    };
    let [xs, ys, zs] = [along(0), along(1), along(2)];
    let mut blocks = Vec::new();
    for z in &zs {
        for y in &ys {
            blocks.extend(xs.iter().map(|x| [*x, *y, *z]));
        }
    }
    blocks
}

/// Whether these are all blocks, or first blocks of clusters, of a grid.
pub(super) fn is_all(chosen: &[[u32; 3]], grid: [u32; 3], cluster: [u32; 3]) -> bool {
    let unit = |d: usize| u64::from((grid[d] / cluster[d].max(1)).max(1));
    chosen.len() as u64 == unit(0).saturating_mul(unit(1)).saturating_mul(unit(2))
}

#[cfg(test)]
mod tests {
    use super::{chosen, is_all};

    #[test]
    fn small_grids_whole_and_corners_of_others() {
        let one = [1; 3];
        assert_eq!(chosen([1, 1, 1], one), [[0; 3]]);
        assert_eq!(chosen([2, 2, 1], one), [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]);
        assert_eq!(chosen([8, 1, 1], one).len(), 8);
        assert_eq!(chosen([9, 1, 1], one), [[0; 3], [8, 0, 0]]);
        assert_eq!(chosen([43, 43, 1], one), [[0, 0, 0], [42, 0, 0], [0, 42, 0], [42, 42, 0]]);
        assert_eq!(chosen([40, 1, 1], [4, 1, 1]), [[0; 3], [36, 0, 0]]);
        assert_eq!(chosen([u32::MAX, 65535, 65535], one).len(), 8);
        assert!(is_all(&chosen([4, 1, 1], [2, 1, 1]), [4, 1, 1], [2, 1, 1]));
        assert!(!is_all(&chosen([9, 1, 1], one), [9, 1, 1], one));
    }
}
