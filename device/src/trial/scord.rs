//! The host's side of ScoRD on the device: memory for a launch's metadata and its report, and what is made of the report.
//!
//! Source: Kamath, George, Basu: "ScoRD: A Scoped Race Detector for GPUs" (ISCA'20). The device's side is `bugaroo-device-handlers`
//! (`scord.cu`), and the code that calls it is the injector's ([`bugaroo_injector::scord`]). The host does nothing while the launch
//! runs. At its end it reads the report, and tells the detector that stands for the device's
//! ([`bugaroo_detectors::scord::device`]).
//!
//! Metadata takes memory of the device while the launch runs: at most half of what is free, and besides that 8 bytes for each block of the
//! grid, 8 for each of its warps where the kernel fences, and lock tables for each resident warp where it compares and swaps.

use std::cell::RefCell;
use std::rc::Rc;

use bugaroo_detectors::scord::LayoutChoice;
use bugaroo_detectors::scord::check::RaceCondition;
use bugaroo_detectors::scord::device::{self, Missed, Raced, ScordTold, is_covered, layout};
use bugaroo_detectors::scord::metadata::IS_ATOM;
use bugaroo_detectors::watched::Watched;
use bugaroo_device_handlers::scord::{
    SCORD_VARIABLE, ScordState, block, condition, control, field, page, place as stands, race, raced,
};
use bugaroo_injector::logging::{RecordPlace, Told as Stands};
use bugaroo_injector::scord::{fences, locks};
use bugaroo_semantics::effect::Stated;
use bugaroo_semantics::event::{Shape, SiteNumber, WorkId};
use bugaroo_semantics::inferred::Role;
use bugaroo_semantics::scope::Strength;
use bugaroo_simulator::{GLOBAL_BASE, LaunchWatch, Memory, Program};

use crate::trial::attached::{Allocated, Attached, accesses};
use crate::trial::logging::broken::Broken;
use crate::trial::looking::{Sizes, watched_table, words};

/// Bytes that metadata may take if nothing else is said.
pub const MOST_BYTES: u64 = 4 << 30;

/// What there is to know of a launch.
#[derive(Clone, Debug)]
pub struct ScordLaunch {
    /// What the detector has to know.
    pub device: device::ScordLooked,
    /// Its size.
    shape: Shape,
    /// What is told at each place before its instruction, and the number of that in the program.
    places: Vec<Option<(Stands, u32)>>,
    roles: Vec<Role>,
    /// Warps run in lockstep.
    lockstep: bool,
    /// The program has fences, locks.
    has: (bool, bool),
    /// What is looked at; None: everything.
    watched: Option<Watched>,
    /// The kernel's name, where it has barriers that need not wait for all threads of a block.
    counted: Option<String>,
}

impl ScordLaunch {
    /// Of a program whose injector's places are these, with the number of each one's instruction in the program as it was written.
    /// `first_site`: what observers know its first instruction by.
    pub fn new(
        grid: WorkId,
        (shape, lockstep): (Shape, bool),
        (original, first_site): (&Program, SiteNumber),
        (places, sites): (&[Option<RecordPlace>], &[SiteNumber]),
        (choice, watched): (LayoutChoice, Option<Watched>),
    ) -> ScordLaunch {
        let places: Vec<Option<(Stands, u32)>> = places
            .iter()
            .zip(sites)
            .step_by(2)
            .map(|(place, site)| Some((place.as_ref()?.told, *site)))
            .collect();
        let any = |is: fn(Stands) -> bool| places.iter().flatten().any(|(told, _)| is(*told));
        let instructions = u32::try_from(original.spans().len()).unwrap_or(u32::MAX);
        let access = |(told, number): &(Stands, u32)| {
            let Stands::Access(stated) = told else { return None };
            Some((*number, stated.kind, Strength::of(stated.semantics), stated.parts().0))
        };
        let has = (any(fences), any(locks));
        let device = device::ScordLooked {
            grid,
            layout: layout(choice, &shape, instructions, has.0, has.1),
            first_site,
            accesses: places.iter().flatten().filter_map(access).collect(),
        };
        ScordLaunch { device, shape, places, roles: original.roles(), lockstep, has, watched, counted: None }
    }

    /// Of a kernel with this name that has barriers which need not wait for all threads of a block.
    pub fn with_counted(self, counted: Option<String>) -> ScordLaunch {
        ScordLaunch { counted, ..self }
    }

    /// What the device is told of each place.
    fn table(&self) -> Vec<u8> {
        let word = |place: &Option<(Stands, u32)>| {
            let Some((Stands::Access(Stated { semantics, .. }), number)) = place else { return 0 };
            let role = self.roles.get(*number as usize).copied().unwrap_or_default();
            let covered = is_covered(&role, Strength::of(*semantics));
            number & stands::SITE | if covered { stands::COVERED } else { 0 }
        };
        self.places.iter().flat_map(|place| word(place).to_le_bytes()).collect()
    }
}

/// Takes memory for a launch.
fn allocate(launch: &ScordLaunch, sizes: Sizes, memory: &mut Memory) -> Option<Allocated<ScordState>> {
    let (shape, layout) = (launch.shape, &launch.device.layout);
    let fields = layout.fields();
    let of = |(shift, bits): (u32, u32)| field(shift, bits);
    let (units, pages) = sizes.units(page::UNIT);
    let ctas = u64::from(shape.ctas.max(1));
    let numbers = shape.blocks.min(layout.blocks()).max(1);
    let (has_fences, has_locks) = launch.has;
    let block_bytes = block::bytes(shape.warps_per_cta, has_locks);
    let table = launch.table();
    let watched = launch.watched.as_ref().map(watched_table);
    Allocated::new(sizes.races, memory, |arrays, memory| {
        let watched = watched.map_or(Some(0), |table| arrays.put(memory, &table, sizes.kind))?;
        let mut take = |count: u64, bytes: u64| arrays.take(memory, count, bytes, sizes.kind);
        let state = ScordState {
            control: take(1, control::BYTES)?,
            slots: take(shape.blocks.max(1), 4)?,
            blocks: take(ctas, block_bytes)?,
            keys: take(pages, 8)?,
            pages: take(pages, 8)?,
            words: take(units, page::UNIT * 8)?,
            races: take(sizes.races, race::BYTES)?,
            counts: take(numbers, 8)?,
            file: if has_fences { take(numbers, 8 * u64::from(shape.warps_per_cta))? } else { 0 },
            places: take(table.len().max(4) as u64, 1)?,
            units,
            global_from: GLOBAL_BASE,
            // Nobody has accessed it, and yet by an atomic: no access leaves that.
            moved: u64::from(IS_ATOM) << fields.flags.0,
            watched,
            page_mask: u32::try_from(pages - 1).ok()?,
            race_mask: u32::try_from(sizes.races.checked_sub(1)?).ok()?,
            ctas: shape.ctas.max(1),
            warps: shape.warps_per_cta,
            block_bytes: u32::try_from(block_bytes).ok()?,
            locks: has_locks.into(),
            bloom: of(fields.bloom),
            flags: of(fields.flags),
            barrier: of(fields.barrier),
            blk_fence: of(fields.blk_fence),
            dev_fence: of(fields.dev_fence),
            warp: of(fields.warp),
            block: of(fields.block),
            site: of(fields.site),
            wrote: of(fields.wrote),
            unused: 0,
        };
        memory.write(state.places, &table).ok()?;
        Some(state)
    })
}

/// A launch that device code looks at.
pub struct Looking {
    launch: ScordLaunch,
    allocated: Allocated<ScordState>,
    attached: Attached,
    told: Rc<RefCell<ScordTold>>,
}

impl std::fmt::Debug for Looking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Looking").field("allocated", &self.allocated).finish_non_exhaustive()
    }
}

impl Looking {
    /// For a grid that has not begun, of a program with the detector's code. `observer`: who is told that it begins and ends.
    ///
    /// # Errors
    /// [`Broken::NoMetadata`], [`Broken::NoScord`].
    pub fn new(
        launch: ScordLaunch,
        sizes: Sizes,
        program: &Program,
        told: Rc<RefCell<ScordTold>>,
        watch: LaunchWatch,
        memory: &mut Memory,
    ) -> Result<Looking, Broken> {
        let (variable, _) = program.variable(SCORD_VARIABLE).ok_or(Broken::NoScord)?;
        let allocated = allocate(&launch, sizes, memory).ok_or(Broken::NoMetadata)?;
        let attached = Attached::begin(variable, (launch.shape, launch.lockstep), watch);
        Ok(Looking { launch, allocated, attached, told })
    }

    /// Puts its memory where the module finds it.
    pub fn enter(&self, memory: &mut Memory) {
        self.attached.say(&self.allocated.state.to_bytes(), memory);
    }

    /// Takes it away.
    pub fn leave(&self, memory: &mut Memory) {
        self.attached.say(&ScordState::default().to_bytes(), memory);
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
        let entries = self.allocated.report(memory, state.races);
        let races: Vec<Raced> = entries.iter().filter_map(|entry| self.raced(entry)).collect();
        let counted: [u64; control::BYTES as usize / 8] = words(memory, state.control).unwrap_or_default();
        let mut told = self.told.borrow_mut();
        told.races(&self.launch.device, &races);
        told.missed(&Missed {
            refused: counted[control::REFUSED / 8],
            lost: counted[control::LOST / 8],
            counted: self.launch.counted.clone(),
            wrapped: counted[control::WRAPPED / 8] != 0,
            full: counted[control::FULL / 8] != 0,
            blocks: self.launch.shape.blocks > self.launch.device.layout.blocks(),
        });
        accesses(memory, state.blocks + block::ACCESSES as u64, state.ctas, state.block_bytes.into())
    }

    /// An entry of the report. None where it is none that device code writes: the program has written over it.
    fn raced(&self, entry: &[u64; race::BYTES as usize / 8]) -> Option<Raced> {
        let half = |at: usize| (entry[at / 8] >> (8 * (at % 8))) as u32;
        let (told, number) = self.launch.places.get(half(race::PLACE) as usize).copied().flatten()?;
        let Stands::Access(stated) = told else { return None };
        let what = half(race::WHAT);
        Some(Raced {
            old: entry[race::OLD / 8],
            condition: condition_of(what & raced::CONDITION)?,
            address: entry[race::ADDRESS / 8],
            at: entry[race::AT / 8],
            piece: 1 << (what >> raced::SHIFT_AT & 3),
            by: (entry[race::BLOCK / 8], half(race::THREAD)),
            number,
            kind: stated.kind,
            strength: Strength::of(stated.semantics),
            size: stated.parts().0,
            writes: what & raced::WRITES != 0,
            count: entry[race::COUNT / 8],
        })
    }
}

/// A condition by the device's number.
pub fn condition_of(number: u32) -> Option<RaceCondition> {
    Some(match number {
        condition::BLOCK_FENCE => RaceCondition::BlockFence,
        condition::DEVICE_FENCE => RaceCondition::DeviceFence,
        condition::NOT_STRONG => RaceCondition::NotStrong,
        condition::ATOMIC_SCOPE => RaceCondition::AtomicScope,
        condition::LOCK_ON_LOAD => RaceCondition::LockOnLoad,
        condition::LOCK_ON_STORE => RaceCondition::LockOnStore,
        _ => return None,
    })
}
