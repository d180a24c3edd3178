//! `bugaroo instrument`.

use std::fs;

use anyhow::Context;

use crate::args::InstrumentArgs;
use crate::exit::{Exit, UsageError};
use crate::input::read;
use crate::output::print;

/// Instruments a PTX file.
pub fn instrument(args: &InstrumentArgs) -> anyhow::Result<Exit> {
    let name = args.file.display();
    let source = read(&args.file).map_err(|error| UsageError(format!("{name}: {error}")))?;
    let source = String::from_utf8(source)
        .map_err(|_| UsageError(format!("{name}: stream did not contain valid UTF-8")))?;
    let instrumented =
        bugaroo_injector::instrument(&source).map_err(|error| UsageError(format!("{name}: {error}")))?;
    match &args.output {
        None => print(&instrumented.ptx)?,
        Some(path) => fs::write(path, &instrumented.ptx).with_context(|| path.display().to_string())?,
    }
    Ok(Exit::Clean)
}
