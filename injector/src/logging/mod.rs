//! Logging: the module with code that tells the host what its threads do.
//!
//! Source: BARRACUDA (Eizenberg et al., PLDI 2017), sections 4.1 and 4.2. The logger (`bugaroo-device-handlers`,
//! `logging.cu`) is merged into the module, and called at loads, stores and atomics of global, shared and generic memory,
//! fences, barriers, branches, the places where lanes meet again, and where threads begin and end. A guarded instruction
//! is told by the lanes alone for which its guard holds.
//!
//! Where it departs:
//! - The thread's number is no parameter that all functions hand on: the logger computes it, as special registers have it.
//! - A record names its place, and [`Log::places`] says what stands there ([`Told`]).
//! - Accesses that are told already are left out by [`prune`], which asks for more than the paper does.
//!
//! When an access is told, next to being done, is a choice ([`Loads`]): a store is told before it can be seen. A load on
//! hardware is told behind it, so that what it reads was told before; on a virtual GPU, which does not stop a
//! warp between the two, before it.
//!
//! What it can miss: an atomic is told before it is done, so that on hardware one that reads what another has written may be
//! told before that one; its success (`cas`) is told behind it.
//!
//! What it does not know how to tell, it names ([`Unknown`]): asynchronous copies, mbarriers, clusters, matrices, accesses that the
//! injector does not take apart, calls out of the module. Kernels that reach it are not looked at ([`Blind`]); the others are.

mod blind;
mod calls;
mod emit;
mod error;
mod log;
mod looks;
pub mod passes;
mod places;
pub mod prune;
mod told;

pub use blind::Blind;
pub use error::{LoggingError, Unknown};
pub use log::{Loads, Log, LogOptions, LogPoint};
pub(crate) use looks::Looks;
pub use told::{Told, Waited};

use std::collections::BTreeMap;

use bugaroo_ptx::ast::{Module, Span};
use bugaroo_ptx::edit::{Edited, LineMap};

use crate::collect_sites::InjectionPoint;
use crate::error::{InstrumentError, check};
use crate::kits::{Pass, apply};
use passes::PASSES;

/// A record's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// What is told.
    pub told: Told,
    /// The instruction in the original text.
    pub span: Span,
    /// Its line there, from 1.
    pub line: u32,
    /// It has a guard: more lanes may be there than the record is about.
    pub guarded: bool,
}

/// A module that logs.
#[derive(Clone, Debug)]
pub struct Logged {
    /// The text.
    pub ptx: String,
    /// What is told, by the number that records have.
    pub places: Vec<Option<RecordPlace>>,
    /// Accesses that are not told, because they are told already.
    pub pruned: Vec<Span>,
    /// Which line of the original each line of the text stems from.
    pub lines: LineMap,
    /// Kernels that are not looked at.
    pub blind: Vec<Blind>,
    /// See [`Log::waited`].
    pub waited: BTreeMap<String, Waited>,
    /// See [`Log::reached`].
    reached: BTreeMap<String, Vec<usize>>,
    /// By point, which has two places: its function.
    functions: Vec<usize>,
}

impl Logged {
    /// The places that threads of a kernel may come to, each at its number. All of them where the module has no such kernel.
    pub fn places_of(&self, kernel: &str) -> Vec<Option<RecordPlace>> {
        let Some(reached) = self.reached.get(kernel) else { return self.places.clone() };
        let is_reached =
            |at: usize| self.functions.get(at / 2).is_some_and(|function| reached.contains(function));
        self.places.iter().enumerate().map(|(at, place)| place.filter(|_| is_reached(at))).collect()
    }

    /// The same, where all kernels are looked at.
    ///
    /// # Errors
    /// [`LoggingError::Unsupported`].
    pub fn whole(self) -> Result<Logged, LoggingError> {
        match self.blind.into_iter().next() {
            None => Ok(Logged { blind: Vec::new(), ..self }),
            Some(blind) => Err(blind.why.into()),
        }
    }
}

/// Makes a module that logs.
///
/// # Errors
/// As [`crate::instrument`]; and where the module is for a device that is too old.
pub fn log(source: &str, options: LogOptions) -> Result<Logged, LoggingError> {
    log_with(source, options, &PASSES).map(|(logged, _)| logged)
}

/// Does some of the passes: the first few of [`PASSES`].
///
/// # Errors
/// As [`log`].
pub fn log_with(
    source: &str,
    options: LogOptions,
    passes: &[Pass<Log>],
) -> Result<(Logged, Log), LoggingError> {
    let module = bugaroo_ptx::parse(source).map_err(InstrumentError::from)?;
    check(&module)?;
    let mut log = LOGGING.look(&module, options)?;
    if options.prune {
        prune::prune(&module, &mut log);
    }
    let edited = apply((&module, source), &log, passes)?;
    Ok((logged(edited, &log), log))
}

/// What came of the passes.
pub(crate) fn logged(edited: Edited, log: &Log) -> Logged {
    let at = |(index, point): (usize, &LogPoint)| {
        let InjectionPoint { span, guard, .. } = &log.sites.points[index];
        let (span, guarded) = (*span, guard.is_some());
        let place =
            |told: Option<Told>| told.map(|told| RecordPlace { told, span, line: point.line, guarded });
        let told = |told| place(told).filter(|_| !point.pruned);
        [told(point.before), told(point.behind)]
    };
    let places = log.points.iter().enumerate().flat_map(at).collect();
    let pruned = log.points.iter().zip(&log.sites.points).filter(|(point, _)| point.pruned);
    let pruned = pruned.map(|(_, point)| point.span).collect();
    Logged {
        ptx: edited.text,
        places,
        pruned,
        lines: edited.lines,
        blind: log.blind.clone(),
        waited: log.waited.clone(),
        reached: log.reached.clone(),
        functions: log.sites.points.iter().map(|point| point.function).collect(),
    }
}

/// The log.
const LOGGING: Looks = Looks { name: "logging", harmless: &["vprintf", "__assertfail", "malloc", "free"] };

impl Looks {
    /// What there is to look at in a module.
    pub(crate) fn look(&self, module: &Module, options: LogOptions) -> Result<Log, LoggingError> {
        check_age(module).map_err(|target| LoggingError::TooOld { by: self.name, target })?;
        Ok(places::collect(module, options, self))
    }
}

/// Refuses targets that lack what device code uses.
fn check_age(module: &Module) -> Result<(), String> {
    let target = module.targets.first().cloned().unwrap_or_default();
    let digits: String = target.trim_start_matches("sm_").chars().take_while(char::is_ascii_digit).collect();
    let new = digits.parse::<u32>().is_ok_and(|sm| sm >= 70) && module.version >= (6, 3);
    if new {
        return Ok(());
    }
    Err(format!("{target}, PTX {}.{}", module.version.0, module.version.1))
}
