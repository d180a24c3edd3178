//! The engine's events of a module that logs, less what the injected code does: those of the program's own instructions.

use std::collections::BTreeMap;

use bugaroo_injector::logging::Logged;
use bugaroo_semantics::event::{Access, Event, Lanes, SiteNumber};
use bugaroo_semantics::{Observer, Wants};
use bugaroo_simulator::Program;

use super::words;

/// By the line and text of an instruction.
pub type Places = BTreeMap<(u32, String), SiteNumber>;

/// What the program's own instructions are known by, for each instruction of the module that logs; None: it is injected.
pub fn own_sites(
    source: &str,
    original: &Program,
    logged: &Logged,
    program: &Program,
) -> Vec<Option<SiteNumber>> {
    let (found, places) = sites_of_lines(source, original, logged, program);
    for (named, pc) in &places {
        assert!(found.contains(&Some(*pc)), "{named:?} is nowhere in the module that logs");
    }
    found
}

/// The same of the instructions that stand in one line; and all places.
pub fn sites_of_lines(
    source: &str,
    original: &Program,
    logged: &Logged,
    program: &Program,
) -> (Vec<Option<SiteNumber>>, Places) {
    let count = |program: &Program| program.spans().len() as u32;
    // Of several that are alike, the first.
    let named = |pc: u32| {
        let place = original.place(pc);
        ((place.ptx_line, words(&place.instruction)), pc)
    };
    let places: Places = (0..count(original)).rev().map(named).collect();
    let text: Vec<String> = source.lines().map(words).collect();
    let site = |pc: u32| {
        let place = program.place(pc);
        let line = logged.lines.original(place.ptx_line)?;
        let instruction = words(&place.instruction);
        let ours = place.function.starts_with("__bugaroo_") || instruction.contains("bugaroo_");
        let stood = !ours && text.get(line as usize - 1)?.contains(&instruction);
        places.get(&(line, instruction)).copied().filter(|_| stood)
    };
    ((0..count(program)).map(site).collect(), places)
}

/// Hands on to an observer what the program's own instructions do.
pub struct Own<O> {
    pub inner: O,
    sites: Vec<Option<SiteNumber>>,
    /// Whether the instruction parts lanes that are together: a branch.
    branches: Vec<bool>,
    /// In lockstep, by warp slot: which lanes are together but for branches that are not the program's; none: all.
    parts: BTreeMap<u32, Vec<u32>>,
    lockstep: bool,
    warps_per_cta: u32,
}

impl<O: Observer> Own<O> {
    /// `sites` as [`own_sites`] has them.
    pub fn new(inner: O, sites: Vec<Option<SiteNumber>>, program: &Program) -> Own<O> {
        let branch = |pc: u32| program.place(pc).instruction.contains("bra");
        let branches = (0..sites.len() as u32).map(branch).collect();
        Own { inner, sites, branches, parts: BTreeMap::new(), lockstep: false, warps_per_cta: 1 }
    }

    fn of(&self, site: SiteNumber) -> Option<SiteNumber> {
        self.sites[site as usize]
    }

    /// Takes these lanes out of the parts of their warp.
    fn take(&mut self, by: &Lanes) {
        let parts = self.parts.entry(by.warp).or_insert_with(|| vec![u32::MAX]);
        parts.iter_mut().for_each(|part| *part &= !by.mask);
    }
}

impl<O: Observer> Observer for Own<O> {
    fn wants(&self) -> Wants {
        self.inner.wants()
    }

    fn access(&mut self, access: &Access<'_>) {
        if let Some(site) = self.of(access.site) {
            self.inner.access(&Access { site, ..*access });
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        let event = match *event {
            Event::GridBegin { lockstep, shape, .. } => {
                (self.lockstep, self.warps_per_cta) = (lockstep, shape.warps_per_cta);
                Some(*event)
            }
            Event::BlockBegin { cta, .. } => {
                let per_cta = self.warps_per_cta;
                self.parts.retain(|warp, _| warp / per_cta != cta);
                Some(*event)
            }
            Event::Fence { by, site, fence } => self.of(site).map(|site| Event::Fence { by, site, fence }),
            Event::ProxyFence { by, site } => self.of(site).map(|site| Event::ProxyFence { by, site }),
            Event::Arrive { by, site, barrier, waits } => {
                self.of(site).map(|site| Event::Arrive { by, site, barrier, waits })
            }
            Event::WarpBarrier { by, site } => self.of(site).map(|site| Event::WarpBarrier { by, site }),
            Event::Split { by, site, taken, first } => {
                let branch = self.branches[site as usize];
                // Lanes may part at a wait.
                let own = self.of(site).or((!branch).then_some(site));
                if self.lockstep && own.is_some() {
                    self.take(&by);
                    self.parts.entry(by.warp).or_default().extend([taken, by.mask & !taken]);
                }
                own.map(|site| Event::Split { by, site, taken, first })
            }
            Event::Else(_) => None,
            Event::Join(by) => {
                // Those that only code that is not the program's has parted have never been apart.
                let parts = self.parts.get(&by.warp);
                let apart = parts.is_some_and(|parts| !parts.iter().any(|part| part & by.mask == by.mask));
                if apart {
                    self.take(&by);
                    self.parts.entry(by.warp).or_default().push(by.mask);
                }
                apart.then_some(*event)
            }
            _ => Some(*event),
        };
        if let Some(event) = event {
            self.inner.event(&event);
        }
    }
}
