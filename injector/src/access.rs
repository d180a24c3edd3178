//! What a load, store or atomic touches, taken apart as far as routing it needs.
//!
//! What cannot be taken apart (128-bit elements, vector atomics, another CTA's shared memory, operands that are no plain register or constant, a
//! generic access to a symbol that this module does not declare) has no [`Access`]; everything drains
//! before it and it runs as it stands.

use bugaroo_device_handlers::{BufferSpace, SiteWord};
use bugaroo_ptx::ast::{AddressBase, Instruction, Operand};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::{Semantics, Space, Type};
use bugaroo_semantics::effect::{Effect, Stated, drains};
use bugaroo_semantics::event::AccessKind;

use crate::scope::Scopes;

/// One access of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessOperand {
    /// Which buffer, as far as the instruction says.
    pub space: BufferSpace,
    /// Type of one element.
    pub ty: Type,
    /// The address of the first element.
    pub address: AddressOperand,
    /// Operands that are stored or loaded, an element each; empty for atomics.
    pub elements: Vec<Element>,
    /// Volatile or relaxed.
    pub strong: bool,
    /// A release (everything drains first), or an `mmio` access.
    pub drains: bool,
}

/// An address operand.
#[derive(Clone, Debug, PartialEq)]
pub struct AddressOperand {
    /// What the offset is added to.
    pub base: OperandBase,
    /// Bytes.
    pub offset: i64,
}

/// The base of an address.
#[derive(Clone, Debug, PartialEq)]
pub enum OperandBase {
    /// A 64-bit register.
    Register64(String),
    /// A 32-bit register (shared memory's addresses, mostly).
    Register32(String),
    /// A variable.
    Symbol(String),
    /// None.
    Absolute,
}

/// One element of the data operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// A register of 16, 32 or 64 bits.
    Register {
        /// Its name.
        name: String,
        /// Its width.
        bits: u32,
    },
    /// A constant, as bits of the element's type (stores only).
    Bits(u64),
    /// `_` (loads only).
    Sink,
}

impl AccessOperand {
    /// The word that describes this access to the handlers.
    pub fn word(&self, site: u32, slot: u32, element: u8) -> SiteWord {
        SiteWord {
            site,
            width_log2: self.ty.bytes().trailing_zeros() as u8,
            space: self.space,
            strong: self.strong,
            drains: self.drains,
            elements_log2: self.elements.len().max(1).trailing_zeros() as u8,
            element,
            slot,
        }
    }
}

/// What an instruction's access is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Understood {
    /// Local, constant or parameter memory: never delayed.
    Private,
    /// Taken apart.
    Access(AccessOperand),
    /// An access to memory that is delayed, but not taken apart.
    Opaque,
}

/// Takes the access of a load, store or atomic apart; None for any other instruction.
pub(crate) fn understand(instruction: &Instruction, scopes: &Scopes<'_>) -> Option<Understood> {
    let Effect::Access(Stated { kind, space, semantics, ty, elements: vec }) = Effect::of(&instruction.op)
    else {
        return None;
    };
    let atomic = matches!(kind, AccessKind::Atomic(_));
    if atomic && vec > 1 {
        return Some(Understood::Opaque);
    }
    let address = instruction.operands.iter().find_map(|operand| match operand {
        Operand::Address { base, offset } => Some((base, *offset)),
        _ => None,
    });
    let Some((base, offset)) = address else { return Some(Understood::Opaque) };
    let space = match (space, base) {
        (Space::Generic, AddressBase::Symbol(name)) => match scopes.variable_space(name) {
            Some(space) => space,
            None => return Some(Understood::Opaque),
        },
        _ => space,
    };
    let space = match space {
        Space::Local | Space::Param | Space::Const => return Some(Understood::Private),
        Space::Global => BufferSpace::Global,
        Space::Shared => BufferSpace::Shared,
        // Another CTA's memory may have several addresses.
        Space::SharedCluster => return Some(Understood::Opaque),
        Space::Generic => BufferSpace::Generic,
    };
    let access = || {
        let base = match base {
            AddressBase::Symbol(name) => OperandBase::Symbol(name.clone()),
            AddressBase::Absolute => OperandBase::Absolute,
            AddressBase::Register(name) => match scopes.register_bits(name)? {
                64 => OperandBase::Register64(name.clone()),
                32 => OperandBase::Register32(name.clone()),
                _ => return None,
            },
        };
        if !matches!(ty.bytes(), 1 | 2 | 4 | 8) {
            return None;
        }
        let elements = if atomic { Vec::new() } else { elements(instruction, ty, vec, scopes)? };
        let strong = semantics != Semantics::Weak;
        let address = AddressOperand { base, offset };
        Some(AccessOperand { space, ty, address, elements, strong, drains: drains(semantics) })
    };
    Some(access().map_or(Understood::Opaque, Understood::Access))
}

/// The elements of a load's or store's data operand.
fn elements(instruction: &Instruction, ty: Type, vec: u8, scopes: &Scopes<'_>) -> Option<Vec<Element>> {
    let data = instruction.operands.iter().find(|operand| !matches!(operand, Operand::Address { .. }))?;
    let operands = match data {
        Operand::Vector(operands) => operands.as_slice(),
        single => std::slice::from_ref(single),
    };
    if operands.len() != usize::from(vec) || !matches!(vec, 1 | 2 | 4 | 8) {
        return None;
    }
    let stored = matches!(instruction.op, Op::St { .. });
    operands.iter().map(|operand| element(operand, ty, stored, scopes)).collect()
}

fn element(operand: &Operand, ty: Type, stored: bool, scopes: &Scopes<'_>) -> Option<Element> {
    let bits = match operand {
        Operand::Register(name) => {
            let bits = scopes.register_bits(name)?;
            let plain = matches!(bits, 16 | 32 | 64) && bits >= ty.bits();
            return plain.then(|| Element::Register { name: name.clone(), bits });
        }
        Operand::Sink if !stored => return Some(Element::Sink),
        Operand::Integer(value) => *value as u64,
        Operand::F32(bits) if ty != Type::F64 => u64::from(*bits),
        Operand::F64(bits) if ty == Type::F32 => u64::from((f64::from_bits(*bits) as f32).to_bits()),
        Operand::F64(bits) => *bits,
        _ => return None,
    };
    let mask = u64::MAX >> (64 - ty.bits());
    stored.then_some(Element::Bits(bits & mask))
}
