//! What events call instructions, works, writes and copies.

/// An instruction: its number in its program, plus the first number of the program ([`super::Event::GridBegin`]). Host calls have
/// numbers of their own ([`super::Event::Work`]).
pub type SiteNumber = u32;

/// A piece of work: a grid, a copy, a fill, a host function, a point of the host program. From 1, in the order of
/// [`super::Event::Work`].
pub type WorkId = u32;

/// A store or an atomic that has written, so that reads can name it. Unique for bytes in one grid; 0: what was there before the grid
/// wrote (by the host, by other grids, or nothing).
pub type WriteId = u64;

/// An asynchronous operation of a grid, from 1.
pub type CopyId = u64;
