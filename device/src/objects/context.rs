//! Contexts: flags, limits and preferences, and the fault that one may have.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_uint, c_void};

use bugaroo_cuda_abi::{CUcontext, CUdevice};

use crate::error::{CallResult, Status};

/// Bits that `cuCtxCreate` and the like know.
const FLAGS_MASK: c_uint = 0xff;
/// Bits of the scheduling choice: at most one may be set.
const SCHEDULING_MASK: c_uint = 0x07;

/// One context.
#[derive(Debug, Default)]
pub struct Context {
    /// As given at creation.
    pub flags: c_uint,
    /// Whose it is.
    pub device: CUdevice,
    /// Contexts of other devices to whose memory it has access.
    pub peers: BTreeSet<CUcontext>,
    /// Set by a kernel that faulted; the calls that come next are told.
    pub fault: Option<Broken>,
    /// `CUfunc_cache`
    pub cache_config: c_uint,
    /// Limits that were set, by `CUlimit`.
    pub limits: BTreeMap<c_uint, usize>,
    /// What others keep with it, in the order in which they came.
    pub kept: Vec<ContextKept>,
}

/// Told of a context that ends: the context, the key, the value.
pub type ContextEnded = unsafe extern "C" fn(CUcontext, *mut c_void, *mut c_void);

/// What somebody keeps with a context.
#[derive(Clone, Copy, Debug)]
pub struct ContextKept {
    /// Whose it is.
    pub key: usize,
    /// Of a meaning of theirs.
    pub value: usize,
    /// To be told when the context ends.
    pub ended: Option<ContextEnded>,
}

impl Context {
    /// A context of a device, with these flags.
    pub fn new(flags: c_uint, device: CUdevice) -> Self {
        Context { flags, device, ..Context::default() }
    }

    /// A limit as set, or its default.
    pub fn limit(&self, limit: c_uint) -> CallResult<usize> {
        let default = match limit {
            0 => 1024,    // stack size
            1 => 1 << 20, // printf buffer
            2 => 8 << 20, // malloc heap
            3 => 2,       // device runtime: synchronise depth
            4 => 2048,    // device runtime: pending launches
            5 => 128,     // L2 fetch granularity
            6 => 0,       // persisting L2 cache
            7 => 49152,   // shared memory
            8 | 9 => 0,   // graphics interoperation
            _ => return Err(Status::UnsupportedLimit),
        };
        Ok(self.limits.get(&limit).copied().unwrap_or(default))
    }
}

/// Refuses unknown flags, and more than one scheduling choice.
pub fn check_flags(flags: c_uint) -> CallResult {
    let scheduling = (flags & SCHEDULING_MASK).count_ones();
    if flags & !FLAGS_MASK != 0 || scheduling > 1 { Err(Status::InvalidValue) } else { Ok(()) }
}

/// Refuses what is no `CUfunc_cache`.
pub fn check_cache_config(config: c_uint) -> CallResult {
    if config <= 3 { Ok(()) } else { Err(Status::InvalidValue) }
}

/// A fault of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What calls give.
    pub status: Status,
    /// Whether the program was told.
    pub reported: bool,
}
