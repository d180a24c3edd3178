//! Texture and surface instructions (PTX ISA 9.7.11 "Texture Instructions", 9.7.12 "Surface Instructions").

use crate::types::Type;

/// The shape of the texture or surface that an instruction addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Geometry {
    /// `.1d`
    D1,
    /// `.2d`
    D2,
    /// `.3d`
    D3,
    /// `.a1d`: layers of one dimension.
    A1,
    /// `.a2d`: layers of two dimensions.
    A2,
    /// `.cube`
    Cube,
    /// `.acube`: layers that are cubes.
    CubeArray,
}

impl Geometry {
    /// Coordinates besides the layer: of a cube, the three of a direction.
    pub fn dimensions(self) -> usize {
        match self {
            Geometry::D1 | Geometry::A1 => 1,
            Geometry::D2 | Geometry::A2 => 2,
            Geometry::D3 | Geometry::Cube | Geometry::CubeArray => 3,
        }
    }

    /// Whether a layer's index comes before the coordinates.
    pub fn layered(self) -> bool {
        matches!(self, Geometry::A1 | Geometry::A2 | Geometry::CubeArray)
    }

    /// Elements of the vector of coordinates, those that mean nothing included: three are written as four.
    pub fn written(self) -> usize {
        match self.dimensions() + usize::from(self.layered()) {
            3 => 4,
            count => count,
        }
    }
}

/// How a fetch says the level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Not at all: the base level.
    Base,
    /// `.level`: by an operand.
    Level,
    /// `.grad`: by the derivatives of the coordinates.
    Gradients,
}

/// What a surface access outside of the surface does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// `.trap`: it faults.
    Trap,
    /// `.clamp`: it goes to the nearest place inside.
    Clamp,
    /// `.zero`: a load gives zero, a store does nothing.
    Zero,
}

/// What is asked of a texture or surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the ISA's names")]
pub enum Query {
    Width,
    Height,
    Depth,
    ChannelDataType,
    ChannelOrder,
    NormalizedCoords,
    ArraySize,
    MipmapLevels,
    Samples,
    MemoryLayout,
}

/// An instruction on a texture or surface. In the text handle and coordinates are one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texture {
    /// `tex`: operands `d, [a], {c}`, then the level, or the derivatives by x and by y.
    Fetch {
        /// The shape.
        geometry: Geometry,
        /// How the level of detail is said.
        detail: Detail,
        /// Type of the four results.
        dst: Type,
        /// Type of the coordinates, f32 or s32.
        coordinate: Type,
    },
    /// `tld4`: operands `d, [a], {c}`; one component of the four texels that filtering would look at.
    Gather {
        /// The shape.
        geometry: Geometry,
        /// 0 for `.r` to 3 for `.a`.
        component: u8,
        /// Type of the four results.
        dst: Type,
    },
    /// `suld.b`: operands `d, [a], {c}`; the first coordinate counts bytes.
    Load {
        /// The shape.
        geometry: Geometry,
        /// What happens outside.
        bounds: Bounds,
        /// Elements: 1, 2 or 4.
        vec: u8,
        /// An element, without a meaning.
        ty: Type,
    },
    /// `sust.b`: operands `[a], {c}, s`; the first coordinate counts bytes.
    Store {
        /// The shape.
        geometry: Geometry,
        /// What happens outside.
        bounds: Bounds,
        /// Elements: 1, 2 or 4.
        vec: u8,
        /// An element, without a meaning.
        ty: Type,
    },
    /// `txq`, `suq`: operands `d, [a]`.
    Query {
        /// What is asked.
        query: Query,
        /// It is asked of a surface.
        surface: bool,
    },
}

impl Texture {
    /// How many operands the syntax line has.
    pub(crate) fn operands(self) -> usize {
        match self {
            Texture::Fetch { detail: Detail::Level, .. } => 4,
            Texture::Fetch { detail: Detail::Gradients, .. } => 5,
            Texture::Query { .. } => 2,
            _ => 3,
        }
    }
}
