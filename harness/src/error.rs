//! Errors, sorted by what the user can do about them.

use std::io;
use std::path::PathBuf;

use bugaroo_protocol::{Insertion, SiteId, SiteKind};

use crate::baseline::BaselineFailure;
use crate::input::InputError;
use crate::library::LibraryError;
use crate::limits::explanation;
use crate::oracle::error::ParseOracleError;
use crate::outcome::Exit;
use crate::rundir::error::RunDirError;
use crate::schedules::OutputDiffers;
use crate::target::TargetError;

/// Whose move it is after an error; the command line gives each an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The command has to be said otherwise.
    Usage,
    /// The program fails without injection, and why is a finding.
    Finding,
    /// The program fails without injection: it has to be mended, or the oracle.
    Baseline,
    /// This version cannot do it.
    Unsupported,
    /// The machine or Bugaroo itself is at fault.
    Internal,
    /// The user stopped it.
    Interrupted,
}

/// Why trials could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program cannot be run at all.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Bugaroo's driver library cannot be used.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The run directory cannot be used.
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    /// The program fails without injection.
    #[error("{0}")]
    Baseline(Box<BaselineFailure>),
    /// The output of the program differs without injection, so that no trial's can be compared with it.
    #[error("{}: {differs}", app.display())]
    OutputDiffers {
        /// The program.
        app: PathBuf,
        /// Where.
        differs: Box<OutputDiffers>,
    },
    /// Its output cannot be compared line by line.
    #[error(
        "{}: it prints {bytes} bytes, and --ignore-lines and --tolerance compare outputs of at most {}; have it print less, or let \
         --oracle cmd:COMMAND compare",
        app.display(), crate::oracle::comparison::COMPARED_BYTES
    )]
    OutputTooLong {
        /// The program.
        app: PathBuf,
        /// What it prints, in bytes.
        bytes: u64,
    },
    /// All that it prints is ignored.
    #[error("{}: --ignore-lines ignores every line that it prints, so that there is nothing to compare", app.display())]
    NothingCompared {
        /// The program.
        app: PathBuf,
    },
    /// Its memory cannot be compared.
    #[error("{}: --oracle memory cannot judge this program: {trouble}", app.display())]
    Memory {
        /// The program.
        app: PathBuf,
        /// Why not.
        trouble: MemoryTrouble,
    },
    /// Kernels are to run on a GPU, but the vendor's driver is nowhere.
    #[error(
        "--backend cuda: no driver of a GPU was found; looked at {}; {} may name it",
        crate::library::paths(.0), crate::gpu::REAL_DRIVER_VARIABLE
    )]
    NoRealDriver(Vec<PathBuf>),
    /// The program ended well, but never initialised the driver.
    #[error(
        "{} ran, but never used Bugaroo's CUDA driver, so that there is nothing to test. Either it makes no CUDA \
         calls with these arguments; or it, or what it starts, loads another libcuda.so.1 by an absolute path or an \
         RPATH of its own, or drops LD_LIBRARY_PATH from its environment; or it is set-user-ID", app.display()
    )]
    DriverUnused {
        /// The program.
        app: PathBuf,
    },
    /// The library that the program loaded is of another version than this harness.
    #[error(
        "this bugaroo speaks version {ours} of its protocol, but its libcuda.so.1 version {theirs}: rebuild both"
    )]
    DriverVersion {
        /// Ours.
        ours: u32,
        /// The library's.
        theirs: u32,
    },
    /// The driver cannot do what the program or the orders ask for.
    #[error("not supported in this version: {what}")]
    Unsupported {
        /// What, and where.
        what: String,
    },
    /// The driver panicked: an internal error.
    #[error(
        "internal error {what} (seed {seed}): this is Bugaroo's fault and not the program's; please report it"
    )]
    Panicked {
        /// What it said, and where.
        what: String,
        /// The trial's seed.
        seed: u64,
    },
    /// The program is slower than its time limit without injection.
    #[error(
        "{} was still at work on the device after {seconds:.0} s without injection: --timeout gives it more time", app.display()
    )]
    BaselineSlow {
        /// The program.
        app: PathBuf,
        /// How long it ran.
        seconds: f64,
    },
    /// Signals from outside have ended the program without injection.
    #[error("without injection {} was ended twice by {exit}, which Bugaroo did not send (is there memory enough?)", app.display())]
    BaselineKilled {
        /// The program.
        app: PathBuf,
        /// How.
        exit: Exit,
    },
    /// The driver could not report.
    #[error(
        "{} closes descriptors that it did not open (closefrom, close_range, or close in a loop), and Bugaroo's among them: its \
         driver cannot report what the kernels do", app.display()
    )]
    ReportClosed {
        /// The program.
        app: PathBuf,
    },
    /// A search met too many trials that say nothing.
    #[error(
        "{trials} trials were slow (still at work on the device when their time was up) or ended by signals that Bugaroo \
         did not send: nothing can be concluded from such; --timeout gives them more time, --jobs 1 more memory"
    )]
    TooManyUntold {
        /// How many.
        trials: u64,
    },
    /// Standard input cannot be given to the program.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A recorded oracle that is none: the file was written by another hand.
    #[error("the run's oracle: {0}")]
    Oracle(#[from] ParseOracleError),
    /// A site that the program does not have.
    #[error("the program has no site {site}: `bugaroo sites` lists those of the modules that it loads")]
    UnknownSite {
        /// The site asked for.
        site: SiteId,
    },
    /// A fence to be omitted at a site that is no fence.
    #[error("site {site} is no fence but a {}: there is nothing to omit (`--without-fence`)", kind_name(*kind))]
    NotAFence {
        /// The site asked for.
        site: SiteId,
        /// What stands there.
        kind: SiteKind,
    },
    /// A fence to be inserted at a site that takes none.
    #[error("site {site} is a {}: a fence can only be inserted after an access or a barrier (`--with-fence`)", kind_name(*kind))]
    TakesNoFence {
        /// The site asked for.
        site: SiteId,
        /// What stands there.
        kind: SiteKind,
    },
    /// A site to be widened that has no narrower scope than the device's, or, for several devices, than the system's.
    #[error("site {site} is a {} that acts at the scope of all devices that there are already, or at none: it cannot be widened", kind_name(*kind))]
    NotNarrow {
        /// The site asked for.
        site: SiteId,
        /// What stands there.
        kind: SiteKind,
    },
    /// Something to be inserted for which the PTX has no place.
    #[error("{insertion} cannot be inserted: {why}")]
    CannotInsert {
        /// What.
        insertion: Box<Insertion>,
        /// Why not.
        why: String,
    },
    /// A change of the program under a model that is not the virtual GPU's own.
    #[error(
        "places of the source and wider scopes are tried on the virtual GPU alone, under the models that it simulates itself: \
         not with --backend cuda, --model bugaroo or --handlers"
    )]
    NotSimulated,
    /// A selection of kernels that selects none.
    #[error("no kernel that the program loads matches `--kernel {pattern}`; it loads {}", list(kernels))]
    UnknownKernel {
        /// The regular expression.
        pattern: String,
        /// What the program loads.
        kernels: Vec<String>,
    },
    /// A process could not be started, or not be watched.
    #[error("cannot run {what}: {source}{}", explanation(source))]
    Process {
        /// The program.
        what: String,
        /// Why not.
        source: io::Error,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// Why a program's memory cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryTrouble {
    /// Its memory is on a real GPU.
    #[error("only the virtual GPU tells what memory holds; leave --backend cuda out, or name another oracle")]
    RealGpu,
    /// A run did not tell.
    #[error("{0}")]
    Unknown(&'static str),
    /// Nothing of it is the same in all runs without injection; so many pieces differ.
    #[error("it holds no device memory that is the same in all runs without injection ({0} pieces differ)")]
    Nothing(usize),
}

impl Error {
    /// Whose move it is.
    pub fn class(&self) -> Class {
        match self {
            Error::Target(_)
            | Error::Oracle(_)
            | Error::Input(InputError::TooLong)
            | Error::UnknownSite { .. }
            | Error::NotAFence { .. }
            | Error::TakesNoFence { .. }
            | Error::NotNarrow { .. }
            | Error::CannotInsert { .. }
            | Error::NotSimulated
            | Error::UnknownKernel { .. }
            | Error::Memory { trouble: MemoryTrouble::RealGpu, .. }
            | Error::NothingCompared { .. } => Class::Usage,
            Error::RunDir(error) if error.is_usage() => Class::Usage,
            Error::Baseline(failure) if failure.is_finding() => Class::Finding,
            Error::Baseline(_)
            | Error::OutputDiffers { .. }
            | Error::OutputTooLong { .. }
            | Error::Memory { .. } => Class::Baseline,
            Error::DriverUnused { .. }
            | Error::Unsupported { .. }
            | Error::NoRealDriver(_)
            | Error::ReportClosed { .. } => Class::Unsupported,
            Error::Library(_)
            | Error::RunDir(_)
            | Error::DriverVersion { .. }
            | Error::Panicked { .. }
            | Error::TooManyUntold { .. }
            | Error::BaselineSlow { .. }
            | Error::BaselineKilled { .. }
            | Error::Input(InputError::Io(_))
            | Error::Process { .. } => Class::Internal,
            Error::Interrupted => Class::Interrupted,
        }
    }
}

fn kind_name(kind: SiteKind) -> &'static str {
    match kind {
        SiteKind::Load => "load",
        SiteKind::Store => "store",
        SiteKind::Atomic => "atomic",
        SiteKind::Fence => "fence",
        SiteKind::Barrier => "barrier",
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
