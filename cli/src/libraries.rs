//! The libraries that programs under test load: beside this executable, or within it.
//!
//! `cargo build --workspace` leaves them beside it. `cargo install --path cli` installs the executable alone: the build script
//! then builds them, and they are part of it.

use bugaroo_harness::{DriverLibrary, Embedded, Error};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Finds them.
pub fn find() -> Result<DriverLibrary, Error> {
    DriverLibrary::find(EMBEDDED.as_ref()).map_err(Error::from)
}
