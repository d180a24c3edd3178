//! What the detector is called by.

use bugaroo_device_handlers::hirace::{HIRACE_VARIABLE, call};

use crate::looking::Names;

/// What it is called by.
pub(crate) const NAMES: Names = Names {
    variable: HIRACE_VARIABLE,
    begin: call::BEGIN,
    exit: call::EXIT,
    arrive: call::ARRIVE,
    leave: call::LEAVE,
};
