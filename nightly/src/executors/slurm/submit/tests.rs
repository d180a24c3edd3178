//! What `sbatch` is given, and what its answers lead to.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Mutex;

use super::*;
use crate::executors::slurm::SlurmProgress;
use crate::executors::slurm::tool::Tool;

struct Place {
    folder: tempfile::TempDir,
}

#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Tell for Told {
    fn line(&self, line: &str) {
        self.0.lock().expect("nobody panics here").push(line.to_owned());
    }

    fn progress(&self, _: &SlurmProgress) {}
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::Builder::new().prefix("50%a ").tempdir().expect("a folder") }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn plan(&self, slurm: &str) -> Plan {
        let text = format!("[night]\nname = \"stress\"\n[[program]]\nrun = [\"./app\"]\n[slurm]\n{slurm}");
        fs::write(self.at("plan.toml"), text).expect("it can be written");
        Plan::read(&self.at("plan.toml")).expect("a plan")
    }

    fn arguments(&self, slurm: &str) -> Result<Vec<String>, SlurmError> {
        let plan = self.plan(slurm);
        let slurm = plan.slurm.as_ref().expect("a table");
        let folder = Folder::make(&slurm.folder, "monday").expect("it can be made");
        arguments(&plan, slurm, &folder)
    }

    /// A command that does what the script says.
    fn tool(&self, name: &'static str, body: &str) -> Tool {
        let path = self.at(name);
        fs::write(&path, format!("#!/bin/sh\ncd \"$(dirname \"$0\")\"\n{body}\n"))
            .expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        Tool::at(name, path)
    }

    fn tools(&self, sbatch: &str, squeue: &str) -> Tools {
        let config = "echo 'MaxArraySize            = 1001'";
        Tools {
            sbatch: self.tool("sbatch", sbatch),
            squeue: self.tool("squeue", squeue),
            sacct: self.tool("sacct", "exit 1"),
            scontrol: self.tool("scontrol", config),
        }
    }
}

fn request() -> SlurmRequest {
    let poll = Duration::from_millis(10);
    SlurmRequest { bugaroo: "/bugaroo".into(), label: "monday".into(), seed: 1, again: false, poll }
}

async fn try_it(tools: &Tools, told: &Told, interrupt: &mut Interrupt) -> Result<u32, SlurmError> {
    submit(tools, &["/shared/job.sh".into()], 2000, &request(), interrupt, told).await
}

#[test]
fn sbatch_is_given_what_the_plan_says() {
    let place = Place::new();
    let all = "shards = 8\npartition = \"gpu\"\ngres = \"gpu:1\"\ntime = \"02:00:00\"\nmemory = \"8G\"\ncpus = 4\n\
               account = \"us\"\nqos = \"low\"\noptions = [\"--nice=5\"]\nat-a-time = 3";
    let shards = place.at("shards/monday");
    let shards = shards.to_str().expect("text");
    let log = shards.replace('%', "%%");
    let wanted = [
        format!("--chdir={}", place.folder.path().display()),
        "--partition=gpu".into(),
        "--gres=gpu:1".into(),
        "--time=02:00:00".into(),
        "--mem=8G".into(),
        "--account=us".into(),
        "--qos=low".into(),
        "--cpus-per-task=4".into(),
        "--nice=5".into(),
        "--parsable".into(),
        "--array=1-8%3".into(),
        "--requeue".into(),
        "--open-mode=append".into(),
        "--job-name=stress".into(),
        format!("--output={log}/shard-%a.log"),
        format!("--error={log}/shard-%a.log"),
        format!("{shards}/job.sh"),
    ];
    assert_eq!(place.arguments(all).expect("a plan"), wanted);
    let few = place.arguments("shards = 2").expect("a plan");
    assert_eq!(few.iter().filter(|word| word.starts_with("--array")).collect::<Vec<_>>(), ["--array=1-2"]);
}

#[test]
fn options_of_the_executors_own_are_refused() {
    let place = Place::new();
    for option in ["--array=1-2", "-a1", "--out=/x", "--wait", "-W", "--wrap=true", "-Mfar", "--test-only"] {
        let error = place.arguments(&format!("shards = 2\noptions = [\"--nice\", \"{option}\"]"));
        assert!(matches!(&error, Err(SlurmError::Reserved { option: told }) if told == option), "{error:?}");
    }
    for option in
        ["--exclusive", "--wait-all-nodes=1", "--constraint=a100", "-p", "--nodes=1", "--export=NONE"]
    {
        place.arguments(&format!("shards = 2\noptions = [\"{option}\"]")).expect(option);
    }
}

#[tokio::test]
async fn what_passes_is_waited_for() {
    let place = Place::new();
    let sbatch = "echo x >>tries\n[ $(wc -l <tries) -lt 4 ] || { echo 12; exit; }\n\
                  echo 'sbatch: error: Batch job submission failed: Resource temporarily unavailable' >&2\nexit 1";
    let told = Told::default();
    let job = try_it(&place.tools(sbatch, ""), &told, &mut Interrupt::never()).await;
    assert_eq!(job.expect("it is taken in the end"), 12);
    let lines = told.0.into_inner().expect("nobody panics here");
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line.contains("Resource temporarily unavailable")), "{lines:?}");
}

#[tokio::test]
async fn a_lost_answer_submits_nothing_twice() {
    let place = Place::new();
    let sbatch = "echo x >>tries\necho 'sbatch: error: Socket timed out on send/recv operation' >&2\nexit 1";
    let squeue = "echo '7|/other/job.sh'\necho '9|/shared/job.sh'\necho '9|/shared/job.sh'";
    let job = try_it(&place.tools(sbatch, squeue), &Told::default(), &mut Interrupt::never()).await;
    assert_eq!(job.expect("it was taken"), 9);
    assert_eq!(fs::read_to_string(place.at("tries")).expect("it was called"), "x\n");
}

#[tokio::test]
async fn whoever_stops_while_it_waits_has_submitted_nothing() {
    let place = Place::new();
    let (trigger, mut interrupt) = Interrupt::manual();
    trigger.set();
    let job = try_it(&place.tools("sleep 60", ""), &Told::default(), &mut interrupt).await;
    assert!(matches!(job, Err(SlurmError::NotSubmitted)), "{job:?}");
    let job =
        try_it(&place.tools("sleep 60", "echo '9|/shared/job.sh'"), &Told::default(), &mut interrupt).await;
    assert_eq!(job.expect("it had been taken"), 9);
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    let answers = [
        ("QOSMaxSubmitJobPerUserLimit", "QOSMaxSubmitJobPerUserLimit of the account or the QOS"),
        ("AssocMaxSubmitJobLimit", "AssocMaxSubmitJobLimit of the account or the QOS"),
        ("Batch job submission failed: Invalid job array specification", "at most 1000 tasks"),
        ("invalid partition specified: nix", "invalid partition specified: nix"),
    ];
    for (said, meant) in answers {
        let place = Place::new();
        let sbatch = format!("echo 'sbatch: error: {said}' >&2\nexit 1");
        let error = try_it(&place.tools(&sbatch, ""), &Told::default(), &mut Interrupt::never()).await;
        let error = error.expect_err("it is refused").to_string();
        assert!(error.contains(meant), "{error}");
    }
}

#[tokio::test]
async fn a_machine_without_slurm_is_told() {
    let place = Place::new();
    let sbatch = Tool::at("sbatch", place.at("nothing-there"));
    let tools = Tools { sbatch, ..place.tools("", "") };
    let error = try_it(&tools, &Told::default(), &mut Interrupt::never()).await.expect_err("there is none");
    assert!(error.to_string().contains("`sbatch` is not on this machine"), "{error}");
}
