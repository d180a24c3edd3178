//! What kernels did that is an error whatever the program made of it, for people: the line in the source, the thread, the
//! memory it meant, and how often it was seen.

use std::fmt::Write;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use bugaroo_bisect::SourceText;
use bugaroo_harness::findings::{FindingKind, Share};
use bugaroo_harness::names::demangled;
use bugaroo_harness::{Finding, Findings, Target};
use bugaroo_protocol::{FaultAccess, FaultKind, HostFrame};

use crate::output::shell_word;
use bugaroo_harness::words::failure::{place, threads};
use bugaroo_harness::words::memory::close_to;

/// Groups of waiting threads that are shown.
const GROUPS: usize = 8;

/// All findings; `run_dir` is where their trials can be replayed from.
pub fn describe(findings: &Findings, target: &Target, run_dir: Option<&str>) -> String {
    let mut text = String::new();
    for finding in &findings.all {
        text += &one(finding, target, run_dir);
        text.push('\n');
    }
    if findings.more > 0 {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{} more launches ended with errors of other kinds or at other lines\n",
            findings.more
        );
    }
    text
}

fn one(finding: &Finding, target: &Target, run_dir: Option<&str>) -> String {
    let title = format!("{} in kernel {}", title(finding), finding.kernel);
    let label = label(finding);
    let notes = notes(finding, run_dir);
    let source = finding.source.as_ref();
    let found = source.and_then(|at| Some((at, SourceText::find(&at.file, at.line, &target.app)?)));
    let span = found.as_ref().and_then(|(at, text)| {
        let (start, end) = text.line_span(at.line)?;
        Some(start + text.indentation(at.line).len()..end)
    });
    let path = found.as_ref().map(|(_, text)| text.path.display().to_string()).unwrap_or_default();
    if let Some(((_, text), span)) = found.as_ref().zip(span) {
        let mark = AnnotationKind::Primary.span(span).label(label.as_str());
        let snippet = Snippet::source(&text.text).path(&path).annotation(mark);
        let group: Group<'_> = Level::ERROR.primary_title(title.as_str()).element(snippet);
        let group = notes.iter().fold(group, |group, note| group.element(Level::NOTE.message(note.as_str())));
        return Renderer::plain().render(&[group]) + "\n";
    }
    let place = match (source, finding.ptx_line) {
        (Some(at), _) => format!("{}:{}: ", at.file, at.line),
        (None, Some(line)) => format!("PTX line {line}: "),
        (None, None) => String::new(),
    };
    let mut text = format!("error: {title}\n  {place}{label}\n");
    for note in notes {
        text += &format!("  note: {}\n", note.replace('\n', "\n    "));
    }
    text
}

fn title(finding: &Finding) -> String {
    let FindingKind::Fault(kind) = finding.kind else {
        return "deadlock".to_owned();
    };
    let size = finding.size.map(|size| format!("{size}-byte ")).unwrap_or_default();
    let access = match finding.access {
        Some(FaultAccess::Load) => "load",
        Some(FaultAccess::Store) => "store",
        Some(FaultAccess::Atomic) => "atomic",
        None => "access",
    };
    match kind {
        FaultKind::IllegalAddress => format!("{size}{access} outside every allocation"),
        FaultKind::NoAccess => format!("{size}{access} of memory that may not be accessed so"),
        FaultKind::UseAfterFree => format!("{size}{access} of memory that was freed"),
        FaultKind::MisalignedAddress => format!("misaligned {size}{access}"),
        FaultKind::Trap => "trap".to_owned(),
        FaultKind::Assert => "failed assertion".to_owned(),
        FaultKind::BarrierDivergence => "barrier divergence".to_owned(),
        FaultKind::BarrierMisuse => "misuse of a barrier".to_owned(),
        FaultKind::StackOverflow => "stack overflow".to_owned(),
        FaultKind::InvalidFree => "free of what was not allocated, or was freed before,".to_owned(),
        FaultKind::IllegalInstruction => "illegal instruction".to_owned(),
    }
}

/// Who did it, and to which memory.
fn label(finding: &Finding) -> String {
    let who = finding.threads.first().map(threads).unwrap_or_default();
    let what = match (&finding.address, &finding.allocation) {
        (Some(address), Some(near)) => format!("address {address:#x}, {}", close_to(near)),
        (Some(_), None) | (None, _) => finding.what.clone(),
    };
    match (finding.kind, what.is_empty()) {
        (FindingKind::Deadlock(_), _) => format!("{who} wait here"),
        (_, true) => who,
        (_, false) => format!("{who}: {what}"),
    }
}

fn notes(finding: &Finding, run_dir: Option<&str>) -> Vec<String> {
    let mut notes = Vec::new();
    if let FindingKind::Deadlock(_) = finding.kind {
        notes.push(finding.summary.clone());
        for group in finding.threads.iter().take(GROUPS) {
            notes.push(format!("{} stand at {}", threads(group), place(group)));
        }
    } else if let Some(at) = finding.threads.first() {
        notes.push(format!("at {}", place(at)));
    }
    if finding.kind == FindingKind::Fault(FaultKind::NoAccess) {
        notes.push(finding.what.clone());
    }
    if let Some(near) = &finding.allocation {
        notes.extend(frames("allocated", &near.allocated_at));
        notes.extend(frames("freed", &near.freed_at));
    }
    let mut seen = Vec::new();
    let mut say = |share: Share, what: &str| {
        if share.of > 0 {
            seen.push(format!("in {} of {} {what}", share.seen, share.of));
        }
    };
    say(finding.without_injection, "runs without injection");
    say(finding.trials, "trials");
    notes.push(format!("seen {}", seen.join(", ")));
    if let (Some(directory), Some(trial)) = (run_dir, &finding.first_trial) {
        notes.push(format!("replay it: bugaroo replay {} {trial}", shell_word(directory)));
    }
    notes
}

/// The calls that led to an allocation or a release.
pub fn frames(what: &str, frames: &[HostFrame]) -> Option<String> {
    let one = |frame: &HostFrame| {
        let function = frame.function.as_deref().map(demangled);
        match (&frame.source, function) {
            (Some(source), Some(function)) => format!("{function}, {}:{}", source.file, source.line),
            (Some(source), None) => format!("{}:{}", source.file, source.line),
            (None, Some(function)) => format!("{function}, {}+{:#x}", frame.module, frame.offset),
            (None, None) => format!("{}+{:#x}", frame.module, frame.offset),
        }
    };
    // What nvcc puts in front of a launch, and the system in front of `main`, is not the program's.
    let is_its_own = |frame: &&HostFrame| {
        let function = frame.function.as_deref().unwrap_or_default();
        !function.contains("__device_stub__") && !function.starts_with("__libc_start") && function != "_start"
    };
    let own: Vec<&HostFrame> = frames.iter().filter(is_its_own).collect();
    let told = if own.is_empty() { frames.iter().collect() } else { own };
    let (first, callers) = told.split_first()?;
    let callers: Vec<String> = callers.iter().map(|frame| format!("\n  called by {}", one(frame))).collect();
    Some(format!("{what} by {}{}", one(first), callers.concat()))
}
