//! What is linked.

/// A module to be linked.
#[derive(Clone, Copy, Debug)]
pub struct LinkInput<'a> {
    /// What errors call it: a file's name, or a number.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}
