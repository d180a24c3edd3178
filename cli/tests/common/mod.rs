//! A place to run `bugaroo` in, with a program under test that needs neither CUDA nor a driver.

pub mod nvcc;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// The fake program.
pub fn app() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/app.sh").to_str().unwrap().to_owned()
}

/// A folder of our own, and the user's state folder in it.
pub struct Place {
    folder: TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Asserts on the exit code.
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts that standard output has this part.
    pub fn prints(self, part: &str) -> Self {
        assert!(self.stdout.contains(part), "wanted {part:?} in {self:#?}");
        self
    }

    /// Asserts that standard error has this part.
    pub fn says(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "wanted {part:?} in {self:#?}");
        self
    }

    /// Its standard output, which is one JSON object.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `bugaroo` with these arguments, to be run in the folder.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bugaroo"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        // Any file will do for a driver that the fake program never loads.
        command.env("BUGAROO_DRIVER", app()).env("XDG_STATE_HOME", self.path("state"));
        command
    }

    pub fn bugaroo(&self, args: &[&str]) -> Ended {
        end(&mut self.command(args))
    }

    /// `bugaroo run` of the fake program.
    pub fn run(&self, options: &[&str], behaviour: &[&str]) -> Ended {
        end(&mut self.run_command(options, behaviour))
    }

    pub fn run_command(&self, options: &[&str], behaviour: &[&str]) -> Command {
        self.command(&[&["run", "--seed", "1"], options, &[app().as_str()], behaviour].concat())
    }

    /// Starts `bugaroo run` of the fake program with `--out run`.
    pub fn start(&self, options: &[&str], behaviour: &[&str]) -> Child {
        let mut command = self.run_command(&[&["--out", "run"], options].concat(), behaviour);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The whole lines of `run/trials.jsonl`, by cell and index; that none is doubled is asserted.
    pub fn trials(&self) -> BTreeMap<(u64, u64), Value> {
        let text = std::fs::read_to_string(self.path("run/trials.jsonl")).unwrap_or_default();
        let mut trials = BTreeMap::new();
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let value: Value = serde_json::from_str(line).unwrap();
            let key = (value["cell"].as_u64().unwrap(), value["trial"].as_u64().unwrap());
            assert!(trials.insert(key, value).is_none(), "{key:?} is there twice");
        }
        trials
    }

    /// What a run's records say but for the time that they took.
    pub fn timeless_trials(&self) -> BTreeMap<(u64, u64), Value> {
        let mut trials = self.trials();
        trials.values_mut().for_each(|value| value["duration_ms"] = Value::Null);
        trials
    }

    /// Removes the run.
    pub fn clear(&self) {
        std::fs::remove_dir_all(self.path("run")).unwrap();
    }
}

/// Runs a command to its end.
pub fn end(command: &mut Command) -> Ended {
    ended(command.output().unwrap())
}

/// Waits for a started command.
pub fn wait(child: Child) -> Ended {
    ended(child.wait_with_output().unwrap())
}

fn ended(output: std::process::Output) -> Ended {
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Sends a signal.
pub fn signal(child: &Child, signal: i32) {
    // SAFETY: no memory is involved, and the child is not reaped.
    assert_eq!(unsafe { libc::kill(child.id().cast_signed(), signal) }, 0);
}

/// Waits until something holds.
pub fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        std::thread::sleep(Duration::from_millis(5));
    }
}
