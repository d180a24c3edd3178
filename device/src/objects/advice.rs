//! What the program said about managed memory: where it would like each range to lie.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint};

use bugaroo_cuda_abi::{CUdevice, CUmemLocation, LOCATION_DEVICE, LOCATION_HOST};

use crate::error::{CallResult, Status};
use crate::objects::primary::check_device;

/// `CU_DEVICE_CPU`, the host where a device's number is asked for.
const CPU: c_int = -1;
/// `CU_DEVICE_INVALID`, nowhere.
pub const NOWHERE: c_int = -2;

/// Where memory is, or should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// On the device.
    Device,
    /// On the host.
    Host,
}

impl Home {
    /// The home that a location names.
    ///
    /// # Errors
    /// `InvalidValue` for what is no location, `InvalidDevice` for a device that is not there.
    pub fn of(location: CUmemLocation) -> CallResult<Home> {
        match location.kind {
            LOCATION_DEVICE => check_device(location.id).map(|()| Home::Device),
            LOCATION_HOST..=4 => Ok(Home::Host),
            _ => Err(Status::InvalidValue),
        }
    }

    /// The home that a device's number names; -1 is the host.
    ///
    /// # Errors
    /// `InvalidDevice` when there is no such device.
    pub fn of_device(device: CUdevice) -> CallResult<Home> {
        if device == CPU { Ok(Home::Host) } else { check_device(device).map(|()| Home::Device) }
    }

    /// The number of a home, as a device's number is told; nowhere is [`NOWHERE`].
    pub fn number(home: Option<Home>) -> c_int {
        home.map_or(NOWHERE, |home| if home == Home::Device { 0 } else { CPU })
    }

    /// `CUmemLocationType` and the number that goes with it.
    pub fn location(home: Option<Home>) -> (c_uint, c_int) {
        match home {
            None => (0, 0),
            Some(Home::Device) => (LOCATION_DEVICE, 0),
            Some(Home::Host) => (LOCATION_HOST, 0),
        }
    }
}

/// What was said about a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// It is mostly read.
    pub read_mostly: bool,
    /// Where it should lie.
    pub preferred: Option<Home>,
    /// The device will access it.
    pub by_device: bool,
    /// The host will access it.
    pub by_host: bool,
    /// Where it was last prefetched to.
    pub prefetched: Option<Home>,
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

    /// Changes what was said about a range of `bytes` bytes.
    pub fn change(&mut self, start: u64, bytes: u64, change: impl Fn(&mut Advice)) {
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
    pub fn parts(&self, start: u64, bytes: u64) -> Vec<Advice> {
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
