//! Module variables: their addresses in global memory, and their initial values.

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

/// Allocates every variable of global and constant memory; the addresses go to `allocated` even when a
/// later one fails, so that the caller can give them back. Managed ones that `shared` knows are there already.
pub(super) fn place<'m>(
    variables: impl Iterator<Item = &'m Variable>,
    memory: &mut Memory,
    shared: SharedManaged<'_>,
    allocated: &mut Vec<u64>,
) -> Result<FxHashMap<&'m str, Placed>, MemoryError> {
    let mut placed = FxHashMap::default();
    for variable in variables {
        if let Some((address, size)) = shared(&variable.name).filter(|_| variable.managed) {
            placed.insert(variable.name.as_str(), Placed { address, size });
            continue;
        }
        let size = size(variable);
        // The tester's are no part of digests, and accesses to them no scheduling points.
        let kind = match variable {
            _ if is_ours(&variable.name) => AllocationKind::Tool,
            Variable { managed: true, .. } => AllocationKind::Managed,
            _ => AllocationKind::Module,
        };
        let address = memory.alloc(size, u64::from(variable.align), kind)?;
        allocated.push(address);
        placed.insert(variable.name.as_str(), Placed { address, size });
    }
    Ok(placed)
}

/// Writes the initial values. A symbol's value is its generic address, which for global variables is their
/// address; for a shared variable without `generic(…)` it is the offset in shared memory.
pub(super) fn initialise<'m>(
    variables: impl Iterator<Item = &'m Variable>,
    placed: &FxHashMap<&str, Placed>,
    functions: &FxHashMap<&str, u32>,
    shared: &SharedLayout,
    memory: &mut Memory,
    allocated: &[u64],
) -> Result<(), LoadError> {
    for variable in variables {
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
        if !allocated.contains(&home.address) {
            continue;
        }
        bytes.truncate(usize::try_from(home.size).unwrap_or(usize::MAX));
        memory.write(home.address, &bytes)?;
    }
    Ok(())
}
