//! `bugaroo instrument`.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;

use crate::args::InstrumentArgs;
use crate::exit::{Exit, UsageError};
use crate::output::print;

/// Instruments a PTX file.
pub fn instrument(args: &InstrumentArgs) -> anyhow::Result<Exit> {
    let name = args.file.display();
    let source = read(&args.file).map_err(|error| UsageError(format!("{name}: {error}")))?;
    let instrumented =
        bugaroo_injector::instrument(&source).map_err(|error| UsageError(format!("{name}: {error}")))?;
    match &args.output {
        None => print(&instrumented.ptx)?,
        Some(path) => fs::write(path, &instrumented.ptx).with_context(|| path.display().to_string())?,
    }
    Ok(Exit::Clean)
}

fn read(path: &Path) -> io::Result<String> {
    if path != Path::new("-") {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok(text)
}
