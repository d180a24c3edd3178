//! A suite of small CUDA programs, with data races and without, and what `bugaroo race` has to say about each.
//!
//! `programs/NAME.cu` is a whole nvcc program that ends with exit code 0 whatever its race does. Its first line says, for each
//! detector, which races must be reported and at which lines ([`label`] has the form), and why. The labels of `ptx` follow the
//! PTX memory model: a race is two overlapping accesses, one of them a write, that causality does not order and that are not
//! morally strong to each other. The labels of `barracuda` follow that paper's own rules: warps in lockstep, equal values
//! of one instruction forgiven, acquire and release inferred from the fences beside an access, no scopes of atomics, one
//! kernel at a time. Of what is younger than the paper (asynchronous copies, clusters) only right programs are judged: they must
//! not be accused.
//!
//! `rules` has a program for each rule by which a detector differs from the memory model (`detectors/README.md`).
//!
//! `scor/micro` and `scor/apps` are programs with scopes, fences and locks in the manner of ScoRD's own suite: thirty-two of two
//! threads each, and seven applications with a switch for each of the twenty-six races of its Table VI. `indigo` are irregular
//! graph patterns in the manner of the suite that HiRace was measured by: eight patterns in several variants, each without a bug
//! and with one, for six graphs. The labels of `hirace` go by barriers of blocks and warps alone: what flags, fences and locks order
//! is a race to it, volatile accesses are plain, and atomics race where a scope leaves the other thread out. The labels of `scord` follow
//! that paper's tables III and IV, for global memory, with a warp as one.
//!
//! The binary builds each program, asks the detectors about it, and compares. The tests ask whether the labels can be
//! believed: that the programs build and run, and that the lines named hold accesses of memory.

pub mod accesses;
pub mod ask;
pub mod judge;
pub mod label;
pub mod report;
pub mod suite;
pub mod table;
pub mod tools;
