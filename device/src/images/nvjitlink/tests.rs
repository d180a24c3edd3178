use super::*;

#[test]
fn the_empty_libraries_stand_for_the_real_ones() {
    // No Python here: nothing happens.
    assert!(!is_python());
    start();
    assert!(EMPTY.iter().all(|(name, _)| !loaded(name)));
    hide();
    for (name, _) in EMPTY {
        assert!(loaded(name), "{name:?}");
        // SAFETY: both names are C strings; the symbol is not touched.
        let found = unsafe {
            let handle = libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            libc::dlsym(handle, c"__nvJitLinkVersion".as_ptr())
        };
        assert!(found.is_null());
    }
    // A second time changes nothing.
    hide();
}
