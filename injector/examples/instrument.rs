//! Instruments a PTX file to standard output, after checking the result with the verifier.

use std::error::Error;

use bugaroo_injector::{instrument_with, passes::PASSES, verify};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: instrument FILE.ptx")?;
    let source = std::fs::read_to_string(path)?;
    let (instrumented, table) = instrument_with(&source, &PASSES)?;
    verify::verify(&bugaroo_ptx::parse(&source)?, &table, &PASSES, &instrumented.ptx)?;
    print!("{}", instrumented.ptx);
    Ok(())
}
