//! Memory that a launch only reads.
//!
//! What a launch writes is known from its kernel's text and its arguments before it runs ([`crate::load::targets`]). Every
//! other allocation is taken for one that it only reads, until a store or an atomic goes there all the same. Then it is told
//! ([`bugaroo_semantics::event::Event::UnforeseenWrite`]), and from there on the allocation is as any other.
//!
//! Of such memory
//! - who looks on need not be told of loads ([`bugaroo_semantics::Spares::unwritten`]);
//! - weak loads are *quiet*: they are no visible operations, and no memory model is asked. As nobody writes there while the launch runs,
//!   each reads the same whenever it is done, and under every model: what was there when the launch began. So no order of events is lost
//!   by not switching to another warp there. Strong loads stay what they are; a thread that waits for something does so by these.
//!
//! **When loads are not quiet.** Where others may write while the launch runs, or might since it began: another grid, a transfer,
//! a function of the host's, another process ([`super::Others`]); and in memory that the host reaches by itself ([`Region::own`]).

use crate::load::targets::Target;
use crate::memory::Region;

/// What is known of what a launch writes.
#[derive(Debug)]
pub(super) struct Unwritten {
    /// An address in each allocation that it writes to, or that right behind it. None where it may be any.
    written: Option<Vec<u64>>,
}

impl Unwritten {
    /// By the kernel's text and the launch's arguments.
    pub fn new(targets: Option<&[Target]>, params: &[u8]) -> Unwritten {
        let param = |offset: u32| {
            let bytes = params.get(offset as usize..)?.first_chunk()?;
            Some(u64::from_le_bytes(*bytes))
        };
        let address = |target: &Target| match target {
            Target::Param(offset) => param(*offset),
            Target::Variable(address) => Some(*address),
        };
        Unwritten { written: targets.and_then(|targets| targets.iter().map(address).collect()) }
    }

    /// Whether the launch writes to no byte of a region, as far as is known.
    pub fn has(&self, region: &Region) -> bool {
        // A pointer to the end of an array may be meant to go backwards.
        let within = |address: &u64| address.wrapping_sub(region.base) <= region.len;
        region.whole && self.written.as_ref().is_some_and(|written| !written.iter().any(within))
    }

    /// It writes to this region all the same.
    pub fn written(&mut self, region: &Region) {
        self.written.get_or_insert_default().push(region.base);
    }
}
