use crate::kit;

/// `BUGAROO_BLESS=1` rewrites the files instead of comparing; what includes them then has to be rebuilt.
#[test]
fn the_checked_in_headers_are_this_crates() {
    for code in kit::ALL {
        let path = format!("{}/{}", env!("CARGO_MANIFEST_DIR"), code.header.file);
        let text = (code.header.generate)();
        if std::env::var_os("BUGAROO_BLESS").is_some() {
            std::fs::write(&path, &text).expect("a header can be written");
        }
        let checked_in = std::fs::read_to_string(path).expect("a header is checked in");
        assert_eq!(checked_in, text, "{}: BUGAROO_BLESS=1 regenerates it", code.header.file);
    }
}
