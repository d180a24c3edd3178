//! What a table of internal functions looks like: words in a row. The first of them is, in all tables but one, the table's size in bytes.
//!
//! Every slot holds a function that can be called. One that nobody knows says so ([`refused`]).

use std::ffi::c_void;

use crate::api::missing::missing;
use bugaroo_device::error::Status;

/// One word of a table: a function's address, or a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Word(*const c_void);

// SAFETY: an address of code or a number, which never changes.
unsafe impl Sync for Word {}

impl Word {
    /// The size of a table of so many words.
    pub const fn size(words: usize) -> Self {
        Word(std::ptr::without_provenance(words * size_of::<Word>()))
    }

    /// A function's address.
    pub const fn function(address: *const c_void) -> Self {
        Word(address)
    }

    /// As a number.
    pub fn number(self) -> usize {
        self.0.addr()
    }
}

/// The tables' names; a table knows its place here.
const NAMES: [&str; 7] = [
    "CUDART_INTERFACE",
    "TOOLS_RUNTIME_CALLBACK_HOOKS",
    "TOOLS_TLS",
    "CONTEXT_LOCAL_STORAGE",
    "CONTEXT_CHECKS",
    "INTEGRITY_CHECK",
    "TOOLS_CONTEXT",
];

/// Stands in a slot that this driver lacks.
///
/// It takes no arguments: by the C calling convention of 64-bit Linux it is the caller that cleans up, and whatever was passed
/// is left unread.
pub extern "C" fn refused<const TABLE: usize, const SLOT: usize>() -> Status {
    missing(format!("slot {SLOT} of the driver's internal table {}", NAMES[TABLE]))
}

/// The words of a table: its place among [`NAMES`], and then slot for slot its size, a function, or a number of its own, which stands for a
/// function that is refused.
macro_rules! words {
    ($table:literal: $($slot:tt)*) => { [$($crate::api::export::table::words!(@word $table $slot)),*] };
    (@word $table:literal (size $words:literal)) => { $crate::api::export::table::Word::size($words) };
    (@word $table:literal $slot:literal) => {
        $crate::api::export::table::Word::function(
            $crate::api::export::table::refused::<$table, $slot> as *const std::ffi::c_void,
        )
    };
    (@word $table:literal $function:ident) => {
        $crate::api::export::table::Word::function($function as *const std::ffi::c_void)
    };
}
pub(super) use words;
