//! Kits that look at what threads do.

/// A kit that looks at what threads do.
pub(crate) struct Looks {
    /// Its name in errors.
    pub name: &'static str,
    /// Functions outside of the module that do nothing that it would have to know.
    pub harmless: &'static [&'static str],
}
