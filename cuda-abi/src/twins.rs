//! Second names of functions.
//!
//! A function that works in a stream has a second name in the real library, for programs compiled with a default stream of each
//! thread's own: `_ptsz` where the stream is an argument, `_ptds` where the default stream is implied.

/// Defines a function as it stands, and its second name before it. The second calls the first inside of a function that takes a
/// closure, which sees to it that the default stream is the calling thread's own:
///
/// ```
/// # use std::ffi::c_int;
/// fn per_thread(call: impl FnOnce() -> c_int) -> c_int {
///     call() + 100
/// }
///
/// bugaroo_cuda_abi::twin! { per_thread; answer_ptsz =
/// /// The answer.
/// pub extern "C" fn answer(question: c_int) -> c_int {
///     question + 1
/// }
/// }
///
/// assert_eq!(answer(1), 2);
/// assert_eq!(unsafe { answer_ptsz(1) }, 102);
/// ```
#[macro_export]
macro_rules! twin {
    ($around:path; $second:ident = $(#[$about:meta])*
        pub unsafe extern "C" fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty $body:block
    ) => {
        $(#[$about])*
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result $body
        $crate::twin!(@second $around; $second = $name($($argument: $type),*) -> $result);
    };
    ($around:path; $second:ident = $(#[$about:meta])*
        pub extern "C" fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty $body:block
    ) => {
        $(#[$about])*
        pub extern "C" fn $name($($argument: $type),*) -> $result $body
        $crate::twin!(@second $around; $second = $name($($argument: $type),*) -> $result);
    };
    (@second $around:path; $second:ident = $name:ident($($argument:ident: $type:ty),*) -> $result:ty) => {
        #[doc = concat!("[`", stringify!($name), "`] with the thread's default stream.")]
        ///
        /// # Safety
        /// As that one.
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        #[allow(unused_unsafe, reason = "some of the functions are safe")]
        pub unsafe extern "C" fn $second($($argument: $type),*) -> $result {
            // SAFETY: the same contract.
            $around(|| unsafe { $name($($argument),*) })
        }
    };
}
