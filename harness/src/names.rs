//! Names of kernels as people write them.

use cpp_demangle::Symbol;

/// The name in C++, with its parameters; as it is, where it is no mangled one.
pub fn demangled(name: &str) -> String {
    let symbol = Symbol::new(name).ok().filter(|_| name.starts_with("_Z"));
    symbol.and_then(|symbol| symbol.demangle().ok()).unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests;
