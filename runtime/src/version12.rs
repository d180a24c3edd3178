//! Names that mean something else in CUDA 12 than in CUDA 13, for programs that were linked with
//! `libcudart.so.12`; all others are [`crate::exports`]' own.

use crate::exports::export;

export! {}
