//! What PTX has, counted: static instructions, and those that BARRACUDA's logging tells.

use std::collections::BTreeSet;

use bugaroo_injector::logging::{Loads, LogOptions, LoggingError, log};
use bugaroo_ptx::ast::{Item, Module};

use crate::races::asked::{Code, Told};

/// Counts the instructions of the functions that `wanted` names; all where it names none.
///
/// # Errors
/// When it does not parse.
pub fn count(source: &str, wanted: &[String]) -> anyhow::Result<Code> {
    let module = bugaroo_ptx::parse(source)?;
    let instructions = instructions(&module, wanted);
    let told = |prune| -> Result<u64, LoggingError> {
        // As BARRACUDA has it: what is before a load, branches and where lanes meet again.
        let logged = log(source, LogOptions { loads: Loads::Before, branches: true, prune })?.whole()?;
        let places: BTreeSet<usize> = logged.places.iter().flatten().map(|place| place.span.start).collect();
        Ok(instructions.iter().filter(|start| places.contains(start)).count() as u64)
    };
    let both = || -> Result<Told, LoggingError> { Ok(Told { all: told(false)?, pruned: told(true)? }) };
    Ok(Code { instructions: instructions.len() as u64, told: both().map_err(|error| error.to_string()) })
}

/// Where the instructions begin.
fn instructions(module: &Module, wanted: &[String]) -> Vec<usize> {
    let of = |item: &Item| match item {
        Item::Function(function) if wanted.is_empty() || wanted.contains(&function.name) => {
            function.instructions().into_iter().map(|instruction| instruction.span.start).collect()
        }
        _ => Vec::new(),
    };
    module.items.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests;
