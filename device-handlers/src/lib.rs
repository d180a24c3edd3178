//! The device code that the injector's passes call, and the layouts that host and device share.
//!
//! `handlers.cu` holds the code: per-thread store buffers under two models, the sound
//! store buffers and the Bugaroo paper's Algorithms 1 and 2. Its compiled form is [`PTX`]; [`kit`] lists all device code. This
//! crate is the one source of the numbers that both sides use: headers are generated from it ([`header`]), and
//! the device code asserts that its structs agree.
//!
//! A launch goes like this: the host makes a [`Layout`] for the launch, allocates and zeroes it, fills a
//! table of [`flags`] (one word a site), and writes [`LaunchState::to_bytes`] to the module's variable
//! [`LAUNCH_VARIABLE`]. A module whose variable is never written runs as if it were not instrumented.

pub mod coin;
pub mod constants;
pub mod header;
pub mod hirace;
pub mod kit;
mod launch_state;
mod layout;
pub mod logging;
pub mod looking;
pub mod scord;
mod site_word;

pub use coin::{coin, launch_key, mix, threshold};
pub use launch_state::{Features, HandlerModel, LaunchState};
pub use layout::{CHUNK_BYTES, Layout};
pub use site_word::{BufferSpace, SiteWord};

/// The handlers as nvcc 13.0 compiled them (`-ptx -rdc=true -arch=compute_75`), header and all.
pub const PTX: &str = include_str!("../handlers.ptx");

/// The variable (in constant memory) that the host writes a [`LaunchState`] to before each launch.
pub const LAUNCH_VARIABLE: &str = "__bugaroo_launch";

/// Every symbol of the handlers starts so; a program that has such a symbol is instrumented already.
pub const SYMBOL_PREFIX: &str = "__bugaroo_";

/// Names of the handlers that injected code calls. What each does, takes and answers is said in
/// `handlers.cu`.
pub mod symbols {
    /// `() -> (u64 address of the thread's counts, u32 thread and u32 CTA)`
    pub const ENTER: &str = "__bugaroo_enter";
    /// `(u32 thread, u64 address, u64 value, u64 site) -> (u64 old, u64 choice)`
    pub const STORE: &str = "__bugaroo_store";
    /// `(u32 thread, u64 address, u64 old, u64 site)`
    pub const RESTORE: &str = "__bugaroo_restore";
    /// `(u32 thread, u64 address, u64 site) -> (u64 value, u64 found)`
    pub const LOAD: &str = "__bugaroo_load";
    /// `(u32 thread, u64 address, u64 site)`
    pub const ATOMIC: &str = "__bugaroo_atomic";
    /// `(u32 thread, u32 event)`
    pub const DRAIN: &str = "__bugaroo_drain";
    /// `(u32 site id, u32 event) -> u32 event`
    pub const FENCE: &str = "__bugaroo_fence";
    /// `(u32 thread, u32 site id)`
    pub const INSERTED_FENCE: &str = "__bugaroo_inserted_fence";
    /// All of them.
    pub const ALL: [&str; 8] = [ENTER, STORE, RESTORE, LOAD, ATOMIC, DRAIN, FENCE, INSERTED_FENCE];
}

/// Bits of a word of the site flags table (`u32` per site, indexed by [`SiteWord::site`]).
pub mod flags {
    /// A fence site that does nothing: neither drains nor fences.
    pub const OMIT: u32 = 1;
    /// An access site after which both buffers drain and a `membar.gl` runs.
    pub const INSERT: u32 = 2;
    /// A fence site, or one with [`INSERT`], whose fence acts at CTA scope only.
    pub const NARROW: u32 = 4;
}
