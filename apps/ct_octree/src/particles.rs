//! The particles: half of them spread over the cube, half in clusters, so that the tree is uneven.

/// Bits of a coordinate; the cube's edge is 2 to this power.
pub const COORDINATE_BITS: u32 = 16;

/// A particle: its coordinates.
pub type Particle = [u16; 3];

/// Clusters that half of the particles stand in.
const CLUSTERS: usize = 3;
/// A coordinate within a cluster is the sum of this many uniform numbers below [`CLUSTER_SPREAD`].
const CLUSTER_SUMMANDS: u32 = 4;
const CLUSTER_SPREAD: u32 = 1 << (COORDINATE_BITS - 4);

/// `count` particles, the same every time.
pub fn particles(count: u32) -> Vec<Particle> {
    let mut random = Random { state: 0x2545_f491 };
    let span = CLUSTER_SUMMANDS * CLUSTER_SPREAD;
    let corners: [Particle; CLUSTERS] =
        std::array::from_fn(|_| std::array::from_fn(|_| random.below((1 << COORDINATE_BITS) - span) as u16));
    let mut one = |index: u32| -> Particle {
        if index.is_multiple_of(2) {
            return std::array::from_fn(|_| random.below(1 << COORDINATE_BITS) as u16);
        }
        let corner = corners[(index / 2) as usize % CLUSTERS];
        corner.map(|start| {
            start + (0..CLUSTER_SUMMANDS).map(|_| random.below(CLUSTER_SPREAD) as u16).sum::<u16>()
        })
    };
    (0..count).map(&mut one).collect()
}

/// The word in which the device has a particle: x lowest, then y, then z.
pub fn packed(particle: Particle) -> u64 {
    let [x, y, z] = particle.map(u64::from);
    x | y << COORDINATE_BITS | z << (2 * COORDINATE_BITS)
}

/// The code of the cell at `depth` that holds a particle: a 1, then three bits a level from the root,
/// of which the lowest says the half in x.
pub fn code(particle: Particle, depth: u32) -> u32 {
    (0..depth).fold(1, |code, level| {
        let [x, y, z] = particle.map(|coordinate| u32::from(coordinate) >> (COORDINATE_BITS - 1 - level) & 1);
        code << 3 | z << 2 | y << 1 | x
    })
}

/// A linear congruential generator (Knuth's MMIX constants), of which the high bits are used.
struct Random {
    state: u64,
}

impl Random {
    /// A number below `bound`, as good as uniform for the small bounds here.
    fn below(&mut self, bound: u32) -> u32 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.state >> 32) * u64::from(bound)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests;
