//! Fills of device memory with an item of one, two or four bytes.

use bugaroo_cuda_abi::CUdeviceptr;

/// A fill: `height` rows of `width` bytes, `pitch` bytes apart. Plain data, to be carried out when its turn
/// comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Where it writes.
    pub to: CUdeviceptr,
    /// What is repeated: the first `item` bytes of it.
    pub pattern: [u8; 4],
    /// Bytes of the pattern: 1, 2 or 4.
    pub item: usize,
    /// Items of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Bytes from row to row.
    pub pitch: usize,
}
