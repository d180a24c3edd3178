//! What the CUDA Programming Guide ("Texture Fetching") says of a lookup, in double precision, formula by formula: written apart from
//! the driver and the simulator.

/// An address mode, by its number in the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Wrap = 0,
    Clamp = 1,
    Mirror = 2,
    Border = 3,
}

pub const MODES: [Mode; 4] = [Mode::Wrap, Mode::Clamp, Mode::Mirror, Mode::Border];

/// A texture: its values of one component, x first, and how it is looked up.
pub struct Texture<'t> {
    pub values: &'t dyn Fn([usize; 3]) -> f64,
    pub extent: [usize; 3],
    pub dimensions: usize,
    pub mode: Mode,
    pub normalized: bool,
    pub border: f64,
}

/// A value, and by how much it changes at most where each weight is a 256th more or less.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    pub value: f64,
    pub step: f64,
}

impl Texture<'_> {
    /// The coordinate in texels, as the address mode transforms it; None where the border is all that is left.
    fn transformed(&self, coordinate: f64, count: f64) -> f64 {
        let x = if self.normalized { coordinate } else { coordinate / count };
        let x = match self.mode {
            Mode::Wrap if self.normalized => x - x.floor(),
            Mode::Mirror if self.normalized && x.floor() % 2.0 == 0.0 => x - x.floor(),
            Mode::Mirror if self.normalized => 1.0 - (x - x.floor()),
            // Out of range coordinates keep what tells the border.
            Mode::Border => return if self.normalized { x * count } else { coordinate },
            // In texels, so that nothing is rounded.
            _ => {
                let texels = if self.normalized { x * count } else { coordinate };
                return texels.clamp(0.0, count.next_down());
            }
        };
        x * count
    }

    /// The texel `T[i, j, k]`, where one of them may be beyond an edge by one, as filtering goes there.
    fn texel(&self, index: [i64; 3]) -> f64 {
        let mut place = [0; 3];
        for at in 0..self.dimensions {
            let count = self.extent[at] as i64;
            let inside = (0..count).contains(&index[at]);
            place[at] = match self.mode {
                _ if inside => index[at],
                Mode::Border => return self.border,
                Mode::Wrap if self.normalized => (index[at] + count) % count,
                _ => index[at].clamp(0, count - 1),
            } as usize;
        }
        (self.values)(place)
    }

    /// "Nearest-Point Sampling": `T[floor(x), …]`.
    pub fn nearest(&self, coordinates: [f64; 3]) -> f64 {
        let mut index = [0; 3];
        for at in 0..self.dimensions {
            index[at] = self.transformed(coordinates[at], self.extent[at] as f64).floor() as i64;
            if self.mode == Mode::Mirror && self.normalized {
                // 1 - frac is 1 at whole numbers.
                index[at] = index[at].min(self.extent[at] as i64 - 1);
            }
        }
        self.texel(index)
    }

    /// "Linear Filtering": α = frac(x - 0.5) and so on, in 8 bits of fraction.
    pub fn linear(&self, coordinates: [f64; 3]) -> Expected {
        let (mut index, mut weight) = ([0; 3], [0.0; 3]);
        for at in 0..self.dimensions {
            let b = self.transformed(coordinates[at], self.extent[at] as f64) - 0.5;
            index[at] = b.floor() as i64;
            weight[at] = ((b - b.floor()) * 256.0).round() / 256.0;
        }
        let corners: Vec<f64> = (0..1 << self.dimensions)
            .map(|corner| self.texel(std::array::from_fn(|at| index[at] + (corner >> at & 1))))
            .collect();
        let mut value = 0.0;
        for (corner, texel) in corners.iter().enumerate() {
            let mut part = *texel;
            for (at, weight) in weight.iter().enumerate().take(self.dimensions) {
                part *= if corner >> at & 1 == 1 { *weight } else { 1.0 - weight };
            }
            value += part;
        }
        // Along each dimension the result changes by a 256th of a difference of two neighbours, at most.
        let step = (0..self.dimensions).map(|at| {
            let pairs = (0..corners.len()).filter(|corner| corner >> at & 1 == 0);
            pairs.map(|corner| (corners[corner] - corners[corner | 1 << at]).abs()).fold(0.0, f64::max)
        });
        Expected { value, step: step.sum::<f64>() / 256.0 }
    }
}
