//! The engine's events of a module that logs, less what the injected code does: those of the program's own instructions.

use std::collections::BTreeMap;

use bugaroo_injector::logging::Logged;
use bugaroo_semantics::event::{Access, Event, Lanes, Site};
use bugaroo_semantics::{Observer, Wants};
use bugaroo_simulator::Program;

use super::words;

/// By the line and text of an instruction.
type Places = BTreeMap<(u32, String), Site>;

/// What the program's own instructions are known by, for each instruction of the module that logs; None: it is injected.
pub fn own_sites(source: &str, original: &Program, logged: &Logged, program: &Program) -> Vec<Option<Site>> {
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
    let found: Vec<Option<Site>> = (0..count(program)).map(site).collect();
    for (named, pc) in &places {
        assert!(found.contains(&Some(*pc)), "{named:?} is nowhere in the module that logs");
    }
    found
}

/// A split that is not over.
#[derive(Clone, Copy)]
struct Open {
    lanes: u32,
    own: bool,
}

/// Hands on to an observer what the program's own instructions do.
pub struct Own<O> {
    pub inner: O,
    sites: Vec<Option<Site>>,
    /// Whether the instruction parts lanes that are together: a branch.
    branches: Vec<bool>,
    /// In lockstep, by warp slot: splits, and lanes that have not ended.
    stacks: BTreeMap<u32, (Vec<Open>, u32)>,
    lockstep: bool,
    warps_per_cta: u32,
}

impl<O: Observer> Own<O> {
    /// `sites` as [`own_sites`] has them.
    pub fn new(inner: O, sites: Vec<Option<Site>>, program: &Program) -> Own<O> {
        let branch = |pc: u32| program.place(pc).instruction.contains("bra");
        let branches = (0..sites.len() as u32).map(branch).collect();
        Own { inner, sites, branches, stacks: BTreeMap::new(), lockstep: false, warps_per_cta: 1 }
    }

    fn of(&self, site: Site) -> Option<Site> {
        self.sites[site as usize]
    }

    fn stack(&mut self, by: &Lanes) -> &mut (Vec<Open>, u32) {
        self.stacks.entry(by.warp).or_insert_with(|| (Vec::new(), u32::MAX))
    }

    /// The split that the warp is in, when those are closed whose lanes have all ended: that is not told.
    fn top(&mut self, by: &Lanes) -> Option<Open> {
        let (open, alive) = self.stack(by);
        while open.last().is_some_and(|top| top.lanes & *alive == 0) {
            open.pop();
        }
        open.last().copied()
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
                self.stacks.retain(|warp, _| warp / per_cta != cta);
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
                // Lanes that do not keep to the stack part wherever they stand.
                let own = self.of(site).or((!branch).then_some(site));
                if self.lockstep {
                    let split = Open { lanes: by.mask, own: own.is_some() };
                    self.stack(&by).0.push(split);
                }
                own.map(|site| Event::Split { by, site, taken, first })
            }
            Event::Else(by) => self.top(&by).filter(|top| top.own).map(|_| *event),
            Event::Join(by) => {
                let top = self.top(&by);
                self.stack(&by).0.pop();
                top.filter(|top| top.own).map(|_| *event)
            }
            Event::Exit(by) => {
                self.stack(&by).1 &= !by.mask;
                Some(*event)
            }
            _ => Some(*event),
        };
        if let Some(event) = event {
            self.inner.event(&event);
        }
    }
}
