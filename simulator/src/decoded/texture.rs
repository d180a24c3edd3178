//! Instructions on textures and surfaces, as the engine runs them.

use bugaroo_ptx::op::Texture;

use crate::alu::Width;

/// One such instruction.
#[derive(Clone, Copy, Debug)]
pub struct TextureInst {
    /// What it does.
    pub what: Texture,
    /// Slot of the 64-bit handles.
    pub handle: i32,
    /// Rows of the results, or slots of what is stored: so many as `count` says.
    pub data: [(i32, Width); 4],
    /// Results, or values that are stored.
    pub count: u8,
    /// Row of the predicate that says whether the texels are there.
    pub resident: Option<u32>,
    /// Slot of the layer.
    pub layer: Option<i32>,
    /// Slots of the coordinates.
    pub coordinates: [i32; 3],
    /// Slots of the level of detail, or of the derivatives by x and by y.
    pub detail: [[i32; 3]; 2],
}

impl TextureInst {
    /// The rows that it writes.
    pub fn results(&self) -> impl Iterator<Item = u32> + '_ {
        let stores = matches!(self.what, Texture::Store { .. });
        let count = if stores { 0 } else { usize::from(self.count) };
        self.data[..count].iter().map(|(row, _)| *row as u32).chain(self.resident)
    }
}
