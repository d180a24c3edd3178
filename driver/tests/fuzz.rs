//! The fuzz target's body over fat binaries of programs in PTX, as they are and changed: with sanitizers where `.ci/sanitize` runs it.

#[path = "../fuzz/body.rs"]
mod body;
#[path = "../../ptx/fuzz/inputs.rs"]
mod inputs;

use std::path::Path;

use bugaroo_device::images::fatbin::of_ptx;

#[test]
fn any_bytes_are_entries_or_an_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx/tests/corpus");
    let made = |text: Vec<u8>| of_ptx(&String::from_utf8_lossy(&text), 75);
    inputs::each(&folder, "ptx", 1000, made, body::check);
}
