//! Opens a database of results, and brings it to this version's schema.
//!
//! SQLite writes ahead (WAL), so that a process that is killed at any moment leaves whole transactions. Results of shards are
//! meant for folders that several machines see, where that is not safe: these keep SQLite's rollback journal.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;
use std::sync::Once;
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AnyPool, ConnectOptions as _, Connection as _};

use super::error::StoreError;

/// What made the schema, step by step: the version, what it does, and its SQL. A step that was released is never changed.
const MIGRATIONS: [(i64, &str, &str); 1] = [(1, "nights", include_str!("../../migrations/0001_nights.sql"))];

/// What was written is there after a power cut.
const SAFE: &str = "PRAGMA synchronous = FULL";
/// Waits so many milliseconds for another who writes.
const PATIENT: &str = "PRAGMA busy_timeout = 60000";

/// Tables of a SQLite file, and how many of them only a database of results has.
const TABLES: &str = "SELECT count(*), count(CASE WHEN name IN ('night', '_sqlx_migrations') THEN 1 END) \
     FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'";

/// How a SQLite file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalMode {
    /// Ahead: readers and a writer at once, on one machine.
    WriteAhead,
    /// By rollback: also in folders of a network.
    Rollback,
}

/// A database of results.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) pool: AnyPool,
    pub(super) name: String,
}

impl Store {
    /// Opens the database of a plan: a file, which is created, or a URL of PostgreSQL.
    ///
    /// # Errors
    /// When it cannot be reached or written, is none, or is of a newer version.
    pub async fn open(database: &str) -> Result<Self, StoreError> {
        match database.contains("://") {
            true => Self::connect(database.to_owned(), shown(database), &[]).await,
            false => Self::file(Path::new(database), JournalMode::WriteAhead).await,
        }
    }

    /// Opens a file of SQLite; it is created where there is none.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn file(path: &Path, journal: JournalMode) -> Result<Self, StoreError> {
        let name = path.display().to_string();
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let made = std::fs::create_dir_all(folder);
            made.map_err(|error| StoreError::Open { name: name.clone(), source: error.into() })?;
        }
        let url = format!("sqlite://{}?mode=rwc", percent(&name));
        let first: &[&str] = match journal {
            JournalMode::WriteAhead => &["PRAGMA journal_mode = WAL", SAFE, PATIENT],
            JournalMode::Rollback => &["PRAGMA journal_mode = TRUNCATE", SAFE, PATIENT],
        };
        Self::connect(url, name, first).await
    }

    async fn connect(url: String, name: String, first: &'static [&'static str]) -> Result<Self, StoreError> {
        static DRIVERS: Once = Once::new();
        DRIVERS.call_once(sqlx::any::install_default_drivers);
        let open = |source| StoreError::Open { name: name.clone(), source };
        let options = AnyConnectOptions::from_str(&url).map_err(open)?.disable_statement_logging();
        // A pool goes on trying for a minute: what is wrong with the database itself shows here at once.
        let mut one = options.connect().await.map_err(open)?;
        // A file of SQLite has statements to begin with. Some of them write, so that this comes before.
        if !first.is_empty() {
            let (tables, own): (i64, i64) = sqlx::query_as(TABLES).fetch_one(&mut one).await.map_err(open)?;
            if tables > 0 && own == 0 {
                return Err(StoreError::Foreign { name });
            }
        }
        for statement in first.iter().chain(&["SELECT 1"]) {
            sqlx::query(statement).execute(&mut one).await.map_err(open)?;
        }
        one.close().await.map_err(open)?;
        let pool = AnyPoolOptions::new()
            // Who runs trials writes one thing after another; a second connection would only wait for the first.
            .max_connections(1)
            .acquire_timeout(Duration::from_secs(60))
            .after_connect(move |connection, _| {
                Box::pin(async move {
                    for statement in first {
                        sqlx::query(statement).execute(&mut *connection).await?;
                    }
                    Ok(())
                })
            })
            .connect_with(options)
            .await
            .map_err(open)?;
        let migrate = |source| StoreError::Migrate { name: name.clone(), source };
        migrator().run(&pool).await.map_err(migrate)?;
        Ok(Self { pool, name })
    }

    /// What it is called in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Closes it: all that was written is in its file then.
    pub async fn close(self) {
        self.pool.close().await;
    }

    pub(super) fn query(&self, source: sqlx::Error) -> StoreError {
        StoreError::Query { name: self.name.clone(), source }
    }

    pub(super) fn damaged(&self, what: impl Display) -> StoreError {
        StoreError::Damaged { name: self.name.clone(), what: what.to_string() }
    }
}

fn migrator() -> Migrator {
    let steps = MIGRATIONS.iter().map(|&(version, description, sql)| {
        Migration::new(version, description.into(), MigrationType::Simple, sql.into(), false)
    });
    Migrator { migrations: steps.collect(), ..Migrator::DEFAULT }
}

/// A path as part of a URL.
fn percent(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                text.push(byte.into());
            }
            other => text += &format!("%{other:02X}"),
        }
    }
    text
}

/// A URL without its password.
fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    match rest.split_once('@') {
        Some((user, host)) => format!("{scheme}://{}@{host}", user.split(':').next().unwrap_or_default()),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{percent, shown};

    #[test]
    fn urls_are_shown_without_their_password() {
        assert_eq!(shown("postgres://me:secret@host/db"), "postgres://me@host/db");
        assert_eq!(shown("postgres://host/db"), "postgres://host/db");
    }

    #[test]
    fn paths_of_any_letters_become_urls() {
        assert_eq!(percent("/a b/c?d#é%.sqlite"), "/a%20b/c%3Fd%23%C3%A9%25.sqlite");
    }
}
