//! `bugaroo bisect`.

use std::fmt::Write;
use std::fs;

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};
use anyhow::Context;
use bugaroo_bisect::{Missing, Report, SourceText, Step, search_session};
use bugaroo_harness::{DriverLibrary, Error, Interrupt, Session, Target, progress, runtime};
use bugaroo_protocol::{Model, Site, SourceLine};
use serde::Serialize;

use crate::args::{Format, RunArgs};
use crate::exit::{Exit, UsageError};
use crate::output::{note, print, print_json};
use crate::{run, setup};

/// Names missing and redundant fences.
pub fn bisect(args: &RunArgs) -> anyhow::Result<Exit> {
    let settings = setup::settings(&args.trial)?;
    let variation = setup::variation(&args.trial, args.pw[0])?;
    if args.pw.len() != 1 {
        return Err(UsageError("bisect takes one --pw".to_owned()).into());
    }
    if args.until_failure {
        return Err(UsageError("--until-failure is for run; bisect stops where it may".to_owned()).into());
    }
    let target = setup::target(&args.program)?;
    let seed = settings.seed;
    let library = DriverLibrary::find().map_err(Error::from)?;
    let reporter = progress::for_standard_error();
    let report = runtime::block_on(async {
        let interrupt = Interrupt::on_signals()?;
        let session = Session::start(target.clone(), settings, library, interrupt, reporter.as_ref()).await?;
        let told = progress::Silent;
        anyhow::Ok(search_session(&session, variation.clone(), args.trials, &told, &tell).await?)
    })??;
    drop(reporter);
    let json = Json {
        schema: 1,
        app: target.app.to_str().unwrap_or_default(),
        args: &target.args,
        seed,
        model: variation.model,
        pw: variation.pw,
        report: &report,
    };
    if let Some(directory) = &args.out {
        let write = || {
            fs::create_dir_all(directory)?;
            fs::write(directory.join("bisect.json"), serde_json::to_string_pretty(&json)? + "\n")
        };
        write().with_context(|| format!("cannot write bisect.json into {}", directory.display()))?;
    }
    match args.format {
        Format::Human => print(&human(&report, &target, variation.model))?,
        Format::Json => print_json(&json)?,
    }
    let clean = report.missing.is_empty() && report.redundant.is_empty() && report.unresolved.is_none();
    Ok(if clean { Exit::Clean } else { Exit::Findings(args.error_exitcode) })
}

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    app: &'a str,
    args: &'a [String],
    seed: u64,
    model: Model,
    pw: f64,
    #[serde(flatten)]
    report: &'a Report,
}

fn tell(step: &Step) {
    let Step { question, trials, failures, answer } = step;
    note(format_args!("{question} {answer} ({failures} of {trials} trials failed)"));
}

fn human(report: &Report, target: &Target, model: Model) -> String {
    let mut text = String::new();
    for missing in &report.missing {
        text += &missing_fence(missing, target);
        text.push('\n');
    }
    // Writing to a string cannot fail.
    for fence in &report.redundant {
        let _ = writeln!(
            text,
            "redundant under model {}: the fence at {} (site {}, PTX line {}, in {}); {} trials without it passed",
            run::model(fence.model),
            place(fence.source.as_ref()),
            fence.site,
            fence.ptx_line,
            fence.function,
            fence.trials,
        );
    }
    if let Some(why) = &report.unresolved {
        let _ = writeln!(text, "unresolved: {why}");
    }
    let verified = report.verified;
    let _ = match (report.missing.len(), verified.failures) {
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
    for caveat in &report.caveats {
        let _ = writeln!(text, "note (model {}): {caveat}", run::model(model));
    }
    text
}

fn place(source: Option<&SourceLine>) -> String {
    source.map_or("an unknown source line".to_owned(), |source| format!("{}:{}", source.file, source.line))
}

/// A missing fence as the source and a small diff, or in words where the source cannot be read.
fn missing_fence(missing: &Missing, target: &Target) -> String {
    let fence = missing.fence();
    let kernel = missing.kernel.as_deref().unwrap_or("several kernels");
    let title = format!("missing {fence}: delayed {} stores of {kernel} come too late", missing.space);
    let before = missing.before.as_ref().map(|site| format!(", before {}", access(site))).unwrap_or_default();
    let words = format!(
        "insert it after {}{before} (confidence {}, {} trials)",
        access(&missing.access),
        missing.confidence,
        missing.trials
    );
    let source = missing
        .source
        .as_ref()
        .and_then(|source| Some((SourceText::find(&source.file, source.line, &target.app)?, source.line)));
    let Some((source, line)) = source else { return format!("{title}\n  {words}\n") };
    // `find` has seen to it that the line is there.
    let Some((start, end)) = source.line_span(line) else { return format!("{title}\n  {words}\n") };
    let first = start + source.indentation(line).len();
    let path = source.path.display().to_string();
    let inserted = format!("\n{}{fence};", source.indentation(line));
    let finding = Level::ERROR.primary_title(&title).element(
        Snippet::source(&source.text)
            .path(&path)
            .annotation(AnnotationKind::Primary.span(first..end).label("visible to other threads too late")),
    );
    let cure: Group<'_> = Level::HELP
        .secondary_title(&words)
        .element(Snippet::source(&source.text).path(&path).patch(Patch::new(end..end, &inserted)));
    Renderer::plain().render(&[finding, cure]) + "\n"
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
