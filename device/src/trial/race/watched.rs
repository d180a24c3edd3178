//! The settings of HiRace and ScoRD: from names, as the user writes them, to what a launch's detectors look at.

use std::collections::BTreeSet;
use std::ops::Range;

use bugaroo_detectors::watched::{Numbers, Watched};
use bugaroo_detectors::{hirace, scord};
use bugaroo_protocol::{DelayedSpace, Named, NumberSpan, RaceSettings, ScordLayout, WatchSettings};
use bugaroo_simulator::Program;
use regex::Regex;

use crate::names::demangled;

/// How HiRace looks.
pub fn of_hirace(settings: &RaceSettings) -> hirace::HiraceOptions {
    let fields = settings.hirace;
    hirace::HiraceOptions {
        widths: hirace::Widths {
            block_clock: fields.block_clock,
            warp_clock: fields.warp_clock,
            site: fields.site,
        },
        most_bytes: settings.limits.shadow.unwrap_or(hirace::MOST_BYTES),
        most_races: settings.limits.races,
    }
}

/// How ScoRD looks; None where its word cannot be laid out so, which the harness refuses.
pub fn of_scord(settings: &RaceSettings) -> Option<scord::ScordOptions> {
    let layout = match settings.scord.layout {
        ScordLayout::Fit => scord::LayoutChoice::Fit,
        ScordLayout::Paper => scord::LayoutChoice::Paper,
        ScordLayout::Given(fields) => {
            let with = |wrote: u32| {
                scord::layout::EntryLayout::new(scord::layout::Widths {
                    tag: fields.tag,
                    block: fields.block,
                    warp: fields.warp,
                    thread: fields.thread,
                    epoch: fields.epoch,
                    dev_fence: fields.dev_fence,
                    blk_fence: fields.blk_fence,
                    barrier: fields.barrier,
                    bloom: fields.bloom,
                    site: fields.site,
                    wrote,
                })
            };
            // Bits that are left keep the instruction of the last write.
            scord::LayoutChoice::Given(with(fields.site).or_else(|| with(0))?)
        }
    };
    Some(scord::ScordOptions {
        layout,
        cache: settings.scord.cache,
        independent_threads: settings.scord.independent_threads,
        most_bytes: settings.limits.shadow,
        most_races: settings.limits.races,
    })
}

/// Finds what a launch's detectors look at.
#[derive(Debug)]
pub struct Watching {
    wanted: WatchSettings,
    kernels: Vec<Regex>,
    /// What nothing was found for up to now.
    unmet: BTreeSet<Named>,
    /// What something was found for, and nobody was told.
    met: Vec<Named>,
}

impl Watching {
    /// By these settings; None where they leave nothing out.
    ///
    /// # Errors
    /// When a regular expression is none.
    pub fn new(wanted: &WatchSettings) -> Result<Option<Watching>, regex::Error> {
        if *wanted == WatchSettings::default() {
            return Ok(None);
        }
        let kernels = wanted.kernels.iter().map(|pattern| Regex::new(pattern)).collect::<Result<_, _>>()?;
        let unmet = wanted.named().collect();
        Ok(Some(Watching { wanted: wanted.clone(), kernels, unmet, met: Vec::new() }))
    }

    /// What of a launch of this kernel is looked at. `seed`: the trial's, which chooses blocks.
    pub fn of_launch(&mut self, program: &Program, kernel: &str, seed: u64) -> Watched {
        let name = demangled(kernel);
        let (mut chosen, mut met) = (self.kernels.is_empty(), Vec::new());
        for (regex, pattern) in self.kernels.iter().zip(&self.wanted.kernels) {
            if regex.is_match(kernel) || regex.is_match(&name) {
                chosen = true;
                met.push(Named::Kernels(pattern.clone()));
            }
        }
        self.meet(met);
        if !chosen {
            return Watched::nothing();
        }
        let (global, shared) = self.places(program, kernel);
        let wanted = &self.wanted;
        let some = |spans: &[NumberSpan]| match spans {
            [] => Numbers::all(),
            _ => Numbers::of(spans.iter().map(|span| span.0.clone())),
        };
        let wanted_space = |space: DelayedSpace, numbers: Numbers| match wanted.space {
            DelayedSpace::Both => numbers,
            one if one == space => numbers,
            _ => Numbers::of([]),
        };
        Watched {
            global: wanted_space(DelayedSpace::Global, global),
            shared: wanted_space(DelayedSpace::Shared, shared),
            blocks: some(&wanted.blocks),
            warps: some(&wanted.warps),
            one_block_in: wanted.one_block_in.map(|count| (count, seed)),
        }
    }

    /// The bytes that are named: of global memory, and of a block's shared memory.
    fn places(&mut self, program: &Program, kernel: &str) -> (Numbers, Numbers) {
        let WatchSettings { variables, addresses, shared_addresses, .. } = &self.wanted;
        if variables.is_empty() && addresses.is_empty() && shared_addresses.is_empty() {
            return (Numbers::all(), Numbers::all());
        }
        let of =
            |spans: &[NumberSpan]| -> Vec<Range<u64>> { spans.iter().map(|span| span.0.clone()).collect() };
        let (mut global, mut shared) = (of(addresses), of(shared_addresses));
        let mut met = Vec::new();
        for wanted in variables {
            let mut found = false;
            for (name, (address, bytes)) in program.variables() {
                if is_called(name, wanted) {
                    global.push(address..address.saturating_add(bytes));
                    found = true;
                }
            }
            for variable in program.kernel(kernel).into_iter().flat_map(|kernel| &kernel.shared_variables) {
                if is_called(&variable.name, wanted) {
                    let offset = u64::from(variable.offset);
                    shared.push(offset..offset + u64::from(variable.size));
                    found = true;
                }
            }
            if found {
                met.push(Named::Variable(wanted.clone()));
            }
        }
        self.meet(met);
        (Numbers::of(global), Numbers::of(shared))
    }

    /// Something was found for these.
    fn meet(&mut self, names: Vec<Named>) {
        self.met.extend(names.into_iter().filter(|name| self.unmet.remove(name)));
    }

    /// What something was found for since the last call.
    pub fn take_met(&mut self) -> Vec<Named> {
        std::mem::take(&mut self.met)
    }
}

/// Whether a variable of the PTX is meant: by its name there, by that in C++, or by the last part of that.
fn is_called(name: &str, wanted: &str) -> bool {
    let full = demangled(name);
    name == wanted || full == wanted || full.rsplit("::").next() == Some(wanted)
}

#[cfg(test)]
mod tests {
    use super::is_called;

    #[test]
    fn variables_are_known_by_any_of_their_names() {
        for wanted in ["_ZZ3sumPfE4tile", "sum(float*)::tile", "tile"] {
            assert!(is_called("_ZZ3sumPfE4tile", wanted), "{wanted}");
        }
        assert!(is_called("table", "table") && is_called("_ZN2ns5tableE", "table"));
        assert!(!is_called("_ZZ3sumPfE4tile", "til") && !is_called("_ZN2ns5tableE", "ns"));
    }
}
