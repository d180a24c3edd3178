//! The tables of cases: a text with a mark where the access stands, what is asked, and the text that comes of it.
//!
//! A file of cases holds sections `== NAME`, then a line that says what is asked, then `---`, the text, `---`, the text
//! that is expected. `@` marks the position. A text that does not begin with `//! file` stands in a kernel.

/// Declarations that the texts use.
pub const PRELUDE: &str = include_str!("prelude.cuh");

/// A case.
pub struct Case {
    /// What it shows.
    pub name: &'static str,
    /// What is asked.
    pub asked: &'static str,
    /// The text, without the mark.
    pub text: String,
    /// The byte that the mark stood before.
    pub at: usize,
    /// The text that is expected, or a part of the refusal.
    pub expected: String,
}

/// The cases of a table.
pub fn cases(table: &'static str) -> Vec<Case> {
    table.strip_prefix("== ").unwrap_or(table).split("\n== ").map(case).collect()
}

fn case(section: &'static str) -> Case {
    let mut parts = section.split("---\n");
    let mut part = || parts.next().unwrap_or_else(|| panic!("three parts: {section}"));
    let (name, asked) = part().split_once('\n').expect("a name and what is asked");
    let text = whole(part());
    let expected = part();
    let expected = if expected.starts_with("refused") { expected.trim().to_owned() } else { whole(expected) };
    let at = text.find('@').unwrap_or_else(|| panic!("{name}: no mark"));
    Case { name, asked: asked.trim(), text: text.replacen('@', "", 1), at, expected }
}

/// A text as a file.
fn whole(text: &str) -> String {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match text.strip_prefix("//! file\n") {
        Some(file) => format!("#include \"prelude.cuh\"\n{file}{end}"),
        None => {
            format!("#include \"prelude.cuh\"\n__global__ void k(int *a, int *m, int n) {{\n{text}{end}}}\n")
        }
    }
}
