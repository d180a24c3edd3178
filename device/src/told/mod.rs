//! Where the device tells a trial what it does: launches, races, memory at its end, the host's accesses.

pub mod ends;
pub mod fork;
pub mod host_watch;
pub mod progress;
pub mod races;
pub mod recorded;
pub mod transfers;
pub mod watch;
