//! Memory that belongs to graphs (CUDA Driver API, "Graph Management", memory allocation and free nodes).
//!
//! Its address is known when the node is made; what lies there does so from then on, until no node and no executable
//! graph has the address any more. What changes with launches is whether it is allocated: told when one allocates
//! twice or frees what is not, and counted. A program that uses what a graph has freed is not found out.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint};
use std::rc::Rc;

use bugaroo_cuda_abi::{
    CUDA_MEM_ALLOC_NODE_PARAMS, CUcontext, CUdeviceptr, CUgraphNode, CUmemPoolProps, LOCATION_DEVICE,
};

use crate::entry::{not_null, with_driver, write};
use crate::error::{Outcome, Status};
use crate::graph::Body;
use crate::graph::exec::{Doing, Step};
use crate::graph::params::read;
use crate::state::Driver;
use crate::work::Work;

/// Memory of a graph. Who may use its address holds a reference.
#[derive(Debug)]
pub struct GraphMemory {
    /// Where.
    pub address: CUdeviceptr,
    /// How much.
    pub bytes: u64,
}

/// What is known of one.
#[derive(Debug)]
struct Owned {
    memory: Rc<GraphMemory>,
    /// It is allocated, once everything that was asked for so far is done.
    open: bool,
    /// It is allocated.
    live: bool,
}

/// All of it.
#[derive(Debug, Default)]
pub struct GraphMemories {
    owned: BTreeMap<CUdeviceptr, Owned>,
    used: u64,
    most_used: u64,
    /// What was in use at most since the device was given back the rest.
    reserved: u64,
    most_reserved: u64,
}

impl GraphMemories {
    /// Whether memory at this address is a graph's.
    pub fn has(&self, address: CUdeviceptr) -> bool {
        self.owned.contains_key(&address)
    }

    /// A reference to memory of this address.
    ///
    /// # Errors
    /// `InvalidValue` when it is no graph's.
    pub fn get(&self, address: CUdeviceptr) -> Outcome<Rc<GraphMemory>> {
        self.owned.get(&address).map(|owned| Rc::clone(&owned.memory)).ok_or(Status::InvalidValue)
    }

    /// Its context is gone, and frees it.
    pub fn forget(&mut self, address: CUdeviceptr) {
        self.owned.remove(&address);
    }

    /// Freeing was asked for.
    ///
    /// # Errors
    /// `InvalidValue` when it is not allocated.
    pub fn close(&mut self, address: CUdeviceptr) -> Outcome {
        match self.owned.get_mut(&address) {
            Some(owned) if owned.open => {
                owned.open = false;
                Ok(())
            }
            _ => Err(Status::InvalidValue),
        }
    }

    /// It is allocated from now on, or no longer.
    pub fn set_live(&mut self, address: CUdeviceptr, live: bool) {
        let Some(owned) = self.owned.get_mut(&address) else { return };
        if owned.live == live {
            return;
        }
        owned.live = live;
        let bytes = owned.memory.bytes;
        self.used = if live { self.used + bytes } else { self.used.saturating_sub(bytes) };
        self.most_used = self.most_used.max(self.used);
        self.reserved = self.reserved.max(self.used);
        self.most_reserved = self.most_reserved.max(self.reserved);
    }
}

/// Memory that steps allocate, and that they free.
fn changes(steps: &[Step]) -> [Vec<CUdeviceptr>; 2] {
    let mut found = [Vec::new(), Vec::new()];
    for step in steps {
        match step.doing() {
            Doing::Body(Body::Allocate(memory)) => found[0].push(memory.address),
            Doing::Body(Body::Free(memory)) => found[1].push(memory.address),
            Doing::Body(_) => {}
            Doing::All(steps) => {
                for (all, more) in found.iter_mut().zip(changes(steps)) {
                    all.extend(more);
                }
            }
            // No memory nodes are in conditional ones.
            Doing::Branch(_) => {}
        }
    }
    found
}

impl Driver {
    /// New memory for a graph.
    ///
    /// # Errors
    /// `InvalidValue` for no bytes, `OutOfMemory`.
    pub fn graph_memory(&mut self, context: CUcontext, bytes: usize) -> Outcome<Rc<GraphMemory>> {
        let address = self.allocate(context, bytes)?;
        let memory = Rc::new(GraphMemory { address, bytes: bytes as u64 });
        let owned = Owned { memory: Rc::clone(&memory), open: false, live: false };
        self.graphs.memory.owned.insert(address, owned);
        Ok(memory)
    }

    /// Looks at what launching steps allocates and frees.
    ///
    /// # Errors
    /// `InvalidValue` when something is allocated that is, unless it is freed first then, or freed that is not.
    pub fn open_graph_memory(&mut self, steps: &[Step], free_first: bool) -> Outcome {
        let [allocated, freed] = changes(steps);
        let owned = &mut self.graphs.memory.owned;
        let open = |address: &CUdeviceptr| owned.get(address).is_some_and(|owned| owned.open);
        if !free_first && allocated.iter().any(open) {
            return Err(Status::InvalidValue);
        }
        if freed.iter().any(|address| !open(address) && !allocated.contains(address)) {
            return Err(Status::InvalidValue);
        }
        for (addresses, open) in [(&allocated, true), (&freed, false)] {
            for address in addresses {
                if let Some(owned) = owned.get_mut(address) {
                    owned.open = open;
                }
            }
        }
        Ok(())
    }

    /// The work of a node that allocates or frees.
    pub fn graph_memory_work(memory: &Rc<GraphMemory>, live: bool) -> Work {
        let memory = Rc::clone(memory);
        Work::act(move |driver| {
            driver.graphs.memory.set_live(memory.address, live);
            Ok(())
        })
    }

    /// Frees memory that no graph has any more.
    pub fn sweep_graph_memory(&mut self) {
        let gone = |(address, owned): (&CUdeviceptr, &Owned)| {
            let unused = Rc::strong_count(&owned.memory) == 1 && !owned.open && !owned.live;
            unused.then_some(*address)
        };
        let gone: Vec<CUdeviceptr> = self.graphs.memory.owned.iter().filter_map(gone).collect();
        for address in gone {
            self.graphs.memory.forget(address);
            // It was there, or its context would have made it forgotten.
            let _ = self.free(address);
        }
    }
}

/// A node that allocates; the address goes into the parameters.
///
/// # Safety
/// `params` is null or as `cuda.h` has it, and may be written.
pub unsafe fn allocation(
    driver: &mut Driver,
    context: CUcontext,
    params: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
) -> Outcome<Body> {
    // SAFETY: the caller's promise.
    let CUDA_MEM_ALLOC_NODE_PARAMS { pool, bytes, .. } = unsafe { read(params) }?;
    if pool.allocation_type != 1 || pool.handle_types != 0 {
        return Err(Status::InvalidValue);
    }
    if pool.location.kind != LOCATION_DEVICE {
        let what = "cuGraphAddMemAllocNode: memory of the host is not supported";
        return Err(driver.report.unsupported(what));
    }
    crate::primary::check_device(pool.location.id)?;
    let memory = driver.graph_memory(context, bytes)?;
    // SAFETY: it was read, and the caller vouches that it may be written.
    unsafe { (&raw mut (*params).address).write_unaligned(memory.address) };
    Ok(Body::Allocate(memory))
}

/// What a node allocates.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuGraphMemAllocNodeGetParams(
    node: CUgraphNode,
    place: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
) -> Status {
    with_driver("cuGraphMemAllocNodeGetParams", |driver| {
        let Body::Allocate(memory) = &driver.graphs.nodes.get(node)?.body else {
            return Err(Status::InvalidValue);
        };
        let pool = CUmemPoolProps {
            allocation_type: 1,
            handle_types: 0,
            location: bugaroo_cuda_abi::CUmemLocation { kind: LOCATION_DEVICE, id: 0 },
            security: std::ptr::null_mut(),
            max_size: 0,
            usage: 0,
            reserved: [0; 54],
        };
        let (bytes, address) = (memory.bytes as usize, memory.address);
        // SAFETY: the caller's promise.
        unsafe {
            write(
                place,
                CUDA_MEM_ALLOC_NODE_PARAMS { pool, access: std::ptr::null(), count: 0, bytes, address },
            )
        }
    })
}

/// What a node frees.
///
/// # Safety
/// `place` is null or points to a place for an address.
pub unsafe extern "C" fn cuGraphMemFreeNodeGetParams(node: CUgraphNode, place: *mut CUdeviceptr) -> Status {
    with_driver("cuGraphMemFreeNodeGetParams", |driver| {
        let Body::Free(memory) = &driver.graphs.nodes.get(node)?.body else {
            return Err(Status::InvalidValue);
        };
        // SAFETY: the caller's promise.
        unsafe { write(place, memory.address) }
    })
}

/// Device memory that graphs hold for themselves.
///
/// # Safety
/// `place` is null or points to a place for a number.
pub unsafe extern "C" fn cuDeviceGetGraphMemAttribute(
    device: c_int,
    attribute: c_uint,
    place: *mut u64,
) -> Status {
    with_driver("cuDeviceGetGraphMemAttribute", |driver| {
        crate::primary::check_device(device)?;
        let memory = &driver.graphs.memory;
        let numbers = [memory.used, memory.most_used, memory.reserved, memory.most_reserved];
        let number = numbers.get(attribute as usize).ok_or(Status::InvalidValue)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, *number) }
    })
}

/// Sets the most that was in use, or reserved, back to what is now.
///
/// # Safety
/// `value` is null or points to a number.
pub unsafe extern "C" fn cuDeviceSetGraphMemAttribute(
    device: c_int,
    attribute: c_uint,
    value: *const u64,
) -> Status {
    with_driver("cuDeviceSetGraphMemAttribute", |driver| {
        crate::primary::check_device(device)?;
        not_null(value)?;
        // SAFETY: not null, and the caller's promise.
        let value = unsafe { value.read_unaligned() };
        let memory = &mut driver.graphs.memory;
        match (attribute, value) {
            (1, 0) => memory.most_used = memory.used,
            (3, 0) => memory.most_reserved = memory.reserved,
            _ => return Err(Status::InvalidValue),
        }
        Ok(())
    })
}

/// Gives memory that no graph uses now back to the device.
pub extern "C" fn cuDeviceGraphMemTrim(device: c_int) -> Status {
    with_driver("cuDeviceGraphMemTrim", |driver| {
        crate::primary::check_device(device)?;
        driver.sweep_graph_memory();
        driver.graphs.memory.reserved = driver.graphs.memory.used;
        Ok(())
    })
}
