//! Loads, stores and atomics.

use bugaroo_ptx::ast::{AddressBase, FunctionKind, Instruction, Operand};
use bugaroo_ptx::op::{AtomOp, Op};
use bugaroo_ptx::types::{Semantics, Space, Type};

use super::error::LoadError;
use super::function::{Builder, Current, no_operands};
use super::scope::Name;
use super::symbols::is_ours;
use crate::address::{PARAM_WINDOW, SHARED_WINDOW};
use crate::alu::Width;
use crate::decoded::{
    Address, Atomic, Base, Counted, DecodedAccess, HighHalves, Kind, LaunchValue, WORD_ROW,
};

/// Where an access goes: memory, or word rows of the frame.
enum Place {
    Memory(Address),
    /// Offset of the variable's rows, its bytes, and the byte accessed.
    Words(u32, u32, i64),
}

/// The space as the engine sees it.
fn engine_space(space: Space) -> Space {
    match space {
        Space::Const => Space::Global,
        // The CTA's own shared memory is a part of the cluster's window.
        Space::SharedCluster => Space::Shared,
        other => other,
    }
}

impl<'m> Builder<'m> {
    fn place(&mut self, at: &mut Current<'m>, operand: &Operand, space: Space) -> Result<Place, LoadError> {
        let Operand::Address { base, offset } = operand else {
            return Err(self.refuse(at, "an address of this form"));
        };
        let space = engine_space(space);
        let generic = space == Space::Generic;
        let memory = |base, offset, space| Ok(Place::Memory(Address { base, offset, space }));
        match base {
            AddressBase::Absolute => memory(Base::Fixed, *offset as u64, space),
            AddressBase::Register(name) => {
                let Some(Name::Register(number, ty)) = self.find(at, name) else {
                    return Err(self.refuse(at, format!("`{name}` is not a register")));
                };
                if space == Space::Param && at.function.kind == FunctionKind::Func {
                    return Err(self.refuse(at, "a computed address of a function's parameter"));
                }
                let base = match ty.bytes() {
                    8 => Base::Row64(at.row(number, Width::W64) as i32),
                    // Sums come round at 32 bits: a larger offset would be another one.
                    4 if (-(1 << 31)..1 << 32).contains(offset) => {
                        Base::Row32(at.row(number, Width::W32) as i32)
                    }
                    4 => return Err(self.refuse(at, "an offset of more bits than the register has")),
                    _ => return Err(self.refuse(at, "an address in a register of this width")),
                };
                memory(base, *offset as u64, space)
            }
            AddressBase::Symbol(name) => {
                let found = self.find(at, name);
                // Where an offset leaves the variable, the access faults when it is executed.
                let add = |base: u64| base.wrapping_add_signed(*offset);
                match (found, space) {
                    (Some(Name::Words { offset: row, bytes }), Space::Param) => {
                        Ok(Place::Words(row, bytes, *offset))
                    }
                    (Some(Name::KernelParam { offset }), Space::Param) => {
                        memory(Base::Fixed, add(u64::from(offset)), Space::Param)
                    }
                    (Some(Name::KernelParam { offset }), Space::Generic) => {
                        memory(Base::Fixed, add(PARAM_WINDOW + u64::from(offset)), Space::Generic)
                    }
                    (Some(Name::Global { address }), Space::Global | Space::Generic) => {
                        memory(Base::Fixed, add(address), Space::Global)
                    }
                    (Some(Name::Shared { offset }), Space::Shared) => {
                        memory(Base::Fixed, add(u64::from(offset)), Space::Shared)
                    }
                    (Some(Name::Shared { offset }), Space::Generic) => {
                        memory(Base::Fixed, add(SHARED_WINDOW + u64::from(offset)), Space::Generic)
                    }
                    (Some(Name::DynamicShared), Space::Shared | Space::Generic) => {
                        let value = LaunchValue::DynamicShared(0, generic);
                        let slot = self.program.constants.launch_slot(Width::W64, value);
                        memory(Base::Row64(slot), *offset as u64, space)
                    }
                    (Some(Name::Local { offset }), Space::Local) => {
                        memory(Base::FrameLocal, add(u64::from(offset)), Space::Local)
                    }
                    (Some(Name::Register(..)), _) => {
                        let register = AddressBase::Register(name.clone());
                        self.place(at, &Operand::Address { base: register, offset: *offset }, space)
                    }
                    (Some(_), _) => Err(self.refuse(at, format!("`{name}` is not in this state space"))),
                    (None, _) => Err(self.refuse(at, format!("`{name}` is not defined here"))),
                }
            }
        }
    }

    /// An address of memory that several threads see.
    pub(super) fn memory_address(
        &mut self,
        at: &mut Current<'m>,
        operand: &Operand,
        space: Space,
    ) -> Result<Address, LoadError> {
        match self.place(at, operand, space)? {
            Place::Memory(address)
                if matches!(address.space, Space::Global | Space::Shared | Space::Generic) =>
            {
                Ok(address)
            }
            _ => Err(self.refuse(at, "an address in this state space")),
        }
    }

    /// `ld`, `ldu`, `st`.
    pub fn load_store(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        let (store, space, semantics, vec, ty) = match inst.op {
            Op::Ld { space, sem, vec, ty, .. } => (false, space, sem, vec, ty),
            Op::Ldu { space, vec, ty } => (false, space, Semantics::Weak, vec, ty),
            Op::St { space, sem, vec, ty } => (true, space, sem, vec, ty),
            _ => unreachable!("only loads and stores come here"),
        };
        // Loads may carry a cache policy as a last operand; it changes no value.
        let (data, address) = match &inst.operands[..] {
            [address, data, ..] if store => (data, address),
            [data, address, ..] if !store => (data, address),
            _ => return Err(self.refuse(at, "needs an address and data")),
        };
        let elements: &[Operand] = match data {
            Operand::Vector(elements) => elements,
            single => std::slice::from_ref(single),
        };
        if elements.len() != usize::from(vec) || !matches!(vec, 1 | 2 | 4 | 8) {
            return Err(self.refuse(at, "a vector of another length than the instruction's"));
        }
        // 128 bits go as two halves.
        let wide = ty == Type::B128;
        let (size, vec) = if wide { (8, vec.saturating_mul(2)) } else { (ty.bytes(), vec) };
        if !matches!(size, 1 | 2 | 4 | 8) || size * u32::from(vec) > 32 {
            return Err(self.refuse(at, "elements of this size"));
        }
        let mut access = DecodedAccess {
            address: Address { base: Base::Fixed, offset: 0, space },
            size: size as u8,
            vec,
            signed: ty.is_signed(),
            width: [Width::W32; 8],
            rows: [0; 8],
            visible: matches!(space, Space::Generic | Space::Global | Space::Shared | Space::SharedCluster),
            watched: matches!(
                space,
                Space::Generic | Space::Global | Space::Shared | Space::SharedCluster | Space::Const
            ),
            counted: match space {
                _ if !store || is_ours(&at.function.name) => Counted::Nowhere,
                Space::Shared | Space::SharedCluster => Counted::Shared,
                Space::Global => Counted::Global,
                Space::Generic => Counted::ByAddress,
                _ => Counted::Nowhere,
            },
            semantics,
        };
        for (i, element) in elements.iter().enumerate() {
            if wide {
                let rows = self.halves(at, element)?;
                for (half, row) in rows.into_iter().enumerate() {
                    (access.rows[2 * i + half], access.width[2 * i + half]) = (row as i32, Width::W64);
                }
                continue;
            }
            (access.rows[i], access.width[i]) = if store {
                let source = self.source(at, element, ty)?;
                (source.slot, source.width)
            } else {
                let (row, width) = self.destination(at, element, ty)?;
                (row as i32, width)
            };
            if access.width[i] == Width::Pred || access.width[i].bytes() / 32 < size {
                return Err(self.refuse(at, "a register narrower than the type"));
            }
        }
        let kind = match self.place(at, address, space)? {
            Place::Memory(address) => {
                access.address = address;
                if store { Kind::Store } else { Kind::Load }
            }
            Place::Words(row, bytes, offset) => {
                let end = offset.checked_add(i64::from(size) * i64::from(vec));
                let inside = offset >= 0 && end.is_some_and(|end| end <= i64::from(bytes));
                if !inside || offset % i64::from(size) != 0 {
                    return Err(self.refuse(at, "bytes that the parameter does not have, or misaligned ones"));
                }
                // The byte within the word goes along in the address.
                access.address.offset = u64::from(row) + offset as u64 / 4 * u64::from(WORD_ROW);
                access.address.offset |= (offset as u64 % 4) << 32;
                if store { Kind::ParamStore } else { Kind::ParamLoad }
            }
        };
        let index = self.program.accesses.len() as u32;
        self.program.accesses.push(access);
        self.emit(at, kind, no_operands(), index);
        Ok(())
    }

    /// `atom`, `red`.
    pub fn atomic(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        let (returns, space, semantics, op, ty, vec) = match inst.op {
            Op::Atom { space, sem, op, ty, vec, .. } => (true, space, sem, op, ty, vec),
            Op::Red { space, sem, op, ty, vec, .. } => (false, space, sem, op, ty, vec),
            _ => unreachable!("only atomics come here"),
        };
        let operands = &inst.operands[..];
        let (dst, rest) = if returns {
            let Some((dst, rest)) = operands.split_first() else {
                return Err(self.refuse(at, "no operands"));
            };
            (Some(dst), rest)
        } else {
            (None, operands)
        };
        let values = if op == AtomOp::Cas { 2 } else { 1 };
        let Some((address, sources)) = rest.split_first().filter(|(_, s)| s.len() >= values) else {
            return Err(self.refuse(at, "needs an address and values"));
        };
        if vec > 1 {
            return self.atomic_vector(at, inst, returns, vec);
        }
        self.atomic_element(at, (op, ty, space, semantics), dst, address, &sources[..values])
    }

    /// Element by element, in order: a vector is not atomic as a whole (PTX ISA, "atom").
    fn atomic_vector(
        &mut self,
        at: &mut Current<'m>,
        inst: &'m Instruction,
        returns: bool,
        vec: u8,
    ) -> Result<(), LoadError> {
        let (Op::Atom { space, sem, op, ty, .. } | Op::Red { space, sem, op, ty, .. }) = inst.op else {
            unreachable!("only atomics come here");
        };
        let (dst, address, data) = match &inst.operands[..] {
            [Operand::Vector(dst), address, Operand::Vector(data), ..] if returns => {
                (&dst[..], address, data)
            }
            [Operand::Sink, address, Operand::Vector(data), ..] if returns => (&[][..], address, data),
            [address, Operand::Vector(data), ..] if !returns => (&[][..], address, data),
            _ => return Err(self.refuse(at, "operands that are no vectors")),
        };
        let Operand::Address { base, offset } = address else {
            return Err(self.refuse(at, "an address of this form"));
        };
        if data.len() != usize::from(vec) || !(dst.is_empty() || dst.len() == data.len()) {
            return Err(self.refuse(at, "a vector of another length than the instruction's"));
        }
        for (i, value) in data.iter().enumerate() {
            if i > 0 && dst[..i.min(dst.len())].contains(value) {
                return Err(self.refuse(at, "a result that a later element of the vector needs"));
            }
            let Some(offset) = offset.checked_add(i as i64 * i64::from(ty.bytes())) else {
                return Err(self.refuse(at, "an offset that no address can have"));
            };
            let address = Operand::Address { base: base.clone(), offset };
            let what = (op, ty, space, sem);
            self.atomic_element(at, what, dst.get(i), &address, std::slice::from_ref(value))?;
        }
        Ok(())
    }

    fn atomic_element(
        &mut self,
        at: &mut Current<'m>,
        (op, ty, space, semantics): (AtomOp, Type, Space, Semantics),
        dst: Option<&Operand>,
        address: &Operand,
        sources: &[Operand],
    ) -> Result<(), LoadError> {
        if !supported(op, ty) {
            return Err(self.refuse(at, "this operation on this type"));
        }
        if ty == Type::B128 {
            return self.atomic_wide(at, (op, space, semantics), dst, address, sources);
        }
        let width = Current::width(ty).ok_or_else(|| self.refuse(at, "operands of this width"))?;
        let dst = match dst {
            None | Some(Operand::Sink) => None,
            Some(operand) => {
                let (row, found) = self.destination(at, operand, ty)?;
                if found != width {
                    return Err(self.refuse(at, "a register of another width than the type"));
                }
                Some(row)
            }
        };
        let mut src = [0; 2];
        for (slot, operand) in src.iter_mut().zip(sources) {
            let source = self.source(at, operand, ty)?;
            if source.width != width {
                return Err(self.refuse(at, "a register of another width than the type"));
            }
            *slot = source.slot;
        }
        let address = self.memory_address(at, address, space)?;
        self.push_atomic(at, Atomic { address, op, ty, dst, src, width, semantics, high: None });
        Ok(())
    }

    /// `atom.cas.b128`, `atom.exch.b128`: operands in two halves, memory as a whole.
    fn atomic_wide(
        &mut self,
        at: &mut Current<'m>,
        (op, space, semantics): (AtomOp, Space, Semantics),
        dst: Option<&Operand>,
        address: &Operand,
        sources: &[Operand],
    ) -> Result<(), LoadError> {
        let (dst, high_dst) = match dst {
            None | Some(Operand::Sink) => (None, None),
            Some(operand) => {
                let [low, high] = self.halves(at, operand)?;
                (Some(low), Some(high))
            }
        };
        let (mut src, mut high_src) = ([0; 2], [0; 2]);
        for ((low, high), operand) in src.iter_mut().zip(&mut high_src).zip(sources) {
            [*low, *high] = self.halves(at, operand)?.map(|row| row as i32);
        }
        let address = self.memory_address(at, address, space)?;
        let high = Some(HighHalves { dst: high_dst, src: high_src });
        let (ty, width) = (Type::B128, Width::W64);
        self.push_atomic(at, Atomic { address, op, ty, dst, src, width, semantics, high });
        Ok(())
    }

    fn push_atomic(&mut self, at: &mut Current<'m>, atomic: Atomic) {
        let index = self.program.atomics.len() as u32;
        self.program.atomics.push(atomic);
        self.emit(at, Kind::Atomic, no_operands(), index);
    }
}

/// What the atomic unit computes (PTX ISA, `atom`): integers of 32 and 64 bits, floating-point addition and
/// packed half minimum and maximum, compare-and-swap of 16 bits, too, exchange and compare-and-swap of 128.
fn supported(op: AtomOp, ty: Type) -> bool {
    use AtomOp::{Add, And, Cas, Dec, Exch, Inc, Max, Min, Or, Xor};
    match op {
        And | Or | Xor => matches!(ty.bytes(), 4 | 8) && !matches!(ty, Type::Pred),
        Exch => matches!(ty.bytes(), 4 | 8 | 16) && !matches!(ty, Type::Pred),
        Cas => matches!(ty.bytes(), 2 | 4 | 8 | 16),
        Inc | Dec => ty == Type::U32,
        Add => matches!(
            ty,
            Type::U32
                | Type::S32
                | Type::B32
                | Type::U64
                | Type::S64
                | Type::B64
                | Type::F32
                | Type::F64
                | Type::F16
                | Type::F16x2
                | Type::BF16
                | Type::BF16x2
        ),
        Min | Max => matches!(
            ty,
            Type::U32
                | Type::S32
                | Type::U64
                | Type::S64
                | Type::F16
                | Type::F16x2
                | Type::BF16
                | Type::BF16x2
        ),
    }
}
