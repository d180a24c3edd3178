//! `tex`, `tld4`, `suld`, `sust`, `txq`, `suq` (PTX ISA 9.7.11, 9.7.12) in the unified mode, where one operand names the
//! texture with its sampler. Multisampled textures, packed results, formatted surface accesses and reductions are not known.

use crate::op::{Bounds, Detail, Geometry, Op, Query, Texture};
use crate::types::Type;

use super::modifiers::Modifiers;

pub(super) fn decode(opcode: &str, m: &mut Modifiers<'_>) -> Option<Op> {
    let found = match opcode {
        "tex" => {
            let detail = m.one_of(&[("level", Detail::Level), ("grad", Detail::Gradients)]);
            let geometry = geometry(m)?;
            let dst = four(m)?;
            let coordinate = m.ty_in(&[Type::F32, Type::S32])?;
            Texture::Fetch { geometry, detail: detail.unwrap_or(Detail::Base), dst, coordinate }
        }
        "tld4" => {
            let component = m.one_of(&[("r", 0), ("g", 1), ("b", 2), ("a", 3)])?;
            let geometry = geometry(m)?;
            let dst = four(m)?;
            m.ty_in(&[Type::F32])?;
            let fits = !matches!(geometry, Geometry::D1 | Geometry::A1 | Geometry::D3);
            return fits.then_some(Op::Texture(Texture::Gather { geometry, component, dst }));
        }
        "suld" | "sust" => {
            if !m.flag("b") {
                return None;
            }
            let geometry = geometry(m)?;
            m.cache_hints();
            let vec = m.vector();
            let ty = m.ty_in(&[Type::B8, Type::B16, Type::B32, Type::B64])?;
            let bounds =
                m.one_of(&[("trap", Bounds::Trap), ("clamp", Bounds::Clamp), ("zero", Bounds::Zero)]);
            let bounds = bounds.unwrap_or(Bounds::Trap);
            if matches!(geometry, Geometry::Cube | Geometry::CubeArray) || u32::from(vec) * ty.bytes() > 16 {
                return None;
            }
            match opcode {
                "suld" => Texture::Load { geometry, bounds, vec, ty },
                _ => Texture::Store { geometry, bounds, vec, ty },
            }
        }
        "txq" | "suq" => {
            let query = query(m)?;
            m.ty_in(&[Type::B32])?;
            let surface = opcode == "suq";
            let fits = match query {
                Query::NormalizedCoords | Query::MipmapLevels | Query::Samples => !surface,
                Query::MemoryLayout => surface,
                _ => true,
            };
            return fits.then_some(Op::Texture(Texture::Query { query, surface }));
        }
        _ => return None,
    };
    Some(Op::Texture(found))
}

fn geometry(m: &mut Modifiers<'_>) -> Option<Geometry> {
    m.one_of(&[
        ("1d", Geometry::D1),
        ("2d", Geometry::D2),
        ("3d", Geometry::D3),
        ("a1d", Geometry::A1),
        ("a2d", Geometry::A2),
        ("cube", Geometry::Cube),
        ("acube", Geometry::CubeArray),
    ])
}

/// `.v4` and the type of four results of 32 bits.
fn four(m: &mut Modifiers<'_>) -> Option<Type> {
    if !m.flag("v4") {
        return None;
    }
    m.ty_in(&[Type::F32, Type::S32, Type::U32])
}

fn query(m: &mut Modifiers<'_>) -> Option<Query> {
    m.one_of(&[
        ("width", Query::Width),
        ("height", Query::Height),
        ("depth", Query::Depth),
        ("channel_data_type", Query::ChannelDataType),
        ("channel_order", Query::ChannelOrder),
        ("normalized_coords", Query::NormalizedCoords),
        ("array_size", Query::ArraySize),
        ("num_mipmap_levels", Query::MipmapLevels),
        ("num_samples", Query::Samples),
        ("memory_layout", Query::MemoryLayout),
    ])
}

#[cfg(test)]
mod tests;
