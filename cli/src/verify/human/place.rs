//! Places and threads, in words.

use bugaroo_barriers::findings::At;
use bugaroo_harness::names::demangled;

/// Threads, behind a space; nothing where it is about none.
pub fn who(at: &At) -> String {
    match (at.thread, at.threads) {
        (None, _) => String::new(),
        (Some([x, y, z]), 0 | 1) => format!(" thread ({x},{y},{z}){}", rank(at)),
        (Some([x, y, z]), n) => format!(" {n} threads from ({x},{y},{z}){}", rank(at)),
    }
}

/// A place in the source and the text, with the instruction.
pub fn place(at: &At) -> String {
    let place = match (&at.file, at.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => demangled(&at.function),
    };
    format!("{place}, PTX line {}: {}", at.ptx_line, at.instruction.trim())
}

fn rank(at: &At) -> String {
    if at.cta == 0 { String::new() } else { format!(" of CTA {}", at.cta) }
}
