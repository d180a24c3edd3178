//! The functions of the API that [`api!`](crate::api::api) writes down, subject by subject.

use bugaroo_cuda_abi::FunctionAddress;

use crate::{
    array, capture, copy, copy_node, copy3d, device, errors, function, graph, interprocess, launch, library,
    managed, memory, memset, node, node_parameters, notices, pointer, pool, properties, stream, surface,
    texture, version,
};

/// A subject's functions by name.
type Functions = &'static [(&'static str, FunctionAddress)];

/// All of them.
static SUBJECTS: [&Functions; 26] = [
    &array::PLAIN,
    &array::FUNCTIONS,
    &capture::FUNCTIONS,
    &copy::FUNCTIONS,
    &copy3d::FUNCTIONS,
    &copy_node::FUNCTIONS,
    &device::FUNCTIONS,
    &errors::FUNCTIONS,
    &function::FUNCTIONS,
    &graph::FUNCTIONS,
    &interprocess::FUNCTIONS,
    &launch::FUNCTIONS,
    &library::FUNCTIONS,
    &managed::FUNCTIONS,
    &memory::FUNCTIONS,
    &memset::FUNCTIONS,
    &node::FUNCTIONS,
    &node_parameters::FUNCTIONS,
    &notices::FUNCTIONS,
    &pointer::FUNCTIONS,
    &pool::FUNCTIONS,
    &properties::FUNCTIONS,
    &stream::FUNCTIONS,
    &surface::FUNCTIONS,
    &texture::FUNCTIONS,
    &version::FUNCTIONS,
];

/// Every function written down there, with its name.
pub fn all() -> impl Iterator<Item = &'static (&'static str, FunctionAddress)> {
    SUBJECTS.iter().flat_map(|functions| functions.iter())
}

#[cfg(test)]
mod tests;
