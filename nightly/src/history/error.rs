//! What goes wrong with a database of results.

/// Why results cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be opened.
    #[error("database {name}: {source}")]
    Open {
        /// File, or URL without its password.
        name: String,
        /// Why.
        source: sqlx::Error,
    },
    /// It cannot be brought to this version's schema.
    #[error("database {name}: {source} (a newer version of Bugaroo may have written it)")]
    Migrate {
        /// File, or URL without its password.
        name: String,
        /// Why.
        source: sqlx::migrate::MigrateError,
    },
    /// A question or a change failed.
    #[error("database {name}: {source}")]
    Query {
        /// File, or URL without its password.
        name: String,
        /// Why.
        source: sqlx::Error,
    },
    /// Something in it is not what this version writes.
    #[error("database {name}: {what}")]
    Damaged {
        /// File, or URL without its password.
        name: String,
        /// What, and where.
        what: String,
    },
}
