//! Instructions on textures and surfaces: operands to rows.
//!
//! The handle has to be a register that holds an object's. Variables of type `.texref` and the like are the older
//! references, which CUDA 12 dropped; they are refused by name.

use bugaroo_ptx::ast::{AddressBase, Instruction, Operand};
use bugaroo_ptx::op::{Detail, Geometry, Texture};
use bugaroo_ptx::types::Type;

use super::error::LoadError;
use super::function::{Builder, Current, no_operands};
use super::scope::Name;
use crate::alu::Width;
use crate::decoded::{Kind, TextureInst};

impl<'m> Builder<'m> {
    /// Translates one such instruction.
    pub fn texture(
        &mut self,
        at: &mut Current<'m>,
        inst: &'m Instruction,
        what: Texture,
    ) -> Result<(), LoadError> {
        let mut found = TextureInst {
            what,
            handle: 0,
            data: [(0, Width::W32); 4],
            count: 0,
            resident: None,
            layer: None,
            coordinates: [0; 3],
            detail: [[0; 3]; 2],
        };
        match (what, &inst.operands[..]) {
            (Texture::Fetch { geometry, detail: Detail::Base, dst, coordinate }, [data, handle, place]) => {
                self.results(at, &mut found, data, dst, 4)?;
                found.handle = self.handle(at, handle)?;
                self.coordinates(at, &mut found, place, geometry, coordinate)?;
            }
            (Texture::Load { geometry, vec, ty, .. }, [data, handle, place]) => {
                self.results(at, &mut found, data, ty, vec.into())?;
                found.handle = self.handle(at, handle)?;
                self.coordinates(at, &mut found, place, geometry, Type::B32)?;
            }
            (Texture::Store { geometry, vec, ty, .. }, [handle, place, data]) => {
                self.stored(at, &mut found, data, ty, vec.into())?;
                found.handle = self.handle(at, handle)?;
                self.coordinates(at, &mut found, place, geometry, Type::B32)?;
            }
            (
                Texture::Fetch { geometry, detail, dst, coordinate: Type::F32 },
                [data, handle, place, detail_operands @ ..],
            ) if !(detail == Detail::Gradients && is_cube(geometry)) => {
                self.results(at, &mut found, data, dst, 4)?;
                found.handle = self.handle(at, handle)?;
                self.coordinates(at, &mut found, place, geometry, Type::F32)?;
                for (slots, operand) in found.detail.iter_mut().zip(detail_operands) {
                    let count = if detail == Detail::Level { 1 } else { geometry.dimensions() };
                    // Three derivatives are written as four.
                    let written = if count == 3 { 4 } else { count };
                    let elements = self.elements(at, operand, written)?;
                    for (slot, element) in slots.iter_mut().zip(&elements[..count]) {
                        *slot = self.typed_source(at, element, Type::F32)?;
                    }
                }
            }
            (Texture::Gather { geometry, dst, .. }, [data, handle, place]) if !is_cube(geometry) => {
                self.results(at, &mut found, data, dst, 4)?;
                found.handle = self.handle(at, handle)?;
                self.coordinates(at, &mut found, place, geometry, Type::F32)?;
            }
            (Texture::Query { .. }, [data, handle]) => {
                self.results(at, &mut found, data, Type::B32, 1)?;
                found.handle = self.handle(at, handle)?;
            }
            _ => {
                return Err(self.refuse(at, "this form of a texture or surface instruction is not supported"));
            }
        }
        let index = self.program.textures.len() as u32;
        self.program.textures.push(found);
        self.emit(at, Kind::Texture, no_operands(), index);
        Ok(())
    }

    /// The slot of the handles.
    fn handle(&mut self, at: &mut Current<'m>, operand: &Operand) -> Result<i32, LoadError> {
        let Operand::Address { base, offset: 0 } = operand else {
            return Err(self.refuse(at, "a handle of this form"));
        };
        let (AddressBase::Register(name) | AddressBase::Symbol(name)) = base else {
            return Err(self.refuse(at, "a handle of this form"));
        };
        match self.find(at, name) {
            Some(Name::Register(number, ty)) if ty.bytes() == 8 => Ok(at.row(number, Width::W64) as i32),
            Some(Name::Register(..)) => Err(self.refuse(at, "a handle in a register of this width")),
            _ => {
                let what = format!(
                    "`{name}` is a texture or surface reference, which CUDA 12 dropped: only objects are supported"
                );
                Err(self.refuse(at, what))
            }
        }
    }

    /// The rows that results go to, and the predicate behind them.
    fn results(
        &mut self,
        at: &mut Current<'m>,
        found: &mut TextureInst,
        operand: &Operand,
        ty: Type,
        count: usize,
    ) -> Result<(), LoadError> {
        let rows = match operand {
            Operand::Pair(rows, resident) => {
                found.resident = Some(self.typed_destination(at, resident, Type::Pred)?);
                rows
            }
            rows => rows,
        };
        for (place, element) in found.data.iter_mut().zip(self.elements(at, rows, count)?) {
            let (row, width) = self.destination(at, element, ty)?;
            if width == Width::Pred || width.bytes() / 32 < ty.bytes() {
                return Err(self.refuse(at, "a register narrower than the type"));
            }
            *place = (row as i32, width);
        }
        found.count = count as u8;
        Ok(())
    }

    /// The slots of what is stored.
    fn stored(
        &mut self,
        at: &mut Current<'m>,
        found: &mut TextureInst,
        operand: &Operand,
        ty: Type,
        count: usize,
    ) -> Result<(), LoadError> {
        for (place, element) in found.data.iter_mut().zip(self.elements(at, operand, count)?) {
            let source = self.source(at, element, ty)?;
            if source.width == Width::Pred || source.width.bytes() / 32 < ty.bytes() {
                return Err(self.refuse(at, "a register narrower than the type"));
            }
            *place = (source.slot, source.width);
        }
        found.count = count as u8;
        Ok(())
    }

    /// The layer and the coordinates; what fills a vector up to four means nothing.
    fn coordinates(
        &mut self,
        at: &mut Current<'m>,
        found: &mut TextureInst,
        operand: &Operand,
        geometry: Geometry,
        ty: Type,
    ) -> Result<(), LoadError> {
        let (layered, count) = (usize::from(geometry.layered()), geometry.dimensions());
        let written = match operand {
            Operand::Vector(elements) if elements.len() == layered + count => elements.len(),
            _ => geometry.written(),
        };
        let elements = self.elements(at, operand, written)?;
        if layered != 0 {
            found.layer = Some(self.typed_source(at, &elements[0], Type::U32)?);
        }
        for (slot, element) in found.coordinates.iter_mut().zip(&elements[layered..layered + count]) {
            *slot = self.typed_source(at, element, ty)?;
        }
        Ok(())
    }
}

fn is_cube(geometry: Geometry) -> bool {
    matches!(geometry, Geometry::Cube | Geometry::CubeArray)
}
