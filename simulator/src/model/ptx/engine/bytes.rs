//! Addresses, bytes and qualifiers of the engine, as the machine wants them.

use bugaroo_ptx::types::{Scope as IsaScope, Semantics};

use super::super::{Plain, Scope, Span, Strength, Value};
use crate::address::{SHARED_WINDOW, Window, window};
use crate::model::{At, World, is_elsewhere};

/// Granules of shared memory: this bit, the block's number from bit 32, and the offset.
const SHARED: u64 = 1 << 63;
/// Bits of a block's number that tell granules apart.
const BLOCKS: u64 = (1 << 30) - 1;
/// Bytes that are accessed at once.
pub(super) const WIDEST: u32 = 16;

/// Memory, as a CTA sees it.
pub(super) struct Seen<'a, 'm> {
    pub cta: u32,
    pub world: &'a mut World<'m>,
}

impl Seen<'_, '_> {
    pub fn address(granule: u64) -> u64 {
        if granule & SHARED != 0 { SHARED_WINDOW + (granule & 0xffff_ffff) } else { granule }
    }
}

impl Plain for Seen<'_, '_> {
    fn read(&mut self, granule: u64) -> u32 {
        let address = Self::address(granule);
        match self.world.read(self.cta, address, 4) {
            Some(value) => value as u32,
            // At the end of an allocation there may be less.
            None => (0..4).fold(0, |value, byte| {
                let read = self.world.read(self.cta, address + byte, 1).unwrap_or(0);
                value | (read as u32) << (8 * byte)
            }),
        }
    }

    fn write(&mut self, granule: u64, value: u32, mask: u32) {
        let address = Self::address(granule);
        match mask {
            u32::MAX => self.world.write(self.cta, address, 4, value.into()),
            mask => {
                for byte in (0..4).filter(|byte| mask >> (8 * byte) & 0xff != 0) {
                    self.world.write(self.cta, address + byte, 1, (value >> (8 * byte) & 0xff).into());
                }
            }
        }
    }
}

pub(super) fn scope(scope: IsaScope) -> Scope {
    match scope {
        IsaScope::Cta => Scope::Cta,
        IsaScope::Cluster | IsaScope::Gpu => Scope::Gpu,
        IsaScope::Sys => Scope::Sys,
    }
}

/// Strength, acquire, release.
pub(super) fn order(semantics: Semantics) -> (Strength, bool, bool) {
    match semantics {
        Semantics::Weak => (Strength::Weak, false, false),
        Semantics::Volatile | Semantics::Mmio => (Strength::Strong(Scope::Sys), false, false),
        Semantics::Relaxed(reach) => (Strength::Strong(scope(reach)), false, false),
        Semantics::Acquire(reach) => (Strength::Strong(scope(reach)), true, false),
        Semantics::Release(reach) => (Strength::Strong(scope(reach)), false, true),
        Semantics::AcqRel(reach) => (Strength::Strong(scope(reach)), true, true),
    }
}

/// Where an address is: in no memory that others see, in memory of the machine, or elsewhere in the cluster.
pub(super) enum Where {
    Private,
    Granule(u64, usize),
    Elsewhere,
}

pub(super) fn find(at: &At, address: u64) -> Where {
    match window(address) {
        Window::Global => Where::Granule(address, 0),
        Window::Shared if is_elsewhere(address) => Where::Elsewhere,
        Window::Shared => {
            let offset = address - SHARED_WINDOW;
            Where::Granule(SHARED | (at.block & BLOCKS) << 32 | offset, 1)
        }
        Window::Local | Window::Param => Where::Private,
    }
}

/// The parts of an access of so many bytes, each one access of the machine: offset and span.
pub(super) fn parts(address: u64, bytes: u32) -> impl Iterator<Item = (u32, Span)> {
    let size = bytes.min(WIDEST);
    (0..bytes / size).map(move |part| (part * size, Span::new(address + u64::from(part * size), size)))
}

/// A span's bytes as a number, and back.
pub(super) fn packed(span: Span, value: Value) -> u128 {
    let whole = value.iter().rev().fold(0, |whole, word| whole << 32 | u128::from(*word));
    whole >> span.mask.trailing_zeros()
}

pub(super) fn unpacked(span: Span, whole: u128) -> Value {
    let whole = whole << span.mask.trailing_zeros();
    [0, 32, 64, 96].map(|shift| (whole >> shift) as u32)
}
