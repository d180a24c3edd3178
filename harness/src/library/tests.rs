use std::fs;

use super::{DriverLibrary, LibraryError};

#[test]
fn shows_the_library_under_both_names_and_clears_up() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libcuda.so");
    fs::write(&file, "the driver").unwrap();
    let library = DriverLibrary::at(&file).unwrap();
    let search_path = library.search_path().into_string().unwrap();
    let shown = search_path.split(':').next().unwrap().to_owned();
    for name in ["libcuda.so", "libcuda.so.1"] {
        assert_eq!(fs::read_to_string(format!("{shown}/{name}")).unwrap(), "the driver");
    }
    drop(library);
    assert!(!fs::exists(shown).unwrap());
    assert!(fs::exists(file).unwrap());
}

#[test]
fn a_missing_library_is_an_error_that_says_what_to_do() {
    let error = LibraryError::Missing(vec!["/a/libcuda.so".into(), "/b/libcuda.so".into()]);
    let text = error.to_string();
    for part in ["/a/libcuda.so, /b/libcuda.so", "cargo build --workspace", "BUGAROO_DRIVER"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(DriverLibrary::at("/nonexistent/libcuda.so".as_ref()).is_err());
}
