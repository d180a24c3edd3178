//! Whatever stands in the file, the verifier answers. The example kernels in `tests/kernels` make a good corpus.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::verify;

/// Panics where that does not hold.
pub fn check(bytes: &[u8]) {
    let Ok(source) = std::str::from_utf8(bytes) else { return };
    let Ok(text) = KernelText::new(source) else { return };
    let options = KernelOptions { block: Some([64, 1, 1]), max_steps: 20_000, ..KernelOptions::default() };
    for kernel in text.kernels() {
        // Both answers will do; what must not happen is a panic.
        let _ = verify(&text, kernel, &options);
    }
}
