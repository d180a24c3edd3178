//! Names of kernels as people write them.

use cpp_demangle::Symbol;

/// The name in C++, with its parameters; as it is, where it is no mangled one.
pub fn demangled(name: &str) -> String {
    let symbol = Symbol::new(name).ok().filter(|_| name.starts_with("_Z"));
    symbol.and_then(|symbol| symbol.demangle().ok()).unwrap_or_else(|| name.to_owned())
}

/// A text with the mangled names in it made readable.
pub fn readable(text: &str) -> String {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("_Z") {
        let (before, name) = rest.split_at(start);
        let length = name.find(|c| !part(c)).unwrap_or(name.len());
        made.push_str(before);
        // In the middle of a word it is no name's beginning.
        let inside = before.ends_with(part);
        made.push_str(&if inside { name[..length].to_owned() } else { demangled(&name[..length]) });
        rest = &name[length..];
    }
    made + rest
}

#[cfg(test)]
mod tests;
