//! What goes wrong with a database of results.

use sqlx::migrate::MigrateError;

/// Why results cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be opened.
    #[error("database {name}: {source}{}", unopened(source))]
    Open {
        /// File, or URL without its password.
        name: String,
        /// Why.
        source: sqlx::Error,
    },
    /// It belongs to somebody else.
    #[error("database {name}: it holds tables, but none of Bugaroo's; nothing was written to it")]
    Foreign {
        /// File.
        name: String,
    },
    /// It cannot be brought to this version's schema.
    #[error("database {name}: {source}{}", newer(source))]
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

/// What helps where a file cannot be opened.
fn unopened(error: &sqlx::Error) -> &'static str {
    // SQLite's CANTOPEN tells no more than its own words do.
    match error.as_database_error().and_then(|error| error.code()).as_deref() {
        Some("14") => {
            " (can its folder be written? `database` in the plan, or --results, says where it lies)"
        }
        _ => "",
    }
}

/// Who has written a schema that this version does not know.
fn newer(error: &MigrateError) -> &'static str {
    match error {
        MigrateError::VersionMissing(_) | MigrateError::VersionMismatch(_) => {
            " (a newer version of Bugaroo may have written it)"
        }
        _ => "",
    }
}
