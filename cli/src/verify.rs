//! `bugaroo verify`. What is known of a kernel is printed for people when it is known: whoever stops a long run (Ctrl-C) has the verdicts so far.

mod app;
mod globals;
mod human;
mod kernels;
mod kind;
mod progress;

use std::fs;
use std::io;
use std::path::Path;

use anyhow::Context;
use bugaroo_barriers::emulate::{DEFAULT_MAX_STEPS, KernelOptions, KernelText, Refusal, RefusalKind};
use bugaroo_barriers::findings::{KernelFindings, verify as verify_kernel};
use bugaroo_barriers::graph::BarrierGraph;
use bugaroo_harness::names::demangled;
use serde::Serialize;

use kernels::LISTED;
use kind::Kind;
pub use kind::is_program;
use progress::Progress;

use crate::args::{Format, VerifyArgs};
use crate::exit::{Exit, UnsupportedError, UsageError};
use crate::input;
use crate::output::{print, print_json};

/// What is written as JSON: the fields of the first kernel (the only one, where one is named), and all kernels.
#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    file: String,
    #[serde(flatten)]
    first: &'a Kernel,
    kernels: &'a [Kernel],
}

/// A kernel in JSON.
#[derive(Serialize)]
struct Kernel {
    #[serde(flatten)]
    findings: KernelFindings,
    /// Its name in C++.
    demangled: String,
}

/// Verifies the kernels of a PTX file, or of a program.
pub fn verify(args: &VerifyArgs) -> anyhow::Result<Exit> {
    match kind::kind(&args.file)? {
        Kind::Ptx => verify_file(args),
        Kind::Program => app::verify(args),
    }
}

/// Verifies the kernels of a PTX file.
fn verify_file(args: &VerifyArgs) -> anyhow::Result<Exit> {
    let given = [
        ("--launches", args.launches.is_some()),
        ("--timeout", args.timeout.is_some()),
        ("--", !args.args.is_empty()),
    ];
    if let Some((what, _)) = given.iter().find(|(_, given)| *given) {
        return Err(UsageError(format!("{what} is for programs, and {} is none", args.file.display())).into());
    }
    let name = args.file.display().to_string();
    let ptx = read(&args.file).map_err(|error| UsageError(format!("{name}: {error}")))?;
    let refused = |refusal: Refusal| -> anyhow::Error {
        let message = format!("{name}: {refusal}");
        match refusal.kind {
            RefusalKind::Usage => UsageError(message).into(),
            _ => UnsupportedError(message).into(),
        }
    };
    let mut text = KernelText::new(&ptx).map_err(refused)?;
    globals::give(&mut text, &args.global)?;
    let text = text;
    let mut kernels: Vec<&str> = text.kernels().collect();
    if let Some(given) = &args.kernel {
        kernels = kernels::named(&kernels, given).map_err(|error| UsageError(format!("{name}: {error}")))?;
    }
    let alone = kernels.len() == 1;
    // Others of them need not have every parameter.
    let of_several = args.kernel.is_none() || !alone;
    let options = options(args)?;
    for (name, _) in &options.params {
        if of_several && !kernels.iter().any(|kernel| text.has_parameter(kernel, name)) {
            return Err(UsageError(format!(
                "no kernel has a parameter `{name}`; name it as the PTX does, or by number from 0"
            ))
            .into());
        }
    }
    for (name, _) in &options.tensors {
        if !kernels.iter().any(|kernel| text.has_parameter(kernel, name)) {
            return Err(UsageError(format!(
                "--tensor {name}: no kernel has a parameter of this name; name it as the PTX does, or by number from 0"
            ))
            .into());
        }
    }
    if args.graph.is_some() && kernels.len() != 1 {
        return Err(UsageError("--graph wants one kernel: name it with --kernel".to_owned()).into());
    }
    if options.param_bytes.is_some() && !alone {
        let message = "--params with bytes wants one kernel: name it with --kernel";
        return Err(UsageError(message.to_owned()).into());
    }
    let mut all = Vec::new();
    let mut progress = Progress::new(kernels.len());
    for kernel in kernels {
        progress.begins(&demangled(kernel));
        let mut options = options.clone();
        if of_several {
            options.params.retain(|(name, _)| text.has_parameter(kernel, name));
        }
        let found = verify_kernel(&text, kernel, &options);
        progress.ends();
        let found = match found {
            Ok(found) => found,
            // Others of the file can be verified, and this one by its name.
            Err(refusal) if alone => return Err(refused(refusal)),
            Err(refusal) => {
                let findings = KernelFindings::not_verifiable(kernel, &refusal);
                tell(args, &findings)?;
                all.push(findings);
                continue;
            }
        };
        if let (Some(path), Some(emulation)) = (&args.graph, &found.emulation) {
            let graph = BarrierGraph::new(&emulation.program);
            let dot = path.extension().is_some_and(|extension| extension == "dot" || extension == "gv");
            let line = |origin| text.place(origin).to_string();
            let picture = if dot { graph.dot() } else { graph.svg_with(&line) };
            fs::write(path, picture).with_context(|| path.display().to_string())?;
        }
        tell(args, &found.findings)?;
        all.push(found.findings);
    }
    let exit = exit(&all, args.error_exitcode);
    if matches!(args.format, Format::Json) {
        let kernel = |mut findings: KernelFindings| {
            if !args.all {
                findings.shorten(LISTED);
            }
            Kernel { demangled: demangled(&findings.kernel), findings }
        };
        let kernels: Vec<Kernel> = all.into_iter().map(kernel).collect();
        print_json(&Json { schema: 1, file: name, first: &kernels[0], kernels: &kernels })?;
    }
    Ok(exit)
}

/// Prints what is known of a kernel, for people.
fn tell(args: &VerifyArgs, findings: &KernelFindings) -> anyhow::Result<()> {
    match args.format {
        Format::Json => Ok(()),
        Format::Human => print(&human::describe(findings, &args.file)),
    }
}

/// Findings first, then what is open.
fn exit(all: &[KernelFindings], code: u8) -> Exit {
    if all.iter().any(|findings| !findings.is_clean() && !findings.is_open()) {
        Exit::Findings(code)
    } else if all.iter().any(KernelFindings::is_open) {
        Exit::Unsupported
    } else {
        Exit::Clean
    }
}

fn options(args: &VerifyArgs) -> Result<KernelOptions, UsageError> {
    let mut params = Vec::new();
    let mut param_bytes = None;
    if let Some(path) = &args.params {
        let name = path.display();
        let bytes = fs::read(path).map_err(|error| UsageError(format!("--params {name}: {error}")))?;
        if path.extension().is_some_and(|extension| extension == "txt") {
            let text = String::from_utf8(bytes)
                .map_err(|_| UsageError(format!("--params {name}: a file .txt that is no text")))?;
            for (number, line) in text.lines().enumerate() {
                let line = line.split('#').next().unwrap_or("").trim();
                if !line.is_empty() {
                    params.push(param(line, &format!("--params {name}, line {}", number + 1))?);
                }
            }
        } else {
            param_bytes = Some(bytes);
        }
    }
    for given in &args.param {
        params.push(param(given, &format!("--param {given}"))?);
    }
    let mut tensors = Vec::new();
    for given in &args.tensor {
        let parsed =
            given.split_once('=').and_then(|(name, bytes)| Some((name.trim(), bytes.trim().parse().ok()?)));
        let Some((name, bytes)) = parsed else {
            return Err(UsageError(format!("--tensor {given}: a tensor map is given as NAME=BYTES")));
        };
        tensors.push((name.to_owned(), bytes));
    }
    let extent = |list: &[u32], rest: u32| -> Option<[u32; 3]> {
        let (first, others) = list.split_first()?;
        let of = |d: usize| others.get(d).copied().unwrap_or(rest);
        Some([*first, of(0), of(1)])
    };
    let lists = [("--block", &args.block), ("--cta", &args.cta), ("--grid", &args.grid)];
    for (option, list) in lists.into_iter().chain([("--cluster", &args.cluster)]) {
        if list.len() > 3 {
            return Err(UsageError(format!("{option} has up to three extents: X[,Y,Z]")));
        }
    }
    Ok(KernelOptions {
        block: extent(&args.block, 1),
        cta: extent(&args.cta, 0).unwrap_or_default(),
        any_cta: false,
        whole_grid: false,
        grid: extent(&args.grid, 1),
        cluster: extent(&args.cluster, 1),
        params,
        param_bytes,
        open_bytes: Vec::new(),
        tensors,
        dynamic_shared: args.shared,
        warp_synchronous: args.warp_synchronous,
        max_steps: args.max_steps.unwrap_or(DEFAULT_MAX_STEPS),
        max_work: u64::MAX,
    })
}

/// `NAME=VALUE`; `what` says where it stands.
fn param(given: &str, what: &str) -> Result<(String, String), UsageError> {
    match given.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => Err(UsageError(format!("{what}: a parameter is given as NAME=VALUE"))),
    }
}

fn read(path: &Path) -> io::Result<String> {
    String::from_utf8(input::read(path)?).map_err(|error| {
        let line =
            error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        io::Error::other(format!("line {}: not PTX: bytes that are no text", line + 1))
    })
}
