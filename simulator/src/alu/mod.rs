//! Arithmetic, logic, comparison and conversion of whole rows.
//!
//! [`select`] gives, for a decoded instruction and the widths of its operands, the function that
//! computes it on a warp: 32 lanes at once, written under a mask. Each such function is one pure
//! operation on a lane ([`row::LaneOp`]) in one of two instantiations, see [`Isa`], which give the same
//! bits.
//!
//! Source: PTX ISA 9.0, sections 9.7.1 to 9.7.9, as cited in the submodules. Results are the ISA's bit for
//! bit where it defines them. Where it leaves room:
//!
//! - A NaN result of `.f32` arithmetic is `0x7fffffff`, of `.f16`/`.bf16` `0x7fff` (per half), as on hardware.
//!   Of `.f64` it is always `0xfff8000000000000`; hardware gives that for invalid operations, but
//!   passes on the (quieted) payload of a NaN operand.
//! - `.ftz` flushes operands before and the result after rounding.
//! - The approximations (`.approx`, `.full`) are rounded from a result of at least 37 good bits, far
//!   inside the ISA's bounds: a program whose correctness leans on the real hardware's last bit sees
//!   another one here.
//! - Integer division by zero, which the ISA leaves unspecified, gives all ones, for remainders too
//!   (what the code that NVIDIA's compilers generate for a 32-bit division gives).
//!
//! Not here: anything that reads memory, special registers or other lanes. [`select`] answers None for those, for
//! what is computed lane by lane ([`lanewise`]), and for operands whose widths the ISA does not allow.

mod approx;
mod arith;
mod bits;
mod compare;
mod convert;
mod convert_any;
mod float;
pub(crate) mod half;
mod integer;
pub mod lanewise;
mod permute;
mod predicate;
mod rounding;
pub mod row;
mod select;
pub mod sixteen;
mod soft;
pub mod tensor;
mod types;
mod wide;
pub(crate) mod words;

pub use select::select;
pub use types::source_type;

/// Width of a register's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// One bit per lane, a `u32` for the row. 4 bytes, 4-byte aligned.
    Pred,
    /// `[u16; 32]`: 64 bytes, 32-byte aligned.
    W16,
    /// `[u32; 32]`: 128 bytes, 32-byte aligned.
    W32,
    /// `[u64; 32]`: 256 bytes, 32-byte aligned.
    W64,
}

impl Width {
    /// Bytes of a row.
    pub const fn bytes(self) -> u32 {
        match self {
            Width::Pred => 4,
            Width::W16 => 64,
            Width::W32 => 128,
            Width::W64 => 256,
        }
    }
}

/// Where an instruction's rows lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Operands {
    /// Destination: byte offset into the frame.
    pub dst: u32,
    /// Second destination (`q` of `setp p|q`, CC.CF of `.cc`): byte offset into the frame.
    pub dst2: u32,
    /// Sources: a byte offset into the frame, or, negative, `!offset` into the constants.
    pub src: [i32; 4],
}

impl Operands {
    /// Address of source `index`.
    ///
    /// # Safety
    /// The offset lies within the frame or the constants, whichever it names.
    #[inline(always)]
    pub unsafe fn source(&self, frame: *const u8, consts: *const u8, index: usize) -> *const u8 {
        let offset = self.src[index];
        // SAFETY: the caller's promise.
        unsafe { if offset >= 0 { frame.add(offset as usize) } else { consts.add(!offset as usize) } }
    }
}

/// Computes one instruction for the lanes in `mask`; the destination's other lanes keep their value.
///
/// # Safety
/// Every offset of `ops` that the instruction's [`OperandShape`] has names a row of that width, whole and aligned
/// for it (32 bytes; 4 for a predicate), readable, and writable for destinations. A destination may be the
/// same row as a source, never a part of it. The processor has what the [`Isa`] given to [`select`] needs.
pub type RowFn = unsafe fn(frame: *mut u8, consts: *const u8, ops: &Operands, mask: u32);

/// Widths of an instruction's operands, in the ISA's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandShape {
    /// The destination.
    pub dst: Width,
    /// The second destination: `q` of `setp p|q`, or CC.CF of an instruction that writes it.
    pub dst2: Option<Width>,
    /// The sources; CC.CF comes last where it is read. None for those that the instruction lacks.
    pub src: [Option<Width>; 4],
    /// `!p` sources.
    pub negated: [bool; 4],
}

/// Which instantiation of the row functions to use. Both give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// Any processor.
    Portable,
    /// x86-64-v3: AVX2, FMA, BMI, LZCNT, F16C.
    V3,
}

impl Isa {
    /// The best that this processor runs.
    pub fn detect() -> Isa {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("f16c")
        {
            return Isa::V3;
        }
        Isa::Portable
    }
}

/// Calls a method that is inlined always, as compiled for the processor. (A closure would not do: a large one stays a function of its
/// own, for any processor.)
macro_rules! by_isa {
    ($isa:expr, $on:ident::$method:ident($it:expr $(, $name:ident: $of:ty)*) -> $answer:ty) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
        fn v3(it: &mut $on, $($name: $of),*) -> $answer {
            it.$method($($name),*)
        }
        match $isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor is of that level.
            $crate::alu::Isa::V3 => unsafe { v3($it, $($name),*) },
            _ => $it.$method($($name),*),
        }
    }};
}
pub(crate) use by_isa;
