//! What a program loads: images of modules, fat binaries, linking, and options of the just-in-time compiler.

pub mod fatbin;
pub(crate) mod fitting;
pub(crate) mod image;
pub(crate) mod jit;
pub(crate) mod link;
pub mod linker;
pub(crate) mod numbers;
pub(crate) mod nvjitlink;
pub(crate) mod refusal;
pub(crate) mod wanted;
