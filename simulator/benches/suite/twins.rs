//! C that computes what kernels do, compiled with the compiler at hand.

use std::path::PathBuf;
use std::process::Command;

use crate::kernels::Kernel;

/// The compiled program, in a folder that goes with it.
pub struct Twins {
    program: PathBuf,
    _folder: tempfile::TempDir,
}

/// Compiles it; None where there is no C compiler.
pub fn compile() -> Option<Twins> {
    let folder = tempfile::tempdir().ok()?;
    let program = folder.path().join("twins");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/suite/twins.c");
    let compiled = Command::new("cc")
        .args(["-O3", "-march=native", "-ffp-contract=fast", "-o"])
        .args([program.as_os_str(), source.as_ref(), "-lm".as_ref()])
        .status();
    match compiled {
        Ok(status) => assert!(status.success(), "the twins compile"),
        Err(_) => return None,
    }
    Some(Twins { program, _folder: folder })
}

impl Twins {
    /// Seconds of both forms: thread after thread, and as a C programmer would. None for those that are not there.
    pub fn run(&self, kernel: &Kernel) -> [Option<f64>; 2] {
        ["threads", "plain"].map(|form| {
            let numbers = [kernel.blocks, kernel.n, kernel.rounds].map(|number| number.to_string());
            let output = Command::new(&self.program).args([kernel.name, form]).args(numbers).output();
            let output = output.expect("just compiled");
            let text = String::from_utf8_lossy(&output.stdout);
            output.status.success().then(|| text.trim().parse().expect("seconds"))
        })
    }
}
