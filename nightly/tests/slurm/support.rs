//! A cluster for a test, a plan for it, and somebody to be told.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bugaroo_nightly::executors::slurm::tool::{Tool, Tools};
use bugaroo_nightly::executors::slurm::{SlurmProgress, SlurmRequest, Tell};
use bugaroo_nightly::plan::Plan;
use tempfile::TempDir;

/// Folder of the test's own files.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slurm")
}

/// A Slurm of its own, which ends with the value. Two at a time: they wait for the most part.
pub struct Cluster {
    folder: TempDir,
    _turn: MutexGuard<'static, ()>,
}

static TURNS: [Mutex<()>; 2] = [const { Mutex::new(()) }; 2];
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// How a cluster is to be.
#[derive(Clone, Copy, Default)]
pub struct Wanted {
    pub nodes: u32,
    pub accounting: bool,
    /// Lines of `slurm.conf`.
    pub settings: &'static str,
}

impl Cluster {
    /// Starts one; None: Slurm is not installed, and need not be.
    pub fn start(wanted: Wanted) -> Option<Self> {
        let daemons = ["slurmctld", "slurmd", "munged", "sbatch"];
        let more = ["slurmdbd", "mariadbd"];
        let needed = daemons.iter().chain(more.iter().filter(|_| wanted.accounting));
        let absent: Vec<&str> = needed.copied().filter(|program| !installed(program)).collect();
        if !absent.is_empty() {
            let why = format!(
                "{} not installed (Debian: slurmctld slurmd slurm-client munge slurmdbd mariadb-server)",
                absent.join(", ")
            );
            assert!(std::env::var_os("BUGAROO_REQUIRE_SLURM").is_none_or(|set| set != "1"), "{why}");
            eprintln!("\n*** SKIPPED: {why}. BUGAROO_REQUIRE_SLURM=1 makes this a failure. ***\n");
            return None;
        }
        let turn = NEXT.fetch_add(1, Ordering::Relaxed) % TURNS.len();
        let turn = TURNS[turn].lock().unwrap_or_else(PoisonError::into_inner);
        // Sockets lie in it, and their paths are short.
        let folder = tempfile::Builder::new().prefix("bsl").tempdir_in("/tmp").expect("a folder");
        let cluster = Self { folder, _turn: turn };
        let started = Command::new(here().join("cluster"))
            .arg("start")
            .arg(cluster.folder.path())
            .arg(wanted.nodes.to_string())
            .env("CLUSTER_ACCOUNTING", if wanted.accounting { "1" } else { "0" })
            .env("CLUSTER_CONF", wanted.settings)
            .stdin(Stdio::null())
            .output();
        good("cluster start", &started.expect("it is a script"));
        Some(cluster)
    }

    /// Kills a node with all that runs there.
    pub fn kill(&self, node: &str) {
        let killed =
            Command::new(here().join("cluster")).arg("kill").arg(self.folder.path()).arg(node).output();
        good("cluster kill", &killed.expect("it is a script"));
    }

    /// Where Slurm's commands for it are.
    pub fn bin(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    /// What one of Slurm's commands says.
    pub fn ask(&self, command: &str, arguments: &[&str]) -> Output {
        Command::new(self.bin().join(command)).args(arguments).output().expect("the command is there")
    }

    /// What one of Slurm's commands prints, which has to work.
    pub fn say(&self, command: &str, arguments: &[&str]) -> String {
        let said = self.ask(command, arguments);
        good(command, &said);
        String::from_utf8(said.stdout).expect("text")
    }

    /// Jobs that were ever submitted: their numbers are given in a row.
    pub fn jobs(&self) -> Vec<String> {
        let said = self.say("squeue", &["--noheader", "--states=all", "--format=%F"]);
        let mut jobs: Vec<String> = said.lines().map(|line| line.trim().to_owned()).collect();
        jobs.sort();
        jobs.dedup();
        jobs
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for log in ["slurmctld.log", "slurmd-n1.log", "slurmctld.out"] {
                let text = fs::read_to_string(self.folder.path().join("log").join(log)).unwrap_or_default();
                let lines: Vec<&str> = text.lines().collect();
                eprintln!("--- {log}\n{}", lines[lines.len().saturating_sub(25)..].join("\n"));
            }
        }
        let stopped = Command::new(here().join("cluster")).arg("stop").arg(self.folder.path()).output();
        assert!(
            stopped.is_ok_and(|stopped| stopped.status.success()) || std::thread::panicking(),
            "it stops"
        );
    }
}

fn installed(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    path.split(':').chain(["/usr/sbin", "/sbin"]).any(|folder| Path::new(folder).join(program).is_file())
}

fn good(what: &str, output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {said}{}", String::from_utf8_lossy(&output.stdout));
}

/// Slurm's commands of a cluster.
pub fn tools(bin: &Path) -> Tools {
    let tool = |name: &'static str| Tool::at(name, bin.join(name));
    Tools { sbatch: tool("sbatch"), squeue: tool("squeue"), sacct: tool("sacct"), scontrol: tool("scontrol") }
}

/// A folder with a plan and what the stand-in does; its name is as hard to quote as a name may be.
pub struct Night {
    folder: TempDir,
}

impl Night {
    pub fn new(slurm: &str, stand_in: &str) -> Self {
        let folder =
            tempfile::Builder::new().prefix("it's a 50%a \"night\" $HOME ").tempdir().expect("a folder");
        let plan =
            format!("[night]\nname = \"stress\"\n\n[[program]]\nrun = [\"./app\"]\n\n[slurm]\n{slurm}\n");
        fs::write(folder.path().join("plan.toml"), plan).expect("it can be written");
        fs::write(folder.path().join("stand-in.conf"), stand_in).expect("it can be written");
        Self { folder }
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn plan(&self) -> Plan {
        Plan::read(&self.at("plan.toml")).expect("a plan")
    }

    /// A file of the night `monday`.
    pub fn file(&self, name: &str) -> PathBuf {
        self.at("shards/monday").join(name)
    }

    /// A file's lines; none where there is no file.
    pub fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.file(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Checks that a shard has done each trial once.
    pub fn check_counted_once(&self, shard: u32, trials: u32) {
        let all: Vec<String> = (1..=trials).map(|trial| format!("shard {shard} trial {trial}")).collect();
        assert_eq!(self.lines(&format!("shard-{shard}.sqlite")), all);
    }
}

/// What is asked for of each night.
pub fn request() -> SlurmRequest {
    SlurmRequest {
        bugaroo: here().join("stand-in"),
        label: "monday".into(),
        seed: u64::MAX,
        again: false,
        poll: Duration::from_millis(300),
    }
}

/// Remembers what it is told.
#[derive(Default)]
pub struct Told {
    pub lines: Mutex<Vec<String>>,
    pub progress: Mutex<Vec<SlurmProgress>>,
}

impl Tell for Told {
    fn line(&self, line: &str) {
        println!("{line}");
        self.lines.lock().expect("nobody panics here").push(line.to_owned());
    }

    fn progress(&self, progress: &SlurmProgress) {
        let mut all = self.progress.lock().expect("nobody panics here");
        if all.last() != Some(progress) {
            println!("{progress:?}");
            all.push(progress.clone());
        }
    }
}

impl Told {
    /// Whether a line has this in it.
    pub fn has(&self, text: &str) -> bool {
        self.lines.lock().expect("nobody panics here").iter().any(|line| line.contains(text))
    }
}

/// Waits until it is so.
pub async fn until(so: impl Fn() -> bool) {
    while !so() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
