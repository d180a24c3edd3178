//! Whether an access races with what the metadata says: preliminary checks (table III) and conditions (table IV).

use super::locks;
use super::metadata::{BLK_SHARED, DEV_SHARED, DEVICE_SCOPE, IS_ATOM, STRONG, ScordEntry, Written};

/// The access at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Who, as the entry will name it; of the flags `Diverged` alone.
    pub who: ScordEntry,
    /// It writes.
    pub writes: bool,
    /// It is an atomic.
    pub atomic: bool,
    /// An atomic of the device, else of the block.
    pub device_scope: bool,
    /// It is strong.
    pub strong: bool,
    /// Entries have room for the instruction of the last modification.
    pub keeps_both: bool,
}

/// What has happened since the access that an entry tells of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SinceAccess {
    /// A device fence of its warp, or of its block behind a barrier behind it.
    pub dev: bool,
    /// A block fence of its warp.
    pub blk: bool,
    /// A barrier of its block.
    pub barrier: bool,
    /// A barrier of the cluster that both blocks are in.
    pub cluster: bool,
}

/// What table IV calls a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RaceCondition {
    /// (a) Missing block fence.
    BlockFence,
    /// (b) Missing device fence.
    DeviceFence,
    /// (c) Not strong access.
    NotStrong,
    /// (d) Scoped atomic.
    AtomicScope,
    /// (e) Missing common lock on load.
    LockOnLoad,
    /// (f) Missing common lock on store.
    LockOnStore,
}

/// What comes of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScordVerdict {
    /// Table III (a): nobody has accessed it.
    First,
    /// Table III (b).
    ProgramOrder,
    /// Table III (c), or a barrier of the cluster.
    Barrier,
    /// Both are atomics, and scopes suffice.
    Atomics,
    /// No condition of table IV holds.
    Ordered,
    /// One does.
    Race(RaceCondition),
}

/// Whether the entry's access and this one are in program order. Lanes of one warp are, but for those that are not
/// together (section VI): one of the two was made without the rest of the warp, and lanes have not come together since.
#[inline]
pub fn is_own(md: &ScordEntry, now: &Now) -> bool {
    let who = &now.who;
    let together = md.thread == who.thread
        || md.epoch != who.epoch
        || (md.flags | who.flags) & super::metadata::DIVERGED == 0;
    md.block == who.block && md.warp == who.warp && together
}

/// All checks. Several conditions may hold at once: scopes of atomics come first, then fences, locks, and strength last.
#[inline]
pub fn check(md: &ScordEntry, now: &Now, since: SinceAccess) -> ScordVerdict {
    // An entry of the cache that tells of another word tells nothing of this one (section IV-B).
    if md.is_initial() || md.tag != now.who.tag {
        return ScordVerdict::First;
    }
    let same_block = md.block == now.who.block;
    // Before program order: what was ordered for the whole block has to be noted as such.
    if since.cluster || same_block && since.barrier && !md.has(DEV_SHARED) {
        return ScordVerdict::Barrier;
    }
    let own = is_own(md, now);
    if own && !md.has(BLK_SHARED | DEV_SHARED) {
        return ScordVerdict::ProgramOrder;
    }
    let written = md.written();
    if md.has(IS_ATOM) {
        // The paper asks for the first one's scope alone. The second one's may be too narrow, too, unless a fence stands between.
        let wide = md.has(DEVICE_SCOPE) && (now.device_scope || !now.atomic || since.dev);
        if !same_block && !wide && (now.writes || written != Written::No) {
            return ScordVerdict::Race(RaceCondition::AtomicScope);
        }
        if now.atomic {
            return ScordVerdict::Atomics;
        }
    }
    match fences_and_locks(md, now, since, own) {
        Some(condition) => ScordVerdict::Race(condition),
        None => ScordVerdict::Ordered,
    }
}

fn fences_and_locks(md: &ScordEntry, now: &Now, since: SinceAccess, own: bool) -> Option<RaceCondition> {
    let same_block = md.block == now.who.block;
    let written = md.written();
    if !own && same_block {
        let unordered = now.writes || written == Written::Last;
        if unordered && !since.blk && !since.dev {
            return Some(RaceCondition::BlockFence);
        }
    }
    if !same_block {
        let unordered = now.writes || matches!(written, Written::Last | Written::InBlock);
        if unordered && !since.dev {
            return Some(RaceCondition::DeviceFence);
        }
    }
    let read_after_write = match written {
        Written::No => false,
        Written::InBlock => !same_block,
        Written::Last | Written::ByFence => true,
    };
    if !now.writes && !read_after_write {
        return None;
    }
    let locked = (md.bloom | now.who.bloom) != 0;
    if locked && !now.atomic && !locks::common(md.bloom, now.who.bloom) {
        return Some(if now.writes { RaceCondition::LockOnStore } else { RaceCondition::LockOnLoad });
    }
    let strong = md.has(STRONG) && now.strong;
    (!own && !strong).then_some(RaceCondition::NotStrong)
}
