//! Executable graphs.

use std::ffi::c_ulonglong;

use crate::lane::Ticket;
use crate::objects::graph::user_object::References;
use crate::objects::work::GraphStep;

/// An executable graph.
#[derive(Debug)]
pub struct Exec {
    /// What it does, each step behind those before it.
    pub steps: Vec<GraphStep>,
    /// As it was instantiated.
    pub flags: c_ulonglong,
    /// What its last launch ended with: it does not overlap with itself.
    pub last: Ticket,
    /// Objects of the program that it keeps alive.
    pub objects: References,
}
