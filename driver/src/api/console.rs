//! What device code prints, shown to the user where the real driver shows it (CUDA C++ Programming Guide,
//! "Formatted Output"): when the program waits for the device, and before a function of its own is called in
//! stream order. What nobody waits for is lost, as on hardware.
//!
//! It goes through C's own `stdout`, so that it stands in the right place among what a C or C++ program prints
//! there; and is flushed, so that it does so for programs that write to the descriptor by other means.

use bugaroo_simulator::{Console, ConsoleStream};

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
}

/// Prints what is waiting.
pub fn show(console: &mut Console) {
    for (stream, text) in console.take() {
        // SAFETY: the streams are the C library's own, made before any code of ours runs; `fwrite` reads as many
        // bytes as the text has. A stream that the program closed is an error that nobody can be told of.
        unsafe {
            let file = match stream {
                ConsoleStream::Out => stdout,
                ConsoleStream::Error => stderr,
            };
            libc::fwrite(text.as_ptr().cast(), 1, text.len(), file);
            libc::fflush(file);
        }
    }
}
