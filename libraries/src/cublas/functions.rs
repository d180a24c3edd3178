//! How the functions of a file are listed.

/// Lists functions by name, for counts of 32 bits and, by the name with `_64`, of 64: `"NAME" = function<TYPE>`.
macro_rules! functions {
    ($($name:literal = $function:ident<$($type:ty),*>;)*) => {
        /// The functions of this file, by name.
        pub static FUNCTIONS: bugaroo_cuda_abi::Functions = &[$(
            ($name, bugaroo_cuda_abi::FunctionAddress($function::<$($type,)* std::ffi::c_int> as *const std::ffi::c_void)),
            (concat!($name, "_64"), bugaroo_cuda_abi::FunctionAddress($function::<$($type,)* i64> as *const std::ffi::c_void)),
        )*];
    };
}
pub(crate) use functions;
