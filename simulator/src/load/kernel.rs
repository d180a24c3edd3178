//! What a launch has to know of a kernel.

use super::error::LoadError;
use super::shared::SharedVariable;
use super::targets;

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Byte offset in the parameter buffer.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
}

/// What a launch of a kernel needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Name (mangled).
    pub name: String,
    /// Parameters in order.
    pub params: Vec<ParamInfo>,
    /// Bytes of the parameter buffer.
    pub param_bytes: u32,
    /// Bytes of static shared memory.
    pub static_shared: u32,
    /// What is in it.
    pub shared_variables: Vec<SharedVariable>,
    /// Bytes of local memory per thread, as far as they are known before the run (recursion and indirect
    /// calls come on top).
    pub local_bytes: u32,
    /// Threads that a block may have: `.maxntid`, `.reqntid`, or the device's limit.
    pub max_threads: u32,
    /// 32-bit registers per thread that the engine's frame has, 255 at most.
    pub registers: u32,
    /// Alignment of the dynamic shared memory.
    pub(crate) dynamic_align: u32,
    /// Whether it asks for the shared memory that is reserved for the system.
    pub(crate) reserved_shared: bool,
    /// Why it cannot be launched: what the simulator lacks, in the kernel or in a function that it can reach.
    pub refused: Option<LoadError>,
    /// Where it writes global memory, if that is known.
    pub(crate) targets: Option<Vec<targets::Target>>,
    /// Recursion or indirect calls: `local_bytes` is no bound.
    pub(crate) open_stack: bool,
    pub(crate) function: u32,
    /// Extent of a cluster in blocks.
    pub cluster: [u32; 3],
    /// Whether the kernel states it (`.reqnctapercluster`).
    pub explicit_cluster: bool,
}

impl KernelInfo {
    /// The variable of static shared memory that a byte belongs to.
    pub fn shared_variable_at(&self, offset: u64) -> Option<&SharedVariable> {
        self.shared_variables
            .iter()
            .find(|one| offset.checked_sub(one.offset.into()).is_some_and(|within| within < one.size.into()))
    }
}
