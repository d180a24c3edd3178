//! Matrices in shared memory that `wgmma` reads: which bytes a descriptor names.
//!
//! Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout", "Matrix Descriptor Format", "Strides". Memory is taken
//! in pieces of 16 bytes. A core matrix is eight of them: eight rows of a matrix whose elements along the sum lie next to each other
//! (K-major), or eight columns of the sum where those along M or N do (MN-major). With swizzling a row of 32, 64 or 128 bytes holds
//! two, four or eight pieces, whose order in the row depends on the row's address.

/// A descriptor, taken apart. Numbers are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    start: u32,
    leading: u32,
    stride: u32,
    /// By how many rows of 128 bytes the pattern of swizzling begins behind where it does by the address.
    base: u32,
    /// Pieces of a row: 1 without swizzling.
    row: u32,
}

const PIECE: u32 = 16;
/// Rows or columns of a core matrix.
const CORE: u32 = 8;

impl Descriptor {
    /// Takes a descriptor apart.
    pub fn new(bits: u64) -> Descriptor {
        let field = |at: u32| (bits >> at & 0x3fff) as u32 * PIECE;
        let row = match bits >> 62 {
            0 => 1,
            1 => 8,
            2 => 4,
            _ => 2,
        };
        Descriptor {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base: (bits >> 49 & 0b111) as u32,
            row,
        }
    }

    /// The bytes of rows (columns, of B) `from` to `to` of a matrix with 32 bytes along the sum, as ranges, ascending.
    pub fn bytes(&self, [from, to]: [u32; 2], transposed: bool) -> Vec<[u32; 2]> {
        let mut pieces = Vec::new();
        if transposed {
            // Elements of 16 bits: eight a piece, and 16 along the sum.
            for along in from / CORE..to.div_ceil(CORE) {
                for depth in 0..16 {
                    pieces.push(self.across(along, depth));
                }
            }
        } else {
            for line in from..to {
                pieces.extend([self.along(line, 0), self.along(line, 1)]);
            }
        }
        pieces.sort_unstable();
        let mut ranges: Vec<[u32; 2]> = Vec::new();
        for piece in pieces {
            match ranges.last_mut() {
                Some(last) if last[1] >= piece => last[1] = last[1].max(piece + PIECE),
                _ => ranges.push([piece, piece + PIECE]),
            }
        }
        ranges
    }

    /// K-major: one of the two pieces of a row.
    fn along(&self, line: u32, piece: u32) -> u32 {
        let core = self.start + line / CORE * self.stride;
        let step = if self.row == 1 { self.leading } else { PIECE };
        self.swizzled(core + line % CORE * self.row * PIECE + piece * step)
    }

    /// MN-major: the piece of eight elements along M or N at a depth of the sum.
    fn across(&self, along: u32, depth: u32) -> u32 {
        let inner = depth % CORE * self.row * PIECE;
        let outer = match self.row {
            1 => along * self.stride + depth / CORE * self.leading,
            row => along % row * PIECE + along / row * self.leading + depth / CORE * self.stride,
        };
        self.swizzled(self.start + inner + outer)
    }

    /// Where a piece really is.
    fn swizzled(&self, at: u32) -> u32 {
        let pattern = (at >> 7).wrapping_sub(self.base) & (self.row - 1);
        at ^ (pattern * PIECE)
    }
}

#[cfg(test)]
mod tests;
