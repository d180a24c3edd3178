//! A kernel's verdict with everything said in places of the source: what `bugaroo verify` prints and writes as JSON.

mod cases;
mod found;
mod tell;

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::check::check;
use crate::emulate::{AssumedCase, Cause, Emulation, KernelOptions, KernelText, Refusal, RefusalKind};
use crate::verdict::Verdict;
pub(crate) use found::barrier_name;
pub use found::{
    CommandPlace, Deadlocked, FoundLine, KernelFindings, LineRace, Misused, Point, RaceAccess, Recycled,
    Refused, Use, VerifiedKernel, Waits,
};
use found::{at_place, nothing};
use tell::Teller;

/// Verifies a kernel.
///
/// # Errors
/// [`Refusal`] of the kind [`RefusalKind::Usage`]; what else is refused is a verdict.
pub fn verify(text: &KernelText, kernel: &str, options: &KernelOptions) -> Result<VerifiedKernel, Refusal> {
    let mut verified = verify_as_asked(text, kernel, options)?;
    let findings = &mut verified.findings;
    if findings.is_clean() && waits_for_grid(verified.emulation.as_ref(), options) {
        let any = KernelOptions { any_cta: true, ..options.clone() };
        let reason = match verify_as_asked(text, kernel, &any) {
            Ok(any) if any.findings.is_clean() => return Ok(verified),
            Ok(any) => any.findings.refusal.map(|refused| refused.reason).unwrap_or_default(),
            Err(refusal) => refusal.message,
        };
        let message = format!(
            "of any block, all of which wait for each other (grid.sync), this is not known: {reason}"
        );
        let refusal = Refusal::new(RefusalKind::NotVerifiable, message);
        verified.findings = refused(kernel, &refusal);
        return Ok(verified);
    }
    if !options.warp_synchronous && !findings.is_clean() && !findings.is_open() {
        let lockstep = KernelOptions { warp_synchronous: true, ..options.clone() };
        let right = |other: VerifiedKernel| other.findings.is_clean();
        findings.right_in_lockstep = verify_as_asked(text, kernel, &lockstep).is_ok_and(right);
    }
    Ok(verified)
}

/// Whether a block waits for others of which nothing has been looked at.
fn waits_for_grid(emulation: Option<&Emulation>, options: &KernelOptions) -> bool {
    let alone = options.any_cta || options.whole_grid || options.grid == Some([1; 3]);
    !alone && emulation.is_some_and(|emulation| emulation.grid_barriers > 0)
}

fn verify_as_asked(
    text: &KernelText,
    kernel: &str,
    options: &KernelOptions,
) -> Result<VerifiedKernel, Refusal> {
    let mut open = FxHashSet::default();
    loop {
        let before = open.len();
        let verified = verify_openly(text, kernel, options, &mut open);
        // What was found to depend on the order of threads was taken for known.
        if verified.is_err() || open.len() == before {
            return verified;
        }
    }
}

/// Verifies with what `open` names not known, and adds to it what has to be.
fn verify_openly(
    text: &KernelText,
    kernel: &str,
    options: &KernelOptions,
    open: &mut FxHashSet<u32>,
) -> Result<VerifiedKernel, Refusal> {
    let mut tables = BTreeSet::new();
    let mut meetings = BTreeSet::new();
    let mut work: u64 = 0;
    let (mut verified, is_joined) = cases::verify(options, &mut |options, case| {
        if work > options.max_work {
            return Ok(VerifiedKernel {
                findings: refused(kernel, &too_much(options.max_work)),
                emulation: None,
                work,
            });
        }
        let verified = verify_case(text, kernel, options, open, case)?;
        work = work.saturating_add(case.seen.work);
        meetings.extend(verified.emulation.iter().flat_map(|emulation| &emulation.taken_to_meet));
        tables.extend(verified.emulation.iter().flat_map(|emulation| emulation.tables.iter().cloned()));
        Ok(verified)
    })?;
    verified.work = work;
    if !verified.findings.is_open() {
        verified.findings.tables = tables.into_iter().collect();
        let place = |pc: &u32| at_place(&text.place(*pc), None, 0, 0);
        let meetings = meetings.iter().filter(|_| is_joined);
        verified.findings.taken_to_meet = meetings.map(place).collect();
    }
    Ok(verified)
}

/// There are more cases, or longer ones, than were to be looked at.
fn too_much(most: u64) -> Refusal {
    let message = format!(
        "its cases have more than {most} warp instructions together, which is as many as were to be looked at"
    );
    Refusal::new(RefusalKind::NotVerifiable, message)
}

/// Verifies one case.
fn verify_case(
    text: &KernelText,
    kernel: &str,
    options: &KernelOptions,
    open: &mut FxHashSet<u32>,
    case: &mut AssumedCase,
) -> Result<VerifiedKernel, Refusal> {
    let emulated = text.emulate_case(kernel, options, open, case);
    open.extend(&case.polled);
    match emulated {
        Ok(emulation) => {
            // A deadlock is explained best with what threads would have done later.
            let explained = emulation.beyond.as_ref().map(check);
            let explained = explained.filter(|report| report.verdict == Verdict::Deadlock);
            let mut report = explained.unwrap_or_else(|| check(&emulation.program));
            if let Some(misuse) = &emulation.misuse {
                // The programs end where that happens: what seems to follow from it does not.
                report.verdict = Verdict::Misuse;
                report.misuse = report.misuse.or(Some(misuse.clone()));
                report.deadlock = None;
                report.races.clear();
                report.unfinished.clear();
            }
            open.extend(&report.unordered);
            open.extend(&report.guessed);
            if emulation.program.has_last()
                && matches!(report.verdict, Verdict::Deadlock | Verdict::Misuse | Verdict::UnsafeRecycling)
            {
                let message =
                    "barriers go wrong if no thread returns early, and whether any does is not known";
                let refusal = Refusal::new(RefusalKind::NotVerifiable, message);
                return Ok(VerifiedKernel {
                    findings: refused(kernel, &refusal),
                    emulation: Some(emulation),
                    work: 0,
                });
            }
            if report.recycled_unless_flagged {
                let message = "a barrier is used again too early unless flags in memory order its uses, and whether they do is not known";
                let refusal = Refusal::new(RefusalKind::NotVerifiable, message);
                return Ok(VerifiedKernel {
                    findings: refused(kernel, &refusal),
                    emulation: Some(emulation),
                    work: 0,
                });
            }
            if case.widening.widened && report.verdict == Verdict::PossibleRace {
                let beginning = check(&emulation.program.beginning(&case.widening.exact));
                case.widening.races_early = !beginning.races.is_empty();
            }
            report.stats.commands = emulation.program.thread_commands();
            let findings = Teller { text, block: emulation.block }.findings(kernel, &report, &emulation);
            Ok(VerifiedKernel { findings, emulation: Some(emulation), work: 0 })
        }
        Err(refusal) if refusal.kind == RefusalKind::Usage => Err(refusal),
        Err(refusal) => Ok(VerifiedKernel { findings: refused(kernel, &refusal), emulation: None, work: 0 }),
    }
}

impl KernelFindings {
    /// Those of a kernel that cannot be looked at, whatever the reason.
    pub fn not_verifiable(kernel: &str, refusal: &Refusal) -> KernelFindings {
        KernelFindings { verdict: "not-verifiable", ..refused(kernel, refusal) }
    }
}

fn refused(kernel: &str, refusal: &Refusal) -> KernelFindings {
    let verdict = match refusal.kind {
        RefusalKind::NotVerifiable => "not-verifiable",
        RefusalKind::Illegal => "illegal",
        RefusalKind::Unsupported | RefusalKind::Usage => "unsupported",
    };
    let cause = refusal.cause.as_deref();
    let place = |cause: &Cause| cause.place.as_ref().map(|place| at_place(place, None, 0, 0));
    let told = Refused {
        reason: refusal.message.clone(),
        at: refusal.place.as_ref().map(|place| at_place(place, refusal.thread, 1, 0)),
        cause: cause.map(|cause| cause.text.clone()),
        parameter: cause.and_then(|cause| cause.parameter.clone()),
        cause_at: cause.and_then(place),
    };
    KernelFindings { refusal: Some(told), ..nothing(kernel, verdict) }
}
