//! Texture and surface objects: what a handle names, as far as a kernel needs it (CUDA Programming Guide, "Texture and
//! Surface Memory"; CUDA Driver API, "Texture Object Management"). The host makes and destroys them; kernels look through them.
//!
//! Texels are read from memory at the moment of the lookup: there is no texture cache. The guide leaves undefined what
//! a lookup sees of stores of its own launch; here it sees those that have reached memory.

mod cube;
mod detail;
mod format;
mod lookup;
mod wrap;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use detail::LevelOfDetail;
pub use format::{Channel, Texel, TexelFormat};
pub use lookup::Lookup;

/// How the texels of an object lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TexelShape {
    /// Linear memory, fetched by index.
    Line,
    /// One dimension.
    D1,
    /// Two.
    D2,
    /// Three.
    D3,
    /// Layers of one dimension.
    A1,
    /// Layers of two dimensions.
    A2,
    /// Six faces.
    Cube,
    /// Layers of six faces.
    CubeArray,
}

impl TexelShape {
    /// Dimensions of a layer or a face.
    pub fn dimensions(self) -> usize {
        match self {
            TexelShape::Line | TexelShape::D1 | TexelShape::A1 => 1,
            TexelShape::D2 | TexelShape::A2 | TexelShape::Cube | TexelShape::CubeArray => 2,
            TexelShape::D3 => 3,
        }
    }
}

/// One level of an object: texels in memory, row after row and slice after slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Device address of the first texel.
    pub address: u64,
    /// Texels of a row, rows of a slice, slices; of layers and cubes a slice is a layer or a face. None is 0.
    pub extent: [u64; 3],
    /// Bytes from one row to the next.
    pub pitch: u64,
    /// Bytes from one slice to the next.
    pub slice: u64,
}

/// What becomes of a coordinate outside of the texture (CUDA Programming Guide, "Texture Fetching").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    /// The texture is repeated; with normalised coordinates alone.
    Wrap,
    /// The texel at the edge.
    Clamp,
    /// The texture is repeated, every other time backwards; with normalised coordinates alone.
    Mirror,
    /// The border's colour.
    Border,
}

/// How a texture is looked up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// By dimension. Without normalised coordinates no `Wrap` and no `Mirror`.
    pub address: [AddressMode; 3],
    /// Linear filtering between texels; else the nearest one.
    pub linear: bool,
    /// Coordinates go from 0 to 1; else from 0 to the extent.
    pub normalized: bool,
    /// Integers of 8 and 16 bits are read as floats, from 0 or -1 to 1.
    pub as_float: bool,
    /// Red, green and blue of 8 bits are taken from sRGB to linear values.
    pub srgb: bool,
    /// The border's colour: floats, or, where texels are read as integers, zeros.
    pub border: [f32; 4],
    /// How a level of detail is chosen.
    pub detail: LevelOfDetail,
}

/// What a handle names.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// How the texels lie.
    pub shape: TexelShape,
    /// What they are.
    pub format: TexelFormat,
    /// The levels of detail, the finest first; at least one.
    pub levels: Vec<Level>,
    /// None for a surface, which is not looked up but accessed.
    pub sampling: Option<Sampling>,
}

/// The objects that kernels know, by their handles.
#[derive(Clone, Debug, Default)]
pub struct TextureObjects {
    objects: BTreeMap<u64, Arc<Object>>,
}

impl TextureObjects {
    /// From now on this handle names this object.
    pub fn insert(&mut self, handle: u64, object: Object) {
        self.objects.insert(handle, Arc::new(object));
    }

    /// The handle names nothing any more.
    pub fn remove(&mut self, handle: u64) {
        self.objects.remove(&handle);
    }

    /// What a handle names.
    pub fn get(&self, handle: u64) -> Option<&Arc<Object>> {
        self.objects.get(&handle)
    }
}
