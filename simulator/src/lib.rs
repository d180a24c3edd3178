//! The virtual GPU: runs PTX deterministically on the CPU, one whole warp per dispatch.
//!
//! [`Program::load`] decodes a module once; [`launch`] runs a kernel of it against a [`Memory`], a
//! [`SchedulerStrategy`] deciding who runs next; a [`Grid`] is a launch in progress, so that several can take turns. The same seed gives the same run: no wall clock, no host address
//! and no hash order enters. Device code cannot reach host memory outside its allocations.
//!
//! What it models: independent thread scheduling (Volta and later; lockstep on request), CTA and named
//! barriers, warp-level primitives, sequentially consistent memory that is checked access by access. What it
//! does not: caches, weak memory by itself (instrumentation adds that), textures, tensor cores, timing.

mod address;
pub mod alu;
mod config;
pub mod conflicts;
mod console;
pub mod decoded;
mod exec;
mod fault;
mod grid;
mod image;
mod launch;
mod load;
pub mod maker;
mod memory;
pub mod model;
mod poison;
mod schedule;
mod tensor_map;
pub mod texture;
mod turns;

pub use address::{CODE_BASE, GLOBAL_BASE, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
pub use config::DeviceConfig;
pub use console::{Console, ConsoleStream};
pub use exec::{DeviceAction, DeviceWork, LaunchWatch, Others, reduce, shuffle_source};
pub use fault::{
    Activity, Group, LaunchDiagnosis, LaunchFault, MissingGrant, Near, Place, SourcePosition, SpinPlace,
    SpunOnWrite, StopKind, ThreadId, TouchKind,
};
pub use grid::Grid;
pub use image::{CodeImage, Launched};
pub use launch::{Counts, End, LaunchError, LaunchResult, LaunchSpec, check, launch, launch_with};
pub use load::{
    Constants, Contents, KernelInfo, LoadError, Needs, ParamInfo, Placement, Places, Program, SharedVariable,
};
pub use memory::{
    AllocationKind, Endpoint, Exported, GRANULARITY, Granted, MappingAccess, Memory, MemoryError,
    MemoryOwner, OwnerAccess,
};
pub use model::{At, MemoryModel, ModelCounts};
pub use schedule::{Candidate, PctScheduler, RandomScheduler, Rng, SchedulerStrategy, Turn};
pub use tensor_map::{TENSOR_MAP_WORDS, TENSOR_RANKS, TensorMap};
