//! The headers of kits that look for races on the device.

use std::fmt::Write;
use std::mem::offset_of;

use super::text::Text;
use crate::constants::hash;

/// What they have in common.
fn shared(text: &mut Text) {
    use crate::looking::{FIRST_SLOT, block, control, page, race, watched};

    for (name, value) in [
        ("CONTROL_REFUSED", control::REFUSED as u64),
        ("CONTROL_LOST", control::LOST as u64),
        ("CONTROL_PARTIAL", control::PARTIAL as u64),
        ("CONTROL_UNITS", control::UNITS as u64),
        ("CONTROL_RACES", control::RACES as u64),
        ("BLOCK_TAKEN", block::TAKEN as u64),
        ("BLOCK_THREADS", block::THREADS as u64),
        ("BLOCK_ACCESSES", block::ACCESSES as u64),
        ("BLOCK_BARRIERS", block::BARRIERS as u64),
        ("BARRIER_COUNT", block::BARRIER_COUNT.into()),
        ("FIRST_SLOT", FIRST_SLOT.into()),
        ("PAGE_SHIFT", page::SHIFT.into()),
        ("ROOM_AT", page::ROOM_AT.into()),
        ("BUSY", page::BUSY),
        ("UNIT_AT", page::UNIT_AT.into()),
        ("UNIT_BITS", page::UNIT_BITS.into()),
        ("OWNER_AT", page::OWNER_AT.into()),
        ("PAGE_PROBES", page::PROBES.into()),
        ("RACE_KEY", race::KEY as u64),
        ("RACE_COUNT", race::COUNT as u64),
        ("RACE_NUMBER", race::NUMBER as u64),
        ("RACE_OLD", race::OLD as u64),
        ("RACE_ADDRESS", race::ADDRESS as u64),
        ("RACE_PLACE", race::PLACE as u64),
        ("RACE_PROBES", race::PROBES.into()),
        ("WATCHED_GLOBAL", watched::GLOBAL as u64),
        ("WATCHED_SHARED", watched::SHARED as u64),
        ("WATCHED_BLOCKS", watched::BLOCKS as u64),
        ("WATCHED_WARPS", watched::WARPS as u64),
        ("WATCHED_ONE_BLOCK_IN", watched::ONE_BLOCK_IN as u64),
        ("WATCHED_SEED", watched::SEED as u64),
        ("WATCHED_RANGES", watched::RANGES as u64),
        ("WATCHED_RANGE_BYTES", watched::RANGE_BYTES),
        ("MIX_1", hash::MIX_1),
        ("MIX_2", hash::MIX_2),
        ("GOLDEN", hash::GOLDEN),
    ] {
        text.define(name, value);
    }
}

/// The text of `hirace_layout.h`, for `hirace.cu`.
pub fn hirace() -> String {
    use crate::hirace::{HiraceState, block, control, page, race, what};
    use bugaroo_semantics::history::table::{HistoryMachine, INPUT_BITS, PLACES};
    use bugaroo_semantics::history::word;

    let mut text = Text::new();
    shared(&mut text);
    for (name, value) in [
        ("HIRACE_BYTES", HiraceState::BYTES as u64),
        ("HIRACE_OFFSET_control", offset_of!(HiraceState, control) as u64),
        ("HIRACE_OFFSET_slots", offset_of!(HiraceState, slots) as u64),
        ("HIRACE_OFFSET_blocks", offset_of!(HiraceState, blocks) as u64),
        ("HIRACE_OFFSET_keys", offset_of!(HiraceState, keys) as u64),
        ("HIRACE_OFFSET_pages", offset_of!(HiraceState, pages) as u64),
        ("HIRACE_OFFSET_shared", offset_of!(HiraceState, shared) as u64),
        ("HIRACE_OFFSET_words", offset_of!(HiraceState, words) as u64),
        ("HIRACE_OFFSET_races", offset_of!(HiraceState, races) as u64),
        ("HIRACE_OFFSET_units", offset_of!(HiraceState, units) as u64),
        ("HIRACE_OFFSET_global_from", offset_of!(HiraceState, global_from) as u64),
        ("HIRACE_OFFSET_block_bytes", offset_of!(HiraceState, block_bytes) as u64),
        ("HIRACE_OFFSET_watched", offset_of!(HiraceState, watched) as u64),
        ("HIRACE_OFFSET_page_mask", offset_of!(HiraceState, page_mask) as u64),
        ("HIRACE_OFFSET_race_mask", offset_of!(HiraceState, race_mask) as u64),
        ("HIRACE_OFFSET_ctas", offset_of!(HiraceState, ctas) as u64),
        ("HIRACE_OFFSET_shared_pages", offset_of!(HiraceState, shared_pages) as u64),
        ("HIRACE_OFFSET_thread", offset_of!(HiraceState, thread) as u64),
        ("HIRACE_OFFSET_block", offset_of!(HiraceState, block) as u64),
        ("HIRACE_OFFSET_warp_clock", offset_of!(HiraceState, warp_clock) as u64),
        ("HIRACE_OFFSET_block_clock", offset_of!(HiraceState, block_clock) as u64),
        ("HIRACE_OFFSET_site", offset_of!(HiraceState, site) as u64),
        ("HIRACE_OFFSET_lockstep", offset_of!(HiraceState, lockstep) as u64),
        ("CONTROL_OVER", control::OVER as u64),
        ("BLOCK_LATEST", block::LATEST as u64),
        ("BLOCK_WARPS", block::WARPS as u64),
        ("BLOCK_ALIVE", block::ALIVE as u64),
        ("BLOCK_THREAD", block::THREAD as u64),
        ("LARGEST", page::LARGEST.into()),
        ("UNIT", page::UNIT),
        ("RACE_NEW", race::NEW as u64),
        ("RACE_SHARED", race::SHARED as u64),
        ("RACE_BYTES", race::BYTES),
        ("WHAT_SIZE_AT", what::SIZE_AT.into()),
        ("WHAT_ELEMENTS_AT", what::ELEMENTS_AT.into()),
        ("WHAT_ACTION_AT", what::ACTION_AT.into()),
        ("WHAT_KEPT_AT", what::KEPT_AT.into()),
        ("STATE", word::STATE),
        ("ACTION_AT", word::ACTION_AT.into()),
        ("KEPT_AT", word::KEPT_AT.into()),
        ("THREAD_AT", word::THREAD_AT.into()),
        ("LANE_BITS", word::LANE_BITS.into()),
        ("MOVED", word::MOVED.into()),
        ("INPUT_BITS", INPUT_BITS.into()),
        ("PLACES", PLACES as u64),
        ("RACE", HistoryMachine::get().race().into()),
        ("STAYS", stays()),
    ] {
        text.define(name, value);
    }
    let _ = write!(text.0, "#define BUGAROO_MACHINE");
    let rows = HistoryMachine::get().next.chunks(1 << INPUT_BITS);
    for row in rows {
        let numbers: Vec<String> = row.iter().map(u8::to_string).collect();
        let _ = write!(text.0, " \\\n    {},", numbers.join(","));
    }
    text.0.push('\n');
    text.0
}

/// States, a bit each, in which it does not matter which of the threads has accessed last, as long as the state stays: those of
/// accesses by several threads that nothing orders, and that of a race.
fn stays() -> u64 {
    use bugaroo_semantics::history::Apart;
    use bugaroo_semantics::history::table::{HistoryMachine, UNTOUCHED};

    let histories = HistoryMachine::get().histories.iter().zip(0..).skip(usize::from(UNTOUCHED) + 1);
    histories
        .filter(|(history, _)| history.is_none_or(|history| history.spread != Apart::Thread))
        .fold(0, |states, (_, state)| states | 1 << state)
}

/// The text of `scord_layout.h`, for `scord.cu`.
pub fn scord() -> String {
    use crate::scord::{
        ScordState, barrier, block, condition, control, file, flag, how, locks, page, place, race, raced,
        since, summary, what,
    };

    let mut text = Text::new();
    shared(&mut text);
    for (name, value) in [
        ("SCORD_BYTES", ScordState::BYTES as u64),
        ("SCORD_OFFSET_control", offset_of!(ScordState, control) as u64),
        ("SCORD_OFFSET_slots", offset_of!(ScordState, slots) as u64),
        ("SCORD_OFFSET_blocks", offset_of!(ScordState, blocks) as u64),
        ("SCORD_OFFSET_keys", offset_of!(ScordState, keys) as u64),
        ("SCORD_OFFSET_pages", offset_of!(ScordState, pages) as u64),
        ("SCORD_OFFSET_words", offset_of!(ScordState, words) as u64),
        ("SCORD_OFFSET_races", offset_of!(ScordState, races) as u64),
        ("SCORD_OFFSET_counts", offset_of!(ScordState, counts) as u64),
        ("SCORD_OFFSET_file", offset_of!(ScordState, file) as u64),
        ("SCORD_OFFSET_places", offset_of!(ScordState, places) as u64),
        ("SCORD_OFFSET_units", offset_of!(ScordState, units) as u64),
        ("SCORD_OFFSET_global_from", offset_of!(ScordState, global_from) as u64),
        ("SCORD_OFFSET_moved", offset_of!(ScordState, moved) as u64),
        ("SCORD_OFFSET_watched", offset_of!(ScordState, watched) as u64),
        ("SCORD_OFFSET_page_mask", offset_of!(ScordState, page_mask) as u64),
        ("SCORD_OFFSET_race_mask", offset_of!(ScordState, race_mask) as u64),
        ("SCORD_OFFSET_ctas", offset_of!(ScordState, ctas) as u64),
        ("SCORD_OFFSET_warps", offset_of!(ScordState, warps) as u64),
        ("SCORD_OFFSET_block_bytes", offset_of!(ScordState, block_bytes) as u64),
        ("SCORD_OFFSET_locks", offset_of!(ScordState, locks) as u64),
        ("SCORD_OFFSET_bloom", offset_of!(ScordState, bloom) as u64),
        ("SCORD_OFFSET_flags", offset_of!(ScordState, flags) as u64),
        ("SCORD_OFFSET_barrier", offset_of!(ScordState, barrier) as u64),
        ("SCORD_OFFSET_blk_fence", offset_of!(ScordState, blk_fence) as u64),
        ("SCORD_OFFSET_dev_fence", offset_of!(ScordState, dev_fence) as u64),
        ("SCORD_OFFSET_warp", offset_of!(ScordState, warp) as u64),
        ("SCORD_OFFSET_block", offset_of!(ScordState, block) as u64),
        ("SCORD_OFFSET_site", offset_of!(ScordState, site) as u64),
        ("SCORD_OFFSET_wrote", offset_of!(ScordState, wrote) as u64),
        ("CONTROL_WRAPPED", control::WRAPPED as u64),
        ("CONTROL_FULL", control::FULL as u64),
        ("BLOCK_LOCKS", block::LOCKS as u64),
        ("LARGEST", page::LARGEST.into()),
        ("UNIT", page::UNIT),
        ("RACE_WHAT", race::WHAT as u64),
        ("RACE_AT", race::AT as u64),
        ("RACE_BLOCK", race::BLOCK as u64),
        ("RACE_THREAD", race::THREAD as u64),
        ("RACE_BYTES", race::BYTES),
        ("RACED_CONDITION", raced::CONDITION.into()),
        ("RACED_WRITES", raced::WRITES.into()),
        ("RACED_SHIFT_AT", raced::SHIFT_AT.into()),
        ("WHAT_BYTES_AT", what::BYTES_AT.into()),
        ("WHAT_HOW_AT", what::HOW_AT.into()),
        ("WHAT_DEVICE", what::DEVICE),
        ("WHAT_RELEASE", what::RELEASE),
        ("WHAT_ACQUIRE", what::ACQUIRE),
        ("WHAT_SWAPS", what::SWAPS),
        ("WHAT_OPENS", what::OPENS),
        ("HOW_WRITES", how::WRITES.into()),
        ("HOW_ATOMIC", how::ATOMIC.into()),
        ("HOW_DEVICE", how::DEVICE.into()),
        ("HOW_STRONG", how::STRONG.into()),
        ("HOW_ALL", how::ALL.into()),
        ("SINCE_DEV", since::DEV.into()),
        ("SINCE_BLK", since::BLK.into()),
        ("SINCE_BARRIER", since::BARRIER.into()),
        ("MODIFIED", flag::MODIFIED.into()),
        ("BLK_SHARED", flag::BLK_SHARED.into()),
        ("DEV_SHARED", flag::DEV_SHARED.into()),
        ("FIRST", flag::FIRST.into()),
        ("IS_ATOM", flag::IS_ATOM.into()),
        ("DEVICE_SCOPE", flag::DEVICE_SCOPE.into()),
        ("STRONG", flag::STRONG.into()),
        ("ORDERED", flag::ORDERED.into()),
        ("CONDITION_BLOCK_FENCE", condition::BLOCK_FENCE.into()),
        ("CONDITION_DEVICE_FENCE", condition::DEVICE_FENCE.into()),
        ("CONDITION_NOT_STRONG", condition::NOT_STRONG.into()),
        ("CONDITION_ATOMIC_SCOPE", condition::ATOMIC_SCOPE.into()),
        ("CONDITION_LOCK_ON_LOAD", condition::LOCK_ON_LOAD.into()),
        ("CONDITION_LOCK_ON_STORE", condition::LOCK_ON_STORE.into()),
        ("CONDITION_MOVED", condition::MOVED.into()),
        ("PLACE_SITE", place::SITE.into()),
        ("PLACE_COVERED", place::COVERED.into()),
        ("FILE_SINCE_BLK", file::SINCE_BLK),
        ("FILE_SINCE_DEV", file::SINCE_DEV),
        ("FILE_TOUCHED", file::TOUCHED),
        ("FILE_BLK_AT", file::BLK_AT.into()),
        ("FILE_BLK_MASK", file::BLK_MASK.into()),
        ("FILE_DEV_AT", file::DEV_AT.into()),
        ("BARRIER_PHASE_AT", barrier::PHASE_AT.into()),
        ("LOCKS_BUSY", locks::BUSY as u64),
        ("LOCKS_OWNER", locks::OWNER as u64),
        ("LOCKS_SUMMARY", locks::SUMMARY as u64),
        ("LOCKS_HOLDERS", locks::HOLDERS as u64),
        ("LOCKS_PENDING", locks::PENDING as u64),
        ("LOCKS_BLOOMS", locks::BLOOMS as u64),
        ("LOCKS_TABLES", locks::TABLES as u64),
        ("LOCKS_BYTES", locks::BYTES),
        ("LOCKS_OPEN", locks::OPENS.into()),
        ("LOCKS_TAKE", locks::TAKES.into()),
        ("LOCKS_DROP", locks::DROPS.into()),
        ("LOCKS_ACTIVATE", locks::ACTIVATES.into()),
        ("LOCKS_DEVICE", locks::BY_DEVICE.into()),
        ("OWNER_BY_LANE", locks::BY_LANE.into()),
        ("TABLE_NEXT", locks::NEXT as u64),
        ("TABLE_BYTES", locks::TABLE_BYTES),
        ("LOCK_COUNT", locks::COUNT.into()),
        ("LOCK_DEVICE", locks::DEVICE),
        ("LOCK_VALID", locks::VALID),
        ("LOCK_ACTIVE", locks::ACTIVE),
        ("LOCK_ADDRESS_AT", locks::ADDRESS_AT.into()),
        ("SUMMARY_BY_LANE", summary::BY_LANE),
        ("SUMMARY_HELD", summary::HELD),
        ("SUMMARY_PENDING", summary::PENDING),
    ] {
        text.define(name, value);
    }
    text.0
}
