//! Generators: handles, each with its settings and its state. A setting that changes begins the sequence anew, at the offset.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bugaroo_cuda_abi::{CUstream, FunctionAddress, Functions};

use super::status::{Outcome, Status, anytime, unsupported};
use crate::driver;
use crate::random::{Kind, State, sobol};

/// A `curandGenerator_t`.
pub type Handle = *mut c_void;

/// The version that this library says it is of (CUDA 13.0's).
const VERSION: [c_int; 3] = [10, 4, 0];

/// Streams of MRG32k3a in the default order, and in the one of old.
const MRG_STREAMS: [usize; 2] = [81_920, 4096];

/// A generator.
#[derive(Clone, Debug)]
pub struct Generator {
    /// What it is.
    pub kind: Kind,
    /// Its results are for the host, and made at the call.
    pub on_host: bool,
    /// Its stream, by number.
    pub stream: usize,
    seed: u64,
    offset: u64,
    /// Made when the first results are. Work that was handed over keeps the one that it was given.
    pub state: Arc<Mutex<Option<State>>>,
}

impl Generator {
    /// What begins the sequence.
    pub fn begin(&self) -> impl Fn() -> State + Send + 'static {
        let (kind, seed, offset) = (self.kind, self.seed, self.offset);
        move || State::new(kind, seed, offset)
    }

    /// Its next results are the sequence's first, from the offset on.
    fn restart(&mut self) {
        self.state = Arc::new(Mutex::new(None));
    }
}

#[derive(Debug)]
struct Generators {
    live: BTreeMap<usize, Generator>,
    last: usize,
}

static GENERATORS: Mutex<Generators> = Mutex::new(Generators { live: BTreeMap::new(), last: 0 });

fn generators() -> MutexGuard<'static, Generators> {
    GENERATORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A generator by its handle.
///
/// # Errors
/// `CURAND_STATUS_NOT_INITIALIZED` if there is none.
pub fn find(handle: Handle) -> Outcome<Generator> {
    generators().live.get(&(handle as usize)).cloned().ok_or(Status::NOT_INITIALIZED)
}

fn with(name: &str, handle: Handle, body: impl FnOnce(&mut Generator) -> Outcome) -> c_int {
    anytime(name, || body(generators().live.get_mut(&(handle as usize)).ok_or(Status::NOT_INITIALIZED)?))
}

/// The same for what begins the sequence anew.
fn anew(name: &str, handle: Handle, body: impl FnOnce(&mut Generator) -> Outcome) -> c_int {
    with(name, handle, |generator| {
        body(generator)?;
        generator.restart();
        Ok(())
    })
}

/// Makes a generator.
///
/// # Safety
/// `place` is null or points to a place for a handle.
unsafe fn make(place: *mut Handle, number: c_int, on_host: bool) -> Outcome {
    if place.is_null() {
        return Err(Status::OUT_OF_RANGE);
    }
    let kind = match number {
        // CURAND_RNG_PSEUDO_DEFAULT and _XORWOW
        100 | 101 => Kind::Xorwow,
        121 => Kind::Mrg(MRG_STREAMS[0]),
        161 => Kind::Philox,
        141 => return Err(unsupported("cuRAND's generator MTGP32")),
        142 => return Err(unsupported("cuRAND's generator MT19937")),
        // CURAND_RNG_QUASI_DEFAULT and _SOBOL32; _SOBOL64
        200 | 201 => Kind::Sobol { wide: false, dimensions: 1 },
        203 => Kind::Sobol { wide: true, dimensions: 1 },
        202 | 204 => return Err(unsupported("a scrambled quasirandom generator of cuRAND")),
        _ => return Err(Status::TYPE_ERROR),
    };
    if !on_host {
        driver::ready()?;
        driver::door()?;
    }
    let mut generators = generators();
    generators.last += 64;
    let handle = generators.last;
    let state = Arc::new(Mutex::new(None));
    let generator = Generator { kind, on_host, stream: 0, seed: 0, offset: 0, state };
    generators.live.insert(handle, generator);
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { place.write_unaligned(handle as Handle) };
    Ok(())
}

unsafe extern "C" fn create(place: *mut Handle, kind: c_int) -> c_int {
    // SAFETY: the caller's promise.
    anytime("curandCreateGenerator", || unsafe { make(place, kind, false) })
}

unsafe extern "C" fn create_on_host(place: *mut Handle, kind: c_int) -> c_int {
    // SAFETY: the caller's promise.
    anytime("curandCreateGeneratorHost", || unsafe { make(place, kind, true) })
}

extern "C" fn destroy(handle: Handle) -> c_int {
    anytime("curandDestroyGenerator", || {
        generators().live.remove(&(handle as usize)).map(|_| ()).ok_or(Status::NOT_INITIALIZED)
    })
}

extern "C" fn set_stream(handle: Handle, stream: CUstream) -> c_int {
    with("curandSetStream", handle, |generator| {
        generator.stream = stream as usize;
        Ok(())
    })
}

extern "C" fn set_seed(handle: Handle, seed: c_ulonglong) -> c_int {
    anew("curandSetPseudoRandomGeneratorSeed", handle, |generator| {
        if matches!(generator.kind, Kind::Sobol { .. }) {
            return Err(Status::TYPE_ERROR);
        }
        generator.seed = seed;
        Ok(())
    })
}

extern "C" fn set_offset(handle: Handle, offset: c_ulonglong) -> c_int {
    anew("curandSetGeneratorOffset", handle, |generator| {
        generator.offset = offset;
        Ok(())
    })
}

/// The place in the sequences stays.
extern "C" fn set_dimensions(handle: Handle, count: c_uint) -> c_int {
    with("curandSetQuasiRandomGeneratorDimensions", handle, |generator| match &mut generator.kind {
        Kind::Sobol { dimensions, .. } => {
            let count = usize::try_from(count).ok().filter(|count| (1..=sobol::MOST).contains(count));
            *dimensions = count.ok_or(Status::OUT_OF_RANGE)?;
            Ok(())
        }
        _ => Err(Status::TYPE_ERROR),
    })
}

/// `curandOrdering_t`: 100 the best, 101 the default, which are the same; 103 the one of old; 201 that of quasirandom generators, the only
/// one, with which they go on where they are.
extern "C" fn set_ordering(handle: Handle, order: c_int) -> c_int {
    with("curandSetGeneratorOrdering", handle, |generator| {
        generator.kind = match (generator.kind, order) {
            (Kind::Sobol { .. }, 201) => return Ok(()),
            (Kind::Sobol { .. }, _) => return Err(Status::OUT_OF_RANGE),
            (Kind::Mrg(_), 100 | 101) => Kind::Mrg(MRG_STREAMS[0]),
            (Kind::Mrg(_), 103) => Kind::Mrg(MRG_STREAMS[1]),
            (kind, 100 | 101 | 103) => kind,
            (Kind::Xorwow, 102) => return Err(unsupported("cuRAND's seeded ordering")),
            (_, 104) => return Err(unsupported("cuRAND's dynamic ordering")),
            _ => return Err(Status::OUT_OF_RANGE),
        };
        generator.restart();
        Ok(())
    })
}

/// Seeds are made when they are needed.
extern "C" fn seeds(handle: Handle) -> c_int {
    with("curandGenerateSeeds", handle, |_| Ok(()))
}

/// Writes a number where the program wants it.
///
/// # Safety
/// `place` is null or points to a place for it.
unsafe fn put(place: *mut c_int, value: Option<c_int>) -> Outcome {
    let value = value.filter(|_| !place.is_null()).ok_or(Status::OUT_OF_RANGE)?;
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

unsafe extern "C" fn version(place: *mut c_int) -> c_int {
    let [major, minor, patch] = VERSION;
    // SAFETY: the caller's promise.
    anytime("curandGetVersion", || unsafe { put(place, Some(major * 1000 + minor * 100 + patch)) })
}

/// `libraryPropertyType`: 0 the major number, 1 the minor one, 2 the patch.
unsafe extern "C" fn property(kind: c_int, place: *mut c_int) -> c_int {
    let found = usize::try_from(kind).ok().and_then(|kind| VERSION.get(kind).copied());
    // SAFETY: the caller's promise.
    anytime("curandGetProperty", || unsafe { put(place, found) })
}

/// The functions of this file, by name.
pub static FUNCTIONS: Functions = &[
    ("curandCreateGenerator", FunctionAddress(create as *const c_void)),
    ("curandCreateGeneratorHost", FunctionAddress(create_on_host as *const c_void)),
    ("curandDestroyGenerator", FunctionAddress(destroy as *const c_void)),
    ("curandSetStream", FunctionAddress(set_stream as *const c_void)),
    ("curandSetPseudoRandomGeneratorSeed", FunctionAddress(set_seed as *const c_void)),
    ("curandSetGeneratorOffset", FunctionAddress(set_offset as *const c_void)),
    ("curandSetQuasiRandomGeneratorDimensions", FunctionAddress(set_dimensions as *const c_void)),
    ("curandSetGeneratorOrdering", FunctionAddress(set_ordering as *const c_void)),
    ("curandGenerateSeeds", FunctionAddress(seeds as *const c_void)),
    ("curandGetVersion", FunctionAddress(version as *const c_void)),
    ("curandGetProperty", FunctionAddress(property as *const c_void)),
];
