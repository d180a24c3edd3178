//! Surface accesses (PTX ISA, "suld", "sust"; CUDA C++ Programming Guide, "Surface Functions"): elements of an array without a
//! meaning, the first coordinate in bytes.
//!
//! A clamped access goes to the nearest place that has all of its bytes. One that is not a multiple of its size faults, which the
//! ISA allows.

use std::cell::Cell;

use bugaroo_ptx::op::{Bounds, Geometry, Texture};

use super::{Behind, Operands, address};
use crate::exec::data::{lanes, read_lane, row, write_lane};
use crate::exec::{Machine, Trouble};
use crate::fault::{StopKind, TouchKind};
use crate::memory::Region;
use crate::texture::{Level, Object, TexelShape};

/// The extents that the coordinates of an instruction for this geometry have, layers last; None where the object has another
/// shape. Layers of a cube are its faces. An array of a single row counts as one of one dimension, and the other way round.
fn extents(geometry: Geometry, object: &Object) -> Option<[u64; 3]> {
    let [width, height, depth] = object.levels[0].extent;
    let found = match (geometry, object.shape) {
        (Geometry::D1, TexelShape::D1) | (Geometry::A1, TexelShape::A1) => [width, 1, depth],
        (Geometry::D1, TexelShape::D2) if height == 1 => [width, 1, 1],
        (Geometry::D2, TexelShape::D1 | TexelShape::D2)
        | (Geometry::D3, TexelShape::D3)
        | (Geometry::A2, TexelShape::A2 | TexelShape::Cube | TexelShape::CubeArray) => [width, height, depth],
        _ => return None,
    };
    Some(found)
}

/// Where an access of `size` bytes goes: its first byte within the row, its row and its slice. None outside.
fn place(at: [i64; 3], extents: [u64; 3], element: u64, size: u64, clamp: bool) -> Option<[u64; 3]> {
    // The first that is too far, in each dimension.
    let [width, height, depth] = extents;
    let ends = [(width * element).saturating_sub(size - 1), height, depth];
    let mut place = [0; 3];
    for ((to, at), end) in place.iter_mut().zip(at).zip(ends) {
        let end = i64::try_from(end).unwrap_or(i64::MAX);
        let inside = (0..end).contains(&at);
        if end == 0 || !inside && !clamp {
            return None;
        }
        *to = at.clamp(0, end - 1).cast_unsigned();
    }
    if clamp && at[0] >= ends[0].cast_signed() {
        // The last element of the row.
        place[0] -= place[0] % size;
    }
    Some(place)
}

impl Machine<'_> {
    /// Runs `suld` or `sust` for lanes that name one object.
    ///
    /// # Safety
    /// The instruction is one of the function whose frame this is.
    pub(super) unsafe fn surface(
        &self,
        on: &Operands<'_>,
        (geometry, bounds, size): (Geometry, Bounds, u64),
    ) -> Result<(), Trouble> {
        let (inst, object) = (on.inst, on.object);
        let store = matches!(inst.what, Texture::Store { .. });
        let access = if store { TouchKind::Write } else { TouchKind::Read };
        let first = on.mask.trailing_zeros();
        if object.sampling.is_some() {
            return Err(on.bad("is a texture, not a surface", first));
        }
        let extents = extents(geometry, object);
        let extents = extents.ok_or_else(|| on.bad("has another shape than the instruction", first))?;
        if store {
            // Memory changes that no hook sees.
            self.hang.unseen.set(true);
        }
        let element = object.format.bytes();
        let bytes = size * u64::from(inst.count);
        let level: &Level = &object.levels[0];
        let behind = Behind { memory: &self.memory, region: Cell::new(Region::NONE) };
        for lane in lanes(on.mask) {
            let trouble = |kind: StopKind| Box::new((kind, lane as u32));
            let mut at = [0_i64; 3];
            for (to, slot) in at.iter_mut().zip(inst.coordinates).take(geometry.dimensions()) {
                *to = on.word(slot, lane).cast_signed().into();
            }
            if let Some(layer) = inst.layer {
                at[2] = on.word(layer, lane).cast_signed().into();
            }
            let Some(place) = place(at, extents, element, bytes, bounds == Bounds::Clamp) else {
                if bounds == Bounds::Trap {
                    return Err(on.bad("is accessed outside of its extents", lane as u32));
                }
                if !store {
                    let rows = inst.data.iter().take(inst.count.into());
                    // SAFETY: destinations are rows of the frame.
                    rows.for_each(|(row, width)| unsafe {
                        write_lane(on.frame.wrapping_add(*row as usize), *width, lane, 0);
                    });
                }
                continue;
            };
            let start = address(level, place, 1);
            if !place[0].is_multiple_of(bytes) {
                let size = bytes as u32;
                return Err(trouble(StopKind::Misaligned { address: start, size, access }));
            }
            let pointer = behind.pointer(start, bytes, access).map_err(trouble)?;
            for (element, (slot, width)) in inst.data.iter().take(inst.count.into()).enumerate() {
                let (pointer, count) = (pointer.wrapping_add(element * size as usize), size as usize);
                let mut word = [0_u8; 8];
                // SAFETY: the loader's rows; so many bytes are there, 8 at most.
                unsafe {
                    if store {
                        word = read_lane(row(on.frame, on.consts, *slot), *width, lane).to_le_bytes();
                        std::ptr::copy_nonoverlapping(word.as_ptr(), pointer, count);
                    } else {
                        std::ptr::copy_nonoverlapping(pointer, word.as_mut_ptr(), count);
                        let to = on.frame.wrapping_add(*slot as usize);
                        write_lane(to, *width, lane, u64::from_le_bytes(word));
                    }
                }
            }
        }
        Ok(())
    }
}
