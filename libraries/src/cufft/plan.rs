//! Plans: numbers, each with what it says of its transforms.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_longlong, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bugaroo_cuda_abi::{CUstream, FunctionAddress, Functions};

use super::layout::Side;
use super::status::{Outcome, Status, anytime};
use crate::driver;
use crate::fft;

/// The version that this library says it is of (CUDA 13.0's).
const VERSION: [c_int; 3] = [12, 0, 0];

/// What goes in and what comes out (`cufftType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Complex to complex.
    Complex,
    /// Real to complex.
    Forth,
    /// Complex to real.
    Back,
}

/// A `cufftType`: its kind, and whether it is of double precision.
///
/// # Errors
/// `CUFFT_INVALID_TYPE` if it is none.
fn kind(number: c_int) -> Outcome<(Kind, bool)> {
    Ok(match number {
        0x29 => (Kind::Complex, false),
        0x2a => (Kind::Forth, false),
        0x2c => (Kind::Back, false),
        0x69 => (Kind::Complex, true),
        0x6a => (Kind::Forth, true),
        0x6c => (Kind::Back, true),
        _ => return Err(Status::INVALID_TYPE),
    })
}

/// What a plan says of its transforms.
#[derive(Clone, Debug)]
pub struct Transforms {
    /// What goes in and what comes out.
    pub kind: Kind,
    /// Of double precision.
    pub double: bool,
    /// How many values each dimension has, real ones where there are such.
    pub extents: Vec<usize>,
    /// How many transforms there are.
    pub batch: usize,
    /// Where it reads; for a transform in place, and for another.
    pub from: [Side; 2],
    /// Where it writes; the same.
    pub to: [Side; 2],
}

/// A plan.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Its stream, by number.
    pub stream: usize,
    /// Nothing before it is made.
    pub transforms: Option<Transforms>,
}

#[derive(Debug)]
struct Plans {
    live: BTreeMap<c_int, Plan>,
    last: c_int,
}

static PLANS: Mutex<Plans> = Mutex::new(Plans { live: BTreeMap::new(), last: 0 });

fn plans() -> MutexGuard<'static, Plans> {
    PLANS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A plan by its number.
///
/// # Errors
/// `CUFFT_INVALID_PLAN` if there is none.
pub fn find(number: c_int) -> Outcome<Plan> {
    plans().live.get(&number).cloned().ok_or(Status::INVALID_PLAN)
}

fn with(name: &str, number: c_int, body: impl FnOnce(&mut Plan) -> Outcome) -> c_int {
    anytime(name, || body(plans().live.get_mut(&number).ok_or(Status::INVALID_PLAN)?))
}

/// Extents as the program gives them.
///
/// # Errors
/// `CUFFT_INVALID_SIZE` for one below 1.
fn extents(given: &[i64]) -> Outcome<Vec<usize>> {
    let extent = |value: &i64| usize::try_from(*value).ok().filter(|value| *value > 0);
    given.iter().map(extent).collect::<Option<_>>().ok_or(Status::INVALID_SIZE)
}

/// An advanced layout as the program gives it: extents of storage, stride, distance.
type Given = Option<(Vec<i64>, i64, i64)>;

/// What a plan is to say.
///
/// # Errors
/// For arguments that the documentation forbids.
fn transforms(number: c_int, given: &[i64], layouts: [Given; 2], batch: i64) -> Outcome<Transforms> {
    let (kind, double) = kind(number)?;
    let extents = extents(given)?;
    let batch = usize::try_from(batch).ok().filter(|batch| *batch > 0).ok_or(Status::INVALID_SIZE)?;
    // Twice as many values as there are, so that no sum of places overflows.
    let all = extents.iter().chain([&batch]).try_fold(4_usize, |all, extent| all.checked_mul(*extent));
    all.filter(|all| *all < 1 << 48).ok_or(Status::INVALID_SIZE)?;
    let last = extents[extents.len() - 1];
    let mut halved = extents.clone();
    halved[extents.len() - 1] = fft::half(last);
    // Real values that are transformed in place have room for the complex ones.
    let real =
        |in_place: bool| Side::basic(extents.clone(), if in_place { 2 * fft::half(last) } else { last });
    let complex = |halved: Vec<usize>| {
        let last = halved[halved.len() - 1];
        Side::basic(halved, last)
    };
    let side = |layout: &Given, is_real: bool, is_half: bool| -> Outcome<[Side; 2]> {
        let extents = if is_half { halved.clone() } else { extents.clone() };
        match layout {
            None if is_real => Ok([real(true), real(false)]),
            None => Ok([complex(extents.clone()), complex(extents)]),
            Some((room, stride, distance)) => {
                let [stride, distance] = [*stride, *distance]
                    .map(|value| usize::try_from(value).map_err(|_| Status::INVALID_VALUE));
                let room =
                    room.iter().map(|value| usize::try_from(*value).map_err(|_| Status::INVALID_VALUE));
                let side = Side::advanced(extents, room.collect::<Outcome<_>>()?, stride?, distance?)?;
                Ok([side.clone(), side])
            }
        }
    };
    let (from, to) = match kind {
        Kind::Complex => (side(&layouts[0], false, false)?, side(&layouts[1], false, false)?),
        Kind::Forth => (side(&layouts[0], true, false)?, side(&layouts[1], false, true)?),
        Kind::Back => (side(&layouts[0], false, true)?, side(&layouts[1], true, false)?),
    };
    Ok(Transforms { kind, double, extents, batch, from, to })
}

/// Counts of 32 or 64 bits.
pub(super) trait Wide: Copy {
    fn wide(self) -> i64;
}

impl Wide for c_int {
    fn wide(self) -> i64 {
        i64::from(self)
    }
}

impl Wide for c_longlong {
    fn wide(self) -> i64 {
        self
    }
}

/// As many numbers as there are dimensions; None for null.
///
/// # Safety
/// `numbers` is null or points to `rank` numbers.
unsafe fn list<I: Wide>(numbers: *const I, rank: usize) -> Option<Vec<i64>> {
    if numbers.is_null() {
        return None;
    }
    // SAFETY: not null, and the caller vouches for the rest.
    Some((0..rank).map(|index| unsafe { numbers.add(index).read_unaligned() }.wide()).collect())
}

/// The arguments of a plan of many transforms.
type Many<I> = (c_int, *const I, [(*const I, I, I); 2], c_int, I);

/// What a plan of many transforms is to say.
///
/// # Errors
/// For arguments that the documentation forbids.
///
/// # Safety
/// Pointers are null or point to as many numbers as there are dimensions.
pub(super) unsafe fn many<I: Wide>((rank, n, layouts, kind, batch): Many<I>) -> Outcome<Transforms> {
    let rank =
        usize::try_from(rank).ok().filter(|rank| (1..=3).contains(rank)).ok_or(Status::INVALID_VALUE)?;
    // SAFETY: the caller's promise.
    let extents = unsafe { list(n, rank) }.ok_or(Status::INVALID_VALUE)?;
    // Where no storage is named, the other arguments of the layout are not looked at, as documented.
    let layouts = layouts.map(|(room, stride, distance)| {
        // SAFETY: the caller's promise.
        unsafe { list(room, rank) }.map(|room| (room, stride.wide(), distance.wide()))
    });
    transforms(kind, &extents, layouts, batch.wide())
}

/// Writes a result where the program wants it.
///
/// # Safety
/// `place` is null or points to a place for a value.
unsafe fn put<T>(place: *mut T, value: T) -> Outcome {
    if place.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Makes a number for a plan.
///
/// # Safety
/// `place` is null or points to a place for it.
unsafe fn add(place: *mut c_int, transforms: Option<Transforms>) -> Outcome {
    driver::ready()?;
    driver::door()?;
    let mut plans = plans();
    plans.last += 1;
    let number = plans.last;
    // SAFETY: the caller's promise.
    unsafe { put(place, number) }?;
    plans.live.insert(number, Plan { stream: 0, transforms });
    Ok(())
}

/// Says what a plan that was created is to do, and how large its work area is.
///
/// # Safety
/// `size` is null or points to a place for a size.
pub(super) unsafe fn fill(
    name: &str,
    plan: c_int,
    size: *mut usize,
    transforms: impl FnOnce() -> Outcome<Transforms>,
) -> c_int {
    with(name, plan, |plan| {
        if plan.transforms.is_some() {
            return Err(Status::INVALID_PLAN);
        }
        plan.transforms = Some(transforms()?);
        // SAFETY: the caller's promise.
        unsafe { put(size, 0) }
    })
}

unsafe extern "C" fn create(place: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    anytime("cufftCreate", || unsafe { add(place, None) })
}

extern "C" fn destroy(plan: c_int) -> c_int {
    anytime("cufftDestroy", || plans().live.remove(&plan).map(|_| ()).ok_or(Status::INVALID_PLAN))
}

extern "C" fn set_stream(plan: c_int, stream: CUstream) -> c_int {
    with("cufftSetStream", plan, |plan| {
        plan.stream = stream as usize;
        Ok(())
    })
}

/// Whoever brings a work area of no bytes has it taken note of.
extern "C" fn set_work_area(plan: c_int, _area: *mut c_void) -> c_int {
    with("cufftSetWorkArea", plan, |_| Ok(()))
}

extern "C" fn set_auto_allocation(plan: c_int, _on: c_int) -> c_int {
    with("cufftSetAutoAllocation", plan, |_| Ok(()))
}

unsafe extern "C" fn size(plan: c_int, place: *mut usize) -> c_int {
    // SAFETY: the caller's promise.
    with("cufftGetSize", plan, |_| unsafe { put(place, 0) })
}

unsafe extern "C" fn version(place: *mut c_int) -> c_int {
    let [major, minor, patch] = VERSION;
    // SAFETY: the caller's promise.
    anytime("cufftGetVersion", || unsafe { put(place, major * 1000 + minor * 100 + patch) })
}

/// `libraryPropertyType`: 0 the major number, 1 the minor one, 2 the patch.
unsafe extern "C" fn property(kind: c_int, place: *mut c_int) -> c_int {
    let found = usize::try_from(kind).ok().and_then(|kind| VERSION.get(kind).copied());
    // SAFETY: the caller's promise.
    anytime("cufftGetProperty", || unsafe { put(place, found.ok_or(Status::INVALID_VALUE)?) })
}

macro_rules! plain {
    ($($plan:ident $make:ident $size:ident $estimate:ident ($($extent:ident),*) ($($batch:ident)?);)*) => {$(
        unsafe extern "C" fn $plan(place: *mut c_int, $($extent: c_int,)* kind: c_int $(, $batch: c_int)?) -> c_int {
            let _batch = 1; $(let _batch = $batch;)?
            anytime(concat!("cufft", stringify!($plan)), || {
                let transforms = transforms(kind, &[$($extent.into()),*], [None, None], _batch.into())?;
                // SAFETY: the caller's promise.
                unsafe { add(place, Some(transforms)) }
            })
        }

        unsafe extern "C" fn $make(
            plan: c_int, $($extent: c_int,)* kind: c_int, $($batch: c_int,)? size: *mut usize,
        ) -> c_int {
            let _batch = 1; $(let _batch = $batch;)?
            // SAFETY: the caller's promise.
            unsafe {
                fill(concat!("cufft", stringify!($make)), plan, size, || {
                    transforms(kind, &[$($extent.into()),*], [None, None], _batch.into())
                })
            }
        }

        unsafe extern "C" fn $size(
            _plan: c_int, $($extent: c_int,)* kind: c_int, $($batch: c_int,)? size: *mut usize,
        ) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { $estimate($($extent,)* kind, $($batch,)? size) }
        }

        unsafe extern "C" fn $estimate($($extent: c_int,)* kind: c_int, $($batch: c_int,)? size: *mut usize) -> c_int {
            let _batch = 1; $(let _batch = $batch;)?
            anytime(concat!("cufft", stringify!($estimate)), || {
                transforms(kind, &[$($extent.into()),*], [None, None], _batch.into())?;
                // SAFETY: the caller's promise.
                unsafe { put(size, 0) }
            })
        }
    )*};
}
plain! {
    plan_1d make_plan_1d get_size_1d estimate_1d (x) (batch);
    plan_2d make_plan_2d get_size_2d estimate_2d (x, y) ();
    plan_3d make_plan_3d get_size_3d estimate_3d (x, y, z) ();
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn plan_many(
    place: *mut c_int,
    rank: c_int,
    n: *const c_int,
    room: *const c_int,
    stride: c_int,
    distance: c_int,
    to_room: *const c_int,
    to_stride: c_int,
    to_distance: c_int,
    kind: c_int,
    batch: c_int,
) -> c_int {
    let layouts = [(room, stride, distance), (to_room, to_stride, to_distance)];
    // SAFETY: the caller's promise.
    anytime("cufftPlanMany", || unsafe { add(place, Some(many((rank, n, layouts, kind, batch))?)) })
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn make_plan_many<I: Wide>(
    plan: c_int,
    rank: c_int,
    n: *const I,
    room: *const I,
    stride: I,
    distance: I,
    to_room: *const I,
    to_stride: I,
    to_distance: I,
    kind: c_int,
    batch: I,
    size: *mut usize,
) -> c_int {
    let layouts = [(room, stride, distance), (to_room, to_stride, to_distance)];
    // SAFETY: the caller's promise.
    unsafe { fill("cufftMakePlanMany", plan, size, || many((rank, n, layouts, kind, batch))) }
}

/// The functions of this file, by name.
pub static FUNCTIONS: Functions = &[
    ("cufftCreate", FunctionAddress(create as *const c_void)),
    ("cufftDestroy", FunctionAddress(destroy as *const c_void)),
    ("cufftSetStream", FunctionAddress(set_stream as *const c_void)),
    ("cufftSetWorkArea", FunctionAddress(set_work_area as *const c_void)),
    ("cufftSetAutoAllocation", FunctionAddress(set_auto_allocation as *const c_void)),
    ("cufftGetSize", FunctionAddress(size as *const c_void)),
    ("cufftGetVersion", FunctionAddress(version as *const c_void)),
    ("cufftGetProperty", FunctionAddress(property as *const c_void)),
    ("cufftPlan1d", FunctionAddress(plan_1d as *const c_void)),
    ("cufftPlan2d", FunctionAddress(plan_2d as *const c_void)),
    ("cufftPlan3d", FunctionAddress(plan_3d as *const c_void)),
    ("cufftPlanMany", FunctionAddress(plan_many as *const c_void)),
    ("cufftMakePlan1d", FunctionAddress(make_plan_1d as *const c_void)),
    ("cufftMakePlan2d", FunctionAddress(make_plan_2d as *const c_void)),
    ("cufftMakePlan3d", FunctionAddress(make_plan_3d as *const c_void)),
    ("cufftMakePlanMany", FunctionAddress(make_plan_many::<c_int> as *const c_void)),
    ("cufftMakePlanMany64", FunctionAddress(make_plan_many::<c_longlong> as *const c_void)),
    ("cufftGetSize1d", FunctionAddress(get_size_1d as *const c_void)),
    ("cufftGetSize2d", FunctionAddress(get_size_2d as *const c_void)),
    ("cufftGetSize3d", FunctionAddress(get_size_3d as *const c_void)),
    ("cufftEstimate1d", FunctionAddress(estimate_1d as *const c_void)),
    ("cufftEstimate2d", FunctionAddress(estimate_2d as *const c_void)),
    ("cufftEstimate3d", FunctionAddress(estimate_3d as *const c_void)),
];
