//! Tensor copies in tiles (PTX ISA, "cp.async.bulk.tensor"): a box of a tensor between global memory, where a map says
//! how the tensor lies, and shared memory, where the box lies densely, or swizzled.
//!
//! A copy is taken apart into runs of bytes; what of the box is outside of the tensor is filled with zeros (or NaN)
//! on its way to shared memory, and left out on its way back. A copy that counts on an mbarrier happens as a whole.

use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::{Space, Type};

use super::copies::{Tile, Transfer, What};
use crate::decoded::Address;
use crate::exec::{Machine, Trouble};
use crate::fault::{StopKind, TouchKind};
use crate::tensor_map::{TENSOR_MAP_WORDS, TENSOR_RANKS, TensorMap};

/// The instruction, for one lane.
pub(super) struct TensorCopy<'a> {
    pub map: u64,
    pub coordinates: &'a [i64],
    /// Space and address in shared memory.
    pub shared: (Space, u64),
    pub reduce: Option<AtomOp>,
}

/// Bytes of a box that lie together on both sides.
struct Run {
    /// From the beginning of the box in shared memory.
    shared: u64,
    bytes: u64,
    /// None outside of the tensor.
    global: Option<u64>,
}

/// What reductions take elements of a map for.
fn element_type(data_type: u8) -> Type {
    [
        Type::U8,
        Type::U16,
        Type::U32,
        Type::S32,
        Type::U64,
        Type::S64,
        Type::F16,
        Type::F32,
        Type::F64,
        Type::BF16,
        Type::F32,
        Type::F32,
        Type::F32,
    ][usize::from(data_type)]
}

/// Which operations a reduction knows (PTX ISA, "cp.reduce.async.bulk.tensor").
fn reduces(op: AtomOp, ty: Type) -> bool {
    match op {
        AtomOp::Add => matches!(ty, Type::U32 | Type::S32 | Type::U64 | Type::F32 | Type::F16 | Type::BF16),
        AtomOp::Min | AtomOp::Max => {
            matches!(ty, Type::U32 | Type::S32 | Type::U64 | Type::S64 | Type::F16 | Type::BF16)
        }
        AtomOp::Inc | AtomOp::Dec => ty == Type::U32,
        AtomOp::And | AtomOp::Or | AtomOp::Xor => matches!(ty, Type::U32 | Type::S32 | Type::U64 | Type::S64),
        AtomOp::Exch | AtomOp::Cas => false,
    }
}

/// The runs of a box whose first element has these coordinates.
fn runs(map: &TensorMap, first: &[i64]) -> Vec<Run> {
    let element = TensorMap::element_bytes(map.data_type).unwrap_or(1);
    let counts = map.counts();
    let stride = |at: usize| if at == 0 { element } else { map.strides[at - 1] };
    let coordinate = |at: usize, i: u64| {
        first.get(at).copied().unwrap_or(0) + (i * u64::from(map.steps[at].max(1))) as i64
    };
    let inside = |at: usize, i: u64| (0..map.extents[at] as i64).contains(&coordinate(at, i));
    let offset = |at: usize, i: u64| coordinate(at, i).cast_unsigned().wrapping_mul(stride(at));
    let rows: u64 = counts[1..].iter().product();
    let mut found: Vec<Run> = Vec::new();
    for row in 0..rows {
        let mut left = row;
        let (mut base, mut whole) = (map.address, true);
        for (at, count) in counts.iter().enumerate().take(usize::from(map.rank)).skip(1) {
            let i = left % count;
            left /= count;
            whole &= inside(at, i);
            base = base.wrapping_add(offset(at, i));
        }
        for i in 0..counts[0] {
            let global = (whole && inside(0, i)).then(|| base.wrapping_add(offset(0, i)));
            let shared = (row * counts[0] + i) * element;
            match found.last_mut() {
                Some(last) if last.global.map(|at| at.wrapping_add(last.bytes)) == global => {
                    last.bytes += element;
                }
                _ => found.push(Run { shared, bytes: element, global }),
            }
        }
    }
    found
}

/// Where 16 bytes of a box lie: bits of the row number are added, without carry, to those of the place in the row.
fn swizzled(swizzle: u8, address: u64) -> u64 {
    let bits = match swizzle {
        0 => 0,
        1 => 1,
        2 => 3,
        _ => 7,
    };
    address ^ (address >> 7 & bits) << 4
}

impl Machine<'_> {
    fn tensor_map(&mut self, w: usize, lane: usize, address: u64) -> Result<TensorMap, StopKind> {
        let mut words = [0; TENSOR_MAP_WORDS];
        for (at, word) in words.iter_mut().enumerate() {
            *word = self.read_generic(w, lane, address.wrapping_add(8 * at as u64), 8)?;
        }
        TensorMap::decode(&words).ok_or(StopKind::BadTensorMap { address, problem: "is no tensor map" })
    }

    /// What a tensor copy moves, checked: transfers, and the bytes that they come to.
    fn tensor_tile(
        &mut self,
        (w, lane): (usize, usize),
        copy: &TensorCopy<'_>,
        to_shared: bool,
    ) -> Result<(Vec<Transfer>, u64), StopKind> {
        let map = self.tensor_map(w, lane, copy.map)?;
        if usize::from(map.rank) != copy.coordinates.len() {
            let problem = "has another number of dimensions than the copy";
            return Err(StopKind::BadTensorMap { address: copy.map, problem });
        }
        if map.nan {
            let problem = "fills with NaN, which is not supported";
            return Err(StopKind::BadTensorMap { address: copy.map, problem });
        }
        let element = TensorMap::element_bytes(map.data_type).unwrap_or(1);
        let bytes: u64 = map.counts().iter().product::<u64>() * element;
        let (space, address) = copy.shared;
        let access = if to_shared { TouchKind::Write } else { TouchKind::Read };
        self.spot(w, space, address, bytes, 128, access)?;
        let reduce = copy.reduce.map(|op| (op, element_type(map.data_type)));
        if reduce.is_some_and(|(op, ty)| !reduces(op, ty)) {
            let problem = "has elements of a type that this reduction does not know";
            return Err(StopKind::BadTensorMap { address: copy.map, problem });
        }
        // The first row's place decides, wherever it begins.
        let first = copy.coordinates[0].wrapping_mul(element as i64).cast_unsigned();
        let first = map.address.wrapping_add(first);
        if first % 16 != 0 {
            let access = if to_shared { TouchKind::Read } else { TouchKind::Write };
            return Err(StopKind::Misaligned { address: first, size: 16, access });
        }
        let mut transfers = Vec::new();
        for run in runs(&map, copy.coordinates) {
            // Pieces that stay together in shared memory.
            let mut done = 0;
            while done < run.bytes {
                let at = address + run.shared + done;
                let piece = match map.swizzle {
                    0 => run.bytes,
                    _ => (16 - at % 16).min(run.bytes - done),
                };
                let place = swizzled(map.swizzle, at);
                let global = run.global.map(|global| global.wrapping_add(done));
                done += piece;
                let shared = self.spot(w, space, place, piece, 1, access)?;
                let transfer = match (to_shared, global) {
                    (true, Some(global)) => {
                        let from = self.spot(w, Space::Global, global, piece, 1, TouchKind::Read)?;
                        Transfer { to: shared, from: Some(from), bytes: piece, copied: piece, reduce: None }
                    }
                    (true, None) => {
                        Transfer { to: shared, from: None, bytes: piece, copied: 0, reduce: None }
                    }
                    (false, Some(global)) => {
                        let to = self.spot(w, Space::Global, global, piece, 1, TouchKind::Write)?;
                        Transfer { to, from: Some(shared), bytes: piece, copied: piece, reduce }
                    }
                    (false, None) => continue,
                };
                transfers.push(transfer);
            }
        }
        Ok((transfers, bytes))
    }

    /// A tensor copy of one lane, with the mbarrier that counts it when it goes to shared memory.
    pub(super) fn tensor_copy(
        &mut self,
        (w, lane, pc): (usize, usize, u32),
        copy: &TensorCopy<'_>,
        mbarrier: Option<(&Address, u64)>,
    ) -> Result<(), Trouble> {
        let trouble = |kind: StopKind| Box::new((kind, lane as u32));
        let found = self.tensor_tile((w, lane), copy, mbarrier.is_some());
        let (transfers, bytes) = found.map_err(trouble)?;
        let Some((barrier, at)) = mbarrier else {
            transfers.into_iter().for_each(|transfer| self.issue((w, lane as u32, pc), true, transfer));
            return Ok(());
        };
        let pointer = self.mbarrier_pointer(w, barrier.space, at).map_err(trouble)?;
        let tile = self.asynchrony.keep(Tile { transfers: transfers.into(), bytes });
        self.happen(w, lane as u32, pc, What::Tile { tile, pointer, address: at })
    }
}

const _: () = assert!(TENSOR_RANKS == 5);
