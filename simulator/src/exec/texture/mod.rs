//! Texture and surface instructions (PTX ISA, "tex", "tld4", "txq", "suld", "sust", "suq"): the lanes of a warp look through the objects that they
//! name; what depends on the object alone is found once for all lanes that name the same.
//!
//! These are no accesses to a thread's memory: no model delays them or shows them old values, and whoever looks on is not told.
//! The CUDA Programming Guide ("Texture and Surface Memory", "Read/Write Coherency") leaves undefined what a lookup sees of stores of
//! its own launch, so nothing that is defined is missing. A race with them is not found.

mod surface;

use std::cell::Cell;
use std::sync::Arc;

use bugaroo_ptx::op::{Detail, Geometry, Query, Texture};
use bugaroo_ptx::types::Type;

use super::data::{lanes, read_lane, row, write_lane};
use super::step::Flow;
use super::{Machine, Trouble};
use crate::alu::Width;
use crate::decoded::TextureInst;
use crate::fault::{StopKind, TouchKind};
use crate::memory::{Memory, Region};
use crate::texture::{Channel, Level, Lookup, Object, Texel, TexelShape};

/// Memory behind an object: where the last texel was found is tried first.
struct Behind<'m> {
    memory: &'m Memory,
    region: Cell<Region>,
}

impl Behind<'_> {
    /// Where the host finds so many bytes at a device address.
    fn pointer(&self, address: u64, bytes: u64, access: TouchKind) -> Result<*mut u8, StopKind> {
        let inside =
            |region: &Region| region.len >= bytes && address.wrapping_sub(region.base) <= region.len - bytes;
        let mut region = self.region.get();
        if !inside(&region) {
            let found = self.memory.region(address, access == TouchKind::Write);
            region = found.filter(inside).ok_or_else(|| {
                let size = bytes as u32;
                if self.memory.was_freed(address) {
                    return StopKind::Freed { address, size, access };
                }
                self.memory.refused(address, size, access).unwrap_or_else(|| StopKind::OutOfBounds {
                    address,
                    size,
                    access,
                    near: self.memory.nearest(address),
                })
            })?;
            self.region.set(region);
        }
        Ok(address.wrapping_add(region.bias) as *mut u8)
    }

    /// The bytes of a texel, which lies inside of its level.
    fn texel(&self, level: &Level, place: [u64; 3], bytes: u64) -> Result<[u8; 16], StopKind> {
        let pointer = self.pointer(address(level, place, bytes), bytes, TouchKind::Read)?;
        let mut texel = [0; 16];
        // SAFETY: so many bytes are there, 16 at most.
        unsafe { std::ptr::copy_nonoverlapping(pointer, texel.as_mut_ptr(), bytes as usize) };
        Ok(texel)
    }
}

/// The device address of an element of so many bytes. What would be beyond all addresses comes round, and is in no region.
fn address(level: &Level, [x, y, z]: [u64; 3], bytes: u64) -> u64 {
    let row = y.wrapping_mul(level.pitch).wrapping_add(z.wrapping_mul(level.slice));
    level.address.wrapping_add(row).wrapping_add(x.wrapping_mul(bytes))
}

/// An instruction, the object that these lanes name, and where their operands are.
struct Operands<'o> {
    inst: &'o TextureInst,
    handle: u64,
    object: &'o Object,
    frame: *mut u8,
    consts: *const u8,
    mask: u32,
}

impl Operands<'_> {
    /// A lane of a 32-bit operand.
    fn word(&self, slot: i32, lane: usize) -> u32 {
        // SAFETY: the loader's slots, 32 bits wide, of the function whose frame this is.
        unsafe { read_lane(row(self.frame, self.consts, slot), Width::W32, lane) as u32 }
    }

    /// The object is no good for this.
    fn bad(&self, problem: &'static str, lane: u32) -> Trouble {
        Box::new((StopKind::BadTexture { handle: self.handle, problem }, lane))
    }
}

/// Whether an instruction for this geometry may go to an object of this shape. An array of a single row counts as one of
/// one dimension, and the other way round.
fn fits(geometry: Geometry, object: &Object) -> bool {
    let rows = object.levels[0].extent[1];
    match (geometry, object.shape) {
        (Geometry::D1, TexelShape::Line | TexelShape::D1)
        | (Geometry::D2, TexelShape::D2 | TexelShape::D1)
        | (Geometry::D3, TexelShape::D3)
        | (Geometry::A1, TexelShape::A1)
        | (Geometry::A2, TexelShape::A2)
        | (Geometry::Cube, TexelShape::Cube)
        | (Geometry::CubeArray, TexelShape::CubeArray) => true,
        (Geometry::D1, TexelShape::D2) => rows == 1,
        _ => false,
    }
}

impl Machine<'_> {
    /// A fragment's active lanes come to such an instruction.
    pub(super) fn texture(
        &mut self,
        w: usize,
        fragment: usize,
        index: u32,
        active: u32,
    ) -> Result<Flow, Trouble> {
        // What comes out depends on memory that no hook sees.
        self.hang.unproven.set(true);
        let program = self.given.program;
        let inst = &program.textures[index as usize];
        let (rows, consts) = (self.residents.warps[w].fragments[fragment].rows, self.given.constants.base());
        // SAFETY: the loader's slot, 64 bits wide.
        let handle = |lane: usize| unsafe { read_lane(row(rows, consts, inst.handle), Width::W64, lane) };
        let mut left = active;
        while left != 0 {
            let first = left.trailing_zeros();
            let named = handle(first as usize);
            let same = lanes(left).filter(|lane| handle(*lane) == named);
            let same = same.fold(0, |mask, lane| mask | 1 << lane);
            left &= !same;
            let bad = |problem| Box::new((StopKind::BadTexture { handle: named, problem }, first));
            let object = self.memory.objects().get(named).map(Arc::clone);
            let object = object.ok_or_else(|| bad("does not exist, or was destroyed"))?;
            let on = Operands { inst, handle: named, object: &object, frame: rows, consts, mask: same };
            // SAFETY: the loader's rows.
            unsafe {
                match inst.what {
                    Texture::Fetch { .. } | Texture::Gather { .. } => self.fetch(&on)?,
                    Texture::Query { query, surface } => queried(&on, query, surface)?,
                    Texture::Load { geometry, bounds, ty, .. }
                    | Texture::Store { geometry, bounds, ty, .. } => {
                        self.surface(&on, (geometry, bounds, ty.bytes().into()))?;
                    }
                }
            }
        }
        Ok(Flow::Next)
    }

    /// `tex` and `tld4`
    ///
    /// # Safety
    /// The instruction is one of the function whose frame this is.
    unsafe fn fetch(&self, on: &Operands<'_>) -> Result<(), Trouble> {
        let (inst, object) = (on.inst, on.object);
        let first = on.mask.trailing_zeros();
        let lookup = Lookup::new(object).ok_or_else(|| on.bad("is a surface, not a texture", first))?;
        let (Texture::Fetch { geometry, .. } | Texture::Gather { geometry, .. }) = inst.what else {
            unreachable!("nothing else is sent here");
        };
        if !fits(geometry, object) {
            return Err(on.bad("has another shape than the instruction", first));
        }
        let behind = Behind { memory: &self.memory, region: Cell::new(Region::NONE) };
        let bytes = object.format.bytes();
        let read = |level: &Level, place| behind.texel(level, place, bytes);
        for lane in lanes(on.mask) {
            let words = inst.coordinates.map(|slot| on.word(slot, lane));
            let floats = |words: [u32; 3]| words.map(f32::from_bits);
            let operand = |at: usize| floats(inst.detail[at].map(|slot| on.word(slot, lane)));
            let layer = inst.layer.map_or(0, |slot| on.word(slot, lane)).into();
            let texel = match inst.what {
                Texture::Gather { component, .. } => {
                    lookup.gather(component.into(), layer, floats(words), read)
                }
                Texture::Fetch { coordinate: Type::S32, .. } => {
                    lookup.fetch(layer, words.map(|word| word.cast_signed().into()), read)
                }
                Texture::Fetch { detail, .. } => {
                    let detail = match detail {
                        Detail::Base => None,
                        Detail::Level => Some(operand(0)[0]),
                        Detail::Gradients => Some(lookup.asked(operand(0), operand(1))),
                    };
                    lookup.sample(detail, layer, floats(words), read)
                }
                _ => unreachable!("nothing else is sent here"),
            };
            let texel = texel.map_err(|kind| Box::new((kind, lane as u32)))?;
            // SAFETY: the caller's promise.
            unsafe { give(inst, on.frame, lane, texel) };
        }
        Ok(())
    }
}

/// `txq` and `suq`: numbers for types and orders of channels are OpenCL's, as in the ISA.
///
/// # Safety
/// The instruction is one of the function whose frame this is.
unsafe fn queried(on: &Operands<'_>, query: Query, surface: bool) -> Result<(), Trouble> {
    let object = on.object;
    if object.sampling.is_none() != surface {
        let problem = if surface { "is a texture, not a surface" } else { "is a surface, not a texture" };
        return Err(on.bad(problem, on.mask.trailing_zeros()));
    }
    let [width, height, depth] = object.levels[0].extent;
    let value = match query {
        Query::Width => width,
        Query::Height if object.shape.dimensions() > 1 => height,
        Query::Depth if object.shape == TexelShape::D3 => depth,
        Query::ArraySize if matches!(object.shape, TexelShape::A1 | TexelShape::A2) => depth,
        Query::ArraySize if object.shape == TexelShape::CubeArray => depth / 6,
        Query::ArraySize | Query::Height | Query::Depth => 0,
        Query::ChannelDataType => match object.format.channel {
            Channel::S8 => 0x10d7,
            Channel::S16 => 0x10d8,
            Channel::S32 => 0x10d9,
            Channel::U8 => 0x10da,
            Channel::U16 => 0x10db,
            Channel::U32 => 0x10dc,
            Channel::F16 => 0x10dd,
            Channel::F32 => 0x10de,
        },
        Query::ChannelOrder => match object.format.count {
            1 => 0x10b0,
            2 => 0x10b2,
            _ => 0x10b5,
        },
        Query::NormalizedCoords => object.sampling.is_some_and(|sampling| sampling.normalized).into(),
        Query::MipmapLevels => object.levels.len() as u64,
        Query::Samples => 1,
        // No array is linear memory.
        Query::MemoryLayout => 0,
    };
    let (row, width) = on.inst.data[0];
    // SAFETY: the destination is a row of the frame.
    lanes(on.mask).for_each(|lane| unsafe {
        write_lane(on.frame.wrapping_add(row as usize), width, lane, value);
    });
    Ok(())
}

/// Writes four results of a lane.
///
/// # Safety
/// The instruction is one of the function whose frame this is.
unsafe fn give(inst: &TextureInst, frame: *mut u8, lane: usize, texel: Texel) {
    for ((row, width), value) in inst.data.iter().zip(texel) {
        // SAFETY: destinations are rows of the frame.
        unsafe { write_lane(frame.wrapping_add(*row as usize), *width, lane, value.into()) };
    }
    if let Some(row) = inst.resident {
        // SAFETY: as above. All texels of an object are there.
        unsafe { write_lane(frame.wrapping_add(row as usize), Width::Pred, lane, 1) };
    }
}
