//! Edits to the text of files: what they make of it, the unified diff that says so, and writing it.
//!
//! An [`Edit`] replaces a range of the bytes of a file as it was read. Several of them make a [`Patch`]:
//! [`EditsByFile::add`] takes those that belong together (one advice) and hands back their [`EditId`], [`EditsByFile::patch`]
//! puts all of them into one diff as git writes it, in which each [`Hunk`] names the advice that it carries out.
//! [`Patch::write`] replaces the files.
//!
//! The diff itself is Myers', by the crate `similar`. Where lines repeat, a diff may show a line at another of its
//! equals than the edit did; applied, both give the same text.

mod edit;
mod edits;
mod unified;
mod write;

pub use edit::{Edit, EditId, Rank};
pub use edits::{EditsByFile, Overlap, apply};
pub use unified::{FilePatch, Hunk, Patch};
pub use write::WriteError;

#[cfg(test)]
mod tests;
