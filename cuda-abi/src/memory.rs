//! Where memory lies, who may use it, and pools of it.

#![allow(missing_docs, reason = "the names and meanings are cuda.h's own")]

use std::ffi::{c_int, c_uint, c_void};

/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`: memory that may be shared by a file's descriptor. Some programs ask for it and
/// never share: what is refused is the sharing.
pub const FILE_DESCRIPTOR: c_uint = 1;

/// `CU_MEM_LOCATION_TYPE_DEVICE`
pub const LOCATION_DEVICE: c_uint = 1;
/// `CU_MEM_LOCATION_TYPE_HOST`, the first of three that mean the host.
pub const LOCATION_HOST: c_uint = 2;

pub const CU_MEMORYTYPE_HOST: c_uint = 1;
pub const CU_MEMORYTYPE_DEVICE: c_uint = 2;
pub const CU_MEMORYTYPE_ARRAY: c_uint = 3;
pub const CU_MEMORYTYPE_UNIFIED: c_uint = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CUmemLocation {
    pub kind: c_uint,
    pub id: c_int,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CUmemAccessDesc {
    pub location: CUmemLocation,
    pub flags: c_uint,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUmemPoolProps {
    pub allocation_type: c_uint,
    pub handle_types: c_uint,
    pub location: CUmemLocation,
    pub security: *mut c_void,
    pub max_size: usize,
    pub usage: u16,
    pub reserved: [u8; 54],
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUmemAllocationProp {
    pub allocation_type: c_uint,
    pub handle_types: c_uint,
    pub location: CUmemLocation,
    pub meta_data: *mut c_void,
    pub compression: u8,
    pub rdma: u8,
    pub usage: u16,
    pub reserved: [u8; 4],
}

/// Bytes of what names memory or an event for other processes.
pub const CU_IPC_HANDLE_SIZE: usize = 64;

/// `CUipcMemHandle` and `CUipcEventHandle`; the runtime's are the same.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUipcHandle(pub [u8; CU_IPC_HANDLE_SIZE]);
