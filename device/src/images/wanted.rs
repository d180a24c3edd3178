//! What a module is loaded for, so that a refusal can name it.
//!
//! The runtime loads a module with the first kernel of it that the program asks for. The program knows that kernel's name, and not
//! what its module is.

use std::cell::RefCell;

use crate::names::demangled;

/// A name of a template can be pages long.
const LONGEST: usize = 160;

thread_local! {
    static KERNEL: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Until the next call, this thread loads modules for the sake of this kernel, or for none in particular.
pub fn kernel(name: Option<String>) {
    // A thread that ends has no such place any more, and loads nothing.
    let _ = KERNEL.try_with(|kernel| kernel.replace(name));
}

/// Does something for the sake of a kernel.
pub fn for_kernel<T>(name: &str, does: impl FnOnce() -> T) -> T {
    kernel(Some(name.to_owned()));
    let done = does();
    kernel(None);
    done
}

/// The module, in the words for a refusal.
pub fn module() -> String {
    let kernel = KERNEL.try_with(|kernel| kernel.borrow().clone()).ok().flatten();
    kernel.map_or_else(
        || "a module".to_owned(),
        |name| format!("the module of the kernel `{}`", readable(&name)),
    )
}

fn readable(name: &str) -> String {
    let whole = demangled(name);
    match whole.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::{kernel, module};

    #[test]
    fn the_kernel_is_named_for_as_long_as_it_is_wanted() {
        assert_eq!(module(), "a module");
        kernel(Some("_ZN2at6native4fillEf".to_owned()));
        assert_eq!(module(), "the module of the kernel `at::native::fill(float)`");
        kernel(Some("k".repeat(1000)));
        assert!(module().len() < 200 && module().ends_with("…`"), "{}", module());
        kernel(None);
        assert_eq!(module(), "a module");
    }
}
