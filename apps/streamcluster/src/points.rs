//! The points that are clustered, and distances between them.

use bugaroo_apps_host::noise;

/// Dimensions of each point.
pub const DIMENSIONS: usize = 32;

/// Points, kept both ways.
pub struct Points {
    /// How many they are.
    pub size: usize,
    /// One point after the other.
    by_point: Vec<f32>,
    /// One dimension after the other.
    pub by_dimension: Vec<f32>,
}

impl Points {
    /// `size` points, evenly scattered over the unit cube, as PARSEC's generator scatters them. They
    /// depend on nothing else. (Seed 11: the search over 4,096 of them takes 1,253 gains, which make
    /// about as many stores as the Bugaroo paper counts.)
    pub fn new(size: usize) -> Points {
        let by_point: Vec<f32> = (0..size * DIMENSIONS).map(|i| noise(11, i as u64)).collect();
        let by_dimension = (0..DIMENSIONS)
            .flat_map(|d| (0..size).map(move |p| (p, d)))
            .map(|(p, d)| by_point[p * DIMENSIONS + d]);
        Points { size, by_dimension: by_dimension.collect(), by_point }
    }

    /// One point.
    pub fn point(&self, index: usize) -> &[f32] {
        &self.by_point[index * DIMENSIONS..][..DIMENSIONS]
    }

    /// The squared distance of every point to the one at `index`, added up dimension by dimension as the
    /// kernel does it.
    pub fn distances_to(&self, index: usize) -> Vec<f32> {
        let mut distances = vec![0.0; self.size];
        for row in self.by_dimension.chunks_exact(self.size) {
            let there = row[index];
            for (distance, here) in distances.iter_mut().zip(row) {
                *distance += (here - there) * (here - there);
            }
        }
        distances
    }
}
