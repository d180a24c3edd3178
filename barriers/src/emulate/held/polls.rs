//! Strong reads of a warp that come one after the other: perhaps a loop that waits for a flag ([`crate::emulate::signal`]).

/// Strong reads of a warp.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::emulate) struct Polls {
    pub times: u32,
    /// Commands of the warp behind the last one.
    pub commands: usize,
}
