//! How functions are listed that are written down without [`api!`](crate::api::api).

/// Lists functions of modules in scope, in `FUNCTIONS`. `name = function` where the two are called differently.
macro_rules! export {
    ($($module:ident { $($name:ident $(= $function:ident)?)* })*) => {
        /// Every name listed here, with its function.
        pub static FUNCTIONS: bugaroo_cuda_abi::Functions = &[$($(
            (stringify!($name), bugaroo_cuda_abi::FunctionAddress(
                $crate::list::chosen!($module $name $($function)?) as *const std::ffi::c_void)),
        )*)*];
    };
}
pub(crate) use export;

/// The function that [`export`] lists under a name.
macro_rules! chosen {
    ($module:ident $name:ident) => {
        $module::$name
    };
    ($module:ident $name:ident $function:ident) => {
        $module::$function
    };
}
pub(crate) use chosen;
