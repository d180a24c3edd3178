//! A graph as a picture in the language of Graphviz (`cuGraphDebugDotPrint`). What exactly stands in it the API leaves
//! open; it is the same in every run but for addresses of the host.

use std::ffi::{c_char, c_uint};

use bugaroo_cuda_abi::CUgraph;

use crate::api::entry::with_gpu;
use bugaroo_device::error::Status;
use bugaroo_device::places::text;

/// Every flag that there is.
const ALL: c_uint = (1 << 16) - 1;

/// Writes a picture of a graph to a file.
///
/// # Safety
/// `path` is null or a string.
pub unsafe extern "C" fn cuGraphDebugDotPrint(graph: CUgraph, path: *const c_char, flags: c_uint) -> Status {
    with_gpu("cuGraphDebugDotPrint", |gpu| {
        // SAFETY: the caller's promise.
        let path = unsafe { text(path) }?;
        if flags & !ALL != 0 {
            return Err(Status::InvalidValue);
        }
        let mut out = "digraph dot {\n".to_owned();
        gpu.draw_graph(graph, flags, &mut 1, &mut out)?;
        out.push_str("}\n");
        std::fs::write(path, out).map_err(|error| {
            eprintln!("bugaroo: cuGraphDebugDotPrint: {path}: {error}");
            Status::OperatingSystem
        })
    })
}
