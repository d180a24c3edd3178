//! The launch state: what the host writes to [`crate::LAUNCH_VARIABLE`] before each launch.

use crate::coin::{launch_key, threshold};
use crate::layout::Layout;

/// Which buffers the handlers simulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HandlerModel {
    /// Sound store buffers.
    StoreBuffer = 1,
    /// The Bugaroo paper's Algorithms 1 and 2.
    Bugaroo = 2,
}

/// What injected code has to do at all in this launch; it looks before it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features(pub u32);

impl Features {
    /// Some store may be delayed: stores, loads and atomics ask the handlers.
    pub const ROUTE: u32 = 1;
    /// Stores may answer that they are to be restored (model bugaroo).
    pub const RESTORE: u32 = 2;
    /// The flags table is there and not all zero: fences and accesses look their site up.
    pub const FLAGS: u32 = 4;
}

/// The device's view of one launch: `struct Launch` of `handlers.cu`, byte for byte.
///
/// Addresses are device addresses; zero where nothing needs them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchState {
    /// A [`HandlerModel`], or 0.
    pub model: u32,
    /// [`Features`].
    pub features: u32,
    /// Entries of each buffer.
    pub capacity: u32,
    /// Rows of coin counters.
    pub coin_slots: u32,
    /// Thresholds of the coin for global and for shared memory ([`threshold`]).
    pub thresholds: [u64; 2],
    /// [`launch_key`] of seed and launch.
    pub key: u64,
    /// Threads of the launch, the stride of the arrays.
    pub threads: u64,
    /// Address of the `u64` counts.
    pub pending: u64,
    /// Address of what CTAs hold back.
    pub ctas: u64,
    /// Address of the `u32` counts of chunks that threads have taken.
    pub taken: u64,
    /// Address of the table of chunks that threads have taken.
    pub chunks: u64,
    /// Address of the chunks.
    pub pool: u64,
    /// Address of the `u32` number of the next chunk.
    pub next_chunk: u64,
    /// Most chunks of one buffer.
    pub chunk_rows: u32,
    /// Chunks of the pool.
    pub pool_chunks: u32,
    /// Address of the `u32` coin counters.
    pub coins: u64,
    /// Address of the site flags table, [`crate::flags`].
    pub flags: u64,
    /// Address of the `u64` count of delayed stores.
    pub delayed: u64,
    /// Address of the `u64` counts of drains by length.
    pub flushes: u64,
}

impl LaunchState {
    /// Bytes of the device's struct.
    pub const BYTES: usize = size_of::<LaunchState>();

    /// A launch in which nothing is delayed, no fence is omitted and none inserted.
    pub fn off() -> LaunchState {
        LaunchState::default()
    }

    /// The state of one launch.
    ///
    /// `pw_global` and `pw_shared` are the probabilities with which stores of each space are delayed
    /// (0 for a space that is not selected). `base` is the address of the allocation that `layout`
    /// describes. `flags` is the address of the site flags table, if any flag in it is set.
    ///
    /// The layout's [`Layout::zeroed_bytes`] have to be zero when the launch starts. With both
    /// probabilities 0 and no flags the state is [`Self::off`], and the allocation is not touched; with
    /// flags alone the counts are read, so the allocation has to exist.
    pub fn new(
        model: HandlerModel,
        (pw_global, pw_shared): (f64, f64),
        (seed, launch): (u64, u64),
        layout: &Layout,
        base: u64,
        flags: Option<u64>,
    ) -> LaunchState {
        let thresholds = [threshold(pw_global), threshold(pw_shared)];
        let mut features = 0;
        if thresholds != [0, 0] {
            features |= Features::ROUTE;
            if model == HandlerModel::Bugaroo {
                features |= Features::RESTORE;
            }
        }
        if flags.is_some() {
            features |= Features::FLAGS;
        }
        if features == 0 {
            return Self::off();
        }
        LaunchState {
            model: model as u32,
            features,
            capacity: layout.capacity,
            coin_slots: layout.coin_slots,
            thresholds,
            key: launch_key(seed, launch),
            threads: layout.threads,
            pending: base + layout.pending,
            ctas: base + layout.ctas,
            taken: base + layout.taken,
            chunks: base + layout.chunks,
            pool: base + layout.pool,
            next_chunk: base + layout.next_chunk,
            chunk_rows: layout.chunk_rows,
            pool_chunks: layout.pool_chunks,
            coins: base + layout.coins,
            flags: flags.unwrap_or(0),
            delayed: base + layout.delayed,
            flushes: base + layout.flushes,
        }
    }

    /// What to write to the variable: little-endian, without padding.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let longs = [
            halves(self.model, self.features),
            halves(self.capacity, self.coin_slots),
            self.thresholds[0],
            self.thresholds[1],
            self.key,
            self.threads,
            self.pending,
            self.ctas,
            self.taken,
            self.chunks,
            self.pool,
            self.next_chunk,
            halves(self.chunk_rows, self.pool_chunks),
            self.coins,
            self.flags,
            self.delayed,
            self.flushes,
        ];
        let mut bytes = [0; Self::BYTES];
        for (field, long) in bytes.chunks_exact_mut(8).zip(longs) {
            field.copy_from_slice(&long.to_le_bytes());
        }
        bytes
    }
}

/// Two words that lie side by side, the first one lower.
fn halves(first: u32, second: u32) -> u64 {
    u64::from(first) | u64::from(second) << 32
}

#[cfg(test)]
mod tests;
