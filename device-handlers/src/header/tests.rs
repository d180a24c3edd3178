use super::*;

/// `BUGAROO_BLESS=1` rewrites the file instead of comparing; `handlers.ptx` then has to be rebuilt.
#[test]
fn the_checked_in_header_is_this_crates() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/layout.h");
    if std::env::var_os("BUGAROO_BLESS").is_some() {
        std::fs::write(path, generate()).expect("layout.h can be written");
    }
    let checked_in = std::fs::read_to_string(path).expect("layout.h is checked in");
    assert_eq!(checked_in, generate(), "BUGAROO_BLESS=1 regenerates it");
}
