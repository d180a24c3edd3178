//! Several modules as one text: what nvlink does with machine code, done with PTX.
//!
//! The rules are those of PTX ISA 11.6 "Linking Directives" and of ELF linkers: `.extern` declarations
//! find the `.visible`, `.weak` or `.common` definition of their name in any module; of several weak ones the
//! first counts, and a visible one counts before them; of several common ones the largest.
//! Names that only their own module sees are renamed where two modules use the same.
//!
//! The result is one valid module, in an order in which everything is declared before it is used:
//! files, directives, declarations of functions, variables (those whose address another one is initialised
//! with come first), functions in the order of the modules. Function bodies are copied byte for byte but for
//! renamed symbols and the numbers of files, so that `.loc` still leads to the source lines.
//!
//! Where it departs from nvlink: debug information beyond the lines (`.section .debug_info` and so on)
//! is dropped; parameter lists are compared by their sizes alone; variables that are initialised with each
//! other's addresses across modules are refused; what this crate keeps as it stands
//! ([`crate::ast::Item::Directive`], such as textures) is copied, never resolved.

mod error;
mod header;
mod input;
mod order;
mod resolve;
mod write;

pub use error::LinkError;
pub use input::LinkInput;

/// Links modules into one text. `external` says which undefined functions may stay so, because whoever
/// executes the module provides them (`vprintf`, `malloc`…).
///
/// # Errors
/// A text that is not PTX, headers that exclude each other, symbols that are undefined, defined twice or
/// declared in two ways.
pub fn link(inputs: &[LinkInput<'_>], external: &dyn Fn(&str) -> bool) -> Result<String, LinkError> {
    let units = inputs.iter().map(resolve::Unit::parse).collect::<Result<Vec<_>, _>>()?;
    let header = header::merge(&units)?;
    let symbols = resolve::resolve(&units, external)?;
    let variables = order::variables(&units, &symbols)?;
    Ok(write::write(&units, &header, &symbols, &variables))
}

#[cfg(test)]
mod tests;
