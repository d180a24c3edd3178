//! The launches of the simulator's test scripts, for tests that run them another way.

#[path = "../../../simulator/tests/support/script.rs"]
#[allow(dead_code, reason = "the directives that matter to results are not looked at")]
mod script;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bugaroo_injector::logging::LoggingError;
use bugaroo_simulator::{AllocationKind, LaunchSpec, Memory};

/// A script, and its PTX.
pub struct Scripted {
    pub source: String,
    script: script::Script,
}

impl Scripted {
    /// That of a file; None where the virtual GPU refuses it.
    fn of(path: &Path) -> Option<Scripted> {
        let source = std::fs::read_to_string(path).expect("a test's file");
        let cuda = path.with_extension("cu");
        let directives = if cuda.exists() {
            std::fs::read_to_string(cuda).expect("a test's file")
        } else {
            source.clone()
        };
        let script = script::parse(&directives);
        script.refuse.is_none().then_some(Scripted { source, script })
    }

    /// Makes the buffers, and hands each launch on, with whether it is in lockstep.
    pub fn each<D>(
        &self,
        device: &mut D,
        memory: impl Fn(&mut D) -> &mut Memory,
        step_budget: u64,
        mut launch: impl FnMut(&mut D, &LaunchSpec<'_>, bool),
    ) {
        let mut buffers = HashMap::new();
        for buffer in &self.script.buffers {
            let bytes = buffer.count * script::size(&buffer.ty);
            let memory = memory(device);
            let address = memory.alloc(bytes as u64, 256, AllocationKind::Program).expect("room");
            memory.write(address, &buffer.init).expect("allocated");
            buffers.insert(buffer.name.as_str(), address);
        }
        for one in &self.script.launches {
            let mut params = Vec::new();
            for argument in &one.arguments {
                let value = match argument.split_once(':') {
                    Some((ty, value)) => script::encode(ty, value),
                    None => {
                        let (name, offset) = argument.split_once('+').unwrap_or((argument, "0"));
                        (buffers[name] + offset.parse::<u64>().expect("a number")).to_le_bytes().to_vec()
                    }
                };
                params.resize(params.len().next_multiple_of(value.len()), 0);
                params.extend(value);
            }
            let spec = LaunchSpec {
                kernel: &one.kernel,
                grid: one.grid,
                block: one.block,
                dynamic_shared: one.shared,
                params: &params,
                cluster: None,
                step_budget: Some(step_budget),
            };
            launch(device, &spec, one.lockstep);
        }
    }
}

/// Runs all scripts, each with two seeds; `run` says how many accesses were compared. What is refused by name is told. `least`: so many
/// runs have to compare some.
pub fn all(least: u32, mut run: impl FnMut(&Path, &Scripted, u64) -> Result<u64, LoggingError>) {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../simulator/tests/ptx"));
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the simulator's tests")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .collect();
    files.sort();
    let (mut compared, mut refused) = (0, 0);
    for path in files {
        let Some(script) = Scripted::of(&path) else { continue };
        for seed in 0..2 {
            match run(&path, &script, seed) {
                Ok(accesses) => compared += u32::from(accesses > 0),
                Err(LoggingError::Unsupported(unknown)) => {
                    println!("{}: refused: {unknown}", path.display());
                    refused += 1;
                }
                Err(error) => println!("{}: {error}", path.display()),
            }
        }
    }
    println!("{compared} scripts run, {refused} refused");
    assert!(compared >= least, "only {compared} scripts were compared");
}
