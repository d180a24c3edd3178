//! All launches of a run, kernel by kernel, in the order in which kernels were first launched.

use std::collections::BTreeMap;

use bugaroo_barriers::emulate::{KernelText, Refusal, RefusalKind};
use bugaroo_barriers::findings::KernelFindings;
use tokio::sync::mpsc;

use super::collected::Collected;
use super::common::{Common, One, parted};
use super::settle::Kernel;
use super::told::{Blocks, LeftOut, Row, Told, VerifyWanted};
use crate::error::Error;
use crate::interrupt::Interrupt;

/// Bytes of the verifier's stack.
const STACK: usize = 256 << 20;

/// All that was said of a run's launches.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// Verdicts, kernel by kernel.
    pub rows: Vec<Row>,
    /// Launches of which nothing is said.
    pub left_out: Vec<LeftOut>,
    /// The user stopped it: of other launches, nothing is said either.
    pub interrupted: bool,
}

/// Verifies launches, on a thread of its own, until it is done or the user wants to stop. The thread goes on then, and ends with the
/// process.
///
/// # Errors
/// When the system refuses a thread.
pub async fn verify(
    collected: Collected,
    wanted: VerifyWanted,
    mut interrupt: Interrupt,
) -> Result<Verified, Error> {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    // Texts are read, and graphs are walked, by recursion.
    let thread = std::thread::Builder::new().name("verify".to_owned()).stack_size(STACK);
    let work = move || {
        // Nobody listens after an interruption.
        all(&collected, &wanted, &mut |told| drop(sender.send(told)));
    };
    let refused = |source| Error::Process { what: "the verifier".to_owned(), source };
    let thread = thread.spawn(work).map_err(refused)?;
    let mut verified = Verified::default();
    loop {
        let told = tokio::select! {
            told = receiver.recv() => told,
            () = interrupt.wait() => {
                verified.interrupted = true;
                return Ok(verified);
            }
        };
        match told {
            Some(Told::Row(row)) => verified.rows.push(*row),
            Some(Told::LeftOut(left_out)) => verified.left_out.push(left_out),
            None => break,
        }
    }
    // It has nothing more to say, so it has ended, or is about to.
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(verified)
}

/// Verifies all launches, one after the other.
pub(super) fn all(collected: &Collected, wanted: &VerifyWanted, tell: &mut dyn FnMut(Told)) {
    let is_wanted = |kernel: &str| {
        wanted.kernels.as_ref().is_none_or(|kernels| kernels.iter().any(|wanted| wanted == kernel))
    };
    let mut launches: Vec<One<'_>> = collected
        .launches
        .iter()
        .map(|(launch, seen)| (launch, *seen))
        .filter(|(launch, _)| is_wanted(&launch.kernel))
        .collect();
    launches.sort_by_key(|(_, seen)| seen.first);
    let mut texts: BTreeMap<&str, Result<KernelText, Refusal>> = BTreeMap::new();
    for launches in parted(&launches, |launch| (launch.module.as_str(), launch.kernel.as_str())) {
        let Some((first, _)) = launches.first().copied() else { continue };
        let text = texts.entry(first.module.as_str()).or_insert_with(|| text(collected, &first.module));
        match text {
            Ok(text) => {
                let mut kernel = Kernel {
                    text,
                    collected,
                    wanted,
                    left: wanted.most,
                    work: 0,
                    tell: &mut *tell,
                    left_out: None,
                };
                let shapes =
                    parted(&launches, |launch| (launch.block, launch.cluster, launch.dynamic_shared));
                shapes.iter().for_each(|launches| kernel.settle(launches));
                if let Some(left_out) = kernel.left_out {
                    tell(Told::LeftOut(left_out));
                }
            }
            Err(refusal) => {
                let findings = KernelFindings::not_verifiable(&first.kernel, refusal);
                if let Some(common) = Common::of(&launches) {
                    let row = Row::new(&common, &launches, Blocks::Some(Vec::new()), findings);
                    tell(Told::Row(Box::new(row)));
                }
            }
        }
    }
    for (kernel, launches) in &collected.more {
        if is_wanted(kernel) {
            tell(Told::LeftOut(LeftOut { kernel: kernel.clone(), launches: *launches, forms: *launches }));
        }
    }
}

/// A module's text, ready to be looked at.
fn text(collected: &Collected, module: &str) -> Result<KernelText, Refusal> {
    match collected.texts.get(module) {
        Some(text) => KernelText::new(text),
        None => {
            let message = "the text of its module was lost on the way from the program".to_owned();
            Err(Refusal::new(RefusalKind::NotVerifiable, message))
        }
    }
}
