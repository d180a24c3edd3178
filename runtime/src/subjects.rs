//! The functions of the API that [`api!`](crate::api::api) writes down, subject by subject.

use crate::exports::Function;
use crate::{
    copy, device, errors, function, library, managed, memory, memset, pointer, pool, properties, stream,
    version,
};

/// A subject's functions by name.
type Functions = &'static [(&'static str, Function)];

/// All of them.
static SUBJECTS: [&Functions; 13] = [
    &copy::FUNCTIONS,
    &device::FUNCTIONS,
    &errors::FUNCTIONS,
    &function::FUNCTIONS,
    &library::FUNCTIONS,
    &managed::FUNCTIONS,
    &memory::FUNCTIONS,
    &memset::FUNCTIONS,
    &pointer::FUNCTIONS,
    &pool::FUNCTIONS,
    &properties::FUNCTIONS,
    &stream::FUNCTIONS,
    &version::FUNCTIONS,
];

/// Every function written down there, with its name.
pub fn all() -> impl Iterator<Item = &'static (&'static str, Function)> {
    SUBJECTS.iter().flat_map(|functions| functions.iter())
}
