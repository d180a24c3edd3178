//! The executor `slurm` on a real Slurm of several nodes on this machine, with a stand-in for `bugaroo nightly`.
//!
//! Skipped, loudly, where Slurm is not installed; fails there with `BUGAROO_REQUIRE_SLURM=1`.

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use self::support::{Cluster, Night, Told, Wanted, request, tools, until};
use bugaroo_harness::Interrupt;
use bugaroo_nightly::executors::slurm::{SlurmCollected, SlurmError, run_with};

/// Runs a night to its end.
async fn run(cluster: &Cluster, night: &Night, told: &Told) -> Result<SlurmCollected, SlurmError> {
    run_with(&tools(&cluster.bin()), &night.plan(), &request(), Interrupt::never(), told).await
}

fn shards(of: &[(u32, impl Sized)]) -> Vec<u32> {
    of.iter().map(|(shard, _)| *shard).collect()
}

#[tokio::test]
async fn all_shards_are_done_and_findings_are_no_failures() {
    let wanted = Wanted { nodes: 2, accounting: true, ..Wanted::default() };
    let Some(cluster) = Cluster::start(wanted) else { return };
    // More shards than fit: the others wait.
    let night = Night::new("shards = 6\nat-a-time = 3\ntime = \"10\"", "ends_with() { echo $(($1 == 2)); }");
    let told = Told::default();
    let collected = run(&cluster, &night, &told).await.expect("it ends");
    assert_eq!(collected.missing, []);
    assert_eq!(shards(&collected.done), [1, 2, 3, 4, 5, 6]);
    for (shard, results) in &collected.done {
        assert_eq!(*results, night.file(&format!("shard-{shard}.sqlite")));
        night.check_counted_once(*shard, 20);
    }
    assert_eq!(night.lines("shard-2.exit"), ["0"]);
    let log = night.lines("shard-6.log").concat();
    assert!(log.contains("shard 6 of 6, night monday, seed 18446744073709551615, jobs 1"), "{log}");
    let progress = told.progress.lock().expect("nobody panics here");
    assert!(progress.iter().all(|progress| progress.running <= 3), "three at a time");
    assert!(progress.iter().any(|progress| progress.running > 0 && progress.waiting > 0));
    let last = progress.last().expect("it was told");
    assert_eq!((last.done, last.missing, last.trials, last.planned), (6, 0, 120, Some(120)));
    // Slurm, too, takes a shard with findings for one that went well.
    let job = format!("--jobs={}_2", collected.job);
    let state = cluster.say("squeue", &["--noheader", "--states=all", &job, "--format=%T"]);
    assert_eq!(state.trim(), "COMPLETED");
}

#[tokio::test]
async fn a_shard_goes_on_elsewhere_when_its_node_dies() {
    let Some(cluster) = Cluster::start(Wanted { nodes: 4, ..Wanted::default() }) else { return };
    let night = Night::new("shards = 4\ncpus = 2", "TRIALS=60");
    let told = Told::default();
    let kill = async {
        let started = || (1..=4).all(|shard| night.lines(&format!("shard-{shard}.sqlite")).len() > 5);
        until(started).await;
        let on_two = |shard: &u32| night.lines(&format!("shard-{shard}.sqlite.starts"))[0].contains("on n2");
        let shard = (1..=4).find(on_two).expect("a shard for each node");
        cluster.kill("n2");
        shard
    };
    let (collected, shard) = tokio::join!(run(&cluster, &night, &told), kill);
    let collected = collected.expect("it ends");
    assert_eq!(collected.missing, []);
    assert_eq!(shards(&collected.done), [1, 2, 3, 4]);
    for shard in 1..=4 {
        night.check_counted_once(shard, 60);
    }
    let starts = night.lines(&format!("shard-{shard}.sqlite.starts"));
    assert_eq!(starts.len(), 2, "{starts:?}");
    assert!(!starts[1].starts_with("start at 0 ") && !starts[1].contains("on n2"), "{starts:?}");
    assert!(told.has(&format!("shard {shard} back into the queue")), "the user is told");
}

#[tokio::test]
async fn cancelled_and_failed_shards_are_named_and_the_others_collected() {
    let Some(cluster) = Cluster::start(Wanted { nodes: 4, ..Wanted::default() }) else { return };
    let settings = "TRIALS=30\nends_with() { case $1 in 2) echo 2;; 5) echo 5;; *) echo 0;; esac; }";
    let night = Night::new("shards = 6", settings);
    let told = Told::default();
    let disturb = async {
        until(|| night.lines("shard-3.sqlite").len() > 3 && night.lines("shard-4.sqlite").len() > 3).await;
        let job = cluster.jobs().concat();
        cluster.say("scancel", &[&format!("{job}_3")]);
        // Its own process gets the signal, as for a preemption: it ends early, and goes on.
        cluster.say("scancel", &["--signal=TERM", "--full", &format!("{job}_4")]);
    };
    let (collected, ()) = tokio::join!(run(&cluster, &night, &told), disturb);
    let collected = collected.expect("it ends");
    assert_eq!(shards(&collected.done), [1, 4, 6]);
    assert_eq!(shards(&collected.missing), [2, 3, 5]);
    let why = |shard: u32| &collected.missing.iter().find(|(number, _)| *number == shard).expect("missing").1;
    assert!(why(2).contains("exit code 2") && why(2).contains("error: this shard ends with 2"), "{}", why(2));
    assert!(why(3).contains("cancelled"), "{}", why(3));
    assert!(why(5).contains("exit code 5") && why(5).contains("error: this shard ends with 5"), "{}", why(5));
    night.check_counted_once(4, 30);
    assert!(told.has("Shard 4 was stopped"), "the user is told");
    let starts = night.lines("shard-4.sqlite.starts");
    assert_eq!(starts.iter().filter(|line| line.starts_with("start at")).count(), 2, "{starts:?}");
}

/// Starts the next function in a process of its own.
fn in_a_process(cluster: &Cluster, night: &Night) -> Child {
    Command::new(std::env::current_exe().expect("it runs"))
        .args(["--ignored", "--exact", "slurm::waits_in_a_process_of_its_own", "--nocapture"])
        .env("SLURM_TEST_BIN", cluster.bin())
        .env("SLURM_TEST_PLAN", night.at("plan.toml"))
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts")
}

#[tokio::test]
#[ignore = "other tests start it, to kill it"]
async fn waits_in_a_process_of_its_own() {
    let variable = |name| PathBuf::from(std::env::var_os(name).expect("another test sets it"));
    let plan = bugaroo_nightly::plan::Plan::read(&variable("SLURM_TEST_PLAN")).expect("a plan");
    let tools = tools(&variable("SLURM_TEST_BIN"));
    run_with(&tools, &plan, &request(), Interrupt::never(), &Told::default()).await.expect("it ends");
}

/// Submits in a process that is killed; afterwards another attaches, when Slurm's controller has forgotten the tasks.
async fn attaches(accounting: bool) {
    let wanted = Wanted { nodes: 4, accounting, settings: "MinJobAge=2" };
    let Some(cluster) = Cluster::start(wanted) else { return };
    let night = Night::new("shards = 4", "TRIALS=30");
    let mut process = in_a_process(&cluster, &night);
    until(|| night.lines("shard-1.sqlite").len() > 5).await;
    let told = Told::default();
    let busy = run(&cluster, &night, &told).await.expect_err("somebody waits already");
    assert!(matches!(&busy, SlurmError::Busy { lock } if *lock == night.file("lock")), "{busy}");
    process.kill().expect("it runs");
    process.wait().expect("it was killed");

    // A terminal that ends leaves the job running.
    let (trigger, interrupt) = Interrupt::manual();
    let stop = async {
        until(|| night.lines("shard-1.sqlite").len() > 10).await;
        trigger.set();
    };
    let plan = night.plan();
    let (request, tools) = (request(), tools(&cluster.bin()));
    let (left, ()) = tokio::join!(run_with(&tools, &plan, &request, interrupt, &told), stop);
    let left = left.expect_err("it was stopped");
    assert!(left.is_interrupt() && left.to_string().contains("scancel"), "{left}");

    until(|| (1..=4).all(|shard| night.file(&format!("shard-{shard}.exit")).exists())).await;
    until(|| !cluster.ask("squeue", &["--jobs=1", "--states=all", "--noheader"]).status.success()).await;
    let collected = run(&cluster, &night, &told).await.expect("it ends");
    assert_eq!(collected.missing, []);
    assert_eq!(shards(&collected.done), [1, 2, 3, 4]);
    for shard in 1..=4 {
        night.check_counted_once(shard, 30);
        assert_eq!(night.lines(&format!("shard-{shard}.sqlite.starts")).len(), 1, "started once");
    }
    // No second job: the next one has the number behind the tasks of the first.
    assert_eq!(collected.job, 1);
    let next = cluster.say("sbatch", &["--parsable", "--output=/dev/null", "--wrap=true"]);
    assert_eq!(next.trim(), "5");

    // Once more: all shards are complete, and do nothing.
    let once_more = bugaroo_nightly::executors::slurm::SlurmRequest { again: true, ..request.clone() };
    let run = run_with(&tools, &plan, &once_more, Interrupt::never(), &told).await.expect("it ends");
    assert_eq!((shards(&run.done), run.job), (vec![1, 2, 3, 4], 6));
    night.check_counted_once(1, 30);

    // The plan's text is part of the night.
    let changed = fs::read_to_string(night.at("plan.toml")).expect("it is there") + "# more\n";
    fs::write(night.at("plan.toml"), changed).expect("it can be written");
    let error = run_with(&tools, &night.plan(), &request, Interrupt::never(), &told).await;
    assert!(matches!(&error, Err(SlurmError::Changed { job, .. }) if job == "6"), "{error:?}");
}

#[tokio::test]
async fn a_night_is_taken_up_again_by_the_accounts() {
    attaches(true).await;
}

#[tokio::test]
async fn a_night_is_taken_up_again_without_accounts() {
    attaches(false).await;
}

#[tokio::test]
async fn limits_are_told() {
    let Some(cluster) = Cluster::start(Wanted { nodes: 1, accounting: true, settings: "MaxArraySize=50" })
    else {
        return;
    };
    let told = Told::default();
    let night = Night::new("shards = 50", "");
    let error = run(&cluster, &night, &told).await;
    assert!(matches!(error, Err(SlurmError::TooMany { shards: 50, most: 49 })), "{error:?}");

    let user = cluster.say("sacctmgr", &["--noheader", "--parsable2", "list", "association", "format=user"]);
    let user = user.lines().find(|user| !user.is_empty()).expect("a user");
    cluster.say("sacctmgr", &["--immediate", "modify", "user", user, "set", "MaxSubmitJobs=3"]);
    let night = Night::new("shards = 4", "TRIALS=1");
    let error = run(&cluster, &night, &told).await;
    let Err(SlurmError::Limit { shards: 4, limit, .. }) = &error else { panic!("{error:?}") };
    assert_eq!(limit, "AssocMaxSubmitJobLimit");
    assert!(!night.file("job.json").exists(), "nothing was submitted");

    let night = Night::new("shards = 3\npartition = \"nowhere\"", "");
    let error = run(&cluster, &night, &told).await;
    assert!(matches!(&error, Err(SlurmError::Refused { said }) if said.contains("partition")), "{error:?}");

    let night = Night::new("shards = 3", "TRIALS=1");
    let collected = run(&cluster, &night, &told).await.expect("as many as may be");
    assert_eq!(complete(&collected), 3);
}

fn complete(collected: &SlurmCollected) -> usize {
    assert_eq!(collected.missing, []);
    collected.done.len()
}
