use std::collections::BTreeMap;
use std::fs;

use bugaroo_protocol::Backend;

use super::{DriverLibrary, LibraryError};

#[test]
fn shows_the_library_under_both_names_and_clears_up() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libcuda.so");
    fs::write(&file, "the driver").unwrap();
    let library = DriverLibrary::at(&file).unwrap();
    let shown = first(&library, "LD_LIBRARY_PATH").unwrap();
    for name in ["libcuda.so", "libcuda.so.1"] {
        assert_eq!(fs::read_to_string(format!("{shown}/{name}")).unwrap(), "the driver");
    }
    drop(library);
    assert!(!fs::exists(shown).unwrap());
    assert!(fs::exists(file).unwrap());
}

/// The first path in a variable that a program gets.
fn first(library: &DriverLibrary, variable: &str) -> Option<String> {
    let environment = library.environment(Backend::Sim, &BTreeMap::new());
    let (_, paths) = environment.iter().find(|(name, _)| *name == variable)?;
    Some(paths.to_str().unwrap().split(':').next().unwrap().to_owned())
}

#[test]
fn the_runtime_is_shown_where_it_stands_beside_the_driver() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libcuda.so");
    fs::write(&file, "the driver").unwrap();
    fs::write(folder.path().join("libbugaroo_cudart.so"), "the runtime").unwrap();
    fs::write(folder.path().join("libbugaroo_preload.so"), "the preload").unwrap();
    assert_eq!(
        first(&DriverLibrary::at(&file).unwrap(), "LD_PRELOAD"),
        None,
        "two thirds of it are not enough"
    );
    fs::write(folder.path().join("libbugaroo_libraries.so"), "the libraries").unwrap();
    let library = DriverLibrary::at(&file).unwrap();
    let shown = first(&library, "LD_LIBRARY_PATH").unwrap();
    assert_eq!(first(&library, "LD_PRELOAD").unwrap(), format!("{shown}/runtime/libbugaroo_preload.so"));
    assert_eq!(
        library.environment(Backend::Cuda, &BTreeMap::new()).len(),
        1,
        "before a GPU a program keeps its own runtime"
    );
    assert_eq!(fs::read_to_string(format!("{shown}/runtime/libbugaroo_preload.so")).unwrap(), "the preload");
    assert_eq!(fs::read_to_string(format!("{shown}/runtime/libbugaroo_cudart.so")).unwrap(), "the runtime");
    assert_eq!(
        fs::read_to_string(format!("{shown}/runtime/libbugaroo_libraries.so")).unwrap(),
        "the libraries"
    );
    for name in [
        "libcudart.so.12",
        "libcudart.so.13",
        "libcublas.so.12",
        "libcublas.so.13",
        "libcublasLt.so.13",
        "libcufft.so.12",
        "libcurand.so.10",
    ] {
        assert_eq!(&fs::read(format!("{shown}/runtime/{name}")).unwrap()[..4], b"\x7fELF");
    }
}

#[test]
fn a_missing_runtime_is_an_error_that_says_what_to_do() {
    let error = LibraryError::MissingRuntime { file: "libbugaroo_cudart.so", driver: "/a/libcuda.so".into() };
    let text = error.to_string();
    assert!(text.contains("libbugaroo_cudart.so is missing beside /a/libcuda.so. `cargo build"), "{text}");
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
