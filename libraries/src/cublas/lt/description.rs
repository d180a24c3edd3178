//! What describes a product: its operation, its matrices, and preferences. A program may keep the words itself (`Init`) or have
//! them made (`Create`).

use std::ffi::{c_int, c_void};
use std::mem::offset_of;

use bugaroo_cuda_abi::{FunctionAddress, Functions};

use super::super::call::anytime;
use super::super::status::{Outcome, Status};
use crate::unsupported;

/// A matrix (`cublasLtMatrixLayout_t`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// `cudaDataType`
    pub kind: c_int,
    /// `cublasLtOrder_t`
    pub order: c_int,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub columns: u64,
    /// From column to column, or from row to row.
    pub leading: i64,
    /// How many matrices there are.
    pub batch: c_int,
    padding: c_int,
    /// From one to the next.
    pub distance: i64,
    unused: [u64; 2],
}

/// An operation (`cublasLtMatmulDesc_t`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Operation {
    /// `cublasComputeType_t`
    pub compute: c_int,
    /// Type of the factors.
    pub scale: c_int,
    /// `cublasLtPointerMode_t`
    pub pointer_mode: c_int,
    /// How the three matrices are taken.
    pub ops: [c_int; 3],
    /// `cublasFillMode_t`
    pub fill: c_int,
    /// `cublasLtEpilogue_t`
    pub epilogue: c_int,
    /// A vector that is added to each column.
    pub bias: u64,
    /// From one such vector to the next.
    pub bias_distance: i64,
    /// The type of its values; below 0 that of the result.
    pub bias_kind: c_int,
    padding: c_int,
    unused: [u64; 4],
}

/// Preferences: there is nothing to choose.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Preference([u64; 10]);

// As large as the structures of cublasLt.h.
const _: () =
    assert!(size_of::<Layout>() == 64 && size_of::<Operation>() == 88 && size_of::<Preference>() == 80);

/// Where an attribute is, and how many bytes it has; None for one that changes nothing.
type Place = Option<(usize, usize)>;

fn of_layout(attribute: c_int) -> Outcome<Place> {
    Ok(Some(match attribute {
        0 => (offset_of!(Layout, kind), 4),
        1 => (offset_of!(Layout, order), 4),
        2 => (offset_of!(Layout, rows), 8),
        3 => (offset_of!(Layout, columns), 8),
        4 => (offset_of!(Layout, leading), 8),
        5 => (offset_of!(Layout, batch), 4),
        6 => (offset_of!(Layout, distance), 8),
        _ => return Err(unsupported("a matrix layout", attribute)),
    }))
}

fn of_operation(attribute: c_int) -> Outcome<Place> {
    Ok(Some(match attribute {
        0 => (offset_of!(Operation, compute), 4),
        1 => (offset_of!(Operation, scale), 4),
        2 => (offset_of!(Operation, pointer_mode), 4),
        3..=5 => (offset_of!(Operation, ops) + 4 * (attribute as usize - 3), 4),
        6 => (offset_of!(Operation, fill), 4),
        7 => (offset_of!(Operation, epilogue), 4),
        8 => (offset_of!(Operation, bias), 8),
        10 => (offset_of!(Operation, bias_distance), 8),
        26 => (offset_of!(Operation, bias_kind), 4),
        // How many multiprocessors, and whether sums may be less exact.
        15 | 25 => return Ok(None),
        _ => return Err(unsupported("an operation", attribute)),
    }))
}

fn of_preference(_attribute: c_int) -> Outcome<Place> {
    Ok(None)
}

/// Whether an attribute of an operation is a pointer that says that there is nothing: factors of the matrices' own, and where largest
/// values go. XLA says all of them.
///
/// # Safety
/// `from` points to `size` bytes.
unsafe fn says_nothing(attribute: c_int, from: *const c_void, size: usize) -> bool {
    // SAFETY: the caller's promise.
    matches!(attribute, 17..=21 | 23 | 24) && size == 8 && unsafe { from.cast::<u64>().read_unaligned() } == 0
}

fn unsupported(what: &str, attribute: c_int) -> Status {
    unsupported::unsupported(&format!("cublasLt: attribute {attribute} of {what} is not supported"));
    Status::NOT_SUPPORTED
}

/// Reads a description.
///
/// # Errors
/// `CUBLAS_STATUS_INVALID_VALUE` for null.
///
/// # Safety
/// `words` is null or points to one.
pub unsafe fn get<T: Copy>(words: *const c_void) -> Outcome<T> {
    if words.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    Ok(unsafe { words.cast::<T>().read_unaligned() })
}

/// Writes one where the program keeps it.
///
/// # Safety
/// `words` is null or points to `size` bytes.
unsafe fn initialise<T>(words: *mut c_void, size: usize, value: T) -> Outcome {
    if words.is_null() || size < size_of::<T>() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { words.cast::<T>().write_unaligned(value) };
    Ok(())
}

/// Makes one.
///
/// # Safety
/// `place` is null or points to a place for its address.
unsafe fn create<T>(place: *mut *mut c_void, value: T) -> Outcome {
    if place.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let made = Box::into_raw(Box::new(value)).cast();
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { place.write_unaligned(made) };
    Ok(())
}

fn layout(kind: c_int, rows: u64, columns: u64, leading: i64) -> Layout {
    Layout { kind, rows, columns, leading, batch: 1, ..Layout::default() }
}

fn operation(compute: c_int, scale: c_int) -> Operation {
    Operation { compute, scale, fill: 2, epilogue: 1, bias_kind: -1, ..Operation::default() }
}

macro_rules! described {
    ($($type:ident $place:ident $make:ident $init:ident $destroy:ident $set:ident $get:ident
        ($($argument:ident: $of:ty),*) $value:expr;)*) => {$(
        unsafe extern "C" fn $make(place: *mut *mut c_void $(, $argument: $of)*) -> c_int {
            // SAFETY: the caller's promise.
            anytime(concat!("cublasLt: ", stringify!($make)), || unsafe { create(place, $value) })
        }

        unsafe extern "C" fn $init(words: *mut c_void, size: usize $(, $argument: $of)*) -> c_int {
            // SAFETY: the caller's promise.
            anytime(concat!("cublasLt: ", stringify!($init)), || unsafe { initialise(words, size, $value) })
        }

        unsafe extern "C" fn $destroy(words: *mut c_void) -> c_int {
            if !words.is_null() {
                // SAFETY: one that was made, as the caller promises, and that nobody uses any more.
                drop(unsafe { Box::from_raw(words.cast::<$type>()) });
            }
            0
        }

        unsafe extern "C" fn $set(words: *mut c_void, attribute: c_int, from: *const c_void, size: usize) -> c_int {
            anytime(concat!("cublasLt: ", stringify!($set)), || {
                if words.is_null() || from.is_null() {
                    return Err(Status::INVALID_VALUE);
                }
                // SAFETY: not null, and the caller vouches for the rest. Neither of the others has so many attributes.
                if unsafe { says_nothing(attribute, from, size) } {
                    return Ok(());
                }
                let Some((offset, bytes)) = $place(attribute)? else { return Ok(()) };
                if size < bytes {
                    return Err(Status::INVALID_VALUE);
                }
                // SAFETY: the attribute lies within the words, and the caller vouches for both pointers.
                unsafe { words.cast::<u8>().add(offset).copy_from(from.cast(), bytes) };
                Ok(())
            })
        }

        unsafe extern "C" fn $get(
            words: *const c_void,
            attribute: c_int,
            to: *mut c_void,
            size: usize,
            written: *mut usize,
        ) -> c_int {
            anytime(concat!("cublasLt: ", stringify!($get)), || {
                let (offset, bytes) = $place(attribute)?.ok_or(Status::INVALID_VALUE)?;
                if words.is_null() || to.is_null() || size < bytes {
                    return Err(Status::INVALID_VALUE);
                }
                // SAFETY: as above.
                unsafe {
                    to.cast::<u8>().copy_from(words.cast::<u8>().add(offset), bytes);
                    if !written.is_null() {
                        written.write_unaligned(bytes);
                    }
                }
                Ok(())
            })
        }
    )*};
}
described! {
    Layout of_layout make_layout init_layout destroy_layout set_layout get_layout
        (kind: c_int, rows: u64, columns: u64, leading: i64) layout(kind, rows, columns, leading);
    Operation of_operation make_operation init_operation destroy_operation set_operation get_operation
        (compute: c_int, scale: c_int) operation(compute, scale);
    Preference of_preference make_preference init_preference destroy_preference set_preference get_preference
        () Preference::default();
}

/// The functions of this file, by name.
pub const FUNCTIONS: Functions = &[
    ("cublasLtMatrixLayoutCreate", FunctionAddress(make_layout as *const c_void)),
    ("cublasLtMatrixLayoutInit_internal", FunctionAddress(init_layout as *const c_void)),
    ("cublasLtMatrixLayoutDestroy", FunctionAddress(destroy_layout as *const c_void)),
    ("cublasLtMatrixLayoutSetAttribute", FunctionAddress(set_layout as *const c_void)),
    ("cublasLtMatrixLayoutGetAttribute", FunctionAddress(get_layout as *const c_void)),
    ("cublasLtMatmulDescCreate", FunctionAddress(make_operation as *const c_void)),
    ("cublasLtMatmulDescInit_internal", FunctionAddress(init_operation as *const c_void)),
    ("cublasLtMatmulDescDestroy", FunctionAddress(destroy_operation as *const c_void)),
    ("cublasLtMatmulDescSetAttribute", FunctionAddress(set_operation as *const c_void)),
    ("cublasLtMatmulDescGetAttribute", FunctionAddress(get_operation as *const c_void)),
    ("cublasLtMatmulPreferenceCreate", FunctionAddress(make_preference as *const c_void)),
    ("cublasLtMatmulPreferenceInit_internal", FunctionAddress(init_preference as *const c_void)),
    ("cublasLtMatmulPreferenceDestroy", FunctionAddress(destroy_preference as *const c_void)),
    ("cublasLtMatmulPreferenceSetAttribute", FunctionAddress(set_preference as *const c_void)),
    ("cublasLtMatmulPreferenceGetAttribute", FunctionAddress(get_preference as *const c_void)),
];
