//! Tensor maps (CUDA Driver API, "Tensor Map Object Management"): 128 opaque bytes that say how a tensor lies in global
//! memory, and what a tile of it is. What is in them is ours: the driver encodes, the engine decodes.

/// Words of a map.
pub const TENSOR_MAP_WORDS: usize = 16;
/// Most dimensions of a tensor.
pub const TENSOR_RANKS: usize = 5;

/// What the first word begins with.
const MAGIC: u32 = 0x7e45_a900;

/// A tensor in global memory, and the box that a copy moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TensorMap {
    /// `CUtensorMapDataType`
    pub data_type: u8,
    /// Dimensions, 1 to 5.
    pub rank: u8,
    /// `CUtensorMapSwizzle`: none, or rows of 32, 64 or 128 bytes.
    pub swizzle: u8,
    /// Elements outside of the tensor are NaN, not zero.
    pub nan: bool,
    /// Address of the first element.
    pub address: u64,
    /// Elements in each dimension.
    pub extents: [u64; TENSOR_RANKS],
    /// Bytes from one element to the next in each dimension but the first.
    pub strides: [u64; TENSOR_RANKS - 1],
    /// Elements of the box.
    pub extent_of_box: [u16; TENSOR_RANKS],
    /// Of the box, every so many-th element is copied.
    pub steps: [u8; TENSOR_RANKS],
}

impl TensorMap {
    /// Bytes of an element; None for a type that is none, or of packed parts of bytes.
    pub fn element_bytes(data_type: u8) -> Option<u64> {
        Some(match data_type {
            0 => 1,
            1 | 6 | 9 => 2,
            2 | 3 | 7 | 10..=12 => 4,
            4 | 5 | 8 => 8,
            _ => return None,
        })
    }

    /// The map as the program holds it.
    pub fn encode(&self) -> [u64; TENSOR_MAP_WORDS] {
        let mut words = [0; TENSOR_MAP_WORDS];
        let kind = [self.data_type, self.rank, self.swizzle, u8::from(self.nan)];
        words[0] = u64::from(MAGIC) << 32 | u64::from(u32::from_le_bytes(kind));
        words[1] = self.address;
        words[2..7].copy_from_slice(&self.extents);
        words[7..11].copy_from_slice(&self.strides);
        for (at, extent) in self.extent_of_box.into_iter().enumerate() {
            words[11 + at / 4] |= u64::from(extent) << (16 * (at % 4));
        }
        for (at, step) in self.steps.into_iter().enumerate() {
            words[13] |= u64::from(step) << (8 * at);
        }
        words
    }

    /// What is in a map; None when it is none of ours.
    pub fn decode(words: &[u64; TENSOR_MAP_WORDS]) -> Option<TensorMap> {
        let [data_type, rank, swizzle, nan] = (words[0] as u32).to_le_bytes();
        let known = words[0] >> 32 == u64::from(MAGIC);
        let fits = (1..=TENSOR_RANKS as u8).contains(&rank) && swizzle < 4;
        if !known || !fits || TensorMap::element_bytes(data_type).is_none() {
            return None;
        }
        let map = TensorMap {
            data_type,
            rank,
            swizzle,
            nan: nan != 0,
            address: words[1],
            extents: std::array::from_fn(|at| words[2 + at]),
            strides: std::array::from_fn(|at| words[7 + at]),
            extent_of_box: std::array::from_fn(|at| (words[11 + at / 4] >> (16 * (at % 4))) as u16),
            steps: std::array::from_fn(|at| (words[13] >> (8 * at)) as u8),
        };
        let ranks = usize::from(rank);
        let whole = map.extent_of_box[..ranks].iter().all(|extent| (1..=256).contains(extent))
            && map.steps[..ranks].iter().all(|step| (1..=8).contains(step));
        whole.then_some(map)
    }

    /// Bytes that a copy of the box moves to or from shared memory, whether or not all of it lies in the tensor. None for a type that has no
    /// bytes.
    pub fn copied_bytes(&self) -> Option<u64> {
        let elements: u64 = self.counts()[..usize::from(self.rank)].iter().product();
        Some(elements * TensorMap::element_bytes(self.data_type)?)
    }

    /// Elements that are copied, by dimension.
    pub(crate) fn counts(&self) -> [u64; TENSOR_RANKS] {
        std::array::from_fn(|at| match at < usize::from(self.rank) {
            true => u64::from(self.extent_of_box[at]).div_ceil(u64::from(self.steps[at])),
            false => 1,
        })
    }
}
