//! Where the device tells a trial what it does: launches, races, memory at its end, the host's accesses.

pub(crate) mod ends;
pub(crate) mod fork;
pub(crate) mod host_watch;
pub(crate) mod progress;
pub(crate) mod races;
pub(crate) mod recorded;
pub(crate) mod transfers;
pub(crate) mod watch;
