//! From what a trial did to its outcome.
//!
//! What the virtual GPU saw comes first: a deadlock is one whatever the program made of it, since on a
//! GPU it would still stand there, and so is a launch that ran out of its step budget. Then the process's
//! own end. What was still at work when its time was up, and what a signal from outside has ended, says nothing. The
//! oracle is asked about what ended by itself. A fault of a kernel makes a crash of a failure, and of a pass, too, unless
//! the program has the same fault without injection: it is told then, but says nothing of the trial.

use std::time::Duration;

use bugaroo_protocol::LaunchEnd;

use crate::incident::FailedLaunch;
use crate::names::{demangled, readable};
use crate::oracle::verdict::OracleVerdict;
use crate::outcome::{Exit, Outcome};

/// The outcome, with its reason, where no oracle need be asked. `slow`: it was killed although device work went on;
/// `timeout` is how long it ran then.
pub fn without_oracle(
    exit: Exit,
    slow: bool,
    launch: Option<&FailedLaunch>,
    timeout: Duration,
) -> Option<(Outcome, String)> {
    let ended = launch.map(|launch| (&launch.kernel, &launch.end));
    match (ended, exit) {
        (Some((kernel, LaunchEnd::Deadlock(diagnosis))), _) => Some((
            Outcome::Deadlock,
            format!("kernel {}: {}", demangled(kernel), readable(&diagnosis.summary)),
        )),
        (Some((kernel, LaunchEnd::StepBudget(diagnosis))), _) => {
            let reason = format!(
                "kernel {} ran out of its step budget: {}",
                demangled(kernel),
                readable(&diagnosis.summary)
            );
            Some((Outcome::Timeout, reason))
        }
        (Some((kernel, LaunchEnd::Fault(fault))), Exit::Signal(_) | Exit::Killed) => Some((
            Outcome::Crash,
            format!("kernel {}: {} ({exit})", demangled(kernel), readable(&fault.summary)),
        )),
        (_, Exit::Killed) if slow => {
            let reason =
                format!("still at work on the device after {} s of wall-clock time", seconds(timeout));
            Some((Outcome::Slow, reason))
        }
        (_, Exit::Killed) => {
            let reason = format!(
                "killed after {} s of wall-clock time; no device work showed in the end",
                seconds(timeout)
            );
            Some((Outcome::Timeout, reason))
        }
        (_, Exit::Signal(_)) if exit.is_from_outside() => {
            Some((Outcome::Killed, format!("{exit}, which Bugaroo did not send")))
        }
        (_, Exit::Signal(_)) => Some((Outcome::Crash, exit.to_string())),
        (_, Exit::Code(_)) => None,
    }
}

fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e3).round() / 1e3
}

/// The outcome, with its reason, by what the oracle says; a pass has no reason. `blamed`: the launch's fault is one that the
/// program does not have without injection.
pub fn by_oracle(
    verdict: OracleVerdict,
    launch: Option<&FailedLaunch>,
    blamed: bool,
) -> (Outcome, Option<String>) {
    match (verdict, launch.map(|launch| (&launch.kernel, &launch.end))) {
        (OracleVerdict::Content, Some((kernel, LaunchEnd::Fault(fault)))) if blamed => {
            let reason = format!("kernel {}: {}", demangled(kernel), readable(&fault.summary));
            (Outcome::Crash, Some(reason))
        }
        (OracleVerdict::Content, _) => (Outcome::Pass, None),
        (OracleVerdict::Discontent(reason), Some((kernel, LaunchEnd::Fault(fault)))) => (
            Outcome::Crash,
            Some(format!("kernel {}: {} ({reason})", demangled(kernel), readable(&fault.summary))),
        ),
        (OracleVerdict::Discontent(reason), _) => (Outcome::WrongResult, Some(reason)),
    }
}

#[cfg(test)]
mod tests;
