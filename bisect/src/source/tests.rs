//! Finding lines and files.

use std::path::{Path, PathBuf};

use super::SourceText;

fn text(text: &str) -> SourceText {
    SourceText { path: PathBuf::from("k.cu"), text: text.to_owned() }
}

#[test]
fn lines_are_found_by_number() {
    let source = text("one\n  two\nthree");
    let line = |number| source.line_span(number).map(|(start, end)| &source.text[start..end]);
    assert_eq!([line(1), line(2), line(3)], [Some("one"), Some("  two"), Some("three")]);
    assert_eq!([line(0), line(4)], [None, None]);
    assert_eq!(source.indentation(2), "  ");
    assert_eq!(text("").line_span(1), None);
    assert_eq!(text("one\n").line_span(2), None);
}

#[test]
fn a_file_is_found_above_and_beside_the_program() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("apps/dot")).expect("folders");
    std::fs::create_dir_all(path("target/release")).expect("folders");
    std::fs::write(path("apps/dot/kernel.cu"), "a\nb\n").expect("a file");
    let app = path("target/release/dot");
    let find = |file: &str, line, app: &Path| SourceText::find(file, line, app).map(|found| found.path);
    assert_eq!(find("apps/dot/kernel.cu", 2, &app), Some(path("apps/dot/kernel.cu")));
    assert_eq!(find("apps/dot/kernel.cu", 3, &app), None, "the file has no such line");
    assert_eq!(find("/elsewhere/kernel.cu", 1, &app), None);
    assert_eq!(find("/elsewhere/kernel.cu", 1, &path("apps/dot/dot")), Some(path("apps/dot/kernel.cu")));
}
