//! Names of kernels and variables as their programs have them.

use cpp_demangle::Symbol;

/// The name in C++, as it is where it is no mangled one.
pub fn demangled(name: &str) -> String {
    let symbol = Symbol::new(name).ok().filter(|_| name.starts_with("_Z"));
    symbol.and_then(|symbol| symbol.demangle().ok()).unwrap_or_else(|| name.to_owned())
}
