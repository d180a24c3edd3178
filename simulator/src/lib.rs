//! The virtual GPU: runs PTX deterministically on the CPU, one whole warp per dispatch.

pub mod alu;
