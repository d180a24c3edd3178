//! The headers of device code: this crate's numbers for it, so that they stand in one place.

mod looking;
mod text;

use std::mem::offset_of;

use crate::constants::{CHUNK, STRONG_CALLS, choice, cta, entry, event, hash, pending};
use crate::logging::{LogState, control, prepared, queue, word};
use text::Text;

use crate::{BufferSpace, HandlerModel, LaunchState, SiteWord, flags};

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
    define("MODEL_BUGAROO", HandlerModel::Bugaroo as u64);
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

pub use looking::{hirace, scord};

#[cfg(test)]
mod tests;
