use super::{Edit, FileDiff, read};

#[test]
fn edits_are_read_with_their_lines() {
    let text = "diff --git a/k.cu b/k.cu\nindex 1..2\n--- a/k.cu\n+++ b/k.cu\n@@ -3,4 +3,5 @@ void f()\n one\n-two\n+TWO\n+three\n four\n five\n@@ -20 +21,2 @@\n+zero\n last\n";
    let edit = |line, deleted, inserted: &str| Edit { line, deleted, inserted: inserted.into() };
    let edits = vec![edit(4, 1, "TWO\nthree\n"), edit(20, 0, "zero\n")];
    assert_eq!(read(text), Some(vec![FileDiff { name: "k.cu".into(), edits }]));
}

#[test]
fn what_is_not_simple_is_refused() {
    let header = "--- a/k.cu\n+++ b/k.cu\n";
    for text in [
        String::new(),
        "add a fence".into(),
        header.into(),
        format!("{header}@@ -1,2 +1,2 @@\n-a\n+b\n"),
        format!("{header}@@ -1,2 +1,3 @@\n a\n b\n+at the end\n"),
        format!("{header}@@ -1,2 +1,2 @@\n-a\n+b\n c\n\\ No newline at end of file\n"),
        "--- /dev/null\n+++ b/k.cu\n@@ -0,0 +1 @@\n+a\n".into(),
        "--- a/k.cu\n+++ b/other.cu\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n".into(),
        format!("{header}@@ -4294967295,2 +1,3 @@\n a\n+b\n c\n"),
    ] {
        assert_eq!(read(&text), None, "{text}");
    }
}
