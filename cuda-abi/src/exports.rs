//! Names that a library exports: each a single jump through its slot, so that what stands behind it can be exchanged when the
//! library is loaded.

use std::ffi::c_void;
use std::sync::atomic::AtomicPtr;

/// What stands behind an exported name.
pub type Slot = AtomicPtr<c_void>;

/// Exports functions of modules in scope, and lists them with their slots in `NAMES`: `name`, or `name = function` for an old
/// name of a function that only got stricter.
#[macro_export]
macro_rules! slots {
    ($($module:ident { $($name:ident $(= $function:ident)?)* })*) => {
        /// Every name exported from here, with its slot.
        pub static NAMES: &[(&str, &$crate::exports::Slot)] = &[$($((stringify!($name), &$name::SLOT)),*),*];
        $($(
            mod $name {
                /// The function behind the name.
                pub static SLOT: $crate::exports::Slot =
                    $crate::exports::Slot::new($crate::slots!(@behind super::$module, $name $(= $function)?));
            }
            #[doc = concat!("Jumps to [`", stringify!($module), "::", stringify!($name), "`], or what replaced it.")]
            ///
            /// # Safety
            /// Takes that function's arguments, and asks for what it asks.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                std::arch::naked_asm!("jmp qword ptr [rip + {slot}]", slot = sym $name::SLOT)
            }
        )*)*
    };
    // The address of the function behind a name: the one of that name, or the one that is named.
    (@behind $($module:ident)::+, $name:ident) => { $($module)::+::$name as *mut std::ffi::c_void };
    (@behind $($module:ident)::+, $name:ident = $function:ident) => {
        $($module)::+::$function as *mut std::ffi::c_void
    };
}
