//! Unified diffs, read again: as far as a report needs them.
//!
//! Source: the format as POSIX `diff -u` describes it, with the headers that git writes.

/// Changes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// Its name before, without `a/`.
    pub name: String,
    pub edits: Vec<Edit>,
}

/// Lines that others take the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The first of the lines that go, from 1; or the one before which the new ones come.
    pub line: u32,
    /// How many go.
    pub deleted: u32,
    /// The new lines, each with its end.
    pub inserted: String,
}

/// A patch as edits of files that are there; None if it is not as simple as that: files come or go, a line has no end, a change
/// has no line after it, or the text is no unified diff.
pub fn read(text: &str) -> Option<Vec<FileDiff>> {
    let mut files: Vec<FileDiff> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(old) = line.strip_prefix("--- ") {
            let new = lines.next()?.strip_prefix("+++ ")?;
            let (old, new) = (name(old, "a/")?, name(new, "b/")?);
            if old != new || files.iter().any(|file| file.name == old) {
                return None;
            }
            files.push(FileDiff { name: old, edits: Vec::new() });
        } else if let Some(header) = line.strip_prefix("@@ -") {
            let file = files.last_mut()?;
            let (old, new) = header.split_once(" @@")?.0.split_once(" +")?;
            let ((first, before), (_, after)) = (range(old)?, range(new)?);
            file.edits.extend(hunk(&mut lines, first, before, after)?);
        } else if !(line.starts_with("diff --git ") || line.starts_with("index ")) {
            return None;
        }
    }
    let some = !files.is_empty() && files.iter().all(|file| !file.edits.is_empty());
    some.then_some(files)
}

/// The name in a header, without the time that may follow.
fn name(header: &str, prefix: &str) -> Option<String> {
    let name = header.split('\t').next()?;
    // In quotes stands what has special characters.
    (name != "/dev/null" && !name.starts_with('"'))
        .then(|| name.strip_prefix(prefix).unwrap_or(name).to_owned())
}

/// `3,7` or `3`: the first line and how many.
fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((first, count)) => Some((first.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// The edits of a hunk of so many lines before and after, the first of which is numbered so.
fn hunk<'a>(
    lines: &mut impl Iterator<Item = &'a str>,
    first: u32,
    before: u32,
    after: u32,
) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    let mut open: Option<Edit> = None;
    let (mut old, mut new) = (0, 0);
    while old < before || new < after {
        let line = lines.next()?;
        let at = first.checked_add(old)?;
        match line.as_bytes().first() {
            Some(b'-') => {
                open.get_or_insert(Edit { line: at, deleted: 0, inserted: String::new() }).deleted += 1;
                old += 1;
            }
            Some(b'+') => {
                let edit = open.get_or_insert(Edit { line: at, deleted: 0, inserted: String::new() });
                edit.inserted += &line[1..];
                edit.inserted.push('\n');
                new += 1;
            }
            // Some tools cut the blank of an empty line off.
            Some(b' ') | None => {
                edits.extend(open.take());
                old += 1;
                new += 1;
            }
            Some(_) => return None,
        }
    }
    // Whether there is a line after the last change is not known then.
    (open.is_none() && old == before && new == after).then_some(edits)
}

#[cfg(test)]
mod tests;
