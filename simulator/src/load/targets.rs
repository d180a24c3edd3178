//! Where a kernel writes global memory, as far as its text says: the parameters and variables that the addresses of its stores and
//! atomics come from.
//!
//! What a kernel does not write, nobody of the same kernel races for. Whoever looks for races within a launch can leave
//! its reads out ([`bugaroo_semantics::Spares::unwritten`]); in most kernels these are most of all accesses to global memory.
//!
//! A register has a set of origins: the parameters and variables whose addresses may be in it. The set goes from source to destination,
//! without regard to the order of the text, until nothing changes. A product or a shifted number is no address any
//! more. What is loaded with 64 bits may be any address.
//!
//! # What it can miss
//! A store that leaves what its pointer points to. An address that is put together of numbers of which the text does not show
//! that they are addresses. So whoever goes by this asks of each store where it really goes: see `exec::unwritten`.

use bugaroo_ptx::ast::{AddressBase, Function, Instruction, Operand};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::{Space, Type};
use rustc_hash::FxHashMap;

use super::symbols::Placed;

/// Where an address that a kernel writes to comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// From the eight bytes of the parameters at this offset.
    Param(u32),
    /// From a variable of the module, at this address.
    Variable(u64),
}

/// A set of origins: a bit for each target, and two for what is none.
type Set = u64;

/// It may be any address.
const UNKNOWN: Set = 1;
/// Memory that is not global: shared, local, parameters.
const OWN: Set = 2;
/// The first target's bit.
const FIRST: u32 = 2;

/// What one function does.
struct Analysis<'m> {
    /// Parameters of a kernel, by name: their offsets.
    params: FxHashMap<&'m str, u32>,
    /// Variables in global memory, by name.
    variables: &'m FxHashMap<&'m str, Placed>,
    registers: FxHashMap<&'m str, usize>,
    /// By register.
    origins: Vec<Set>,
    targets: Vec<Target>,
    /// To a register from others.
    moves: Vec<(usize, Vec<usize>)>,
    /// Addresses that are written to: what is known of each, and its register.
    written: Vec<(Set, Option<usize>)>,
    /// There is a write of which the address is not told.
    open: bool,
}

/// Where a function writes by itself. None where it is not known. `params`: a kernel's parameters by name, and their offsets; those of other
/// functions are whatever these are called with.
pub(super) fn of_function<'m>(
    function: &'m Function,
    params: FxHashMap<&'m str, u32>,
    variables: &'m FxHashMap<&'m str, Placed>,
) -> Option<Vec<Target>> {
    let mut analysis = Analysis {
        params,
        variables,
        registers: FxHashMap::default(),
        origins: Vec::new(),
        targets: Vec::new(),
        moves: Vec::new(),
        written: Vec::new(),
        open: false,
    };
    function.instructions().into_iter().for_each(|instruction| analysis.instruction(instruction));
    analysis.spread();
    analysis.answer()
}

/// Where all these functions write together. None where it is not known of one.
pub(super) fn together<'t>(functions: impl Iterator<Item = &'t Option<Vec<Target>>>) -> Option<Vec<Target>> {
    let mut all = Vec::new();
    for function in functions {
        for target in function.as_ref()? {
            if !all.contains(target) {
                all.push(*target);
            }
        }
    }
    Some(all)
}

impl<'m> Analysis<'m> {
    fn register(&mut self, name: &'m str) -> usize {
        let next = self.origins.len();
        let number = *self.registers.entry(name).or_insert(next);
        if number == next {
            self.origins.push(0);
        }
        number
    }

    fn target(&mut self, target: Target) -> Set {
        let number = self.targets.iter().position(|known| *known == target).unwrap_or_else(|| {
            self.targets.push(target);
            self.targets.len() - 1
        });
        // More than there are bits for.
        1_u64.checked_shl(FIRST + number as u32).unwrap_or(UNKNOWN)
    }

    /// What a name in an operand is the address of.
    fn symbol(&mut self, name: &str) -> Set {
        match self.variables.get(name) {
            Some(placed) => self.target(Target::Variable(placed.address)),
            None => OWN,
        }
    }

    /// A destination has these origins.
    fn comes_from(&mut self, destination: Option<&'m Operand>, origins: Set) {
        let Some(destination) = destination else { return };
        let mut found = Vec::new();
        destination.registers(&mut |name| found.push(name));
        for name in found {
            let register = self.register(name);
            self.origins[register] |= origins;
        }
    }

    /// The first operand has the origins of these others.
    fn moves(&mut self, destination: Option<&'m Operand>, sources: &'m [Operand]) {
        let Some(destination) = destination else { return };
        let (mut names, mut known) = (Vec::new(), 0);
        for source in sources {
            source.registers(&mut |name| names.push(name));
            if let Operand::Symbol { name, .. } = source {
                known |= self.symbol(name);
            }
        }
        let sources: Vec<usize> = names.into_iter().map(|name| self.register(name)).collect();
        self.comes_from(Some(destination), known);
        destination.registers(&mut |name| {
            let register = self.register(name);
            self.moves.push((register, sources.clone()));
        });
    }

    fn writes(&mut self, address: Option<&'m Operand>) {
        let found = match address {
            Some(Operand::Address { base: AddressBase::Register(name), .. }) => {
                (0, Some(self.register(name)))
            }
            Some(Operand::Address { base: AddressBase::Symbol(name), .. }) => (self.symbol(name), None),
            _ => (UNKNOWN, None),
        };
        self.written.push(found);
    }

    /// A load of 64 bits an element, or of less.
    fn loads(&mut self, space: Space, ty: Type, operands: &'m [Operand]) {
        if ty.bytes() < 8 {
            return;
        }
        let param = match (space, operands.get(1)) {
            (Space::Param, Some(Operand::Address { base: AddressBase::Symbol(name), offset })) => {
                self.params.get(name.as_str()).and_then(|param| i64::from(*param).checked_add(*offset))
            }
            _ => None,
        };
        let offset = param.and_then(|offset| u32::try_from(offset).ok());
        match (operands.first(), offset) {
            (Some(Operand::Vector(elements)), Some(offset)) => {
                for (number, element) in elements.iter().enumerate() {
                    // Behind the end of the address space there is no parameter.
                    let at = offset.checked_add(8 * number as u32);
                    let origins = at.map_or(UNKNOWN, |at| self.target(Target::Param(at)));
                    self.comes_from(Some(element), origins);
                }
            }
            (destination, Some(offset)) => {
                let origins = self.target(Target::Param(offset));
                self.comes_from(destination, origins);
            }
            (destination, None) => self.comes_from(destination, UNKNOWN),
        }
    }

    fn instruction(&mut self, instruction: &'m Instruction) {
        let operands = &instruction.operands;
        let first = operands.first();
        let is_own = |space: Space| matches!(space, Space::Shared | Space::Local | Space::Param);
        match instruction.op {
            Op::Ld { space, ty, .. } | Op::Ldu { space, ty, .. } => self.loads(space, ty, operands),
            Op::St { space, .. } | Op::Red { space, .. } if !is_own(space) => self.writes(first),
            Op::St { .. } | Op::Red { .. } => {}
            Op::Atom { space, ty, .. } => {
                if ty.bytes() >= 8 {
                    self.comes_from(first, UNKNOWN);
                }
                if !is_own(space) {
                    self.writes(operands.get(1));
                }
            }
            Op::WmmaStore { .. } => self.writes(first),
            Op::CpAsyncBulk { dst: Space::Global, .. } => self.writes(first),
            // To where a tensor map says.
            Op::CpAsyncTensor { to_shared: false, .. } | Op::Other => self.open = true,
            Op::Call { .. } => {
                // What it hands back stands in the first list, if there are two.
                let lists = operands.iter().filter(|operand| matches!(operand, Operand::List(_))).count();
                if lists > 1 {
                    self.comes_from(first, UNKNOWN);
                }
            }
            Op::Cvta { to: false, space: Space::Shared | Space::Local | Space::Param, .. }
            | Op::Mapa { .. }
            | Op::Alloca { .. }
            | Op::Stack { .. } => self.comes_from(first, OWN),
            Op::Mad { .. } | Op::Mad24 { .. } => self.moves(first, operands.get(3..).unwrap_or(&[])),
            Op::Mul { .. }
            | Op::Mul24 { .. }
            | Op::Fma { .. }
            | Op::Div { .. }
            | Op::Rem { .. }
            | Op::Shl { .. }
            | Op::Shr { .. }
            | Op::Bfe { .. }
            | Op::Bfind { .. }
            | Op::Brev { .. }
            | Op::Clz { .. }
            | Op::Popc { .. }
            | Op::Setp { .. }
            | Op::Set { .. } => {}
            _ => self.moves(first, operands.get(1..).unwrap_or(&[])),
        }
    }

    /// Carries origins on until nothing changes.
    fn spread(&mut self) {
        let mut changes = true;
        while changes {
            changes = false;
            for (to, from) in &self.moves {
                let origins = from.iter().fold(self.origins[*to], |all, from| all | self.origins[*from]);
                changes |= origins != self.origins[*to];
                self.origins[*to] = origins;
            }
        }
    }

    fn answer(self) -> Option<Vec<Target>> {
        let mut all = 0;
        for (known, register) in &self.written {
            let origins = known | register.map_or(0, |register| self.origins[register]);
            if origins == 0 {
                return None;
            }
            all |= origins;
        }
        if self.open || all & UNKNOWN != 0 {
            return None;
        }
        let targets = self.targets.into_iter().zip(FIRST..);
        Some(targets.filter(|(_, bit)| all >> bit & 1 != 0).map(|(target, _)| target).collect())
    }
}

#[cfg(test)]
mod tests;
