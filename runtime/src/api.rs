//! How a function of the API is written down: its C prototype, what it needs first, and its body.
//!
//! Functions that work in a stream have a second name in the real library, for programs compiled with a
//! default stream of each thread's own: `_ptsz` where the stream is an argument, `_ptds` where the default
//! stream is implied.

use bugaroo_cuda_abi::CUstream;

/// The default stream that waits for others (`cudaStreamLegacy`, by its number 0).
pub const LEGACY: CUstream = std::ptr::null_mut();
/// The calling thread's own default stream (`cudaStreamPerThread`).
pub const PER_THREAD: CUstream = 2 as CUstream;

/// The stream that a `_ptsz` function was given: its default is the thread's own.
pub fn per_thread(stream: CUstream) -> CUstream {
    if stream.is_null() { PER_THREAD } else { stream }
}

/// Defines functions of the API, and lists them in `FUNCTIONS`. Each item is `GUARD NAME(ARGUMENTS)
/// BODY`, where the guard is [`anytime`](crate::entry::anytime) or
/// [`with_device`](crate::entry::with_device) and the body gives an [`Outcome`](crate::error::Outcome).
///
/// `on STREAM as SECOND` before the body adds the second name of a function with that stream
/// argument; `implied STREAM as SECOND` does for one that has none, and tells the body the stream.
macro_rules! api {
    (@items [$($name:ident)*]) => {
        /// The functions written down here, by name.
        pub static FUNCTIONS: &[(&str, bugaroo_cuda_abi::FunctionAddress)] =
            &[$((stringify!($name), bugaroo_cuda_abi::FunctionAddress($name as *const std::ffi::c_void))),*];
    };
    (@items [$($known:ident)*] $(#[$about:meta])* $guard:ident $name:ident($($argument:ident: $type:ty),* $(,)?)
        $body:block $($rest:tt)*) => {
        $crate::api::api!(@function [$(#[$about])*] $guard $name($($argument: $type),*) {} $body);
        $crate::api::api!(@items [$($known)* $name] $($rest)*);
    };
    (@items [$($known:ident)*] $(#[$about:meta])* $guard:ident $name:ident($($argument:ident: $type:ty),* $(,)?)
        on $stream:ident as $second:ident $body:block $($rest:tt)*) => {
        $crate::api::api!(@function [$(#[$about])*] $guard $name($($argument: $type),*) {} $body);
        $crate::api::api!(@function [$(#[$about])*] $guard $second($($argument: $type),*)
            { let $stream = $crate::api::per_thread($stream); } $body);
        $crate::api::api!(@items [$($known)* $name $second] $($rest)*);
    };
    (@items [$($known:ident)*] $(#[$about:meta])* $guard:ident $name:ident($($argument:ident: $type:ty),* $(,)?)
        implied $stream:ident as $second:ident $body:block $($rest:tt)*) => {
        $crate::api::api!(@function [$(#[$about])*] $guard $name($($argument: $type),*)
            { let $stream = $crate::api::LEGACY; } $body);
        $crate::api::api!(@function [$(#[$about])*] $guard $second($($argument: $type),*)
            { let $stream = $crate::api::PER_THREAD; } $body);
        $crate::api::api!(@items [$($known)* $name $second] $($rest)*);
    };
    (@function [$(#[$about:meta])*] $guard:ident $name:ident($($argument:ident: $type:ty),*)
        { $($first:tt)* } $body:block) => {
        #[doc = concat!("`", stringify!($name), "` of the Runtime API.")]
        $(#[doc = ""] #[$about])*
        ///
        /// # Safety
        /// As its documentation asks: pointers are null or point to what they are said to point to.
        #[allow(clippy::too_many_arguments, unused_unsafe, reason = "the API's own signatures; few bodies call only safe functions")]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> std::ffi::c_int {
            $($first)*
            // SAFETY: the caller's promise is what the driver's functions ask for, and `types::write`.
            $crate::entry::$guard(stringify!($name), || unsafe { $body })
        }
    };
    ($($items:tt)+) => {
        $crate::api::api!(@items [] $($items)+);
    };
}
pub(crate) use api;
