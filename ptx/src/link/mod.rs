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

mod header;
mod order;
mod resolve;
mod write;

use thiserror::Error;

use crate::ParseError;

/// A module to be linked.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What errors call it: a file's name, or a number.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// Why modules cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LinkError {
    /// There is nothing to link.
    #[error("no module to link")]
    Empty,
    /// A text is not PTX.
    #[error("{module}: PTX line {error}")]
    Parse {
        /// The module.
        module: String,
        /// Where and why.
        error: ParseError,
    },
    /// Declared, and defined by no module.
    #[error("undefined: {}", list(.symbols))]
    Undefined {
        /// Each symbol with the first module that declares it.
        symbols: Vec<(String, String)>,
    },
    /// Defined by two modules.
    #[error("{name} is defined in {first} and in {second}")]
    DefinedTwice {
        /// The symbol.
        name: String,
        /// A module.
        first: String,
        /// Another module, or the same.
        second: String,
    },
    /// Declared as one thing and defined as another.
    #[error("{name} is {first_kind} in {first} and {second_kind} in {second}")]
    Mismatch {
        /// The symbol.
        name: String,
        /// A module.
        first: String,
        /// What it is there.
        first_kind: String,
        /// Another module.
        second: String,
        /// What it is there.
        second_kind: String,
    },
    /// Modules whose headers exclude each other.
    #[error("{first} is for {first_value}, {second} for {second_value}")]
    Header {
        /// A module.
        first: String,
        /// Its target or address size.
        first_value: String,
        /// Another module.
        second: String,
        /// Its target or address size.
        second_value: String,
    },
    /// Variables initialised with each other's addresses.
    #[error("{name} ({module}) is initialised with an address that in the end depends on its own")]
    Cycle {
        /// One of the variables.
        name: String,
        /// Its module.
        module: String,
    },
    /// One declaration of several variables, of which only some are kept.
    #[error("{module}: {name} is declared together with other variables: declare it alone")]
    DeclaredTogether {
        /// A variable.
        name: String,
        /// The module.
        module: String,
    },
}

fn list(symbols: &[(String, String)]) -> String {
    let shown: Vec<String> =
        symbols.iter().map(|(name, module)| format!("{name} (declared in {module})")).collect();
    shown.join(", ")
}

/// Links modules into one text. `external` says which undefined functions may stay so, because whoever
/// executes the module provides them (`vprintf`, `malloc`…).
///
/// # Errors
/// A text that is not PTX, headers that exclude each other, symbols that are undefined, defined twice or
/// declared in two ways.
pub fn link(inputs: &[Input<'_>], external: &dyn Fn(&str) -> bool) -> Result<String, LinkError> {
    let units = inputs.iter().map(resolve::Unit::parse).collect::<Result<Vec<_>, _>>()?;
    let header = header::merge(&units)?;
    let symbols = resolve::resolve(&units, external)?;
    let variables = order::variables(&units, &symbols)?;
    Ok(write::write(&units, &header, &symbols, &variables))
}

#[cfg(test)]
mod tests;
