//! The device code of a kit: what the injector merges into a module, and what host and device agree on.
//!
//! A kit is a list of the injector's passes, device code that they call, and a header that is generated from this crate's numbers, so
//! that the device code has them from here. The passes are the injector's (`injector/src/kits.rs`); the rest is here.

/// Device code that is checked in, as the compiler made it.
#[derive(Clone, Copy, Debug)]
pub struct DeviceCode {
    /// Its source, without `.cu`.
    pub name: &'static str,
    /// The compiled form.
    pub ptx: &'static str,
    /// The variable (in constant memory) that the host writes a launch's state to.
    pub variable: &'static str,
    /// Bytes of that.
    pub variable_bytes: usize,
    /// The functions that injected code calls.
    pub functions: &'static [&'static str],
    /// The header that its source includes.
    pub header: Header,
}

/// A header that is generated.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Its file in this crate's folder.
    pub file: &'static str,
    /// Makes its text.
    pub generate: fn() -> String,
}

/// Store buffers.
pub const STORE_BUFFERS: DeviceCode = DeviceCode {
    name: "handlers",
    ptx: crate::PTX,
    variable: crate::LAUNCH_VARIABLE,
    variable_bytes: crate::LaunchState::BYTES,
    functions: &crate::symbols::ALL,
    header: Header { file: "layout.h", generate: crate::header::store_buffers },
};

/// The log of what threads do.
pub const LOG: DeviceCode = DeviceCode {
    name: "logging",
    ptx: crate::logging::LOGGING_PTX,
    variable: crate::logging::LOG_VARIABLE,
    variable_bytes: crate::logging::LogState::BYTES,
    functions: &crate::logging::prepare::ALL,
    header: Header { file: "logging_layout.h", generate: crate::header::log },
};

/// HiRace.
pub const HIRACE: DeviceCode = DeviceCode {
    name: "hirace",
    ptx: crate::hirace::HIRACE_PTX,
    variable: crate::hirace::HIRACE_VARIABLE,
    variable_bytes: crate::hirace::HiraceState::BYTES,
    functions: &crate::hirace::call::ALL,
    header: Header { file: "hirace_layout.h", generate: crate::header::hirace },
};

/// ScoRD.
pub const SCORD: DeviceCode = DeviceCode {
    name: "scord",
    ptx: crate::scord::SCORD_PTX,
    variable: crate::scord::SCORD_VARIABLE,
    variable_bytes: crate::scord::ScordState::BYTES,
    functions: &crate::scord::call::ALL,
    header: Header { file: "scord_layout.h", generate: crate::header::scord },
};

/// All of them.
pub const ALL: [DeviceCode; 4] = [STORE_BUFFERS, LOG, HIRACE, SCORD];
