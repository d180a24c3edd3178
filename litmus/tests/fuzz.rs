//! The fuzz target's body over the litmus tests, as they are and changed: with sanitizers where `.ci/sanitize` runs it.

#[path = "../fuzz/body.rs"]
mod body;
#[path = "../../ptx/fuzz/inputs.rs"]
mod inputs;

use std::path::Path;

#[test]
fn any_text_parses_or_is_an_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    inputs::each(
        &folder,
        "litmus",
        1000,
        |text| text,
        |bytes| {
            if let Ok(source) = std::str::from_utf8(bytes) {
                body::check(source);
            }
        },
    );
}
