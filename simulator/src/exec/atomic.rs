//! `atom` and `red`: lane by lane, in lane order, each read-modify-write whole.
//!
//! PTX ISA, "atom": `add.f32` on global memory flushes subnormal inputs and results to zero of the same sign,
//! on shared memory it does not; the half-precision forms never do.

use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::Type;

use super::data::{lanes, read_lane, row, write_lane};
use super::resolve::{Pattern, Request, Resolved};
use super::{Machine, Trouble};
use crate::alu::Width;
use crate::alu::sixteen::HalfFormat;
use crate::decoded::{Atomic, HighHalves};
use crate::fault::TouchKind;

impl Machine<'_> {
    /// Runs one atomic; answers whether it was a visible operation.
    ///
    /// # Safety
    /// The atomic is one of the frame's function; `mask` is not empty.
    #[inline(never)]
    pub(super) unsafe fn atomic(
        &mut self,
        w: usize,
        frame: *mut u8,
        consts: *const u8,
        index: u32,
        mask: u32,
    ) -> Result<bool, Trouble> {
        let program = self.given.program;
        let atomic = &program.atomics[index as usize];
        let bytes = atomic.ty.bytes();
        let site = program.accesses.len() + index as usize;
        let request = Request { address: atomic.address, bytes, site, kind: TouchKind::Atomic };
        // SAFETY: the loader's rows; pointers are checked by `resolve` for `bytes` bytes.
        unsafe {
            let found = self.resolve(w, frame, consts, &request, mask)?;
            self.combine_rows::<false>((w, site), (frame, consts), atomic, &found, mask);
            Ok(found.visible)
        }
    }

    /// Does an atomic of these lanes at `found`. `NOTES`: takes down for who looks on what each lane has read and made of it.
    ///
    /// # Safety
    /// The atomic, of this number, is one of the frame's function, and was resolved for these lanes.
    #[inline(always)]
    pub(super) unsafe fn combine_rows<const NOTES: bool>(
        &mut self,
        (w, site): (usize, usize),
        (frame, consts): (*mut u8, *const u8),
        atomic: &Atomic,
        found: &Resolved,
        mask: u32,
    ) {
        let bytes = atomic.ty.bytes();
        let made = if NOTES { self.hooks.watch.as_ref().map(|watch| &watch.made) } else { None };
        if let Some(made) = made {
            made.begin(atomic.high.is_some());
        }
        // Of 128 bits both halves are whole.
        let cut = u64::MAX >> (64 - 8 * bytes.min(8));
        // SAFETY: the caller's promise.
        unsafe {
            let sources = atomic.src.map(|slot| row(frame, consts, slot));
            let first = found.lane(&self.paths.pointers, mask.trailing_zeros() as usize, bytes);
            if let Pattern::Same(all) = found.pattern
                && atomic.op == AtomOp::Add
                && matches!(atomic.ty, Type::U32 | Type::S32 | Type::B32 | Type::U64 | Type::S64 | Type::B64)
            {
                // A counter, mostly.
                let mut sum = read_memory(all, bytes);
                for lane in lanes(mask) {
                    // The result may go to the operand's row.
                    let value = read_lane(sources[0], atomic.width, lane);
                    if let Some(dst) = atomic.dst {
                        write_lane(frame.add(dst as usize), atomic.width, lane, sum);
                    }
                    let old = sum;
                    sum = sum.wrapping_add(value);
                    if let Some(made) = made {
                        made.note_narrow(lane, old & cut, sum & cut);
                    }
                }
                if sum != read_memory(all, bytes) {
                    write_memory(all, bytes, sum);
                    self.note_write(w, site, found, mask, bytes);
                }
                return;
            }
            if let Some(high) = &atomic.high {
                for lane in lanes(mask) {
                    let place = found.lane(&self.paths.pointers, lane, bytes).cast::<u128>();
                    let old = place.read_unaligned();
                    let new = combine_wide(atomic, high, (frame, consts), lane, old);
                    place.write_unaligned(new);
                    give_wide(atomic, high, frame, lane, old);
                    if let Some(made) = made {
                        made.note(lane, old, new);
                    }
                }
                self.note_write(w, site, found, mask, bytes);
                return;
            }
            let flush = atomic.ty == Type::F32 && self.is_global(w, first);
            let mut wrote = 0;
            for lane in lanes(mask) {
                let pointer = found.lane(&self.paths.pointers, lane, bytes);
                let operand = |i: usize| read_lane(sources[i], atomic.width, lane);
                let old = read_memory(pointer, bytes);
                let new = combine(atomic, old, operand(0), || operand(1), flush);
                write_memory(pointer, bytes, new);
                wrote |= u32::from(new != old) << lane;
                if let Some(made) = made {
                    made.note_narrow(lane, old, new & cut);
                }
                if let Some(dst) = atomic.dst {
                    write_lane(frame.add(dst as usize), atomic.width, lane, old);
                }
            }
            if wrote != 0 {
                self.note_write(w, site, found, wrote, bytes);
            }
        }
    }

    /// Does the first lane's pointer lie outside the CTA's shared memory?
    pub(super) fn is_global(&self, w: usize, pointer: *const u8) -> bool {
        let shared = self.residents.ctas[self.residents.warps[w].cta as usize].shared as u64;
        (pointer as u64).wrapping_sub(shared) >= u64::from(self.given.plan.shared_bytes)
    }
}

/// # Safety
/// `pointer` is valid for so many bytes.
pub(crate) unsafe fn read_memory(pointer: *mut u8, bytes: u32) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => u64::from(pointer.read()),
            2 => u64::from(pointer.cast::<u16>().read_unaligned()),
            4 => u64::from(pointer.cast::<u32>().read_unaligned()),
            _ => pointer.cast::<u64>().read_unaligned(),
        }
    }
}

/// # Safety
/// `pointer` is valid for so many bytes.
pub(crate) unsafe fn write_memory(pointer: *mut u8, bytes: u32, value: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => pointer.write(value as u8),
            2 => pointer.cast::<u16>().write_unaligned(value as u16),
            4 => pointer.cast::<u32>().write_unaligned(value as u32),
            _ => pointer.cast::<u64>().write_unaligned(value),
        }
    }
}

/// The new value of memory for an atomic of 128 bits.
///
/// # Safety
/// The rows are those of the atomic's frame and constants.
pub(crate) unsafe fn combine_wide(
    atomic: &Atomic,
    high: &HighHalves,
    (frame, consts): (*mut u8, *const u8),
    lane: usize,
    old: u128,
) -> u128 {
    // SAFETY: the loader's rows, the caller's promise.
    let operand = |i: usize| unsafe {
        let low = read_lane(row(frame, consts, atomic.src[i]), Width::W64, lane);
        u128::from(low) | u128::from(read_lane(row(frame, consts, high.src[i]), Width::W64, lane)) << 64
    };
    match atomic.op {
        AtomOp::Exch => operand(0),
        AtomOp::Cas if old == operand(0) => operand(1),
        // There are no others of this width.
        _ => old,
    }
}

/// Gives a lane the value that an atomic of 128 bits has read.
///
/// # Safety
/// The rows are those of the atomic's frame.
pub(crate) unsafe fn give_wide(atomic: &Atomic, high: &HighHalves, frame: *mut u8, lane: usize, old: u128) {
    for (dst, half) in [(atomic.dst, old as u64), (high.dst, (old >> 64) as u64)] {
        if let Some(dst) = dst {
            // SAFETY: the loader's row, the caller's promise.
            unsafe { write_lane(frame.add(dst as usize), Width::W64, lane, half) };
        }
    }
}

/// The new value of memory for an operation that has one operand and does not flush.
pub(super) fn combine_elements(op: AtomOp, ty: Type, old: u64, value: u64) -> u64 {
    apply(op, ty, old, value, || old, false)
}

/// The new value of memory.
pub(crate) fn combine(atomic: &Atomic, old: u64, value: u64, second: impl Fn() -> u64, flush: bool) -> u64 {
    apply(atomic.op, atomic.ty, old, value, second, flush)
}

fn apply(op: AtomOp, ty: Type, old: u64, value: u64, second: impl Fn() -> u64, flush: bool) -> u64 {
    match op {
        AtomOp::And => old & value,
        AtomOp::Or => old | value,
        AtomOp::Xor => old ^ value,
        AtomOp::Exch => value,
        AtomOp::Cas if old == value => second(),
        AtomOp::Cas => old,
        AtomOp::Inc => {
            if old >= value {
                0
            } else {
                old + 1
            }
        }
        AtomOp::Dec => {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }
        AtomOp::Add => add(ty, old, value, flush),
        AtomOp::Min => extreme(ty, old, value, true),
        AtomOp::Max => extreme(ty, old, value, false),
    }
}

fn add(ty: Type, old: u64, value: u64, flush: bool) -> u64 {
    match ty {
        Type::F32 => {
            let read = |bits: u64| {
                let value = f32::from_bits(bits as u32);
                if flush && value.is_subnormal() { 0f32.copysign(value) } else { value }
            };
            let sum = read(old) + read(value);
            u64::from(if sum.is_nan() { 0x7fff_ffff } else { read(u64::from(sum.to_bits())).to_bits() })
        }
        Type::F64 => {
            let sum = f64::from_bits(old) + f64::from_bits(value);
            if sum.is_nan() { 0xfff8_0000_0000_0000 } else { sum.to_bits() }
        }
        Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2 => halves(ty, old, value, |_, a, b| a + b),
        _ => old.wrapping_add(value),
    }
}

fn extreme(ty: Type, old: u64, value: u64, least: bool) -> u64 {
    let second = match ty {
        Type::S32 => (value as i32) < old as i32,
        Type::S64 => (value as i64) < old as i64,
        Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2 => {
            // A NaN loses against a number; -0 is less than +0.
            return halves(ty, old, value, |_, a, b| match (a.is_nan(), b.is_nan()) {
                (true, _) => b,
                (_, true) => a,
                _ => {
                    let first_less = a < b || a == b && a.is_sign_negative();
                    if first_less == least { a } else { b }
                }
            });
        }
        _ => value < old,
    };
    if second == least { value } else { old }
}

/// Each 16-bit half by itself.
fn halves(ty: Type, old: u64, value: u64, f: impl Fn(HalfFormat, f32, f32) -> f32) -> u64 {
    let format = if matches!(ty, Type::F16 | Type::F16x2) { HalfFormat::Half } else { HalfFormat::Brain };
    let half = |shift: u32| {
        let read = |bits: u64| format.widen((bits >> shift) as u16);
        u64::from(format.narrow(f(format, read(old), read(value)))) << shift
    };
    if ty.bytes() == 4 { half(0) | half(16) } else { half(0) }
}
