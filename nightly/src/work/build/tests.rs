//! Build steps that end, that fail, and that would never end.

use std::fs;
use std::path::PathBuf;

use bugaroo_harness::Interrupt;

use super::*;
use crate::plan::Plan;

fn written(keys: &str) -> (tempfile::TempDir, Plan) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.toml");
    fs::write(&path, format!("[[program]]\nrun = [\"./app\"]\n{keys}\n")).expect("it can be written");
    let plan = Plan::read(&path).expect("a plan");
    (folder, plan)
}

async fn built(plan: &Plan, interrupt: &Interrupt) -> Result<Result<(), String>, Error> {
    let built = build(&plan.programs[0], &plan.path, interrupt).await?;
    Ok(built.map_err(|error| error.message))
}

/// A build step that never ends; a process that it has started does not, either.
const ENDLESS: &str = "build = \"echo compiling; sleep 5000 & echo $! >child.new; mv child.new child; wait\"";

/// Waits until the process is gone whose number the build step has written down.
async fn gone(folder: &tempfile::TempDir) {
    let child = fs::read_to_string(folder.path().join("child")).expect("it was started");
    let path = PathBuf::from(format!("/proc/{}/stat", child.trim()));
    let dead = || fs::read_to_string(&path).map_or(true, |stat| stat.contains(") Z "));
    while !dead() {
        sleep(LOOK).await;
    }
}

#[tokio::test]
async fn what_a_build_step_says_is_told_where_it_fails() {
    let (_folder, plan) = written("build = \"echo out; echo err >&2; exit 3\"");
    let message = built(&plan, &Interrupt::never()).await.expect("nobody stops it").expect_err("it fails");
    assert!(message.contains("exit status: 3") && message.ends_with("out\nerr"), "{message}");
    let (_folder, plan) = written("build = \"seq 1000\"");
    assert_eq!(built(&plan, &Interrupt::never()).await.expect("nobody stops it"), Ok(()));
    // What it leaves behind is not waited for.
    let (_folder, plan) = written("build = \"sleep 5 & true\"");
    assert_eq!(built(&plan, &Interrupt::never()).await.expect("nobody stops it"), Ok(()));
}

#[tokio::test]
async fn a_build_step_that_takes_too_long_is_stopped() {
    let (folder, plan) = written(&format!("{ENDLESS}\nbuild-timeout = \"2s\""));
    let message = built(&plan, &Interrupt::never()).await.expect("nobody stops it").expect_err("too long");
    assert!(message.contains("not built") && message.contains("`build-timeout`"), "{message}");
    assert!(message.ends_with("compiling"), "{message}");
    gone(&folder).await;
}

#[tokio::test]
async fn who_wants_to_stop_stops_the_build_step() {
    let (folder, plan) = written(ENDLESS);
    let (trigger, interrupt) = Interrupt::manual();
    let stop = async {
        while !folder.path().join("child").exists() {
            sleep(LOOK).await;
        }
        trigger.set();
    };
    let (ended, ()) = tokio::join!(built(&plan, &interrupt), stop);
    assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    gone(&folder).await;
    // Neither does it wait for a build step of somebody else.
    let lock = File::open(&plan.path).expect("it is there");
    lock.lock().expect("nobody has it");
    let ended = built(&plan, &interrupt).await;
    assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
}
