//! What a search found, in the shape of `bugaroo bisect --format json` (schema 1).

use bugaroo_protocol::{Model, Site, SiteId, SourceLine};
use serde::Serialize;

/// The answer of a search.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Fences that the program lacks.
    pub missing: Vec<Missing>,
    /// Fences that the program has and could do without, under the model used.
    pub redundant: Vec<Redundant>,
    /// The questions that were asked, in order.
    pub steps: Vec<Step>,
    /// Trials of the program with the missing fences inserted.
    pub verified: Verified,
    /// Why failures are left that no inserted fence cures; None when there are none.
    pub unresolved: Option<String>,
    /// What the model used cannot show, said in words.
    pub caveats: Vec<String>,
}

/// A fence that is missing right after an access.
#[derive(Clone, Debug, Serialize)]
pub struct Missing {
    /// `shared`, `global` or `both`: whose delayed stores show the failure.
    pub space: String,
    /// The kernel whose delayed stores show it; None when it takes several.
    pub kernel: Option<String>,
    /// The access that the fence goes after.
    pub site: SiteId,
    /// Its line in the PTX.
    pub ptx_line: u32,
    /// Its line in the CUDA source.
    pub source: Option<SourceLine>,
    /// Scope that the fence needs: `gpu` for `__threadfence()`, `cta` for `__threadfence_block()`.
    pub scope: String,
    /// Confidence of the answer, 0 to 1.
    pub confidence: f64,
    /// Trials that the search for this fence took.
    pub trials: u64,
    /// The access, in full.
    pub access: Site,
    /// The next access in the text, which the fence goes before.
    pub before: Option<Site>,
}

impl Missing {
    /// The CUDA call to insert.
    pub fn fence(&self) -> &'static str {
        if self.scope == "cta" { "__threadfence_block()" } else { "__threadfence()" }
    }
}

/// A fence whose absence showed no failure.
#[derive(Clone, Debug, Serialize)]
pub struct Redundant {
    /// The fence.
    pub site: SiteId,
    /// Its line in the PTX.
    pub ptx_line: u32,
    /// Its line in the CUDA source.
    pub source: Option<SourceLine>,
    /// The model under which it is redundant.
    pub model: Model,
    /// Trials without it, none of which failed.
    pub trials: u64,
    /// The kernel or device function it stands in.
    pub function: String,
}

/// One question of the search.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// What was asked, in words.
    pub question: String,
    /// Trials it took.
    pub trials: u64,
    /// How many of them failed.
    pub failures: u64,
    /// What was concluded.
    pub answer: String,
}

/// Trials of the whole answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Trials run.
    pub trials: u64,
    /// How many of them failed.
    pub failures: u64,
}
