//! The fuzz target's body over the example kernels, as they are and changed: with sanitizers where `.ci/sanitize` runs it.

#[path = "../fuzz/body.rs"]
mod body;
#[path = "../../ptx/fuzz/inputs.rs"]
mod inputs;

use std::path::Path;

#[test]
fn whatever_stands_in_the_file_gets_an_answer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    inputs::each(&folder, "ptx", 30, |text| text, body::check);
}
