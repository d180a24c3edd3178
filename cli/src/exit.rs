//! What the command exits with.

use std::process::ExitCode;

/// All exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, and nothing was found.
    Clean,
    /// 1, or what `--error-exitcode` says: something was found. Of `replay`: the trial failed again, as
    /// recorded.
    Findings(u8),
    /// 2: the command has to be said otherwise.
    Usage,
    /// 3: the program fails without injection.
    BaselineFails,
    /// 4: this version cannot do it, the program cannot be verified, or detectors knew nothing of what its kernels do.
    Unsupported,
    /// 5: the machine or Bugaroo itself is at fault, or nothing was found but trials were slow or killed. Of `replay`: the trial did not go as recorded.
    Internal,
    /// 130: stopped by a signal before anything was found; of a shard of a night, whatever was found.
    Interrupted,
}

impl Exit {
    /// Findings, where nothing else was asked for.
    pub const FINDINGS: Exit = Exit::Findings(1);

    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Clean => 0,
            Exit::Findings(code) => code,
            Exit::Usage => 2,
            Exit::BaselineFails => 3,
            Exit::Unsupported => 4,
            Exit::Internal => 5,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// A command, or a part of one, that this version does not have yet.
#[derive(Debug, thiserror::Error)]
#[error("{0}: not in this version yet")]
pub struct NotInThisVersion(pub &'static str);

/// The user named something that will not do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// The program has something in it that this version cannot judge.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnsupportedError(pub String);

/// What an error exits with.
pub fn of_error(error: &anyhow::Error) -> Exit {
    use bugaroo_harness::error::Class;
    let class =
        error.chain().find_map(|cause| cause.downcast_ref::<bugaroo_harness::Error>()).map(|e| e.class());
    match class {
        Some(Class::Usage) => Exit::Usage,
        Some(Class::Finding) => Exit::FINDINGS,
        Some(Class::Baseline) => Exit::BaselineFails,
        Some(Class::Unsupported) => Exit::Unsupported,
        Some(Class::Internal) => Exit::Internal,
        Some(Class::Interrupted) => Exit::Interrupted,
        None if error.is::<NotInThisVersion>() => Exit::Unsupported,
        None if error.is::<UnsupportedError>() => Exit::Unsupported,
        None if error.is::<UsageError>() => Exit::Usage,
        None => Exit::Internal,
    }
}
