//! What the tests that need a compiler share.

use std::env;

use race_suite::tools::{RaceTools, bugaroo, nvcc};

/// The tools, unless there is no compiler and nobody demands one.
pub fn tools() -> Option<RaceTools> {
    let Some(nvcc) = nvcc() else {
        let demanded = env::var_os("BUGAROO_REQUIRE_PTXAS").is_some_and(|value| value == "1");
        assert!(!demanded, "BUGAROO_REQUIRE_PTXAS=1, but there is no nvcc: run apps/rebuild-ptx --install");
        eprintln!("SKIPPED: no nvcc; apps/rebuild-ptx --install installs it");
        return None;
    };
    Some(RaceTools { nvcc, bugaroo: bugaroo().expect("it was built"), handlers: false, settings: None })
}
