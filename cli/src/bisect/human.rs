//! What a search found, for people: the source around the line, and the change as a small diff.

use std::fmt::Write;

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};
use bugaroo_bisect::report::OwnFence;
use bugaroo_bisect::{FenceNeed, Missing, Needed, Redundant, Report, ScopeAdvice, SourceText};
use bugaroo_harness::Target;
use bugaroo_protocol::{Model, Site, SourceLine};

use crate::run;

/// All of a report.
pub fn describe(report: &Report, target: &Target, model: Model) -> String {
    let mut text = String::new();
    for missing in &report.missing {
        let need = report.needs.iter().find(|need| need.inserted && need.site == missing.site);
        text += &missing_fence(missing, need.map(|need| need.needed), target);
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
    for need in &report.needs {
        let _ = writeln!(text, "{}", under_which_models(need));
    }
    if let Some(why) = &report.unresolved {
        let _ = writeln!(text, "unresolved: {why}");
    }
    let verified = report.verified;
    let _ = match (report.missing.len(), verified.failures) {
        (_, 0) if report.forgetful > 0 => {
            let Report { forgetful, .. } = report;
            writeln!(
                text,
                "not verified: {} trials passed, but in {forgetful} trials the model forgot writes for lack of memory",
                report.verified.trials
            )
        }
        (_, 0) if report.untold > 0 => {
            let Report { untold, .. } = report;
            writeln!(
                text,
                "not verified: {} trials passed, but {untold} were slow or killed",
                verified.trials
            )
        }
        (0, 0) => {
            writeln!(text, "no failure in {} trials: no fence is missing that this shows", verified.trials)
        }
        (_, 0) => {
            writeln!(
                text,
                "verified: with these fences inserted, {} trials passed and none failed",
                verified.trials
            )
        }
        (_, failures) => writeln!(text, "{failures} of {} trials still fail", verified.trials),
    };
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

/// A missing fence as the source and a small diff, or in words where the source cannot be read.
fn missing_fence(missing: &Missing, needed: Option<Needed>, target: &Target) -> String {
    let fence = missing.fence();
    let kernel = missing.kernel.as_deref().unwrap_or("several kernels");
    let (why, label) = if needed == Some(Needed::Ptx) {
        (format!("later loads of {kernel} read old values"), "what follows may read old values")
    } else {
        let why = format!("delayed {} stores of {kernel} come too late", missing.space);
        (why, "visible to other threads too late")
    };
    if let Some(narrow) = &missing.widen {
        return widened(missing, narrow, &why, target);
    }
    let title = format!("missing {fence}: {why}");
    let before = missing.before.as_ref().map(|site| format!(", before {}", access(site))).unwrap_or_default();
    let how = if missing.within_line { "take the line apart and insert it" } else { "insert it" };
    let words = format!(
        "{how} after {}{before} (confidence {}, {} trials{})",
        access(&missing.access),
        missing.confidence,
        missing.trials,
        copies(missing.sites.len()),
    );
    let change = |_: &SourceText, (_, end): (usize, usize), indentation: &str| match missing.within_line {
        true => (end..end, format!("  // with {fence} within")),
        false => (end..end, format!("\n{indentation}{fence};")),
    };
    with_source(
        &Finding { level: Level::ERROR, title, label, words },
        missing.source.as_ref(),
        target,
        change,
    )
}

/// A missing fence where one of a narrower scope stands.
fn widened(missing: &Missing, narrow: &OwnFence, why: &str, target: &Target) -> String {
    let title = format!("fence of too narrow a scope: {why}");
    let words = format!(
        "make it {} (site {}, PTX line {}; confidence {}, {} trials{})",
        missing.fence(),
        narrow.site,
        narrow.ptx_line,
        missing.confidence,
        missing.trials,
        copies(missing.sites.len()),
    );
    let finding =
        Finding { level: Level::ERROR, title, label: "orders memory for its own block only", words };
    with_source(&finding, narrow.source.as_ref(), target, |source, (start, end), _| {
        match call(&source.text[start..end]) {
            Some(call) => (start + call.first..start + call.last, format!("{};", missing.fence())),
            None => (end..end, format!("  // with {}", missing.fence())),
        }
    })
}

/// A fence and the models under which it is needed, in a line.
fn under_which_models(need: &FenceNeed) -> String {
    let FenceNeed { trials, failures, .. } = need;
    let what = if need.inserted { "a fence after" } else { "the fence at" };
    let name = place(need.source.as_ref(), need.ptx_line);
    match need.needed {
        Needed::Both => format!(
            "{what} {name} is needed under store-buffer and ptx ({failures} of {trials} trials without it fail \
             under store-buffer)"
        ),
        Needed::Ptx => format!(
            "{what} {name} is needed under ptx only: it keeps loads from reading old values ({trials} trials \
             without it passed under store-buffer)"
        ),
        Needed::Neither => {
            format!("{what} {name} is needed under neither store-buffer nor ptx ({trials} trials passed)")
        }
    }
}

/// A redundant fence, and the line without it.
fn redundant_fence(fence: &Redundant, target: &Target) -> String {
    let model = run::model(fence.model);
    let title = format!("redundant fence in {} (under model {model})", fence.function);
    let words = format!(
        "drop it (site {}, PTX line {}{}): {} trials without it passed and none failed",
        fence.site,
        fence.ptx_line,
        copies(fence.sites.len()),
        fence.trials
    );
    let finding =
        Finding { level: Level::WARNING, title, label: "the program passes without this fence", words };
    with_source(&finding, fence.source.as_ref(), target, |source, (start, end), _| {
        match call(&source.text[start..end]) {
            // The line goes, with its end.
            Some(call) if call.alone => (start..(end + 1).min(source.text.len()), String::new()),
            Some(call) => (start + call.first..start + call.last, ";".to_owned()),
            // Behind a macro or a function of the user's own.
            None => (end..end, "  // without its fence".to_owned()),
        }
    })
}

/// A fence's scope.
fn scope(advice: &ScopeAdvice, target: &Target) -> String {
    let model = run::model(advice.model);
    let name = place(advice.source.as_ref(), advice.ptx_line);
    if advice.needed != "cta" {
        return format!(
            "the fence at {name} needs scope gpu (observed: {} of {} trials fail with __threadfence_block() under \
             {model})\n",
            advice.failures, advice.trials
        );
    }
    let title = "__threadfence_block() may do: no trial failed with it".to_owned();
    let also = match (advice.model, advice.confirmed) {
        (Model::Ptx, _) => String::new(),
        (_, 0) => "; store side only".to_owned(),
        (_, confirmed) => format!(", and {confirmed} under ptx"),
    };
    let words = format!(
        "narrow it, if you know why it may be (site {}, PTX line {}{}; model {model}, {} trials passed{also}; a failure \
         that shows in 1 of {:.0} or more was missed with a probability of at most {:.3})",
        advice.site,
        advice.ptx_line,
        copies(advice.sites.len()),
        advice.trials,
        1.0 / advice.rate,
        advice.error,
    );
    let label = "needed, but no trial shows that by other blocks";
    let finding = Finding { level: Level::WARNING, title, label, words };
    with_source(&finding, advice.source.as_ref(), target, |source, (start, end), _| {
        match call(&source.text[start..end]) {
            Some(call) => (start + call.first..start + call.last, "__threadfence_block();".to_owned()),
            None => (end..end, "  // with __threadfence_block()".to_owned()),
        }
    })
}

/// A call of a fence in a line, with its semicolon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    first: usize,
    last: usize,
    /// Whether the line has nothing else, but for a condition that only it hangs on.
    alone: bool,
}

/// Finds the call of a fence in a line.
fn call(line: &str) -> Option<Call> {
    ["__threadfence_system", "__threadfence_block", "__threadfence"].iter().find_map(|name| {
        let first = line.find(name)?;
        let rest = &line[first + name.len()..];
        let close = rest.trim_start().starts_with('(').then(|| rest.find(')'))??;
        let end = close
            + 1
            + rest[close + 1..].trim_start().starts_with(';').then(|| rest[close + 1..].find(';'))??;
        let last = first + name.len() + end + 1;
        let before = line[..first].trim();
        let condition = before.starts_with("if") && before.ends_with(')');
        let comment = line[last..].trim();
        let alone = (before.is_empty() || condition) && (comment.is_empty() || comment.starts_with("//"));
        Some(Call { first, last, alone })
    })
}

/// What redundant fences are together.
fn together(report: &Report) -> String {
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

/// A finding at its line with the change that `change` makes, given the source, where the line starts
/// and ends, and its indentation; in words where the source cannot be read.
fn with_source(
    finding: &Finding,
    at: Option<&SourceLine>,
    target: &Target,
    change: impl Fn(&SourceText, (usize, usize), &str) -> (std::ops::Range<usize>, String),
) -> String {
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
    let (place, text) = change(&source, (start, end), indentation);
    let snippet = Snippet::source(&source.text)
        .path(&path)
        .annotation(AnnotationKind::Primary.span(start + indentation.len()..end).label(*label));
    let finding = level.clone().primary_title(title.as_str()).element(snippet);
    let cure: Group<'_> = Level::HELP
        .secondary_title(words.as_str())
        .element(Snippet::source(&source.text).path(&path).patch(Patch::new(place, text)));
    Renderer::plain().render(&[finding, cure]) + "\n"
}

/// How many places in the PTX one line of the source has.
fn copies(sites: usize) -> String {
    if sites > 1 { format!(", {sites} places in the PTX") } else { String::new() }
}

fn place(source: Option<&SourceLine>, ptx_line: u32) -> String {
    source.map_or_else(|| format!("PTX line {ptx_line}"), |source| format!("{}:{}", source.file, source.line))
}

/// An access, by its source line where that is known, and its place in the PTX.
fn access(site: &Site) -> String {
    let instruction = site.instruction.split_whitespace().collect::<Vec<_>>().join(" ");
    match &site.source {
        Some(source) => {
            format!("{}:{} ({instruction}, PTX line {})", source.file, source.line, site.ptx_line)
        }
        None => format!("PTX line {} ({instruction})", site.ptx_line),
    }
}

#[cfg(test)]
mod tests;
