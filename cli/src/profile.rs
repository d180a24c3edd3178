//! `bugaroo profile`.

use std::fmt::Write;

use bugaroo_harness::{
    Finding, Findings, Interrupt, KernelProfile, Profile, Session, Settings, Variation, block_on, progress,
};
use bugaroo_protocol::{Backend, DelayedSpace, Model};
use serde::Serialize;

use crate::args::{Format, ProfileArgs};
use crate::exit::Exit;
use crate::output::{note, print, print_json, table, thousands};
use crate::{findings, histogram, libraries, run, setup};

/// Counts what a program executes, and measures flush lengths.
pub fn profile(args: &ProfileArgs) -> anyhow::Result<Exit> {
    // Nothing is compared with another run here, so that no digest is needed.
    let settings = Settings { digest: false, schedules: false, ..setup::settings(&args.trial)? };
    let variation = args.trial.variation(args.pw)?;
    let target = setup::target(&args.program)?;
    let (seed, backend) = (settings.seed, settings.backend);
    let library = libraries::find()?;
    let settings = Settings { input: setup::input()?, ..settings };
    let reporter = progress::for_standard_error();
    let (profile, findings) = block_on(async {
        let interrupt = Interrupt::on_signals()?;
        let session = Session::start(target.clone(), settings, library, interrupt, reporter.as_ref()).await?;
        let baseline = session.baseline();
        let findings = Findings::without_injection(&baseline.incidents, baseline.runs);
        let profile = Profile::of(&session, &variation, args.trials, reporter.as_ref()).await?;
        anyhow::Ok((profile, findings))
    })??;
    drop(reporter);
    for warning in &profile.warnings {
        note(format_args!("warning: {warning}"));
    }
    match args.format {
        Format::Human => print(
            &(findings::describe(&findings, &target, None) + &human(&profile, &variation, seed, args.trials)),
        )?,
        Format::Json => print_json(&Json {
            schema: 1,
            app: target.app.to_str().unwrap_or_default(),
            args: &target.args,
            seed,
            model: variation.model,
            backend,
            pw: variation.pw,
            buffer: variation.buffer,
            space: variation.space,
            findings: &findings.all,
            profile: &profile,
        })?,
    }
    Ok(if profile.interrupted { Exit::Interrupted } else { Exit::Clean })
}

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    app: &'a str,
    args: &'a [String],
    seed: u64,
    model: Model,
    backend: Backend,
    pw: f64,
    buffer: u32,
    space: DelayedSpace,
    /// Errors of launches without injection, each once.
    findings: &'a [Finding],
    #[serde(flatten)]
    profile: &'a Profile,
}

fn human(profile: &Profile, variation: &Variation, seed: u64, trials: u64) -> String {
    if profile.kernels.is_empty() {
        // A warning has said so.
        return String::new();
    }
    let mut text = format!("seed {seed}; counts of one run without injection\n");
    let header = [
        "kernel",
        "launches",
        "instructions",
        "fences (static)",
        "barriers",
        "shared stores",
        "global stores",
    ];
    let right: Vec<usize> = (1..header.len()).collect();
    text += &table(&header, &right, profile.kernels.iter().chain([&profile.total]).map(row));
    // Writing to a string cannot fail.
    if profile.interrupted {
        let _ = writeln!(text, "\ninterrupted after {} of {trials} trials", profile.trials);
    }
    let total = &profile.total;
    if profile.trials > 0 && total.delayed_stores > 0 {
        let _ = writeln!(
            text,
            "\n{} under injection: model {}, p_w {}, buffers of {} entries; {} stores delayed",
            if profile.trials == 1 { "1 trial".to_owned() } else { format!("{} trials", profile.trials) },
            run::model(variation.model),
            variation.pw,
            variation.buffer,
            thousands(total.delayed_stores),
        );
        let lengths = &total.flush_lengths;
        for (space, lengths) in [("global", &lengths.global), ("shared", &lengths.shared)] {
            let _ = write!(text, "\n{}", histogram::section(space, lengths));
        }
    }
    text
}

fn row(kernel: &KernelProfile) -> Vec<String> {
    vec![
        kernel.name.clone(),
        thousands(kernel.launches),
        thousands(kernel.dynamic_instructions),
        format!("{} ({})", thousands(kernel.fences), kernel.static_fences),
        thousands(kernel.barriers),
        thousands(kernel.shared_stores),
        thousands(kernel.global_stores),
    ]
}
