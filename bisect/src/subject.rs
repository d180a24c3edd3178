//! What is searched: the program, and the models that are asked about it.

use bugaroo_harness::Variation;
use bugaroo_protocol::{Model, Site};

use crate::places::{SitePlace, reachable};
use crate::syntax::FenceScope;

/// What is known of the program before the search.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its sites.
    pub sites: Vec<Site>,
    /// Where fences may be missing.
    pub places: Vec<SitePlace>,
    /// The kernels that it launches and that are searched, without repetition.
    pub kernels: Vec<String>,
    /// How thorough to be: `--trials`.
    pub trials: u64,
    /// How stores are delayed, and what the user limits the search to.
    pub whole: Variation,
    /// The models that are asked, in this order.
    pub models: Vec<Model>,
    /// The scope of fences that are tried: that of the system where threads of another device may have to see what was stored.
    pub wide: FenceScope,
    /// Whether model `ptx` runs where the trials do, so that it can be asked before scopes are advised.
    pub ptx_runs: bool,
}

impl Subject {
    /// Whether a site is in a kernel that is launched, or in a function that it may call.
    pub fn reaches(&self, site: &Site) -> bool {
        reachable(site, &self.kernels)
    }

    /// Whether there are several devices. Then nothing is said of fences that could go or be narrower: what another device has stored is
    /// never read late in a trial, so that trials do not show what fences behind a load are for.
    pub fn several_devices(&self) -> bool {
        self.wide == FenceScope::System
    }

    /// The same under one of its models.
    pub fn under(&self, model: Model) -> Subject {
        Subject { whole: under(&self.whole, model), ..self.clone() }
    }
}

/// A variation under another model.
pub fn under(variation: &Variation, model: Model) -> Variation {
    Variation { model, ..variation.clone() }
}

/// A model as it is written.
pub fn model_name(model: Model) -> &'static str {
    match model {
        Model::Bugaroo => "bugaroo",
        Model::StoreBuffer => "store-buffer",
        Model::Ptx => "ptx",
    }
}
