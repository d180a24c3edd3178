//! Levels of detail (CUDA Programming Guide, "Mipmapped" arrays and `CUDA_TEXTURE_DESC`; PTX ISA, "tex.level", "tex.grad"; the OpenGL
//! specification, "Scale Factor and Level of Detail", for what derivatives come to, which CUDA does not say).

/// How a level is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelOfDetail {
    /// Two levels are mixed; else the nearest one.
    pub linear: bool,
    /// Added to what a lookup asks for.
    pub bias: f32,
    /// The sum is no less.
    pub least: f32,
    /// And no more.
    pub most: f32,
}

impl LevelOfDetail {
    /// The level for what a lookup asks for, among so many: its number, and the weight of the next one in steps of a 256th.
    pub(super) fn levels(&self, asked: f32, count: usize) -> (usize, u32) {
        let wanted = f64::from(asked) + f64::from(self.bias);
        let wanted = wanted.max(self.least.into()).min(self.most.into());
        // What is no number asks for the first.
        let wanted = if wanted.is_nan() { 0.0 } else { wanted.clamp(0.0, count as f64 - 1.0) };
        if !self.linear {
            return ((wanted + 0.5).floor().min(count as f64 - 1.0) as usize, 0);
        }
        let first = wanted.floor();
        let weight = ((wanted - first) * super::wrap::STEPS).round() as u32;
        (first as usize, weight)
    }
}

/// The level that derivatives in texels ask for: the binary logarithm of the longer one.
pub(super) fn asked(by_x: [f64; 3], by_y: [f64; 3]) -> f32 {
    let length = |of: [f64; 3]| of.iter().map(|part| part * part).sum::<f64>().sqrt();
    length(by_x).max(length(by_y)).log2() as f32
}
