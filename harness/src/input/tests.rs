use std::io::{Read, repeat};

use super::{InputError, MOST_BYTES, StandardInput};

#[test]
fn every_reader_begins_at_the_beginning() {
    let input = StandardInput::read(&b"one\ntwo\n"[..]).unwrap().unwrap();
    let (mut first, mut second) = (input.open().unwrap(), input.open().unwrap());
    let mut half = [0; 4];
    first.read_exact(&mut half).unwrap();
    let mut whole = String::new();
    second.read_to_string(&mut whole).unwrap();
    let mut rest = String::new();
    first.read_to_string(&mut rest).unwrap();
    assert_eq!((&half, rest.as_str(), whole.as_str()), (b"one\n", "two\n", "one\ntwo\n"));
    assert_eq!(input.facts.bytes, 8);
}

#[test]
fn what_is_kept_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stdin");
    let input = StandardInput::read(&b"text"[..]).unwrap().unwrap();
    input.keep(&path).unwrap();
    assert!(StandardInput::kept(&path, &input.facts).unwrap().is_some());
    std::fs::write(&path, "tex").unwrap();
    assert!(StandardInput::kept(&path, &input.facts).unwrap().is_none());
}

#[test]
fn nothing_is_none_and_too_much_is_refused() {
    assert!(StandardInput::read(&b""[..]).unwrap().is_none());
    assert!(StandardInput::read(repeat(b'x').take(MOST_BYTES)).unwrap().is_some());
    let error = StandardInput::read(repeat(b'x').take(MOST_BYTES + 1)).unwrap_err();
    assert!(matches!(error, InputError::TooLong) && error.to_string().contains("64 MiB"), "{error}");
}
