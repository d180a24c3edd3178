//! Edits, diffs, and what `patch` makes of them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::*;

/// Texts of several lines, some with carriage returns, some without an end.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![Just("{"), Just("}"), Just("    a = 1;"), Just(""), Just("\tb();"), Just("x\ry")];
    (prop::collection::vec(line, 0..40), any::<bool>(), any::<bool>()).prop_map(|(lines, crlf, ended)| {
        let end = if crlf { "\r\n" } else { "\n" };
        let text = lines.join(end);
        if ended && !text.is_empty() { text + end } else { text }
    })
}

/// Applies a diff to a copy of the files, as an author would.
fn patched(patch: &Patch, program: &str, arguments: &[&str]) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in &patch.files {
        let path = folder.path().join(&file.name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, &file.original).expect("written");
    }
    fs::write(folder.path().join("it.patch"), patch.to_string()).expect("written");
    let input = fs::File::open(folder.path().join("it.patch")).expect("there");
    let ran = Command::new(program)
        .current_dir(folder.path())
        .args(arguments)
        .stdin(Stdio::from(input))
        .output()
        .expect("it can be started");
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && !said.contains("fuzz") && !said.contains("offset"), "{said}\n{patch}");
    patch.files.iter().map(|file| fs::read(folder.path().join(&file.name)).expect("there")).collect()
}

fn edited(patch: &Patch) -> Vec<Vec<u8>> {
    patch.files.iter().map(|file| file.edited.clone().into_bytes()).collect()
}

/// Both programs; `patch` keeps carriage returns where it is told that they belong to the text.
fn assert_applies(patch: &Patch) {
    assert_eq!(patched(patch, "patch", &["-p1", "--binary"]), edited(patch), "{patch}");
    assert_eq!(patched(patch, "git", &["apply", "--whitespace=nowarn", "-"]), edited(patch), "{patch}");
}

fn line(at: usize, text: &str) -> Edit {
    Edit::insert(at, text, Rank::behind(3))
}

#[test]
fn a_diff_reads_as_git_writes_it() {
    let text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine";
    let mut edits = EditsByFile::new();
    edits.add(Path::new("/home/me/src/a.cu"), text, vec![line(text.find("\nfive").unwrap(), "\nfence();")]);
    let patch = edits.patch(Path::new("/home/me")).expect("no overlap");
    let expected = "diff --git a/src/a.cu b/src/a.cu\n--- a/src/a.cu\n+++ b/src/a.cu\n@@ -2,6 +2,7 @@\n two\n three\n four\n+fence();\n five\n six\n seven\n";
    assert_eq!(patch.to_string(), expected);
    assert!(patch.files[0].inside);
    assert_applies(&patch);
}

#[test]
fn carriage_returns_and_a_missing_end_stay() {
    let text = "one\r\ntwo\r\nthree";
    let mut edits = EditsByFile::new();
    edits.add(Path::new("a.cu"), text, vec![line(text.len(), "\r\nfence();")]);
    edits.add(Path::new("with space.cu"), "x\ny", vec![Edit::replace(0..2, "")]);
    let patch = edits.patch(Path::new("/tmp")).expect("no overlap");
    assert!(
        patch
            .to_string()
            .contains("-three\n\\ No newline at end of file\n+three\r\n+fence();\n\\ No newline")
    );
    assert_applies(&patch);
}

#[test]
fn each_hunk_names_the_advice_that_it_carries_out() {
    let text: String = (0..40).map(|n| format!("line {n}\n")).collect();
    let at = |n: usize| text.find(&format!("\nline {n}\n")).unwrap();
    let mut edits = EditsByFile::new();
    let path = Path::new("a.cu");
    let first = edits.add(path, &text, vec![line(at(3), "\nfence();")]);
    let second = edits.add(path, &text, vec![line(at(30), "\nfence();")]);
    let third = edits.add(path, &text, vec![Edit::replace(at(33) + 1..at(34) + 1, "")]);
    let header = edits.add(Path::new("b.cuh"), "x\n", vec![line(0, "y\n")]);
    let both = edits.next_id();
    edits.add_to(both, path, &text, vec![line(at(4), "\nother();")]);
    edits.add_to(both, Path::new("b.cuh"), "x\n", vec![line(2, "z\n")]);
    let patch = edits.patch(Path::new("/tmp")).expect("no overlap");
    let named: Vec<&[EditId]> = patch.files[0].hunks.iter().map(|hunk| &hunk.edits[..]).collect();
    assert_eq!(named, [&[first, both][..], &[second, third]]);
    assert_eq!(patch.files[1].hunks[0].edits, [header, both]);
    assert_eq!(
        (patch.files[0].hunks[0].old_lines.clone(), patch.files[0].hunks[0].new_lines.clone()),
        (1..8, 1..10)
    );
    assert_applies(&patch);
}

#[test]
fn insertions_at_one_place_stand_inner_ones_first_and_then_as_they_were_asked_for() {
    let text = "x;y;";
    let edits = [
        Edit::insert(2, "before y,", Rank::before(4)),
        Edit::insert(2, "}", Rank::closing(5)).once(),
        Edit::insert(2, "outer,", Rank::behind(4)),
        Edit::insert(2, "first,", Rank::behind(5)),
        Edit::insert(2, "second,", Rank::behind(5)),
        Edit::insert(2, "}", Rank::closing(5)).once(),
    ];
    assert_eq!(apply(text, &edits).unwrap(), "x;first,second,}outer,before y,y;");
}

#[test]
fn two_who_change_the_same_text_are_refused() {
    let text = "abcdef";
    let change = |range, text: &str| Edit::replace(range, text);
    let mut edits = EditsByFile::new();
    edits.add(Path::new("a.cu"), text, vec![change(0..3, "x")]);
    edits.add(Path::new("a.cu"), text, vec![change(2..4, "y")]);
    let refused = edits.patch(Path::new("/tmp")).expect_err("they overlap");
    assert_eq!((refused.first, refused.second), (0..3, 2..4));
    // What is deleted can be deleted again; what is written into it is lost.
    assert_eq!(apply(text, &[change(0..4, ""), change(1..3, "")]).unwrap(), "ef");
    assert!(apply(text, &[change(0..4, ""), line(2, "z")]).is_err());
    assert_eq!(apply(text, &[change(0..2, ""), line(2, "z")]).unwrap(), "zcdef");
}

#[test]
fn files_are_replaced_only_if_they_are_as_they_were_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (one, two) = (folder.path().join("one.cu"), folder.path().join("two.cu"));
    fs::write(&one, "a\n").unwrap();
    fs::write(&two, "b\n").unwrap();
    let link = folder.path().join("link.cu");
    std::os::unix::fs::symlink(&two, &link).unwrap();
    let mut edits = EditsByFile::new();
    edits.add(&one, "a\n", vec![line(2, "fence\n")]);
    edits.add(&link, "b\n", vec![line(2, "fence\n")]);
    let patch = edits.patch(folder.path()).expect("no overlap");
    fs::write(&two, "other\n").unwrap();
    let refused = patch.write().expect_err("it has changed");
    assert!(matches!(&refused, WriteError::Changed(path) if *path == link), "{refused}");
    assert_eq!(fs::read_to_string(&one).unwrap(), "a\n");
    fs::write(&two, "b\n").unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&two, fs::Permissions::from_mode(0o750)).unwrap();
    patch.write().expect("written");
    assert_eq!(fs::read_to_string(&one).unwrap(), "a\nfence\n");
    assert_eq!(fs::read_to_string(&two).unwrap(), "b\nfence\n");
    assert_eq!(fs::metadata(&two).unwrap().permissions().mode() & 0o777, 0o750);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left lying about");
}

#[test]
fn a_file_outside_of_the_folder_is_called_by_its_whole_path() {
    let mut edits = EditsByFile::new();
    edits.add(Path::new("../inc/./a.cuh"), "x\n", vec![line(2, "y\n")]);
    edits.add(Path::new("src/../b.cu"), "x\n", vec![line(2, "y\n")]);
    let patch = edits.patch(Path::new("/home/me")).expect("no overlap");
    let names: Vec<(&str, bool)> = patch.files.iter().map(|file| (&file.name[..], file.inside)).collect();
    assert_eq!(names, [("home/inc/a.cuh", false), ("b.cu", true)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever lines are inserted and taken out, `patch` and `git apply` make the same of it.
    #[test]
    fn what_patch_makes_of_a_diff_is_the_edited_text(
        text in text(),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..6),
    ) {
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut edits = EditsByFile::new();
        for (place, delete) in places {
            let place = place.index(starts.len());
            let end = starts.get(place + 1).copied().unwrap_or(text.len());
            let edit = if delete { Edit::replace(starts[place]..end, "") } else { line(starts[place], "fence();\n") };
            edits.add(Path::new("a.cu"), &text, vec![edit]);
        }
        let patch = edits.patch(Path::new("/tmp")).expect("whole lines do not overlap");
        let empty = patch.files.iter().any(|file| file.edited.is_empty() || file.original.is_empty());
        if !patch.files.is_empty() && !empty {
            assert_applies(&patch);
        }
        for file in &patch.files {
            prop_assert!(file.hunks.iter().all(|hunk| !hunk.edits.is_empty()));
        }
    }
}
