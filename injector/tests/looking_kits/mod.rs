//! The kits that look for races on the device, as tests use them.

use bugaroo_injector::kits::Pass;
use bugaroo_injector::logging::{Log, Logged, LoggingError};
use bugaroo_injector::verify::{Violation, verify_hirace, verify_scord};
use bugaroo_injector::{hirace, scord};
use bugaroo_ptx::ast::Module;

type Detect = fn(&str) -> Result<Logged, LoggingError>;
type DetectWith = fn(&str, &[Pass<Log>]) -> Result<(Logged, Log), LoggingError>;
type Verify = fn(&Module, &Log, &[Pass<Log>], &str) -> Result<(), Violation>;

/// One of them.
pub struct Looking {
    /// As messages name it.
    pub name: &'static str,
    pub passes: &'static [Pass<Log>],
    pub detect: Detect,
    pub detect_with: DetectWith,
    pub verify: Verify,
}

/// All of them.
pub const KITS: [Looking; 2] = [
    Looking {
        name: "HiRace",
        passes: &hirace::passes::PASSES,
        detect: hirace::detect,
        detect_with: hirace::detect_with,
        verify: verify_hirace,
    },
    Looking {
        name: "ScoRD",
        passes: &scord::passes::PASSES,
        detect: scord::detect,
        detect_with: scord::detect_with,
        verify: verify_scord,
    },
];
