//! What a program says about the use of managed memory (CUDA Driver API, `cuMemAdvise`, `cuMemPrefetchAsync`). It
//! changes nothing but what `cuMemRangeGetAttribute` tells: host and device reach the memory at any time as it is.

use std::ffi::{c_int, c_uint, c_void};

use bugaroo_cuda_abi::{CUdevice, CUdeviceptr, CUmemLocation, CUstream};

use crate::api::entry::with_context;
use crate::api::submit::{beside_stream, twin};
use bugaroo_device::advice::is_managed;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::advice::{Advice, Home, NOWHERE};
use bugaroo_device::places::{not_null, write};
use bugaroo_device::state::Gpu;

/// Refuses a range that is not inside one managed allocation.
fn check(gpu: &Gpu, address: CUdeviceptr, bytes: usize) -> CallResult {
    if bytes == 0 {
        return Err(Status::InvalidValue);
    }
    gpu.check_range(address, bytes, false)?;
    if is_managed(gpu, address) { Ok(()) } else { Err(Status::InvalidValue) }
}

fn advise(
    name: &str,
    (address, bytes): (CUdeviceptr, usize),
    advice: c_uint,
    home: impl FnOnce() -> CallResult<Home>,
) -> Status {
    with_context(name, |gpu, _| {
        check(gpu, address, bytes)?;
        // What needs a location; the others ignore it.
        let home = match advice {
            1 | 2 | 4 => None,
            3 | 5 | 6 => Some(home()?),
            _ => return Err(Status::InvalidValue),
        };
        let change = |known: &mut Advice| match (advice, home) {
            (1 | 2, _) => known.read_mostly = advice == 1,
            (3 | 4, _) => known.preferred = home,
            (_, Some(Home::Host)) => known.by_host = advice == 5,
            _ => known.by_device = advice == 5,
        };
        gpu.held.advice.change(address, bytes as u64, change);
        Ok(())
    })
}

/// Advises on the use of a range, with a device's number or -1 for the host.
pub extern "C" fn cuMemAdvise(
    address: CUdeviceptr,
    bytes: usize,
    advice: c_uint,
    device: CUdevice,
) -> Status {
    advise("cuMemAdvise", (address, bytes), advice, || Home::of_device(device))
}

/// Advises on the use of a range.
pub extern "C" fn cuMemAdvise_v2(
    address: CUdeviceptr,
    bytes: usize,
    advice: c_uint,
    location: CUmemLocation,
) -> Status {
    advise("cuMemAdvise_v2", (address, bytes), advice, || Home::of(location))
}

fn prefetch(
    name: &str,
    ranges: impl Iterator<Item = (CUdeviceptr, usize, CallResult<Home>)>,
    stream: CUstream,
) -> Status {
    beside_stream(name, stream, |gpu, _| {
        for (address, bytes, home) in ranges {
            check(gpu, address, bytes)?;
            let home = home?;
            gpu.held.advice.change(address, bytes as u64, |advice| advice.prefetched = Some(home));
        }
        Ok(())
    })
}

twin! { cuMemPrefetchAsync_ptsz =
    /// Prefetches a range to a device, or to the host (-1).
    pub extern "C" fn cuMemPrefetchAsync(
        address: CUdeviceptr,
        bytes: usize,
        device: CUdevice,
        stream: CUstream,
    ) -> Status {
        prefetch("cuMemPrefetchAsync", [(address, bytes, Home::of_device(device))].into_iter(), stream)
    }
}

twin! { cuMemPrefetchAsync_v2_ptsz =
    /// Prefetches a range.
    pub extern "C" fn cuMemPrefetchAsync_v2(
        address: CUdeviceptr,
        bytes: usize,
        location: CUmemLocation,
        flags: c_uint,
        stream: CUstream,
    ) -> Status {
        let home = if flags == 0 { Home::of(location) } else { Err(Status::InvalidValue) };
        prefetch("cuMemPrefetchAsync_v2", [(address, bytes, home)].into_iter(), stream)
    }
}

twin! { cuMemPrefetchBatchAsync_ptsz =
    /// Prefetches several ranges, each to the location that its number, or the last before it, was given with.
    ///
    /// # Safety
    /// The arrays have as many items as their counts say.
    #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
    pub unsafe extern "C" fn cuMemPrefetchBatchAsync(
        addresses: *const CUdeviceptr,
        sizes: *const usize,
        count: usize,
        locations: *const CUmemLocation,
        starts: *const usize,
        locations_count: usize,
        flags: u64,
        stream: CUstream,
    ) -> Status {
        let nothing = count == 0 || locations_count == 0 || locations_count > count || flags != 0;
        let null = addresses.is_null() || sizes.is_null() || locations.is_null() || starts.is_null();
        if nothing || null {
            return beside_stream("cuMemPrefetchBatchAsync", stream, |_, _| Err(Status::InvalidValue));
        }
        let range = |index: usize| {
            // SAFETY: the caller's promise, for all of them.
            unsafe {
                let begun = |place: &usize| starts.add(*place).read_unaligned() <= index;
                let location = (0..locations_count).rev().find(begun);
                let home = location.ok_or(Status::InvalidValue);
                let home = home.and_then(|place| Home::of(locations.add(place).read_unaligned()));
                (addresses.add(index).read_unaligned(), sizes.add(index).read_unaligned(), home)
            }
        };
        prefetch("cuMemPrefetchBatchAsync", (0..count).map(range), stream)
    }
}

twin! { cuMemDiscardBatchAsync_ptsz =
    /// Discards ranges of managed memory: what they hold is undefined from then on, for which what they hold is as good as
    /// anything.
    ///
    /// # Safety
    /// The arrays have `count` items.
    pub unsafe extern "C" fn cuMemDiscardBatchAsync(
        addresses: *const CUdeviceptr,
        sizes: *const usize,
        count: usize,
        flags: u64,
        stream: CUstream,
    ) -> Status {
        beside_stream("cuMemDiscardBatchAsync", stream, |gpu, _| {
            not_null(addresses)?;
            not_null(sizes)?;
            if count == 0 || flags != 0 {
                return Err(Status::InvalidValue);
            }
            (0..count).try_for_each(|at| {
                // SAFETY: the caller's promise, for both.
                let (address, bytes) =
                    unsafe { (addresses.add(at).read_unaligned(), sizes.add(at).read_unaligned()) };
                check(gpu, address, bytes)
            })
        })
    }
}

twin! { cuMemDiscardAndPrefetchBatchAsync_ptsz =
    /// Discards ranges of managed memory, and prefetches them: as prefetching alone.
    ///
    /// # Safety
    /// As [`cuMemPrefetchBatchAsync`].
    #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
    pub unsafe extern "C" fn cuMemDiscardAndPrefetchBatchAsync(
        addresses: *const CUdeviceptr,
        sizes: *const usize,
        count: usize,
        locations: *const CUmemLocation,
        starts: *const usize,
        locations_count: usize,
        flags: u64,
        stream: CUstream,
    ) -> Status {
        // SAFETY: the same contract.
        unsafe {
            cuMemPrefetchBatchAsync(addresses, sizes, count, locations, starts, locations_count, flags, stream)
        }
    }
}

/// Writes one attribute of a range: what holds for all of it, else that nothing does.
///
/// # Safety
/// `place` is null or points to `bytes` bytes.
unsafe fn tell(parts: &[Advice], place: *mut c_void, bytes: usize, attribute: c_uint) -> CallResult {
    not_null(place)?;
    fn same<T: PartialEq>(parts: &[Advice], of: impl Fn(&Advice) -> Option<T>) -> Option<T> {
        let first = of(parts.first()?)?;
        parts.iter().all(|part| of(part).as_ref() == Some(&first)).then_some(first)
    }
    let preferred = same(parts, |advice| advice.preferred);
    let prefetched = same(parts, |advice| advice.prefetched);
    let number = match attribute {
        1 => c_int::from(parts.iter().all(|advice| advice.read_mostly)),
        2 => Home::number(preferred),
        3 => {
            let by = [
                (Home::Device, parts.iter().all(|a| a.by_device)),
                (Home::Host, parts.iter().all(|a| a.by_host)),
            ];
            let mut users =
                by.into_iter().filter(|(_, uses)| *uses).map(|(home, _)| Home::number(Some(home)));
            if bytes == 0 || !bytes.is_multiple_of(4) {
                return Err(Status::InvalidValue);
            }
            for index in 0..bytes / 4 {
                // SAFETY: the caller's promise.
                unsafe { write(place.cast::<c_int>().add(index), users.next().unwrap_or(NOWHERE)) }?;
            }
            return Ok(());
        }
        4 => Home::number(prefetched),
        // The enumeration has the size of an int.
        5 => Home::location(preferred).0 as c_int,
        6 => Home::location(preferred).1,
        7 => Home::location(prefetched).0 as c_int,
        8 => Home::location(prefetched).1,
        _ => return Err(Status::InvalidValue),
    };
    if bytes != 4 {
        return Err(Status::InvalidValue);
    }
    // SAFETY: the caller's promise.
    unsafe { write(place.cast::<c_int>(), number) }
}

/// What was said about a range of managed memory.
///
/// # Safety
/// `place` is null or points to `bytes` bytes.
pub unsafe extern "C" fn cuMemRangeGetAttribute(
    place: *mut c_void,
    bytes: usize,
    attribute: c_uint,
    address: CUdeviceptr,
    count: usize,
) -> Status {
    with_context("cuMemRangeGetAttribute", |gpu, _| {
        check(gpu, address, count)?;
        // SAFETY: the caller's promise.
        unsafe { tell(&gpu.held.advice.parts(address, count as u64), place, bytes, attribute) }
    })
}

/// Several things that were said about a range of managed memory.
///
/// # Safety
/// The arrays have `attributes_count` items, the places as many bytes as their sizes say.
pub unsafe extern "C" fn cuMemRangeGetAttributes(
    places: *const *mut c_void,
    sizes: *const usize,
    attributes: *const c_uint,
    attributes_count: usize,
    address: CUdeviceptr,
    count: usize,
) -> Status {
    with_context("cuMemRangeGetAttributes", |gpu, _| {
        not_null(places)?;
        not_null(sizes)?;
        not_null(attributes)?;
        check(gpu, address, count)?;
        let parts = gpu.held.advice.parts(address, count as u64);
        for index in 0..attributes_count {
            // SAFETY: the caller's promise, for all of them.
            unsafe {
                let (place, bytes) = (places.add(index).read_unaligned(), sizes.add(index).read_unaligned());
                tell(&parts, place, bytes, attributes.add(index).read_unaligned())?;
            }
        }
        Ok(())
    })
}
