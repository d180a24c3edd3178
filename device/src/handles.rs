//! Handles: opaque numbers that name contexts, modules, functions, streams and so on.
//!
//! The real driver hands out pointers to its own structures and trusts what comes back. These are
//! numbers that tell their kind and are never used twice, so that a destroyed, foreign or made-up
//! handle is found out (`CUDA_ERROR_INVALID_HANDLE`). They are counted up from one, hence the same in
//! every run.

use std::collections::BTreeMap;
use std::ffi::c_void;

use crate::error::{CallResult, Status};

/// What a handle names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandleKind {
    /// `CUcontext`
    Context = 1,
    /// `CUmodule`
    Module,
    /// `CUfunction` and `CUkernel`
    Function,
    /// `CUlibrary`
    Library,
    /// `CUstream`
    Stream,
    /// `CUevent`
    Event,
    /// `CUmemoryPool`
    Pool,
    /// `CUlinkState`
    Link,
    /// `CUarray`
    Array,
    /// `CUmipmappedArray`
    Mipmapped,
    /// `CUtexObject` and `CUsurfObject`
    Texture,
    /// `CUgraph`
    Graph,
    /// `CUgraphNode`
    Node,
    /// `CUgraphExec`
    Exec,
    /// `CUuserObject`
    UserObject,
    /// `CUlogsCallbackHandle`
    LogListener,
    /// `CUasyncCallbackHandle`
    DeviceListener,
    /// `CUgreenCtx`
    Green,
    /// `CUdevResourceDesc`
    ResourceDescription,
}

/// The objects of one kind.
#[derive(Debug)]
pub struct Handles<T> {
    kind: HandleKind,
    next: usize,
    objects: BTreeMap<usize, T>,
}

impl<T> Handles<T> {
    /// No objects yet.
    pub fn new(kind: HandleKind) -> Self {
        Handles { kind, next: 1, objects: BTreeMap::new() }
    }

    /// The number that the next object gets.
    fn name(&self, number: usize) -> usize {
        // Apart from small numbers (flags, stream constants) and from any real address space use:
        // nothing is mapped this low, so that a program that looks inside faults at once.
        ((self.kind as usize) << 32) | (number << 4)
    }

    /// Takes an object in.
    pub fn insert(&mut self, object: T) -> *mut c_void {
        let name = self.name(self.next);
        self.next += 1;
        self.objects.insert(name, object);
        name as *mut c_void
    }

    /// The object of a handle.
    ///
    /// # Errors
    /// `InvalidHandle` when there is none.
    pub fn get(&self, handle: *mut c_void) -> CallResult<&T> {
        self.objects.get(&(handle as usize)).ok_or(Status::InvalidHandle)
    }

    /// The object of a handle, to change it.
    ///
    /// # Errors
    /// `InvalidHandle` when there is none.
    pub fn get_mut(&mut self, handle: *mut c_void) -> CallResult<&mut T> {
        self.objects.get_mut(&(handle as usize)).ok_or(Status::InvalidHandle)
    }

    /// Takes an object out.
    ///
    /// # Errors
    /// `InvalidHandle` when there is none.
    pub fn remove(&mut self, handle: *mut c_void) -> CallResult<T> {
        self.objects.remove(&(handle as usize)).ok_or(Status::InvalidHandle)
    }

    /// The handles of those objects that `which` holds for, in order of their creation.
    pub fn find(&self, which: impl Fn(&T) -> bool) -> Vec<*mut c_void> {
        let handle = |(name, object): (&usize, &T)| which(object).then_some(*name as *mut c_void);
        self.objects.iter().filter_map(handle).collect()
    }
}
