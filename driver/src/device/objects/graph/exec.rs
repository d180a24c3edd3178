//! Executable graphs.

use std::ffi::c_ulonglong;

use crate::device::objects::graph::user_object::References;
use crate::device::objects::work::Step;
use crate::lane::Ticket;

/// An executable graph.
#[derive(Debug)]
pub struct Exec {
    pub(crate) steps: Vec<Step>,
    pub(crate) flags: c_ulonglong,
    /// What its last launch ended with: it does not overlap with itself.
    pub(crate) last: Ticket,
    /// Objects of the program that it keeps alive.
    pub(crate) objects: References,
}
