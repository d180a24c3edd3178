//! What a program loads: images of modules, fat binaries, linking, and options of the just-in-time compiler.

pub mod fatbin;
pub mod fitting;
pub mod image;
pub mod jit;
pub mod link;
pub mod linker;
pub mod numbers;
pub mod nvjitlink;
pub mod refusal;
pub mod wanted;
