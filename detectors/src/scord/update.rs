//! What the metadata of a piece of memory says after an access (section IV-A).

use super::check::{Now, ScordVerdict, SinceAccess, is_own};
use super::metadata::{
    BLK_SHARED, DEV_SHARED, DEVICE_SCOPE, IS_ATOM, MODIFIED, ORDERED, STRONG, ScordEntry, Written,
};

/// No instruction: as many ones as the field has.
const NOBODY: u32 = u32::MAX;

/// The flags that say it.
fn flags_of(written: Written) -> u8 {
    match written {
        Written::No => 0,
        Written::Last => MODIFIED,
        Written::InBlock => MODIFIED | ORDERED,
        Written::ByFence => ORDERED,
    }
}

/// What an entry is after an access that was checked.
#[inline]
pub fn update(md: &ScordEntry, now: &Now, since: SinceAccess, verdict: ScordVerdict) -> ScordEntry {
    let mut new = now.who;
    new.wrote = if now.writes { now.who.site } else { NOBODY };
    if now.strong {
        new.flags |= STRONG;
    }
    if now.atomic {
        new.flags |= if now.device_scope { IS_ATOM | DEVICE_SCOPE } else { IS_ATOM };
    }
    match verdict {
        // One race does not breed others.
        ScordVerdict::First | ScordVerdict::Race(_) => {
            new.flags |= flags_of(if now.writes { Written::Last } else { Written::No });
        }
        ScordVerdict::Barrier => {
            let written = match md.written() {
                _ if now.writes => Written::Last,
                Written::No => Written::No,
                // Behind a barrier and a fence of the device, or a barrier of more than the block, it is ordered for all.
                _ if since.dev || since.cluster => Written::No,
                _ => Written::InBlock,
            };
            new.flags |= flags_of(written);
            if !now.writes && written != Written::No {
                new.wrote = md.wrote;
            }
        }
        ScordVerdict::ProgramOrder | ScordVerdict::Atomics | ScordVerdict::Ordered => {
            if !md.has(STRONG) {
                new.flags &= !STRONG;
            }
            if now.writes {
                new.flags |= MODIFIED;
            } else {
                keep(&mut new, md, now, since);
            }
        }
    }
    new
}

/// A read in order leaves what there was.
fn keep(new: &mut ScordEntry, md: &ScordEntry, now: &Now, since: SinceAccess) {
    let own = is_own(md, now);
    let same_block = md.block == now.who.block;
    let written = match md.written() {
        Written::No => Written::No,
        Written::Last if since.dev && own => Written::ByFence,
        Written::Last if since.dev => Written::No,
        Written::Last if since.blk && same_block => Written::InBlock,
        Written::Last => Written::Last,
        Written::InBlock if since.dev => Written::No,
        Written::InBlock if same_block => Written::InBlock,
        Written::InBlock => Written::Last,
        Written::ByFence if own => Written::ByFence,
        Written::ByFence => Written::No,
    };
    // `DevShared` says all that `BlkShared` does; all three flags at once mean something else.
    let shared = if md.has(DEV_SHARED) || !same_block {
        DEV_SHARED
    } else if md.has(BLK_SHARED) || !own {
        BLK_SHARED
    } else {
        0
    };
    new.flags |= flags_of(written) | shared;
    if written == Written::No {
        return;
    }
    new.wrote = md.wrote;
    if own && !now.keeps_both {
        // Who is to be named is the write.
        new.site = md.site;
    }
}
