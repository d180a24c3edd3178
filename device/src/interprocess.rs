//! Memory that processes of one program share: exported, opened and closed ([`crate::objects::interprocess`]).

use std::os::fd::AsFd as _;

use bugaroo_cuda_abi::{CUcontext, CUdeviceptr};
use bugaroo_simulator::{AllocationKind, Exported, MemoryError};

use crate::error::{CallResult, Status};
use crate::objects::interprocess::SharedHandle;
use crate::objects::memory::Allocation;
use crate::state::Gpu;

impl Gpu {
    /// Called before anything is shared with other processes.
    ///
    /// # Errors
    /// `NotSupported`, which is told, where the trial could say nothing right of that.
    pub fn begin_sharing(&mut self) -> CallResult {
        match self.trial.injection.cannot_share() {
            Some(why) => Err(self.trial.report.unsupported(why)),
            None => Ok(()),
        }
    }

    /// Exports the allocation that an address lies in.
    ///
    /// # Errors
    /// `InvalidValue` where it is none of the device's own that the program has allocated by itself; `Unknown` when the system refuses.
    pub fn export_memory(&mut self, address: CUdeviceptr) -> CallResult<SharedHandle> {
        let (first, allocation) = self.program_allocation(address).ok_or(Status::InvalidValue)?;
        if allocation.kind != AllocationKind::Program || allocation.pool.is_some() {
            return Err(Status::InvalidValue);
        }
        self.begin_sharing()?;
        let exported = self.memory.export(first).map_err(|error| match error {
            MemoryError::Sharing => Status::Unknown,
            _ => Status::InvalidValue,
        })?;
        // It was made with the first export.
        let file = self.memory.export_file().ok_or(Status::Unknown)?.as_fd();
        let handle = SharedHandle::of(file, (exported.offset, exported.bytes))?;
        self.held.shares.exported(file, &handle)?;
        Ok(handle)
    }

    /// Opens what another process has exported; who opens it again gets the same address.
    ///
    /// # Errors
    /// `InvalidContext` for memory of this process, as the driver has it; `InvalidHandle` when it is gone; `OutOfMemory`.
    pub fn open_memory(&mut self, context: CUcontext, handle: SharedHandle) -> CallResult<CUdeviceptr> {
        if handle.process == std::process::id() {
            return Err(Status::InvalidContext);
        }
        let (offset, bytes) = handle.part;
        if bytes == 0 {
            return Err(Status::InvalidHandle);
        }
        if let Some(address) = self.held.shares.again(&handle) {
            return Ok(address);
        }
        self.begin_sharing()?;
        let file = self.held.shares.file(&handle)?;
        let address =
            self.memory.import(file.as_fd(), Exported { offset, bytes }).map_err(|_| Status::OutOfMemory)?;
        let kind = AllocationKind::Imported;
        let allocation = Allocation { context, size: bytes, kind, pool: None, synchronous: false };
        self.held.allocations.insert(address, allocation);
        self.held.shares.imported(address, handle);
        self.own(address, context);
        self.running.queue.tell(|order| order.allocated(address, bytes, false));
        Ok(address)
    }

    /// Closes it.
    ///
    /// # Errors
    /// `InvalidValue` when none is open at this address.
    pub fn close_memory(&mut self, address: CUdeviceptr) -> CallResult {
        if !self.held.shares.close(address)? {
            return Ok(());
        }
        // It was inserted when it was opened.
        if let Some(gone) = self.held.allocations.remove(&address) {
            self.running.queue.tell(|order| order.freed(address, gone.size));
        }
        self.memory.end_import(address).map_err(|_| Status::InvalidValue)
    }
}
