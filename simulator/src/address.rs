//! The map of the virtual GPU's address space: which part of it stands for what.
//!
//! A generic address is one of global memory unless it falls into one of the windows below (PTX ISA,
//! "Generic Addressing"). The windows lie far under the global range, so that no allocation ever meets one.
//! An address in the shared, local or param *space* counts from the window's base; constant memory is
//! global memory to which nobody writes. Memory that the host reaches, too, has the host's addresses. The first megabyte belongs to nobody: null pointers with an
//! offset fault.

/// Generic addresses of the executing CTA's shared memory start here.
pub const SHARED_WINDOW: u64 = 0x1_0000_0000;
/// Generic addresses of the executing thread's local memory start here.
pub const LOCAL_WINDOW: u64 = 0x2_0000_0000;
/// Generic addresses of the kernel's parameters start here. Each of the windows has 4 GiB.
pub const PARAM_WINDOW: u64 = 0x3_0000_0000;
/// "Addresses" of functions, as indirect calls use them: not memory, an access faults.
pub const CODE_BASE: u64 = 0x4_0000_0000;
/// Distance between two functions' addresses.
pub const CODE_STRIDE: u64 = 16;
/// The lowest address of global memory.
pub const GLOBAL_BASE: u64 = 0x70_0000_0000;
/// The lowest of the addresses that are reserved first and mapped later.
pub const VIRTUAL_BASE: u64 = 0x80_0000_0000;
/// The first address behind them.
pub const VIRTUAL_END: u64 = 0xc0_0000_0000;
/// Where memory that host and device share is placed if nothing else is there: far from where Linux puts
/// programs, their heaps, libraries and stacks, and from the shadows of sanitizers.
pub const HOST_VISIBLE_BASE: u64 = 0x2000_0000_0000;

/// What a generic address points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Shared memory of the CTA.
    Shared,
    /// Local memory of the thread.
    Local,
    /// Parameters of the kernel.
    Param,
    /// Everything else.
    Global,
}

/// The window of a generic address.
#[inline(always)]
pub const fn window(address: u64) -> Window {
    match address >> 32 {
        1 => Window::Shared,
        2 => Window::Local,
        3 => Window::Param,
        _ => Window::Global,
    }
}

/// The function that a code address stands for.
pub fn function_index(address: u64) -> Option<u32> {
    let offset = address.checked_sub(CODE_BASE)?;
    (offset % CODE_STRIDE == 0).then(|| u32::try_from(offset / CODE_STRIDE).ok())?
}

/// The address that stands for a function.
pub fn code_address(function: u32) -> u64 {
    CODE_BASE + u64::from(function) * CODE_STRIDE
}
