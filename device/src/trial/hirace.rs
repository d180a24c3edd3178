//! The host's side of HiRace on the device: memory for a launch's shadow words and its report, and what is made of the report.
//!
//! Source: Jacobson, Burtscher, Gopalakrishnan: "HiRace: Accurate and Fast Source-Level Race Checking of GPU Programs" (SC'24). The
//! device's side is `bugaroo-device-handlers` (`hirace.cu`), and the code that calls it is the injector's
//! ([`bugaroo_injector::hirace`]). The host does nothing while the launch runs. At its end it reads the report, and tells the
//! detector that stands for the device's ([`bugaroo_detectors::hirace::device`]).
//!
//! Shadow words take memory of the device while the launch runs: as much as the native form may have, but no more than half of
//! what is free. What the program allocates meanwhile has to do with the rest.

use std::cell::RefCell;
use std::rc::Rc;

use bugaroo_detectors::hirace::device::{self, HiraceTold, Missed, Raced};
use bugaroo_detectors::hirace::{Widths, WordLayout};
use bugaroo_detectors::watched::Watched;
use bugaroo_device_handlers::hirace::{HIRACE_VARIABLE, HiraceState, block, control, page, race};
use bugaroo_injector::logging::{RecordPlace, Told as Stands};
use bugaroo_semantics::event::{Shape, SiteNumber, WhoseBytes as Where};
use bugaroo_semantics::scope::Strength;
use bugaroo_simulator::{GLOBAL_BASE, LaunchWatch, Memory, Program};

use crate::trial::attached::{Allocated, Attached, accesses};
use crate::trial::logging::broken::Broken;
use crate::trial::looking::{Sizes, watched_table, words};

/// What there is to know of a launch.
#[derive(Clone, Debug)]
pub struct HiraceLaunch {
    /// What the detector has to know.
    pub device: device::HiraceLooked,
    /// Its size.
    pub shape: Shape,
    /// What is looked at, by the numbers of the injector's places.
    pub places: Vec<Option<RecordPlace>>,
    /// The instruction of each place, from the program's first.
    pub sites: Vec<SiteNumber>,
    /// What is looked at; None: everything.
    pub watched: Option<Watched>,
    /// The kernel's name, where it has barriers that need not wait for all threads of a block.
    pub counted: Option<String>,
}

/// Takes memory for a launch.
fn allocate(launch: &HiraceLaunch, sizes: Sizes, memory: &mut Memory) -> Option<Allocated<HiraceState>> {
    let shape = launch.shape;
    let [thread, block_bits, warp_clock, block_clock, site] = launch.device.layout.widths();
    let (units, pages) = sizes.units(page::UNIT);
    // A device may keep the first kilobyte for itself.
    let shared_pages = u64::from(shape.shared_bytes).div_ceil(1 << page::SHIFT) + 1;
    let ctas = u64::from(shape.ctas.max(1));
    let block_bytes = block::bytes(shape.warps_per_cta);
    let table = launch.watched.as_ref().map(watched_table);
    Allocated::new(sizes.races, memory, |arrays, memory| {
        let watched = table.map_or(Some(0), |table| arrays.put(memory, &table, sizes.kind))?;
        let mut take = |count: u64, bytes: u64| arrays.take(memory, count, bytes, sizes.kind);
        Some(HiraceState {
            control: take(1, control::BYTES)?,
            slots: take(shape.blocks, 4)?,
            blocks: take(ctas, block_bytes)?,
            keys: take(pages, 8)?,
            pages: take(pages, 8)?,
            shared: take(ctas.checked_mul(shared_pages)?, 8)?,
            words: take(units, page::UNIT * 8)?,
            races: take(sizes.races, race::BYTES)?,
            units,
            global_from: GLOBAL_BASE,
            block_bytes,
            watched,
            page_mask: u32::try_from(pages - 1).ok()?,
            race_mask: u32::try_from(sizes.races.checked_sub(1)?).ok()?,
            ctas: shape.ctas.max(1),
            shared_pages: u32::try_from(shared_pages).ok()?,
            thread,
            block: block_bits,
            warp_clock,
            block_clock,
            site,
            lockstep: launch.device.lockstep.into(),
        })
    })
}

/// A launch that device code looks at.
pub struct Looking {
    launch: HiraceLaunch,
    allocated: Allocated<HiraceState>,
    attached: Attached,
    told: Rc<RefCell<HiraceTold>>,
}

impl std::fmt::Debug for Looking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Looking").field("allocated", &self.allocated).finish_non_exhaustive()
    }
}

/// The word's layout for a launch of a program of so many instructions; None where 64 bits do not hold it.
pub fn layout(shape: &Shape, original: &Program, widths: Widths) -> Option<WordLayout> {
    WordLayout::fit(shape, original.spans().len() as u64, widths)
}

impl Looking {
    /// For a grid that has not begun, of a program with the detector's code. `watch`: who is told that it begins and ends.
    ///
    /// # Errors
    /// [`Broken::NoShadow`], [`Broken::NoDetector`].
    pub fn new(
        launch: HiraceLaunch,
        sizes: Sizes,
        program: &Program,
        told: Rc<RefCell<HiraceTold>>,
        watch: LaunchWatch,
        memory: &mut Memory,
    ) -> Result<Looking, Broken> {
        let (variable, _) = program.variable(HIRACE_VARIABLE).ok_or(Broken::NoDetector)?;
        let allocated = allocate(&launch, sizes, memory).ok_or(Broken::NoShadow)?;
        let attached = Attached::begin(variable, (launch.shape, launch.device.lockstep), watch);
        Ok(Looking { launch, allocated, attached, told })
    }

    /// Where its shadow words are: the first address and the one behind the last.
    pub fn words(&self) -> (u64, u64) {
        let HiraceState { words, units, .. } = self.allocated.state;
        (words, words + units * page::UNIT * 8)
    }

    /// Puts its memory where the module finds it.
    pub fn enter(&self, memory: &mut Memory) {
        self.attached.say(&self.allocated.state.to_bytes(), memory);
    }

    /// Takes it away.
    pub fn leave(&self, memory: &mut Memory) {
        self.attached.say(&HiraceState::default().to_bytes(), memory);
    }

    /// The launch is over: tells what was found, gives the memory back, and answers how many accesses of warps were looked at.
    pub fn end(self, memory: &mut Memory) -> u64 {
        self.leave(memory);
        let accesses = self.tell(memory);
        self.attached.end(&self.allocated.arrays, memory);
        accesses
    }

    fn tell(&self, memory: &Memory) -> u64 {
        let state = &self.allocated.state;
        let mut told = self.told.borrow_mut();
        let entries = self.allocated.report(memory, state.races);
        for entry in &entries {
            if let Some(raced) = self.raced(entry) {
                told.race(&self.launch.device, &raced);
            }
        }
        let counted: [u64; control::BYTES as usize / 8] = words(memory, state.control).unwrap_or_default();
        told.missed(&Missed {
            over: counted[control::OVER / 8] != 0,
            refused: counted[control::REFUSED / 8],
            lost: counted[control::LOST / 8],
            partial: counted[control::PARTIAL / 8],
            counted: self.launch.counted.clone(),
            too_large: false,
        });
        accesses(memory, state.blocks + block::ACCESSES as u64, state.ctas, state.block_bytes)
    }

    /// An entry of the report. None where it is none that device code writes: the program has written over it.
    fn raced(&self, entry: &[u64; race::BYTES as usize / 8]) -> Option<Raced> {
        let HiraceLaunch { device, places, sites, .. } = &self.launch;
        let site_of = |point: u32| {
            let place = 2 * point as usize;
            let stands = places.get(place).copied().flatten()?.told;
            Some((stands, *sites.get(place)?))
        };
        let point = entry[race::PLACE / 8] as u32;
        let (Stands::Access(stated), site) = site_of(point)? else { return None };
        let old = entry[race::OLD / 8];
        let first = device.layout.last(old).site.and_then(|point| Some(site_of(point)?.1));
        Some(Raced {
            old: device.layout.with_site(old, first),
            new: entry[race::NEW / 8],
            address: entry[race::ADDRESS / 8],
            // Which slot of the block it was matters to nobody.
            memory: if entry[race::PLACE / 8] >> 32 == 0 { Where::Global } else { Where::Shared(0) },
            site: device.first_site.wrapping_add(site),
            kind: stated.kind,
            strength: Strength::of(stated.semantics),
            size: stated.parts().0,
            count: entry[race::COUNT / 8],
        })
    }
}
