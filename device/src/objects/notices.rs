//! Who wants to be told of what happens.

use crate::handles::{HandleKind, Handles};

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
        Listeners {
            logs: Handles::new(HandleKind::LogListener),
            device: Handles::new(HandleKind::DeviceListener),
        }
    }
}

impl Default for Listeners {
    fn default() -> Self {
        Self::new()
    }
}
