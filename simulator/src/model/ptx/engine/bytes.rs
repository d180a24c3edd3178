//! Addresses, bytes and qualifiers of the engine, as the machine wants them.

use bugaroo_ptx::types::Semantics;
use bugaroo_semantics::effect::{acquires, releases};

use super::super::{GranuleSpan, Location, MemorySpace, PlainMemory, Strength, Value, stepped};
use crate::address::{SHARED_WINDOW, Window, window};
use crate::exec::lanes as each;
use crate::model::notes::Notes;
use crate::model::targets::Targets;
use crate::model::{At, World, is_elsewhere};

/// Bytes that are accessed at once.
pub(super) const WIDEST: u32 = 16;

/// Memory, as the machine asks for it.
pub(super) struct Seen<'a, 'm> {
    pub world: &'a mut World<'m>,
}

impl Seen<'_, '_> {
    /// Whether what the machine would read is what memory holds.
    pub fn holds_all(&self) -> bool {
        self.world.held.is_none()
    }

    /// Whether that is so, and nobody looks on.
    pub fn is_memory_itself(&self) -> bool {
        self.holds_all() && self.world.notes.is_none()
    }
}

/// The generic address of a location, for a thread of the block whose it is.
pub(super) fn address(location: Location) -> u64 {
    match location.space {
        MemorySpace::Global => location.offset,
        // Of a lane that does not access, it may lie before the first byte.
        MemorySpace::Shared => SHARED_WINDOW.wrapping_add(location.offset),
    }
}

impl PlainMemory for Seen<'_, '_> {
    fn read(&mut self, location: Location) -> u32 {
        let (block, address) = (location.block, address(location));
        match self.world.read(block, address, 4) {
            Some(value) => value as u32,
            // At the end of an allocation there may be less.
            None => (0..4).fold(0, |value, byte| {
                let read = self.world.read(block, address + byte, 1).unwrap_or(0);
                value | (read as u32) << (8 * byte)
            }),
        }
    }

    fn read_each(&mut self, lanes: u32, (first, step): (Location, u64), values: &mut [u32; 32]) {
        let targets = Targets::stepped(address(first), step);
        let read = self.is_memory_itself() && self.world.read_each(first.block, lanes, &targets, values);
        if !read {
            each(lanes).for_each(|lane| values[lane] = self.read(stepped(first, step, lane)));
        }
    }

    fn write_each(&mut self, lanes: u32, (first, step): (Location, u64), values: &[u32; 32]) {
        let targets = Targets::stepped(address(first), step);
        let written = self.is_memory_itself() && self.world.write_each(first.block, lanes, &targets, values);
        if !written {
            each(lanes).for_each(|lane| self.write(stepped(first, step, lane), values[lane], u32::MAX));
        }
    }

    fn notes(&mut self) -> Option<&mut Notes> {
        self.world.notes.as_deref_mut()
    }

    fn write(&mut self, location: Location, value: u32, mask: u32) {
        let (block, address) = (location.block, address(location));
        match mask {
            u32::MAX => self.world.write(block, address, 4, value.into()),
            mask => {
                for byte in (0..4).filter(|byte| mask >> (8 * byte) & 0xff != 0) {
                    self.world.write(block, address + byte, 1, (value >> (8 * byte) & 0xff).into());
                }
            }
        }
    }
}

/// Strength, acquire, release.
pub(crate) fn order(semantics: Semantics) -> (Strength, bool, bool) {
    (Strength::of(semantics), acquires(semantics), releases(semantics))
}

/// Where an address is: in no memory that others see, in memory of the machine, or elsewhere in the cluster.
pub(super) enum Where {
    Private,
    /// The location of its first byte's granule, and which byte of it.
    Here(Location, u32),
    Elsewhere,
}

pub(super) fn find(at: &At, address: u64) -> Where {
    let byte = (address & 3) as u32;
    match window(address) {
        Window::Global => Where::Here(Location::global(address), byte),
        Window::Shared if is_elsewhere(address) => Where::Elsewhere,
        Window::Shared => Where::Here(Location::shared(at.cta, address - SHARED_WINDOW), byte),
        Window::Local | Window::Param => Where::Private,
    }
}

/// The parts of an access of so many bytes, each one access of the machine: offset and span.
pub(super) fn parts(first: Location, byte: u32, bytes: u32) -> impl Iterator<Item = (u32, GranuleSpan)> {
    let size = bytes.min(WIDEST);
    (0..bytes / size)
        .map(move |part| (part * size, GranuleSpan::new(first.plus(u64::from(part * size / 4)), byte, size)))
}

/// A span's bytes as a number, and back.
pub(super) fn packed(span: GranuleSpan, value: Value) -> u128 {
    let whole = value.iter().rev().fold(0, |whole, word| whole << 32 | u128::from(*word));
    whole >> span.mask.trailing_zeros()
}

pub(super) fn unpacked(span: GranuleSpan, whole: u128) -> Value {
    let whole = whole << span.mask.trailing_zeros();
    [0, 32, 64, 96].map(|shift| (whole >> shift) as u32)
}
