//! Which CUDA line a site is shown with.
//!
//! An `atomicExch` in user code stands, as far as `.loc` goes, in a header of the toolkit. People want
//! their own line: the innermost one of the inlining chain whose file is no toolkit header. What is
//! outside of it stays as the call chain. A file counts as the toolkit's by its path alone, so a
//! user's own file that is named like a toolkit header is passed over; when every file of the chain
//! looks like the toolkit's, the innermost line is shown after all.

use bugaroo_protocol::SourceLine;
use bugaroo_ptx::ast::{Instruction, Module};

/// Directories (as they appear in paths, lower case, with `/`) that hold nothing but toolkit headers.
const FOLDERS: [&str; 12] = [
    "cuda/include/",
    "cu13/include/",
    "cuda_runtime/include/",
    "/targets/x86_64-linux/include/",
    "/targets/sbsa-linux/include/",
    "/crt/",
    "include/cooperative_groups/",
    "/cuda/std/",
    "/libcudacxx/",
    "/cub/cub/",
    "/thrust/thrust/",
    "include/cccl/",
];

/// File names of toolkit headers, wherever they lie.
const NAMES: [&str; 10] = [
    "cooperative_groups.h",
    "cuda_runtime.h",
    "device_atomic_functions.h",
    "device_atomic_functions.hpp",
    "device_functions.h",
    "device_functions.hpp",
    "math_functions.h",
    "math_functions.hpp",
    "cuda_fp16.h",
    "cuda_fp16.hpp",
];

/// Whether a path, as nvcc wrote it into `.file`, is one of the CUDA toolkit's headers.
pub fn is_toolkit_header(path: &str) -> bool {
    let path = path.replace('\\', "/").to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let intrinsics = ["sm_", "cuda_bf16", "cuda_fp8", "vector_", "surface_", "texture_", "crt_"];
    let header =
        name.ends_with(".h") || name.ends_with(".hpp") || name.ends_with(".cuh") || name.ends_with(".inl");
    let in_nvidia_include = path.contains("nvidia/") && path.contains("/include/");
    in_nvidia_include
        || path.starts_with("crt/")
        || FOLDERS.iter().any(|folder| path.contains(folder))
        || NAMES.contains(&name)
        || header && intrinsics.iter().any(|prefix| name.starts_with(prefix)) && !path.contains("/src/")
}

/// Where an instruction stands in the user's source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributed {
    /// The user's line.
    pub line: Option<SourceLine>,
    /// The call sites around it, innermost first.
    pub inlined_at: Vec<SourceLine>,
    /// Columns of both, in this order.
    pub columns: Vec<u32>,
}

/// The user's line of an instruction, and the call sites around it.
pub fn attribute(module: &Module, instruction: &Instruction) -> Attributed {
    let chain: Vec<(SourceLine, u32)> = instruction
        .source
        .iter()
        .filter_map(|at| {
            Some((SourceLine { file: module.file(at.file)?.to_owned(), line: at.line }, at.column))
        })
        .collect();
    let user = chain.iter().position(|(line, _)| !is_toolkit_header(&line.file)).unwrap_or(0);
    let (lines, columns): (Vec<_>, Vec<_>) = chain.into_iter().skip(user).unzip();
    let mut lines = lines.into_iter();
    Attributed { line: lines.next(), inlined_at: lines.collect(), columns }
}

#[cfg(test)]
mod tests;
