//! What the ALU's tests share: rows in and out of a frame, operand values, and the comparison of every
//! instantiation with a reference, lane by lane.

use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::Type;
use bugaroo_simulator::alu::{Isa, OperandShape, Operands, RowFn, Width, select};

/// A row's lanes; a predicate's are 0 or 1.
pub type Row = [u64; 32];

/// What an instruction gives: its destination, and the second one if it has it.
pub type Results = (u64, Option<u64>);

/// The instantiations that this machine runs.
pub fn isas() -> Vec<Isa> {
    match Isa::detect() {
        Isa::Portable => vec![Isa::Portable],
        Isa::V3 => vec![Isa::Portable, Isa::V3],
    }
}

/// A small generator of numbers (splitmix64), seeded by proptest.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// The register width that a type fills; 8 bits live in 16.
pub fn width(ty: Type) -> Width {
    match ty.bytes() {
        0 => Width::Pred,
        1 | 2 => Width::W16,
        4 => Width::W32,
        _ => Width::W64,
    }
}

/// A shape of these types, without a second destination.
pub fn shape(dst: Type, src: &[Type]) -> OperandShape {
    let mut widths = [None; 4];
    for (slot, ty) in widths.iter_mut().zip(src) {
        *slot = Some(width(*ty));
    }
    OperandShape { dst: width(dst), dst2: None, src: widths, negated: [false; 4] }
}

/// Exponent and fraction bits.
pub fn format(ty: Type) -> Option<(u32, u32)> {
    match ty {
        Type::F16 | Type::F16x2 => Some((5, 10)),
        Type::BF16 | Type::BF16x2 => Some((8, 7)),
        Type::F32 => Some((8, 23)),
        Type::F64 => Some((11, 52)),
        _ => None,
    }
}

/// Values that an operation is likely to get wrong.
pub fn edges(ty: Type) -> Vec<u64> {
    if ty == Type::Pred {
        return vec![0, 1];
    }
    let Some((exponent, fraction)) = format(ty) else {
        let all = u64::MAX >> (64 - ty.bits());
        let top = 1 << (ty.bits() - 1);
        let mut edges = vec![0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256];
        edges.extend([
            0x8000,
            0xffff,
            0xff_ffff,
            0x80_0000,
            0x7f_ffff,
            0x8000_0000,
            0xffff_ffff,
            0x1_0000_0000,
        ]);
        edges.extend([top, top - 1, top + 1, all, all - 1, all / 3, all / 3 * 2, 0x0123_4567_89ab_cdef]);
        edges.extend([0xffff_ffff_8000_0000, 0xffff_ffff_7fff_ffff]);
        for edge in &mut edges {
            *edge &= all;
        }
        edges.sort_unstable();
        edges.dedup();
        return edges;
    };
    let bias = (1u64 << (exponent - 1)) - 1;
    let infinity = ((1 << exponent) - 1) << fraction;
    let ones = (1u64 << fraction) - 1;
    let quiet = 1u64 << (fraction - 1);
    let scaled = |e: i64, f: u64| ((bias as i64 + e) as u64) << fraction | f;
    let mut edges = vec![0, 1, 2, ones, ones - 1, ones + 1, ones + 2, infinity - 1, infinity - 2, infinity];
    edges.extend([infinity | 1, infinity | quiet, infinity | ones, infinity | 5]);
    for e in [-14, -2, -1, 0, 1, 2, 3, 7, 8, 15] {
        edges.extend([scaled(e, 0), scaled(e, 1), scaled(e, ones), scaled(e, quiet), scaled(e, ones / 3)]);
    }
    if exponent >= 8 {
        for e in [16, 22, 23, 24, 30, 31, 32, 52, 53, 62, 63, 64, -24, -25, -126, 126, 127, -60, 60] {
            edges.extend([scaled(e, 0), scaled(e, 1), scaled(e, ones)]);
        }
    }
    let sign = 1 << (exponent + fraction);
    let negative: Vec<u64> = edges.iter().map(|x| x | sign).collect();
    edges.extend(negative);
    edges
}

/// A value of a type: an edge, random bits, or (floats) one that makes ties and cancellation likely.
pub fn value(numbers: &mut Numbers, ty: Type) -> u64 {
    match ty {
        Type::F16x2 | Type::BF16x2 => {
            let half = if ty == Type::F16x2 { Type::F16 } else { Type::BF16 };
            value(numbers, half) | value(numbers, half) << 16
        }
        Type::Pred => numbers.next() & 1,
        _ => {
            let all = u64::MAX >> (64 - ty.bits());
            let edges = edges(ty);
            match (numbers.below(4), format(ty)) {
                (0, _) => edges[numbers.below(edges.len() as u64) as usize],
                (1, Some((exponent, fraction))) => {
                    let bias = (1u64 << (exponent - 1)) - 1;
                    let near = bias - 4 + numbers.below(9);
                    let sparse = numbers.next() & numbers.next() & numbers.next() & ((1 << fraction) - 1);
                    let sign = numbers.next() & 1;
                    sign << (exponent + fraction) | near << fraction | sparse
                }
                (2, Some((exponent, fraction))) => {
                    // Around the integers' limits and the smallest normals, few bits set.
                    let place =
                        if numbers.next() & 1 == 0 { numbers.below(4) } else { numbers.below(1 << exponent) };
                    let ends =
                        numbers.next() & ((1 << fraction) - 1) & !(((1 << fraction) - 1) >> numbers.below(6));
                    (numbers.next() << (exponent + fraction) | place << fraction | ends) & all
                }
                (1, None) => numbers.below(70) & all,
                (2, None) => (numbers.below(40).wrapping_neg()) & all,
                _ => numbers.next() & all,
            }
        }
    }
}

/// A row of values.
pub fn row(numbers: &mut Numbers, ty: Type) -> Row {
    std::array::from_fn(|_| value(numbers, ty))
}

const SLOT: usize = 256;

#[repr(C, align(32))]
struct Frame([u8; SLOT * 8]);

fn write(frame: &mut Frame, at: usize, width: Width, row: &Row) {
    if width == Width::Pred {
        let bits = (0..32).fold(0u32, |bits, i| bits | ((row[i] & 1) as u32) << i);
        frame.0[at..at + 4].copy_from_slice(&bits.to_le_bytes());
        return;
    }
    let size = (width.bytes() / 32) as usize;
    for (i, lane) in row.iter().enumerate() {
        frame.0[at + i * size..at + (i + 1) * size].copy_from_slice(&lane.to_le_bytes()[..size]);
    }
}

fn read(frame: &Frame, at: usize, width: Width) -> Row {
    if width == Width::Pred {
        let bits = u32::from_le_bytes(frame.0[at..at + 4].try_into().expect("four bytes"));
        return std::array::from_fn(|i| u64::from(bits >> i & 1));
    }
    let size = (width.bytes() / 32) as usize;
    std::array::from_fn(|i| {
        let mut lane = [0; 8];
        lane[..size].copy_from_slice(&frame.0[at + i * size..at + (i + 1) * size]);
        u64::from_le_bytes(lane)
    })
}

/// How a row function is called.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    #[allow(dead_code, reason = "shown where a comparison fails")]
    pub isa: Isa,
    pub mask: u32,
    /// The source that the destination is the same row as.
    pub alias: Option<usize>,
    /// The source that lies among the constants.
    pub constant: Option<usize>,
}

/// Runs a row function; what the destinations hold afterwards. They held `old` before, the first one what the
/// source holds that it is the same row as.
pub fn execute(
    function: RowFn,
    shape: &OperandShape,
    sources: &[Row],
    old: (&Row, &Row),
    call: Call,
) -> (Row, Row) {
    let mut frame = Frame([0xa5; SLOT * 8]);
    let mut consts = Frame([0x5a; SLOT * 8]);
    let mut ops = Operands { dst: 5 * SLOT as u32, dst2: 6 * SLOT as u32, src: [0; 4] };
    write(&mut frame, 5 * SLOT, shape.dst, old.0);
    if let Some(width) = shape.dst2 {
        write(&mut frame, 6 * SLOT, width, old.1);
    }
    for (i, source) in sources.iter().enumerate() {
        let width = shape.src[i].expect("a width for every source");
        if call.constant == Some(i) {
            write(&mut consts, i * SLOT, width, source);
            ops.src[i] = !((i * SLOT) as i32);
        } else {
            write(&mut frame, i * SLOT, width, source);
            ops.src[i] = (i * SLOT) as i32;
        }
    }
    if let Some(i) = call.alias {
        ops.dst = (i * SLOT) as u32;
    }
    // SAFETY: every row lies whole in a slot of its own, aligned, and the destination's is in the frame; the
    // instantiation is one that `isas` names.
    unsafe { function(frame.0.as_mut_ptr(), consts.0.as_ptr(), &ops, call.mask) };
    let second = shape.dst2.map_or(*old.1, |width| read(&frame, 6 * SLOT, width));
    (read(&frame, ops.dst as usize, shape.dst), second)
}

/// Runs an instruction on rows, in every instantiation, whole and under masks, from constants, with the
/// destination apart and in each source's place, and compares it with the reference.
pub fn check(op: &Op, shape: &OperandShape, sources: &[Row], reference: impl Fn(&[u64]) -> Results) {
    let expected: Vec<Results> = (0..32)
        .map(|i| {
            let lane: Vec<u64> = sources.iter().map(|row| row[i]).collect();
            reference(&lane)
        })
        .collect();
    let mut numbers =
        Numbers(sources[0].iter().fold(7, |hash: u64, x| hash.wrapping_mul(31).wrapping_add(*x)));
    for isa in isas() {
        let function =
            select(op, shape, isa).unwrap_or_else(|| panic!("no row function for {op:?} of {shape:?}"));
        let mask = numbers.next() as u32;
        let constant = Some(numbers.below(sources.len() as u64) as usize);
        let mut calls = vec![
            Call { isa, mask: !0, alias: None, constant: None },
            Call { isa, mask, alias: None, constant },
            Call { isa, mask: 0, alias: None, constant: None },
        ];
        for i in (0..sources.len()).filter(|i| shape.src[*i] == Some(shape.dst)) {
            calls.push(Call { isa, mask: !0, alias: Some(i), constant: None });
            calls.push(Call { isa, mask, alias: Some(i), constant: None });
        }
        for call in calls {
            compare(op, shape, sources, &expected, function, call, &mut numbers);
        }
    }
}

fn compare(
    op: &Op,
    shape: &OperandShape,
    sources: &[Row],
    expected: &[Results],
    function: RowFn,
    call: Call,
    numbers: &mut Numbers,
) {
    let bits = |width| match width {
        Width::Pred => 1,
        Width::W16 => 16,
        Width::W32 => 32,
        Width::W64 => 64,
    };
    let noise = |numbers: &mut Numbers, width| std::array::from_fn(|_| numbers.next() >> (64 - bits(width)));
    let before = call.alias.map_or_else(|| noise(numbers, shape.dst), |i| sources[i]);
    let before2 = noise(numbers, Width::Pred);
    let (got, got2) = execute(function, shape, sources, (&before, &before2), call);
    for i in 0..32 {
        let lane: Vec<u64> = sources.iter().map(|row| row[i]).collect();
        let (mut want, mut want2) = (before[i], before2[i]);
        if call.mask & (1 << i) != 0 {
            want = expected[i].0;
            want2 = expected[i].1.unwrap_or(want2);
        }
        assert_eq!(
            (got[i], got2[i]),
            (want, want2),
            "{op:?} of {lane:x?}, lane {i}: got {:x} {:x}, want {want:x} {want2:x} ({call:?})",
            got[i],
            got2[i],
        );
    }
}

/// Rows that hold every combination of edges of two types, then of one type, in turn.
pub fn edge_pairs(a: Type, b: Type) -> Vec<[Row; 2]> {
    let (first, second) = (edges(a), edges(b));
    let pairs: Vec<(u64, u64)> = first.iter().flat_map(|x| second.iter().map(move |y| (*x, *y))).collect();
    pairs
        .chunks(32)
        .map(|chunk| {
            let at = |i: usize| chunk[i % chunk.len()];
            [std::array::from_fn(|i| at(i).0), std::array::from_fn(|i| at(i).1)]
        })
        .collect()
}

/// Sign-extends the type's bits.
pub fn signed(x: u64, ty: Type) -> i128 {
    let unused = 64 - ty.bits();
    i128::from((x << unused) as i64 >> unused)
}

/// The number that bits of an integer type are.
pub fn integer(x: u64, ty: Type) -> i128 {
    if ty.is_signed() { signed(x, ty) } else { i128::from(x & (u64::MAX >> (64 - ty.bits()))) }
}

/// The low bits of a number, as a type has them.
pub fn wrap(x: i128, ty: Type) -> u64 {
    x as u64 & (u64::MAX >> (64 - ty.bits()))
}

/// The least and the greatest number of a type.
pub fn limits(ty: Type) -> (i128, i128) {
    if ty.is_signed() {
        (-(1 << (ty.bits() - 1)), (1 << (ty.bits() - 1)) - 1)
    } else {
        (0, (1 << ty.bits()) - 1)
    }
}
