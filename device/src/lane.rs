//! What work and the streams that it is in are called, by all that put it in order.

/// Name of a piece of work, by order of submission.
pub type Ticket = u64;

/// A stream, as far as order goes: handles of the default streams stand for many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// The legacy default stream of a context.
    Legacy(usize),
    /// A thread's default stream in a context.
    PerThread(usize, u64),
    /// One that the program made.
    Made(usize),
}
