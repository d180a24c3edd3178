//! What a search found, for people: the source around each line, the patch, and what it rests on.

use std::fmt::Write;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use bugaroo_bisect::report::{CompiledIn, OwnFence};
use bugaroo_bisect::{
    FaultDiagnosis, FenceNeed, MissingAfter, Needed, NeededScope, Redundant, ScopeAdvice, SearchReport,
    SourceText,
};
use bugaroo_harness::Target;
use bugaroo_harness::names::demangled;
use bugaroo_protocol::{Model, SourceLine};

use crate::run;

/// All of a report.
pub fn describe(report: &SearchReport, target: &Target, model: Model, races: bool) -> String {
    let mut text = String::new();
    for diagnosis in &report.diagnosis {
        text += &what_is_no_fence(diagnosis, target);
        text.push('\n');
    }
    for missing in &report.missing {
        let need = report.needs.iter().find(|need| need.inserted && need.place == missing.place);
        text += &missing_fence(missing, need, target, races);
        text.push('\n');
    }
    for fence in &report.redundant {
        text += &redundant_fence(fence, target);
        text.push('\n');
    }
    for advice in report.scope_advice.iter().filter(|advice| !advice.inserted) {
        text += &scope(advice, target);
        text.push('\n');
    }
    // Writing to a string cannot fail.
    text += &together(report);
    for need in report.needs.iter().filter(|need| !need.inserted && need.needed != Needed::Neither) {
        let _ = writeln!(text, "{}", under_which_models(need));
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text += &patch(report);
    if let Some(why) = &report.unresolved {
        let _ = writeln!(text, "unresolved: {why}");
    }
    let _ = writeln!(text, "{}", verified(report));
    if let Some(ran) = &report.verified.compiled_in {
        let _ = writeln!(text, "{}", compiled_in(ran));
    }
    let assurance = report.assurance;
    let _ = writeln!(
        text,
        "{} trials in all; a failure that shows in 1 of {:.0} trials or more was missed with a probability of \
         at most {:.3}",
        report.trials,
        1.0 / assurance.rate,
        assurance.error
    );
    for caveat in &report.caveats {
        let _ = writeln!(text, "note (model {}): {caveat}", run::model(model));
    }
    text
}

/// The patch, each of its changes with what it rests on.
fn patch(report: &SearchReport) -> String {
    let mut text = String::new();
    if !report.patch.is_empty() {
        text += "the changes of the source, verified together (patch -p1 applies them here):\n\n";
        text += &report.patch;
        text.push('\n');
        for sentence in report.hunks.iter().flat_map(|hunk| &hunk.rests_on) {
            let _ = writeln!(text, "  {sentence}");
        }
        text.push('\n');
    }
    for sentence in &report.unpatched {
        let _ = writeln!(text, "not in the patch: {sentence}");
    }
    text
}

/// What the trials of the whole answer say.
fn verified(report: &SearchReport) -> String {
    let SearchReport { verified, forgetful, untold, .. } = report;
    let by_model: Vec<String> =
        verified.by_model.iter().map(|by| format!("{} under {}", by.trials, run::model(by.model))).collect();
    let trials = match by_model.as_slice() {
        [] | [_] => verified.trials.to_string(),
        several => format!("{} ({})", verified.trials, several.join(", ")),
    };
    match (report.missing.len(), verified.failures) {
        _ if verified.trials == 0 => "nothing was verified".to_owned(),
        (_, 0) if *forgetful > 0 => format!(
            "not verified: {trials} trials passed, but in {forgetful} trials the model forgot writes for lack of memory"
        ),
        (_, 0) if *untold > 0 => {
            format!("not verified: {trials} trials passed, but {untold} were slow or killed")
        }
        (0, 0) => format!("no failure in {trials} trials: no fence is missing that this shows"),
        (_, 0) => format!("verified: with these changes, {trials} trials passed and none failed"),
        (_, failures) => format!("{failures} of {trials} trials still fail"),
    }
}

/// What the program did that was built with the patch.
fn compiled_in(ran: &CompiledIn) -> String {
    let by: Vec<String> = ran
        .by_model
        .iter()
        .map(|by| format!("{} of {} under {}", by.failures, by.trials, run::model(by.model)))
        .collect();
    let CompiledIn { trials, failures, command, .. } = ran;
    format!("compiled in: {failures} of {trials} trials fail ({}; built by: {command})", by.join(", "))
}

/// Two accesses whose order nothing settles.
fn what_is_no_fence(diagnosis: &FaultDiagnosis, target: &Target) -> String {
    let place = &diagnosis.first;
    let words = match (&diagnosis.second.source, diagnosis.second.ptx_line) {
        (Some(source), _) => format!("the other access: {}:{}", source.file, source.line),
        (None, Some(line)) => format!("the other access: PTX line {line}"),
        (None, None) => "the other access has no line".to_owned(),
    };
    let title = diagnosis.sentence.clone();
    let finding = Finding { level: Level::ERROR, title, label: "one of the two accesses", words };
    with_source(&finding, place.source.as_ref(), target)
}

/// A missing fence or barrier.
fn missing_fence(missing: &MissingAfter, need: Option<&FenceNeed>, target: &Target, races: bool) -> String {
    let kernel = missing.kernel.as_deref().map_or_else(|| "several kernels".to_owned(), demangled);
    let MissingAfter { call, place, .. } = missing;
    let barrier = call.starts_with("__sync");
    let loads = need.is_some_and(|need| need.needed == Needed::Ptx);
    let (why, label) = match (barrier, loads) {
        (true, _) => (format!("threads of {kernel} do not wait for each other"), "here"),
        (_, true) => (format!("later loads of {kernel} read old values"), "what follows may read old values"),
        _ if races => {
            let memory =
                if missing.space == "both" { "memory" } else { &format!("{} memory", missing.space) };
            (
                format!("accesses of {kernel} to {memory} race without it"),
                "nothing orders what is before and behind",
            )
        }
        _ => {
            let why = format!("delayed {} stores of {kernel} come too late", missing.space);
            (why, "what was stored is visible to other threads too late")
        }
    };
    let (title, words) = match &missing.widen {
        Some(narrow) => (
            format!("scope too narrow at {}: {why}", own_fence(narrow)),
            format!(
                "give it {} scope ({} trials{})",
                if missing.scope == "sys" { "system" } else { "GPU" },
                missing.trials,
                copies(missing.sites.len())
            ),
        ),
        None => (
            format!("missing {call} {place}: {why}"),
            format!(
                "found beside {} (PTX line {}{}), in {} trials; with all changes the program passes with a confidence \
                 of {}",
                one_line(&missing.access.instruction),
                missing.ptx_line,
                copies(missing.sites.len()),
                missing.trials,
                missing.confidence
            ),
        ),
    };
    let finding = Finding { level: Level::ERROR, title, label, words };
    with_source(&finding, missing.source.as_ref(), target)
}

/// A fence of the program's own and the models under which it is needed, in a line.
fn under_which_models(need: &FenceNeed) -> String {
    let FenceNeed { trials, failures, place, .. } = need;
    match need.needed {
        Needed::Both => format!(
            "the fence at {place} is needed under store-buffer and ptx ({failures} of {trials} trials without it fail \
             under store-buffer)"
        ),
        Needed::Ptx => format!(
            "the fence at {place} is needed under ptx: it keeps loads from reading old values (none of {trials} trials \
             without it failed under store-buffer)"
        ),
        Needed::Neither => {
            format!(
                "the fence at {place} is needed under neither store-buffer nor ptx ({trials} trials passed)"
            )
        }
    }
}

/// A redundant fence.
fn redundant_fence(fence: &Redundant, target: &Target) -> String {
    let models: Vec<&str> = fence.models.iter().map(|model| run::model(*model)).collect();
    let models = models.join(" nor under ");
    let function = demangled(&fence.function);
    let title = format!("redundant fence in {function}: without it, no trial fails under {models}");
    let words = format!(
        "it can go (site {}, PTX line {}{}): {} trials without it passed and none failed",
        fence.site,
        fence.ptx_line,
        copies(fence.sites.len()),
        fence.trials
    );
    let finding =
        Finding { level: Level::WARNING, title, label: "the program passes without this fence", words };
    with_source(&finding, fence.source.as_ref(), target)
}

/// A fence's scope.
fn scope(advice: &ScopeAdvice, target: &Target) -> String {
    let model = run::model(advice.model);
    let name = place(advice.source.as_ref(), advice.ptx_line);
    let ScopeAdvice { trials, failures, omitted_trials, omitted_failures, .. } = advice;
    match advice.needed {
        NeededScope::Gpu => {
            return format!(
                "the fence at {name} needs scope gpu (observed: {failures} of {trials} trials fail with \
                 __threadfence_block() under {model})\n"
            );
        }
        NeededScope::Unknown => {
            return format!(
                "whether the fence at {name} needs scope gpu is not known: none of {trials} trials fails with \
                 __threadfence_block() under {model}, but without the fence {omitted_failures} of {omitted_trials} do, \
                 which is too few to compare (more --trials may tell)\n"
            );
        }
        NeededScope::Cta => {}
    }
    let title = "__threadfence_block() may do: no trial failed with it".to_owned();
    let also = match (advice.model, advice.confirmed) {
        (Model::Ptx, _) => String::new(),
        (_, 0) => "; store side only".to_owned(),
        (_, confirmed) => format!(", and {confirmed} under ptx"),
    };
    let words = format!(
        "narrow it, if you know why it may be (site {}, PTX line {}{}; model {model}, {} trials passed{also}; without the \
         fence {omitted_failures} of {omitted_trials} fail; a failure as frequent, or one that shows in 1 of {:.0} or more, was \
         missed with a probability of at most {:.3})",
        advice.site,
        advice.ptx_line,
        copies(advice.sites.len()),
        advice.trials,
        1.0 / advice.rate,
        advice.error,
    );
    let label = "no trial shows that other blocks need it";
    let finding = Finding { level: Level::WARNING, title, label, words };
    with_source(&finding, advice.source.as_ref(), target)
}

/// What redundant fences are together.
fn together(report: &SearchReport) -> String {
    let mut text = String::new();
    match report.redundant_together {
        None => {}
        Some(true) => text += "the redundant fences can all go at once\n",
        Some(false) => {
            text += "the redundant fences cannot all go at once; the program passes with only\n";
            for set in &report.minimal_sets {
                let names: Vec<String> = set.iter().map(own_fence).collect();
                let _ = writeln!(text, "  {}", names.join(", "));
            }
            if !report.minimal_sets_complete {
                text += "  (the search for sets was ended: there may be others)\n";
            }
        }
    }
    text
}

fn own_fence(fence: &OwnFence) -> String {
    format!("{} (site {})", place(fence.source.as_ref(), fence.ptx_line), fence.site)
}

/// A finding, and what to do about it.
struct Finding {
    level: Level<'static>,
    title: String,
    /// At the line.
    label: &'static str,
    /// What to do.
    words: String,
}

/// A finding at its line; in words where the source cannot be read.
fn with_source(finding: &Finding, at: Option<&SourceLine>, target: &Target) -> String {
    let Finding { level, title, label, words } = finding;
    let in_words = || {
        let name = at.map(|at| format!("{}:{}: ", at.file, at.line)).unwrap_or_default();
        format!("{title}\n  {name}{words}\n")
    };
    let Some(at) = at else { return in_words() };
    let Some(source) = SourceText::find(&at.file, at.line, &target.app) else { return in_words() };
    // `find` has seen to it that the line is there.
    let Some((start, end)) = source.line_span(at.line) else { return in_words() };
    let indentation = source.indentation(at.line);
    let path = source.path.display().to_string();
    let snippet = Snippet::source(&source.text)
        .path(&path)
        .annotation(AnnotationKind::Primary.span(start + indentation.len()..end).label(*label));
    let finding = level
        .clone()
        .primary_title(title.as_str())
        .element(snippet)
        .element(Level::NOTE.message(words.as_str()));
    Renderer::plain().render(&[finding]) + "\n"
}

/// How many places in the PTX one line of the source has.
fn copies(sites: usize) -> String {
    if sites > 1 { format!(", {sites} places in the PTX") } else { String::new() }
}

fn place(source: Option<&SourceLine>, ptx_line: u32) -> String {
    source.map_or_else(|| format!("PTX line {ptx_line}"), |source| format!("{}:{}", source.file, source.line))
}

/// An instruction on one line.
fn one_line(instruction: &str) -> String {
    instruction.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
