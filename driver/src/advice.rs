//! What a program says about the use of managed memory (CUDA Driver API, `cuMemAdvise`, `cuMemPrefetchAsync`). It
//! changes nothing but what `cuMemRangeGetAttribute` tells: host and device reach the memory at any time as it is.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};

use bugaroo_cuda_abi::{CUdevice, CUdeviceptr, CUmemLocation, CUstream, LOCATION_DEVICE, LOCATION_HOST};
use bugaroo_simulator::AllocationKind;

use crate::entry::{not_null, with_context, write};
use crate::error::{Outcome, Status};
use crate::primary::check_device;
use crate::state::Driver;
use crate::stream::with_stream;
use crate::submit::twin;

/// `CU_DEVICE_CPU`, the host where a device's number is asked for.
const CPU: c_int = -1;
/// `CU_DEVICE_INVALID`, nowhere.
const NOWHERE: c_int = -2;

/// Where memory is, or should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Device,
    Host,
}

impl Home {
    fn of(location: CUmemLocation) -> Outcome<Home> {
        match location.kind {
            LOCATION_DEVICE => check_device(location.id).map(|()| Home::Device),
            LOCATION_HOST..=4 => Ok(Home::Host),
            _ => Err(Status::InvalidValue),
        }
    }

    fn of_device(device: CUdevice) -> Outcome<Home> {
        if device == CPU { Ok(Home::Host) } else { check_device(device).map(|()| Home::Device) }
    }

    fn number(home: Option<Home>) -> c_int {
        home.map_or(NOWHERE, |home| if home == Home::Device { 0 } else { CPU })
    }

    /// `CUmemLocationType` and the number that goes with it.
    fn location(home: Option<Home>) -> (c_uint, c_int) {
        match home {
            None => (0, 0),
            Some(Home::Device) => (LOCATION_DEVICE, 0),
            Some(Home::Host) => (LOCATION_HOST, 0),
        }
    }
}

/// What was said about a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Advice {
    read_mostly: bool,
    preferred: Option<Home>,
    by_device: bool,
    by_host: bool,
    prefetched: Option<Home>,
}

/// Ranges that something was said about, by their first address, with the address behind them.
#[derive(Debug, Default)]
pub struct Advices(BTreeMap<u64, (u64, Advice)>);

impl Advices {
    /// Cuts a range in two where this address lies inside.
    fn cut(&mut self, at: u64) {
        if let Some((start, (end, advice))) = self.0.range_mut(..at).next_back().map(|(s, r)| (*s, *r))
            && end > at
        {
            self.0.insert(start, (at, advice));
            self.0.insert(at, (end, advice));
        }
    }

    fn change(&mut self, start: u64, bytes: u64, change: impl Fn(&mut Advice)) {
        let end = start + bytes;
        self.cut(start);
        self.cut(end);
        let mut next = start;
        while next < end {
            // Nothing reaches over the borders any more: a range starts here, or behind a gap.
            let (until, mut advice) = match self.0.get(&next) {
                Some(found) => *found,
                None => {
                    let behind = self.0.range(next..end).next().map_or(end, |(start, _)| *start);
                    (behind, Advice::default())
                }
            };
            change(&mut advice);
            self.0.insert(next, (until, advice));
            next = until;
        }
    }

    /// What holds for each part of a range.
    fn parts(&self, start: u64, bytes: u64) -> Vec<Advice> {
        let end = start + bytes;
        let before = self.0.range(..start).next_back().filter(|(_, (until, _))| *until > start);
        let mut parts = Vec::new();
        let mut next = start;
        for (from, (until, advice)) in before.into_iter().chain(self.0.range(start..end)) {
            if *from > next {
                parts.push(Advice::default());
            }
            parts.push(*advice);
            next = *until;
        }
        if next < end {
            parts.push(Advice::default());
        }
        parts
    }

    /// The memory is no more.
    pub fn forget(&mut self, start: u64, bytes: u64) {
        if !self.0.is_empty() {
            self.cut(start);
            self.cut(start + bytes);
            self.0.retain(|from, _| *from < start || *from >= start + bytes);
        }
    }
}

/// Refuses a range that is not inside one managed allocation.
fn check(driver: &Driver, address: CUdeviceptr, bytes: usize) -> Outcome {
    if bytes == 0 {
        return Err(Status::InvalidValue);
    }
    driver.check_range(address, bytes, false)?;
    if is_managed(driver, address) { Ok(()) } else { Err(Status::InvalidValue) }
}

/// Whether host and device share the memory at an address, which is the device's as much as the host's.
pub fn is_managed(driver: &Driver, address: CUdeviceptr) -> bool {
    match driver.program_allocation(address) {
        Some((_, allocation)) => allocation.kind == AllocationKind::Managed,
        // A module's variable, unless it is page-locked.
        None => {
            let block = usize::try_from(address).ok().and_then(|address| driver.host_block(address));
            block.is_none() && driver.memory.covers_host_visible(address)
        }
    }
}

fn advise(
    name: &str,
    (address, bytes): (CUdeviceptr, usize),
    advice: c_uint,
    home: impl FnOnce() -> Outcome<Home>,
) -> Status {
    with_context(name, |driver, _| {
        check(driver, address, bytes)?;
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
        driver.advice.change(address, bytes as u64, change);
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
    ranges: impl Iterator<Item = (CUdeviceptr, usize, Outcome<Home>)>,
    stream: CUstream,
) -> Status {
    with_stream(name, stream, |driver, _| {
        for (address, bytes, home) in ranges {
            check(driver, address, bytes)?;
            let home = home?;
            driver.advice.change(address, bytes as u64, |advice| advice.prefetched = Some(home));
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
            return with_stream("cuMemPrefetchBatchAsync", stream, |_, _| Err(Status::InvalidValue));
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
        with_stream("cuMemDiscardBatchAsync", stream, |driver, _| {
            not_null(addresses)?;
            not_null(sizes)?;
            if count == 0 || flags != 0 {
                return Err(Status::InvalidValue);
            }
            (0..count).try_for_each(|at| {
                // SAFETY: the caller's promise, for both.
                let (address, bytes) =
                    unsafe { (addresses.add(at).read_unaligned(), sizes.add(at).read_unaligned()) };
                check(driver, address, bytes)
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
unsafe fn tell(parts: &[Advice], place: *mut c_void, bytes: usize, attribute: c_uint) -> Outcome {
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
    with_context("cuMemRangeGetAttribute", |driver, _| {
        check(driver, address, count)?;
        // SAFETY: the caller's promise.
        unsafe { tell(&driver.advice.parts(address, count as u64), place, bytes, attribute) }
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
    with_context("cuMemRangeGetAttributes", |driver, _| {
        not_null(places)?;
        not_null(sizes)?;
        not_null(attributes)?;
        check(driver, address, count)?;
        let parts = driver.advice.parts(address, count as u64);
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
