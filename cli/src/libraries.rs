//! The libraries that programs under test load: beside this executable, or within it.
//!
//! `cargo build --workspace` leaves them beside it. `cargo install --path cli` installs the executable alone: the build script
//! then builds them, and they are part of it.

use bugaroo_harness::{DriverLibrary, Embedded, Error};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Finds them. This executable is Triton's `ptxas`, too ([`crate::ptxas`]).
pub fn find() -> Result<DriverLibrary, Error> {
    let find = || DriverLibrary::find(EMBEDDED.as_ref())?.with_ptxas(&std::env::current_exe()?);
    find().map_err(Error::from)
}
