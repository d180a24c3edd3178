//! What `verify` takes: a file, with options behind it, too; or a program, behind whose name everything is its own.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use bugaroo_protocol::amount::duration;

use super::values::Format;

/// Options of `verify`.
#[derive(Clone, Debug, Args)]
#[command(
    override_usage = "bugaroo verify [OPTIONS] FILE.ptx\n       bugaroo verify [OPTIONS] APP [ARGS]..."
)]
pub struct VerifyArgs {
    /// PTX file (- for standard input); or a program, which is run once on the virtual GPU: its kernels are verified as it launches
    /// them, with their grids, parameters and constants, and none of the options that say these for a file
    #[arg(value_name = "FILE.ptx|APP")]
    pub file: PathBuf,
    /// The program's arguments
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,
    /// Kernels to verify: a name, mangled or in C++, or how names begin, or a regular expression [default: all of the file, or all that
    /// the program launches]
    #[arg(long, value_name = "K")]
    pub kernel: Option<String>,
    /// Dimensions of a block [default: what the kernel requires, or at most has]
    #[arg(long, value_name = "X[,Y,Z]", value_delimiter = ',', num_args = 1)]
    pub block: Vec<u32>,
    /// Which block of the grid [default: the first]
    #[arg(long, value_name = "X[,Y,Z]", value_delimiter = ',', num_args = 1)]
    pub cta: Vec<u32>,
    /// Dimensions of the grid [default: not known]
    #[arg(long, value_name = "X[,Y,Z]", value_delimiter = ',', num_args = 1)]
    pub grid: Vec<u32>,
    /// Blocks of a cluster, for a kernel that works with its cluster and does not say [default: what the kernel requires]
    #[arg(long, value_name = "X[,Y,Z]", value_delimiter = ',', num_args = 1)]
    pub cluster: Vec<u32>,
    /// Take warps to run in lockstep
    #[arg(long)]
    pub warp_synchronous: bool,
    /// Value of a kernel parameter, by name or number (from 0); may be repeated. Of a structure, a field by its offset in bytes: 0+4=512,
    /// with a type where the kernel does not load it as one: 0+8:u64=512. What is not given is unknown
    #[arg(long, value_name = "NAME[+OFFSET][:TYPE]=VALUE")]
    pub param: Vec<String>,
    /// The parameters from a file: the bytes of the kernel's parameter buffer, as cuLaunchKernel takes them (fewer leave the rest unknown);
    /// or, where the name ends in .txt, lines as for --param, with comments behind a #. What --param gives comes after that
    #[arg(long, value_name = "FILE")]
    pub params: Option<PathBuf>,
    /// What a variable in global or constant memory holds, from a file of its bytes; may be repeated. Known without are constants, and tables
    /// in global memory that no kernel writes and that have no name outside of the module, by their initialisers
    #[arg(long, value_name = "NAME=FILE")]
    pub global: Vec<String>,
    /// Bytes that a tensor copy moves by the tensor map in this parameter; may be repeated
    #[arg(long, value_name = "NAME=BYTES")]
    pub tensor: Vec<String>,
    /// Bytes of dynamic shared memory [default: not known, as much as there can be]
    #[arg(long, value_name = "BYTES")]
    pub shared: Option<u32>,
    /// Write the barrier dependence graph: as SVG, or for Graphviz where the name ends in .dot
    #[arg(long, value_name = "FILE")]
    pub graph: Option<PathBuf>,
    /// Warp instructions after which a kernel counts as one without an end [default: 200 million]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: Option<u64>,
    /// Of a program: verdicts of each kernel, where its launches have to be verified apart; how many are left out beyond is said
    /// [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub launches: Option<u32>,
    /// Wall-clock time that the program may take, as 60s, 500ms, 2m [default: a minute, and ten times that while its kernels get
    /// somewhere]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// In JSON, list races of all pairs of lines and all barriers used again too early [default: 20 of a kernel, and how many were left out]
    #[arg(long)]
    pub all: bool,
    /// What findings exit with
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub error_exitcode: u8,
}
