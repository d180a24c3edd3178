use super::file_name;

#[test]
fn names_that_differ_are_other_files() {
    let names = ["x y", "x-y", "x/y", "x--y", "", ".", "..", "-", "runs", "n1", "äö"];
    let mut files: Vec<String> = names.iter().map(|name| file_name(name)).collect();
    assert!(files.iter().all(|file| !file.contains('/') && file != "runs" && file != "." && file != ".."));
    files.sort();
    files.dedup();
    assert_eq!(files.len(), names.len());
    // What can be a file's name stays as it is.
    assert_eq!((file_name("x-y"), file_name("n1")), ("x-y".to_owned(), "n1".to_owned()));
}
