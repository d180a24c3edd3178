//! Who wants to be told of what happens.

use crate::handles::{Handles, Kind};

/// Who wants to be told, and of what.
#[derive(Debug)]
pub struct Listeners {
    /// Entries of the log.
    pub logs: Handles<()>,
    /// A device's notifications.
    pub device: Handles<()>,
}

impl Listeners {
    /// Nobody.
    pub fn new() -> Self {
        Listeners { logs: Handles::new(Kind::LogListener), device: Handles::new(Kind::DeviceListener) }
    }
}

impl Default for Listeners {
    fn default() -> Self {
        Self::new()
    }
}
