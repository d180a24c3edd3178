//! Places and threads, in words.

use bugaroo_barriers::findings::CommandPlace;
use bugaroo_harness::names::demangled;

/// Threads, behind a space; nothing where it is about none.
pub fn who(at: &CommandPlace) -> String {
    match (at.thread, at.threads) {
        (None, _) => String::new(),
        (Some([x, y, z]), 0 | 1) => format!(" thread ({x},{y},{z}){}", rank(at)),
        (Some([x, y, z]), n) => format!(" {n} threads from ({x},{y},{z}){}", rank(at)),
    }
}

/// A place in the source and the text, with the instruction.
pub fn place(at: &CommandPlace) -> String {
    let place = match (&at.file, at.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => demangled(&at.function),
    };
    format!("{place}, PTX line {}: {}", at.ptx_line, at.instruction.trim())
}

fn rank(at: &CommandPlace) -> String {
    if at.cta == 0 { String::new() } else { format!(" of CTA {}", at.cta) }
}
