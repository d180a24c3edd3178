//! The PTX language as Bugaroo needs it: a lexer, a lossless AST with spans, a printer, typed
//! decoding of instructions and a control-flow graph.
//!
//! Reference: NVIDIA "Parallel Thread Execution ISA", version 9.0. What the ISA has and this crate
//! does not know is kept as it stands ([`op::Op::Other`]) and printed back byte for byte.

pub mod ast;
pub mod cfg;
pub mod edit;
pub mod link;
pub mod op;
pub mod rare;
pub mod types;
pub mod writers;

mod decode;
mod error;
mod lexer;
mod parser;
mod print;
mod source_lines;

pub use error::ParseError;
pub use parser::parse;
