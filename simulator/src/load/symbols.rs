//! Module variables: their addresses in global memory, and their initial values.
//!
//! What a load makes of a text depends on nothing but where the module's variables come to lie. So what they need of memory
//! ([`Needs`]) and what they hold at first ([`Contents`]) stand apart from the program: trials that are forked from one process load
//! a module again without translating it again.

use bugaroo_ptx::ast::{Init, Item, Linkage, Module, Variable};
use bugaroo_ptx::types::Space;
use rustc_hash::FxHashMap;

use super::error::LoadError;
use super::shared::SharedLayout;
use crate::address::{SHARED_WINDOW, code_address};
use crate::memory::{AllocationKind, Memory, MemoryError};

/// A module variable in global or constant memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub address: u64,
    pub size: u64,
    /// Whether this load has placed it, and not another one that shares it.
    pub own: bool,
}

/// What a module variable needs of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Need {
    size: u64,
    align: u64,
    kind: AllocationKind,
}

/// What the variables of a module need of memory, in the order in which a load places them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs(pub(super) Vec<Need>);

impl Needs {
    /// Places them, as [`crate::Program::load`] does; where they lie.
    ///
    /// # Errors
    /// When the device has no room; nothing stays allocated then.
    pub fn place(&self, memory: &mut Memory) -> Result<Vec<u64>, MemoryError> {
        let mut addresses = Vec::with_capacity(self.0.len());
        for need in &self.0 {
            match need.allocate(memory) {
                Ok(address) => addresses.push(address),
                Err(error) => {
                    release(memory, &addresses);
                    return Err(error);
                }
            }
        }
        Ok(addresses)
    }
}

/// Gives variables back.
pub(super) fn release(memory: &mut Memory, allocations: &[u64]) {
    for address in allocations {
        memory.free(*address).expect("a module's variables are freed by the module alone");
    }
}

/// What variables hold at first, by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents(Vec<(u64, Vec<u8>)>);

impl Contents {
    /// Writes it to the variables.
    ///
    /// # Errors
    /// When they are not allocated.
    pub fn write(&self, memory: &mut Memory) -> Result<(), MemoryError> {
        self.0.iter().try_for_each(|(address, bytes)| memory.write(*address, bytes))
    }
}

/// Where managed variables are that another load has made, with their sizes.
pub(super) type SharedManaged<'s> = &'s dyn Fn(&str) -> Option<(u64, u64)>;

/// What instrumentation brings along, by its name: the tester's, not the program's.
pub(super) fn is_ours(name: &str) -> bool {
    name.starts_with("__bugaroo_")
}

/// Size in bytes, an open array counting as its initialiser.
fn size(variable: &Variable) -> u64 {
    match variable.size() {
        0 => variable.init.len() as u64 * u64::from(variable.ty.bytes()),
        size => size,
    }
}

/// The `.global` and `.const` variables that the module defines, in order.
pub(super) fn variables(module: &Module) -> impl Iterator<Item = &Variable> {
    module.items.iter().filter_map(|item| match item {
        Item::Variable(v) if v.linkage == Linkage::Extern => None,
        Item::Variable(v) if matches!(v.space, Space::Global | Space::Const | Space::Generic) => Some(v),
        _ => None,
    })
}

impl Need {
    /// What this one needs.
    pub(super) fn of(variable: &Variable) -> Need {
        // The tester's are no part of digests, and accesses to them no scheduling points.
        let kind = match variable {
            _ if is_ours(&variable.name) => AllocationKind::Tool,
            Variable { managed: true, .. } => AllocationKind::Managed,
            _ => AllocationKind::Module,
        };
        Need { size: size(variable), align: u64::from(variable.align), kind }
    }

    /// Allocates that.
    pub(super) fn allocate(&self, memory: &mut Memory) -> Result<u64, MemoryError> {
        memory.alloc(self.size, self.align, self.kind)
    }
}

/// Finds a place for every variable of global and constant memory. Managed ones that `shared` knows are there already.
pub(super) fn place<'m>(
    variables: impl Iterator<Item = &'m Variable>,
    shared: SharedManaged<'_>,
    mut allocate: impl FnMut(Need) -> Result<u64, MemoryError>,
) -> Result<FxHashMap<&'m str, Placed>, MemoryError> {
    let mut placed = FxHashMap::default();
    for variable in variables {
        let found = shared(&variable.name).filter(|_| variable.managed);
        let home = match found {
            Some((address, size)) => Placed { address, size, own: false },
            None => {
                let need = Need::of(variable);
                Placed { address: allocate(need)?, size: need.size, own: true }
            }
        };
        placed.insert(variable.name.as_str(), home);
    }
    Ok(placed)
}

/// The initial values. A symbol's value is its generic address, which for global variables is their
/// address; for a shared variable without `generic(…)` it is the offset in shared memory.
pub(super) fn contents<'m>(
    variables: impl Iterator<Item = &'m Variable>,
    placed: &FxHashMap<&str, Placed>,
    functions: &FxHashMap<&str, u32>,
    shared: &SharedLayout,
) -> Result<Contents, LoadError> {
    let mut contents = Vec::new();
    for variable in variables.filter(|variable| !variable.init.is_empty()) {
        let element = variable.ty.bytes() as usize;
        let mut bytes = Vec::with_capacity(variable.init.len() * element);
        for init in &variable.init {
            let value = match init {
                Init::Bits(bits) => *bits,
                Init::Symbol { name, offset, generic } => {
                    let address = if let Some(found) = placed.get(name.as_str()) {
                        found.address
                    } else if let Some(function) = functions.get(name.as_str()) {
                        code_address(*function)
                    } else if let Some(offset) = shared.module_offset(name) {
                        u64::from(offset) + if *generic { SHARED_WINDOW } else { 0 }
                    } else {
                        return Err(LoadError::Declaration {
                            name: variable.name.clone(),
                            reason: format!("its initialiser names `{name}`, which is not defined"),
                        });
                    };
                    address.wrapping_add_signed(*offset)
                }
            };
            let value = value.to_le_bytes();
            // Elements wider than 64 bits (`.b128`) are zero above.
            bytes.extend((0..element).map(|i| value.get(i).copied().unwrap_or(0)));
        }
        let home = placed[variable.name.as_str()];
        // What is shared has its value, which the program may have changed.
        if home.own {
            bytes.truncate(usize::try_from(home.size).unwrap_or(usize::MAX));
            contents.push((home.address, bytes));
        }
    }
    Ok(Contents(contents))
}

#[cfg(test)]
mod tests;
