//! The device-side runtime (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", version 2): what device code asks to
//! be launched, copied and set.
//!
//! Nothing of it begins before the grid that asks for it is done: a parent cannot wait for its children, so that no
//! program can tell. (One that waits in a loop for what a child writes relies on more than is promised, and hangs.)
//! What has been asked for is left in order ([`DeviceWork`]), with the stream that it goes to, for whoever runs the
//! grid to have it done before anything that comes after the grid.

use std::collections::BTreeMap;

use bugaroo_ptx::types::Space;
use bugaroo_semantics::event::Event;

use super::Machine;
use super::resolve::Request;
use crate::address::function_index;
use crate::decoded::{Address, Base, Provided};
use crate::fault::{StopKind, TouchKind};
use crate::launch::{LaunchError, LaunchSpec, plan};
use crate::memory::AllocationKind;

/// `cudaErrorInvalidValue`
const INVALID_VALUE: u32 = 1;
/// `cudaErrorMemoryAllocation`
const MEMORY_ALLOCATION: u32 = 2;
/// `cudaErrorInvalidConfiguration`
const INVALID_CONFIGURATION: u32 = 9;
/// `cudaErrorInvalidDeviceFunction`
const INVALID_DEVICE_FUNCTION: u32 = 98;
/// `cudaErrorLaunchOutOfResources`
const OUT_OF_RESOURCES: u32 = 701;

/// Where device streams' and events' numbers begin: behind those with a meaning.
const FIRST_HANDLE: u64 = 0x100;

/// Something that device code wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceWork {
    /// Linear index of the block that asked.
    pub block: u64,
    /// The stream, as device code names it; the default one, which is the block's own, is 0.
    pub stream: u64,
    /// How many its grid has asked for before.
    pub number: u32,
    /// What.
    pub what: DeviceAction,
}

/// What device code wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceAction {
    /// A kernel of the same program.
    Launch {
        /// Its name.
        kernel: String,
        /// Blocks.
        grid: [u32; 3],
        /// Threads of a block.
        block: [u32; 3],
        /// Bytes of dynamic shared memory.
        dynamic_shared: u32,
        /// The parameter buffer.
        params: Vec<u8>,
    },
    /// A copy between addresses of global memory.
    Copy {
        /// To.
        to: u64,
        /// From.
        from: u64,
        /// Bytes.
        bytes: u64,
    },
    /// Bytes of global memory set.
    Fill {
        /// Where.
        to: u64,
        /// To this value.
        value: u8,
        /// Bytes.
        bytes: u64,
    },
    /// An event is recorded.
    Record(u64),
    /// What comes after waits for what the event was recorded behind.
    Wait(u64),
}

/// What a grid has asked for, and is about to.
#[derive(Debug, Default)]
pub(super) struct DeviceRuntime {
    /// Launches that wait for their parameters, by the address of the buffer.
    prepared: BTreeMap<u64, DeviceAction>,
    asked: Vec<DeviceWork>,
    number: u32,
    handles: u64,
    error: u32,
    /// The text of `cudaSuccess`, or of any error, once it was asked for.
    text: Option<u64>,
}

impl DeviceRuntime {
    fn handle(&mut self) -> u64 {
        self.handles += 1;
        FIRST_HANDLE + self.handles
    }

    /// Notes how a call ended.
    fn told(&mut self, error: u32) -> u64 {
        if error != 0 {
            self.error = error;
        }
        error.into()
    }
}

impl Machine<'_> {
    /// What device code asked for, in order; afterwards nothing.
    pub fn take_asked(&mut self) -> Vec<DeviceWork> {
        std::mem::take(&mut self.device_runtime.asked)
    }

    fn asked_for(&mut self, (w, lane): (usize, usize), stream: u64, what: DeviceAction) -> u64 {
        let block = self.residents.ctas[self.residents.warps[w].cta as usize].block;
        // 1 and 2 name default streams, too.
        let stream = if stream <= 2 { 0 } else { stream };
        let number = self.device_runtime.number;
        self.device_runtime.number += 1;
        self.device_runtime.asked.push(DeviceWork { block, stream, number, what });
        self.tell(|machine, _| Event::Asked { by: machine.observed_lanes(w, 1 << lane), number });
        0
    }

    /// Writes a result of up to eight bytes where a lane wants it.
    fn write_generic(
        &mut self,
        w: usize,
        lane: usize,
        (address, bytes): (u64, u32),
        value: u64,
    ) -> Result<(), StopKind> {
        let place = Address { base: Base::Fixed, offset: 0, space: Space::Generic };
        let site = self.paths.regions.len() - 1;
        let request = Request { address: place, bytes, site, kind: TouchKind::Write };
        let (pointer, _) = self.resolve_lane(w, &request, lane, address)?;
        // SAFETY: `resolve_lane` found this many bytes there.
        unsafe {
            std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), pointer as *mut u8, bytes as usize);
        }
        Ok(())
    }

    /// Runs a function of the device-side runtime for a lane; answers its result. `parameter` gives the words of its
    /// parameters.
    pub(super) fn device_runtime(
        &mut self,
        (w, lane): (usize, usize),
        which: Provided,
        parameter: &dyn Fn(usize) -> [u64; 3],
    ) -> Result<u64, StopKind> {
        let word = |index: usize| parameter(index)[0];
        let long = |index: usize| parameter(index)[0] | parameter(index)[1] << 32;
        let triple = |index: usize| parameter(index).map(|word| word as u32);
        Ok(match which {
            Provided::ParameterBuffer => match self.prepare(long(0), triple(1), triple(2), word(3) as u32) {
                Ok(buffer) => buffer,
                Err(error) => {
                    self.device_runtime.told(error);
                    0
                }
            },
            Provided::LaunchDevice => {
                let Some(mut action) = self.device_runtime.prepared.remove(&long(0)) else {
                    return Ok(self.device_runtime.told(INVALID_VALUE));
                };
                if let DeviceAction::Launch { params, .. } = &mut action {
                    // The buffer is there as long as it is in the list.
                    let _ = self.memory.read(long(0), params);
                }
                let _ = self.memory.free(long(0));
                self.forget_regions();
                self.asked_for((w, lane), long(1), action)
            }
            Provided::StreamCreate | Provided::EventCreate => {
                let handle = self.device_runtime.handle();
                self.write_generic(w, lane, (long(0), 8), handle)?;
                0
            }
            Provided::StreamDestroy | Provided::EventDestroy => 0,
            Provided::StreamWaitEvent => self.asked_for((w, lane), long(0), DeviceAction::Wait(long(1))),
            Provided::EventRecord | Provided::EventRecordWithFlags => {
                self.asked_for((w, lane), long(1), DeviceAction::Record(long(0)))
            }
            Provided::LastError => u64::from(std::mem::take(&mut self.device_runtime.error)),
            Provided::PeekLastError => u64::from(self.device_runtime.error),
            Provided::ErrorText => self.error_text().unwrap_or(0),
            Provided::Device | Provided::DeviceCount => {
                self.write_generic(w, lane, (long(0), 4), u64::from(which == Provided::DeviceCount))?;
                0
            }
            Provided::RuntimeMalloc => match self.memory.heap_alloc(long(1), 256) {
                Some(address) => {
                    self.write_generic(w, lane, (long(0), 8), address)?;
                    0
                }
                None => self.device_runtime.told(MEMORY_ALLOCATION),
            },
            Provided::RuntimeFree => {
                let freed = long(0) == 0 || self.memory.heap_free(long(0));
                self.forget_regions();
                if freed { 0 } else { self.device_runtime.told(INVALID_VALUE) }
            }
            Provided::MemcpyAsync => {
                let [to, from, bytes] = [0, 1, 2].map(long);
                self.asked_for((w, lane), long(4), DeviceAction::Copy { to, from, bytes })
            }
            Provided::MemsetAsync => {
                let (to, value, bytes) = (long(0), word(1) as u8, long(2));
                self.asked_for((w, lane), long(3), DeviceAction::Fill { to, value, bytes })
            }
            _ => unreachable!("the others are none of the device-side runtime's"),
        })
    }

    /// A buffer for the parameters of a launch, whose shape is checked.
    fn prepare(
        &mut self,
        function: u64,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_shared: u32,
    ) -> Result<u64, u32> {
        let kernels = self.given.program.kernels();
        let called = |index| kernels.iter().find(|kernel| kernel.function == index);
        let kernel = function_index(function).and_then(called).ok_or(INVALID_DEVICE_FUNCTION)?;
        let params = vec![0; kernel.param_bytes as usize];
        let spec = LaunchSpec {
            kernel: &kernel.name,
            grid,
            block,
            dynamic_shared,
            cluster: None,
            params: &params,
            step_budget: None,
        };
        match plan(self.given.program, self.given.config, &spec, None) {
            // What cannot be run at all is told when the launch's turn comes.
            Ok(_) | Err(LaunchError::Refused(_)) => {}
            Err(LaunchError::LocalMemory { .. } | LaunchError::Host(_)) => return Err(OUT_OF_RESOURCES),
            Err(_) => return Err(INVALID_CONFIGURATION),
        }
        let bytes = u64::from(kernel.param_bytes.max(16));
        // None of the heap's: device code has no business to free it.
        let buffer = self.memory.alloc(bytes, 256, AllocationKind::Module).map_err(|_| MEMORY_ALLOCATION)?;
        let kernel = kernel.name.clone();
        let action = DeviceAction::Launch { kernel, grid, block, dynamic_shared, params };
        self.device_runtime.prepared.insert(buffer, action);
        Ok(buffer)
    }

    /// A text in device memory that stands for any error.
    fn error_text(&mut self) -> Option<u64> {
        const TEXT: &[u8] = b"an error of the device-side runtime\0";
        if self.device_runtime.text.is_none() {
            let address = self.memory.alloc(TEXT.len() as u64, 16, AllocationKind::Module).ok()?;
            self.memory.write(address, TEXT).ok()?;
            self.device_runtime.text = Some(address);
        }
        self.device_runtime.text
    }
}
