//! The headers of device code: this crate's numbers for it, so that they stand in one place.

use std::fmt::Write;
use std::mem::offset_of;

use crate::constants::{CHUNK, STRONG_CALLS, choice, cta, entry, event, hash, pending};
use crate::logging::{LogState, control, prepared, queue, word};
use crate::{BufferSpace, LaunchState, Model, SiteWord, flags};

/// A header that grows.
struct Text(String);

impl Text {
    fn new() -> Text {
        let head = "// Generated from this crate's Rust constants (header.rs); a test compares. Do not edit.\n#pragma once\n\n";
        Text(head.to_owned())
    }

    fn define(&mut self, name: &str, value: u64) {
        let suffix = if value > u64::from(u32::MAX) { "ull" } else { "u" };
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "#define BUGAROO_{name} {value:#x}{suffix}");
    }
}

/// The text of `layout.h`, for `handlers.cu`.
pub fn store_buffers() -> String {
    let mut text = Text::new();
    let mut define = |name: &str, value: u64| text.define(name, value);
    define("LAUNCH_BYTES", LaunchState::BYTES as u64);
    for (field, offset) in [
        ("model", offset_of!(LaunchState, model)),
        ("features", offset_of!(LaunchState, features)),
        ("capacity", offset_of!(LaunchState, capacity)),
        ("coin_slots", offset_of!(LaunchState, coin_slots)),
        ("thresholds", offset_of!(LaunchState, thresholds)),
        ("key", offset_of!(LaunchState, key)),
        ("threads", offset_of!(LaunchState, threads)),
        ("pending", offset_of!(LaunchState, pending)),
        ("ctas", offset_of!(LaunchState, ctas)),
        ("taken", offset_of!(LaunchState, taken)),
        ("chunks", offset_of!(LaunchState, chunks)),
        ("pool", offset_of!(LaunchState, pool)),
        ("next_chunk", offset_of!(LaunchState, next_chunk)),
        ("chunk_rows", offset_of!(LaunchState, chunk_rows)),
        ("pool_chunks", offset_of!(LaunchState, pool_chunks)),
        ("coins", offset_of!(LaunchState, coins)),
        ("flags", offset_of!(LaunchState, flags)),
        ("delayed", offset_of!(LaunchState, delayed)),
        ("flushes", offset_of!(LaunchState, flushes)),
    ] {
        define(&format!("OFFSET_{field}"), offset as u64);
    }
    define("MODEL_BUGAROO", Model::Bugaroo as u64);
    define("SPACE_GLOBAL", BufferSpace::Global as u64);
    define("SPACE_SHARED", BufferSpace::Shared as u64);
    define("SPACE_GENERIC", BufferSpace::Generic as u64);
    define("RUN", choice::RUN);
    define("DELAYED", choice::DELAYED);
    define("RUN_AND_RESTORE", choice::RUN_AND_RESTORE);
    define("EVENT_BARRIER", event::BARRIER.into());
    define("EVENT_WARP_BARRIER", event::WARP_BARRIER.into());
    define("EVENT_EXIT", event::EXIT.into());
    define("EVENT_COLLECTIVE", event::COLLECTIVE.into());
    define("EVENT_CTA_FENCE", event::CTA_FENCE.into());
    define("OMITTED", event::OMITTED.into());
    define("FLAG_OMIT", flags::OMIT.into());
    define("FLAG_INSERT", flags::INSERT.into());
    define("FLAG_NARROW", flags::NARROW.into());
    define("SITE_WIDTH_SHIFT", SiteWord::WIDTH_SHIFT.into());
    define("SITE_SPACE_SHIFT", SiteWord::SPACE_SHIFT.into());
    define("SITE_STRONG_SHIFT", SiteWord::STRONG_SHIFT.into());
    define("SITE_DRAINS_SHIFT", SiteWord::DRAINS_SHIFT.into());
    define("SITE_ELEMENTS_SHIFT", SiteWord::ELEMENTS_SHIFT.into());
    define("SITE_ELEMENT_SHIFT", SiteWord::ELEMENT_SHIFT.into());
    define("SITE_SLOT_SHIFT", SiteWord::SLOT_SHIFT.into());
    define("COUNT_BITS", pending::COUNT_BITS.into());
    define("COUNT_MASK", pending::COUNT_MASK.into());
    define("STRONG_SHIFT", pending::STRONG_SHIFT.into());
    define("CALLS_SHIFT", pending::CALLS_SHIFT.into());
    define("COUNTS_MASK", pending::COUNTS_MASK);
    define("STRONG_CALLS", STRONG_CALLS);
    define("CHUNK", CHUNK.into());
    define("CTA_BYTES", cta::BYTES);
    define("CTA_SLOTS", cta::SLOTS.into());
    define("CTA_HOLDS", cta::HOLDS.into());
    define("CTA_CALLS", cta::CALLS.into());
    define("ADDRESS_MASK", entry::ADDRESS_MASK);
    define("WIDTH_SHIFT", entry::WIDTH_SHIFT.into());
    define("ENTRY_STRONG_SHIFT", entry::STRONG_SHIFT.into());
    define("GOLDEN", hash::GOLDEN);
    define("MIX_1", hash::MIX_1);
    define("MIX_2", hash::MIX_2);
    text.0
}

/// The text of `logging_layout.h`, for `logging.cu`.
pub fn log() -> String {
    let mut text = Text::new();
    for (name, value) in [
        ("LOG_BYTES", LogState::BYTES as u64),
        ("LOG_OFFSET_queues", offset_of!(LogState, queues) as u64),
        ("LOG_OFFSET_control", offset_of!(LogState, control) as u64),
        ("LOG_OFFSET_stride", offset_of!(LogState, stride) as u64),
        ("LOG_OFFSET_count", offset_of!(LogState, count) as u64),
        ("LOG_OFFSET_capacity", offset_of!(LogState, capacity) as u64),
        ("PREPARED_QUEUE", prepared::QUEUE as u64),
        ("PREPARED_WRITE", prepared::WRITE as u64),
        ("PREPARED_WORD", prepared::WORD as u64),
        ("PREPARED_LANES", prepared::LANES as u64),
        ("PREPARED_WARP", prepared::WARP as u64),
        ("PREPARED_BYTES", prepared::BYTES as u64),
        ("WORD_ADDRESS", word::ADDRESS),
        ("WORD_SHARED", word::SHARED),
        ("WORD_PRIVATE", word::PRIVATE),
        ("WORD_SAME", word::SAME),
        ("QUEUE_READ", queue::READ),
        ("CONTROL_WRITE", control::WRITE),
        ("CONTROL_STRIDE", control::STRIDE),
        ("GOLDEN", hash::GOLDEN),
    ] {
        text.define(name, value);
    }
    text.0
}

/// The text of `hirace_layout.h`, for `hirace.cu`.
pub fn hirace() -> String {
    use crate::hirace::{FIRST_SLOT, HiraceState, block, control, page, race, what};
    use bugaroo_semantics::history::table::{INPUT_BITS, Machine, PLACES};
    use bugaroo_semantics::history::word;

    let mut text = Text::new();
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
        ("CONTROL_REFUSED", control::REFUSED as u64),
        ("CONTROL_LOST", control::LOST as u64),
        ("CONTROL_PARTIAL", control::PARTIAL as u64),
        ("CONTROL_UNITS", control::UNITS as u64),
        ("CONTROL_RACES", control::RACES as u64),
        ("BLOCK_TAKEN", block::TAKEN as u64),
        ("BLOCK_THREADS", block::THREADS as u64),
        ("BLOCK_LATEST", block::LATEST as u64),
        ("BLOCK_ACCESSES", block::ACCESSES as u64),
        ("BLOCK_BARRIERS", block::BARRIERS as u64),
        ("BARRIER_COUNT", block::BARRIER_COUNT.into()),
        ("BLOCK_WARPS", block::WARPS as u64),
        ("BLOCK_ALIVE", block::ALIVE as u64),
        ("BLOCK_THREAD", block::THREAD as u64),
        ("FIRST_SLOT", FIRST_SLOT.into()),
        ("PAGE_SHIFT", page::SHIFT.into()),
        ("LARGEST", page::LARGEST.into()),
        ("UNIT", page::UNIT),
        ("ROOM_AT", page::ROOM_AT.into()),
        ("BUSY", page::BUSY),
        ("UNIT_AT", page::UNIT_AT.into()),
        ("UNIT_BITS", page::UNIT_BITS.into()),
        ("OWNER_AT", page::OWNER_AT.into()),
        ("PAGE_PROBES", page::PROBES.into()),
        ("RACE_KEY", race::KEY as u64),
        ("RACE_COUNT", race::COUNT as u64),
        ("RACE_OLD", race::OLD as u64),
        ("RACE_NEW", race::NEW as u64),
        ("RACE_ADDRESS", race::ADDRESS as u64),
        ("RACE_PLACE", race::PLACE as u64),
        ("RACE_SHARED", race::SHARED as u64),
        ("RACE_NUMBER", race::NUMBER as u64),
        ("RACE_BYTES", race::BYTES),
        ("RACE_PROBES", race::PROBES.into()),
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
        ("MIX_1", hash::MIX_1),
        ("MIX_2", hash::MIX_2),
        ("INPUT_BITS", INPUT_BITS.into()),
        ("PLACES", PLACES as u64),
        ("RACE", Machine::get().race().into()),
        ("STAYS", stays()),
    ] {
        text.define(name, value);
    }
    let _ = write!(text.0, "#define BUGAROO_MACHINE");
    let rows = Machine::get().next.chunks(1 << INPUT_BITS);
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
    use bugaroo_semantics::history::table::{Machine, UNTOUCHED};

    let histories = Machine::get().histories.iter().zip(0..).skip(usize::from(UNTOUCHED) + 1);
    histories
        .filter(|(history, _)| history.is_none_or(|history| history.spread != Apart::Thread))
        .fold(0, |states, (_, state)| states | 1 << state)
}

#[cfg(test)]
mod tests;
