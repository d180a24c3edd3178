//! Builds a program by its command, in a time that the plan limits.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use bugaroo_harness::{Error, Interrupt};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::time::sleep;

use crate::night::{NotRun, Stage};
use crate::plan::PlanProgram;

/// Lines at the end of a build step's output that are kept.
const KEPT: usize = 40;
/// Bytes that these are looked for in.
const TAIL_BYTES: u64 = 1 << 16;
/// Time between two looks at a lock that somebody else holds.
const LOOK: Duration = Duration::from_millis(50);
/// Time that a build step has to clear up after itself once it was told to stop.
const GRACE: Duration = Duration::from_millis(500);

/// Builds a program; programs of shards on one machine are not built at the same time.
///
/// # Errors
/// That the user wants to stop; or, inside, what to say where the command fails or takes too long.
pub async fn build(
    program: &PlanProgram,
    plan: &Path,
    interrupt: &Interrupt,
) -> Result<Result<(), NotRun>, Error> {
    let Some(command) = &program.build else { return Ok(Ok(())) };
    let mut interrupt = interrupt.clone();
    // Where it cannot be locked (a folder that is only read), it is built all the same.
    let lock = File::open(plan).ok();
    while let Some(Err(TryLockError::WouldBlock)) = lock.as_ref().map(File::try_lock) {
        tokio::select! {
            () = sleep(LOOK) => {}
            () = interrupt.wait() => return Err(Error::Interrupted),
        }
    }
    let failed = |message| Ok(Err(NotRun { stage: Stage::Build, message, expected: None }));
    // A file, not a pipe: what a build step leaves running may keep it open.
    let started = tempfile::tempfile().and_then(|output| Ok((start(program, command, &output)?, output)));
    let (mut child, output) = match started {
        Ok(started) => started,
        Err(error) => return failed(format!("cannot start the build step `{command}`: {error}")),
    };
    let ended: Option<io::Result<ExitStatus>> = tokio::select! {
        status = child.wait() => Some(status),
        () = sleep(program.build_timeout) => None,
        () = interrupt.wait() => {
            stop(&mut child).await;
            return Err(Error::Interrupted);
        }
    };
    match ended {
        Some(Ok(status)) if status.success() => Ok(Ok(())),
        Some(Ok(status)) => {
            failed(format!("the build step `{command}` failed ({status}):\n{}", tail(&output)))
        }
        Some(Err(error)) => failed(format!("the build step `{command}` cannot be waited for: {error}")),
        None => {
            stop(&mut child).await;
            failed(format!(
                "not built: the build step `{command}` took more than {:?} and was stopped; \
                 `build-timeout` in the plan gives it more time:\n{}",
                program.build_timeout,
                tail(&output)
            ))
        }
    }
}

fn start(program: &PlanProgram, command: &str, output: &File) -> io::Result<Child> {
    Command::new("/bin/sh")
        .args(["-c", command])
        .current_dir(&program.directory)
        .envs(&program.variables)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?)
        // All that it starts is stopped with it.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

/// Stops a build step with all that it has started. Asked first, `make` removes what is half made.
async fn stop(child: &mut Child) {
    signal(child, Signal::TERM);
    sleep(GRACE).await;
    signal(child, Signal::KILL);
    // It is killed; that it cannot be waited for changes nothing.
    let _ = child.wait().await;
}

fn signal(child: &Child, signal: Signal) {
    if let Some(id) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
        // The child has an id, so it is not reaped, and the group is still its own. That there is nobody left is no error.
        let _ = kill_process_group(id, signal);
    }
}

/// The last lines of what a build step has said.
fn tail(output: &File) -> String {
    let length = output.metadata().map_or(0, |facts| facts.len());
    let from = length.saturating_sub(TAIL_BYTES);
    let mut text = vec![0; usize::try_from(length - from).unwrap_or(0)];
    if let Err(error) = output.read_exact_at(&mut text, from) {
        return format!("(its output cannot be read: {error})");
    }
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(KEPT)..].join("\n")
}

#[cfg(test)]
mod tests;
