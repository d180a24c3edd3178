use std::ffi::CString;

use super::{File, Object, objects};

impl Object {
    /// Code at an address.
    pub fn made(range: std::ops::Range<usize>) -> Self {
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        let base = range.start;
        Object {
            path: CString::from(c"/made"),
            base,
            place: range.clone(),
            code: vec![super::Code { range, protection }],
            dynamic: None,
        }
    }
}

#[test]
fn the_program_comes_first_and_its_code_holds_its_functions() {
    let objects = objects();
    assert!(objects[0].is_program() && objects[1..].iter().all(|object| !object.is_program()));
    assert!(objects.iter().any(|object| object.name().contains("libc.so")));
    let here = the_program_comes_first_and_its_code_holds_its_functions as *const () as usize;
    let code = objects[0].code(&(here..here + 1)).unwrap();
    assert_eq!(code.protection, libc::PROT_READ | libc::PROT_EXEC);
    assert!(objects[0].start() <= here);
    let file = File::map(objects[0].path()).unwrap();
    assert_eq!(&file.bytes()[..4], b"\x7fELF");
}

#[test]
fn what_is_no_file_is_not_mapped() {
    assert!(File::map(c"/nonexistent").is_none());
    assert!(File::map(c"/dev/null").is_none());
}
