//! Why modules cannot be linked.

use thiserror::Error;

use crate::ParseError;

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
