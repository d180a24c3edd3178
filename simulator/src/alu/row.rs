//! Rows: how lanes are read, computed and written back.
//!
//! A register is a row of 32 lanes. An operation is a pure function of one lane
//! ([`LaneOp`]); the single generic body [`run`] applies it to a row and is instantiated twice, for
//! any x86-64 and for x86-64-v3. Sources are copied out of the frame before anything is written, so
//! a destination may be the same row as a source.

use super::{Isa, OperandShape, Operands, RowFn, Width};

/// Lanes of a row.
pub const LANES: usize = 32;

/// The memory of a vector row. 32-byte alignment lets a row move as whole AVX registers.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub struct RowMemory<W>(pub [W; LANES]);

/// The storage type of a lane of a vector row.
pub trait Word: Copy + Default + 'static {
    /// Width of the rows that hold it.
    const WIDTH: Width;
}

impl Word for u16 {
    const WIDTH: Width = Width::W16;
}
impl Word for u32 {
    const WIDTH: Width = Width::W32;
}
impl Word for u64 {
    const WIDTH: Width = Width::W64;
}

/// A lane's value as an operation sees it: some reading of a [`Word`].
pub trait LaneValue: Copy {
    /// What a lane is stored as.
    type Word: Word;
    /// Reads the stored bits.
    fn from_word(word: Self::Word) -> Self;
    /// The bits to store.
    fn to_word(self) -> Self::Word;
}

macro_rules! plain_values {
    ($($t:ty, $w:ty, |$x:ident| $from:expr, $to:expr;)*) => {$(
        impl LaneValue for $t {
            type Word = $w;
            #[inline(always)]
            fn from_word($x: $w) -> Self { $from }
            #[inline(always)]
            fn to_word(self) -> $w { let $x = self; $to }
        }
    )*};
}
plain_values! {
    u16, u16, |x| x, x;
    i16, u16, |x| x as i16, x as u16;
    u32, u32, |x| x, x;
    i32, u32, |x| x as i32, x as u32;
    u64, u64, |x| x, x;
    i64, u64, |x| x as i64, x as u64;
    f32, u32, |x| f32::from_bits(x), x.to_bits();
    f64, u64, |x| f64::from_bits(x), x.to_bits();
}

/// Something that a lane can be read as: a [`LaneValue`] of a vector row, or a bit of a predicate row.
pub trait Source: Copy {
    /// Width of the row.
    const WIDTH: Width;
    /// The row, copied out of the frame.
    type Row: Copy;
    /// Copies the row at `at`.
    ///
    /// # Safety
    /// `at` points to a readable row of [`Self::WIDTH`], aligned for it.
    unsafe fn load(at: *const u8) -> Self::Row;
    /// Lane `i` of the row.
    fn lane(row: &Self::Row, i: usize) -> Self;
}

impl<V: LaneValue> Source for V {
    const WIDTH: Width = V::Word::WIDTH;
    type Row = RowMemory<V::Word>;

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self::Row {
        // SAFETY: the caller says that a row of this width lies there, aligned.
        unsafe { *at.cast::<RowMemory<V::Word>>() }
    }

    #[inline(always)]
    fn lane(row: &Self::Row, i: usize) -> Self {
        V::from_word(row.0[i])
    }
}

impl Source for bool {
    const WIDTH: Width = Width::Pred;
    type Row = u32;

    #[inline(always)]
    unsafe fn load(at: *const u8) -> u32 {
        // SAFETY: the caller says that a predicate row lies there, aligned.
        unsafe { *at.cast::<u32>() }
    }

    #[inline(always)]
    fn lane(row: &u32, i: usize) -> Self {
        row & (1 << i) != 0
    }
}

/// Something that a lane can be written as.
pub trait Sink: Copy {
    /// Width of the row.
    const WIDTH: Width;
    /// Results of all lanes, before they are stored.
    type Buffer: Copy;
    /// A buffer to fill.
    fn buffer() -> Self::Buffer;
    /// Sets lane `i` of the buffer.
    fn put(self, buffer: &mut Self::Buffer, i: usize);
    /// Writes the lanes in `mask` to the row at `at`; the others keep what they hold. `V3`: see [`pack`].
    ///
    /// # Safety
    /// `at` points to a writable row of [`Self::WIDTH`], aligned for it.
    unsafe fn store<const V3: bool>(buffer: &Self::Buffer, at: *mut u8, mask: u32);
}

impl<V: LaneValue> Sink for V {
    const WIDTH: Width = V::Word::WIDTH;
    type Buffer = RowMemory<V::Word>;

    #[inline(always)]
    fn buffer() -> Self::Buffer {
        RowMemory([V::Word::default(); LANES])
    }

    #[inline(always)]
    fn put(self, buffer: &mut Self::Buffer, i: usize) {
        buffer.0[i] = self.to_word();
    }

    #[inline(always)]
    unsafe fn store<const V3: bool>(buffer: &Self::Buffer, at: *mut u8, mask: u32) {
        // SAFETY: the caller's promise.
        unsafe { store_lanes::<V3, V::Word>(buffer, at, mask) }
    }
}

/// Writes the lanes in `mask` to the vector row at `at`; the others keep what they hold. `V3`: see [`pack`].
///
/// # Safety
/// `at` points to a writable row of this width, aligned for it.
#[inline(always)]
pub unsafe fn store_lanes<const V3: bool, W: Word>(buffer: &RowMemory<W>, at: *mut u8, mask: u32) {
    let row = at.cast::<RowMemory<W>>();
    if mask == !0 {
        // SAFETY: the caller says that a row of this width lies there, aligned.
        unsafe { *row = *buffer };
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if V3 {
        // SAFETY: as above; `V3` is set in functions compiled for AVX2 only.
        unsafe { blend(buffer, row, mask) };
        return;
    }
    // SAFETY: as above.
    let mut blended = unsafe { *row };
    for i in 0..LANES {
        blended.0[i] = if mask & (1 << i) != 0 { buffer.0[i] } else { blended.0[i] };
    }
    // SAFETY: as above.
    unsafe { *row = blended };
}

/// Blends by bytes and stores whole vectors. Left to itself, the compiler makes masked stores of this, each of
/// which takes some processors as long as the rest of the instruction.
///
/// # Safety
/// The row is writable, and the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn blend<W: Word>(buffer: &RowMemory<W>, row: *mut RowMemory<W>, mask: u32) {
    use core::arch::x86_64::*;
    let (from, to) = (std::ptr::from_ref(buffer).cast::<__m256i>(), row.cast::<__m256i>());
    for vector in 0..size_of::<RowMemory<W>>() / size_of::<__m256i>() {
        // All ones where the lane is in the mask.
        let chosen = match W::WIDTH {
            Width::W64 => {
                let bits = _mm256_setr_epi64x(1, 2, 4, 8);
                let mask = _mm256_set1_epi64x(i64::from(mask >> (vector * 4)));
                _mm256_cmpeq_epi64(_mm256_and_si256(mask, bits), bits)
            }
            Width::W16 => {
                let bits = _mm256_setr_epi16(
                    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768,
                );
                let mask = _mm256_set1_epi16((mask >> (vector * 16)) as i16);
                _mm256_cmpeq_epi16(_mm256_and_si256(mask, bits), bits)
            }
            Width::W32 | Width::Pred => super::words::vectors::chosen(mask, vector),
        };
        // SAFETY: a row consists of so many vectors and is aligned for them.
        unsafe {
            let (old, new) = (_mm256_load_si256(to.add(vector)), _mm256_load_si256(from.add(vector)));
            _mm256_store_si256(to.add(vector), _mm256_blendv_epi8(old, new, chosen));
        }
    }
}

impl Sink for bool {
    const WIDTH: Width = Width::Pred;
    type Buffer = [bool; LANES];

    #[inline(always)]
    fn buffer() -> Self::Buffer {
        [false; LANES]
    }

    #[inline(always)]
    fn put(self, buffer: &mut Self::Buffer, i: usize) {
        buffer[i] = self;
    }

    #[inline(always)]
    unsafe fn store<const V3: bool>(buffer: &Self::Buffer, at: *mut u8, mask: u32) {
        // SAFETY: the caller says that a predicate row lies there, aligned.
        unsafe { store_mask(at, pack::<V3>(buffer), mask) }
    }
}

/// Writes the bits in `mask` of `bits` to the predicate row at `at`.
///
/// # Safety
/// `at` points to a writable predicate row, aligned.
#[inline(always)]
pub unsafe fn store_mask(at: *mut u8, bits: u32, mask: u32) {
    let row = at.cast::<u32>();
    // SAFETY: the caller's promise.
    unsafe { *row = (*row & !mask) | (bits & mask) };
}

/// One bit per lane.
#[inline(always)]
pub fn pack<const V3: bool>(lanes: &[bool; LANES]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if V3 {
        use core::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_slli_epi16};
        // SAFETY: 32 booleans are 32 bytes of 0 or 1; `V3` is set in functions compiled for AVX2 only.
        // The shift brings each byte's lowest bit to its highest.
        return unsafe {
            let bytes = _mm256_loadu_si256(lanes.as_ptr().cast::<__m256i>());
            _mm256_movemask_epi8(_mm256_slli_epi16::<7>(bytes)) as u32
        };
    }
    let mut bits = 0;
    for group in 0..LANES / 8 {
        let mut eight = [0u8; 8];
        for k in 0..8 {
            eight[k] = u8::from(lanes[group * 8 + k]);
        }
        // Eight bytes of 0 or 1; the multiplication brings byte k's bit to bit 56 + k.
        let gathered = u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= (gathered as u32) << (group * 8);
    }
    bits
}

/// The sources of an operation: a tuple of one to four [`Source`]s, in the ISA's operand order.
pub trait Inputs: Copy {
    /// The rows, copied out of the frame.
    type Rows: Copy;
    /// Whether the instruction's operands have the widths that this reads.
    fn fits(shape: &OperandShape) -> bool;
    /// Copies the rows.
    ///
    /// # Safety
    /// Every source of `ops` is a readable row of its width, see [`RowFn`].
    unsafe fn load(frame: *const u8, consts: *const u8, ops: &Operands) -> Self::Rows;
    /// Lane `i` of every row.
    fn lane(rows: &Self::Rows, i: usize) -> Self;
}

macro_rules! inputs {
    ($count:literal: $($name:ident $index:tt),*) => {
        impl<$($name: Source),*> Inputs for ($($name,)*) {
            type Rows = ($($name::Row,)*);

            fn fits(shape: &OperandShape) -> bool {
                $(shape.src[$index] == Some($name::WIDTH) && !shape.negated[$index] &&)*
                shape.src[$count..].iter().all(Option::is_none)
            }

            #[inline(always)]
            unsafe fn load(frame: *const u8, consts: *const u8, ops: &Operands) -> Self::Rows {
                // SAFETY: the caller's promise.
                unsafe { ($($name::load(ops.source(frame, consts, $index)),)*) }
            }

            #[inline(always)]
            fn lane(rows: &Self::Rows, i: usize) -> Self {
                ($($name::lane(&rows.$index, i),)*)
            }
        }
    };
}
inputs!(1: A 0);
inputs!(2: A 0, B 1);
inputs!(3: A 0, B 1, C 2);
inputs!(4: A 0, B 1, C 2, D 3);

/// The destinations of an operation: one [`Sink`], or a [`Sink`] and a carry.
pub trait Outputs: Copy {
    /// Results of all lanes, before they are stored.
    type Buffer: Copy;
    /// Whether the instruction's destinations have the widths that this writes.
    fn fits(shape: &OperandShape) -> bool;
    /// A buffer to fill.
    fn buffer() -> Self::Buffer;
    /// Sets lane `i` of the buffer.
    fn put(self, buffer: &mut Self::Buffer, i: usize);
    /// Writes the lanes in `mask`. `V3`: see [`pack`].
    ///
    /// # Safety
    /// Every destination of `ops` is a writable row of its width, see [`RowFn`].
    unsafe fn store<const V3: bool>(buffer: &Self::Buffer, frame: *mut u8, ops: &Operands, mask: u32);
}

impl<S: Sink> Outputs for S {
    type Buffer = S::Buffer;

    fn fits(shape: &OperandShape) -> bool {
        shape.dst == S::WIDTH && shape.dst2.is_none()
    }

    #[inline(always)]
    fn buffer() -> Self::Buffer {
        S::buffer()
    }

    #[inline(always)]
    fn put(self, buffer: &mut Self::Buffer, i: usize) {
        Sink::put(self, buffer, i);
    }

    #[inline(always)]
    unsafe fn store<const V3: bool>(buffer: &Self::Buffer, frame: *mut u8, ops: &Operands, mask: u32) {
        // SAFETY: the caller's promise.
        unsafe { S::store::<V3>(buffer, frame.add(ops.dst as usize), mask) }
    }
}

impl<S: Sink> Outputs for (S, bool) {
    type Buffer = (S::Buffer, [bool; LANES]);

    fn fits(shape: &OperandShape) -> bool {
        shape.dst == S::WIDTH && shape.dst2 == Some(Width::Pred)
    }

    #[inline(always)]
    fn buffer() -> Self::Buffer {
        (S::buffer(), [false; LANES])
    }

    #[inline(always)]
    fn put(self, buffer: &mut Self::Buffer, i: usize) {
        self.0.put(&mut buffer.0, i);
        buffer.1[i] = self.1;
    }

    #[inline(always)]
    unsafe fn store<const V3: bool>(buffer: &Self::Buffer, frame: *mut u8, ops: &Operands, mask: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            S::store::<V3>(&buffer.0, frame.add(ops.dst as usize), mask);
            store_mask(frame.add(ops.dst2 as usize), pack::<V3>(&buffer.1), mask);
        }
    }
}

/// An operation on one lane. `apply` must be `#[inline(always)]`, so that it is compiled for the
/// instruction set of the row function around it.
pub trait LaneOp {
    /// The sources, as a tuple.
    type In: Inputs;
    /// The destination, or destination and carry.
    type Out: Outputs;
    /// The operation.
    fn apply(x: Self::In) -> Self::Out;
}

/// Computes every lane of a row (`V3`: in a function compiled for x86-64-v3), the ones outside the mask too (they cost nothing and cannot trap).
///
/// # Safety
/// As for [`RowFn`], and the shape fits `O`.
#[inline(always)]
unsafe fn run<O: LaneOp, const V3: bool>(frame: *mut u8, consts: *const u8, ops: &Operands, mask: u32) {
    // SAFETY: the caller's promise; rows are copied before any is written.
    unsafe {
        let rows = O::In::load(frame, consts, ops);
        let mut buffer = O::Out::buffer();
        for i in 0..LANES {
            O::apply(O::In::lane(&rows, i)).put(&mut buffer, i);
        }
        O::Out::store::<V3>(&buffer, frame, ops, mask);
    }
}

/// # Safety
/// As for [`run`].
unsafe fn portable<O: LaneOp>(frame: *mut u8, consts: *const u8, ops: &Operands, mask: u32) {
    // SAFETY: the caller's promise.
    unsafe { run::<O, false>(frame, consts, ops, mask) }
}

/// # Safety
/// As for [`run`]; the processor has x86-64-v3.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
unsafe fn v3<O: LaneOp>(frame: *mut u8, consts: *const u8, ops: &Operands, mask: u32) {
    // SAFETY: the caller's promise.
    unsafe { run::<O, true>(frame, consts, ops, mask) }
}

/// What a row function is chosen for.
#[derive(Clone, Copy)]
pub struct Picker<'a> {
    /// Widths of the operands.
    pub shape: &'a OperandShape,
    /// Which instantiation.
    pub isa: Isa,
}

impl Picker<'_> {
    /// The row function of `O`, or None when the operands' widths are not what `O` works on.
    pub fn pick<O: LaneOp>(self) -> Option<RowFn> {
        if !(O::In::fits(self.shape) && O::Out::fits(self.shape)) {
            return None;
        }
        Some(match self.isa {
            #[cfg(target_arch = "x86_64")]
            Isa::V3 => v3::<O>,
            _ => portable::<O>,
        })
    }
}

/// Defines operations of one expression: `name<generics>(a: A, …) -> Out { expression }`.
macro_rules! lane_ops {
    ($($(#[$doc:meta])* $name:ident<$g:ident: $bound:path $(, const $c:ident: bool)*>($($arg:ident: $t:ty),*) -> $out:ty $body:block)*) => {$(
        $(#[$doc])*
        pub struct $name<$g $(, const $c: bool)*>(core::marker::PhantomData<$g>);
        impl<$g: $bound $(, const $c: bool)*> $crate::alu::row::LaneOp for $name<$g $(, $c)*> {
            type In = ($($t,)*);
            type Out = $out;
            #[inline(always)]
            fn apply(($($arg,)*): Self::In) -> Self::Out $body
        }
    )*};
    ($($(#[$doc:meta])* $name:ident$(<$(const $c:ident: bool),*>)?($($arg:ident: $t:ty),*) -> $out:ty $body:block)*) => {$(
        $(#[$doc])*
        pub struct $name$(<$(const $c: bool),*>)?;
        impl$(<$(const $c: bool),*>)? $crate::alu::row::LaneOp for $name$(<$($c),*>)? {
            type In = ($($t,)*);
            type Out = $out;
            #[inline(always)]
            fn apply(($($arg,)*): Self::In) -> Self::Out $body
        }
    )*};
}
pub(super) use lane_ops;
