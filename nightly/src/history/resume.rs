//! What of a night is there already: for going on with it, for replays, and for merging.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use bugaroo_harness::rundir::RunFile;

use super::error::StoreError;
use super::rows::{Key, Tally};
use super::store::Store;
use crate::runs::Kept;
use crate::study::Explored;

/// Under this name, and the cell's behind it, studies keep what a run is.
pub const RUN: &str = "run ";

/// What is there of a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellDone {
    /// What its trials came to.
    pub tally: Tally,
    /// Time that they took.
    pub spent: Duration,
    /// How many of them saw each finding.
    pub seen: HashMap<String, u64>,
}

impl Store {
    /// What is there of a night, by program and cell.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn done(&self, key: &Key) -> Result<BTreeMap<(String, String), CellDone>, StoreError> {
        let mut cells: BTreeMap<(String, String), CellDone> = BTreeMap::new();
        for row in self.of_night(key, "SELECT * FROM batch WHERE plan = $1 AND label = $2").await? {
            let cell = cells.entry((self.get(&row, "program")?, self.get(&row, "cell")?)).or_default();
            cell.tally.merge(&self.tally(&row)?);
            cell.spent += Duration::from_millis(self.count_of(&row, "milliseconds")?);
        }
        for row in self.of_night(key, "SELECT * FROM sighting WHERE plan = $1 AND label = $2").await? {
            let cell = cells.entry((self.get(&row, "program")?, self.get(&row, "cell")?)).or_default();
            *cell.seen.entry(self.get(&row, "finding")?).or_default() += self.count_of(&row, "trials")?;
        }
        Ok(cells)
    }

    /// Studies that are done, by program and name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn studies(&self, key: &Key) -> Result<Vec<(String, String)>, StoreError> {
        let rows =
            self.of_night(key, "SELECT program, study FROM study WHERE plan = $1 AND label = $2").await?;
        rows.iter().map(|row| Ok((self.get(row, "program")?, self.get(row, "study")?))).collect()
    }

    /// What an exploration of a program knows, under the name of its study.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn explored(
        &self,
        key: &Key,
        program: &str,
        study: &str,
    ) -> Result<Option<Explored>, StoreError> {
        for row in self.of_night(key, "SELECT * FROM study WHERE plan = $1 AND label = $2").await? {
            if self.get::<String>(&row, "program")? == program && self.get::<String>(&row, "study")? == study
            {
                return self.json(&self.get::<String>(&row, "facts")?).map(Some);
            }
        }
        Ok(None)
    }

    /// Runs of cells with trials whose records are kept.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn kept_runs(&self, key: &Key) -> Result<Vec<Kept>, StoreError> {
        let mut kept: BTreeMap<(String, String), Kept> = BTreeMap::new();
        for row in self.of_night(key, "SELECT * FROM study WHERE plan = $1 AND label = $2").await? {
            let study: String = self.get(&row, "study")?;
            let Some(cell) = study.strip_prefix(RUN) else { continue };
            let (program, cell): (String, String) = (self.get(&row, "program")?, cell.to_owned());
            let run: RunFile = self.json(&self.get::<String>(&row, "facts")?)?;
            kept.insert((program.clone(), cell.clone()), Kept { program, cell, run, trials: Vec::new() });
        }
        let text = "SELECT * FROM trial WHERE plan = $1 AND label = $2 AND record IS NOT NULL ORDER BY trial";
        for row in self.of_night(key, text).await? {
            let at = (self.get(&row, "program")?, self.get(&row, "cell")?);
            if let Some(run) = kept.get_mut(&at) {
                run.trials.push(self.json(&self.get::<String>(&row, "record")?)?);
            }
        }
        Ok(kept.into_values().filter(|run| !run.trials.is_empty()).collect())
    }

    /// What this shard has found out of the programs of a night so far, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn program_facts(
        &self,
        key: &Key,
        shard: u32,
    ) -> Result<BTreeMap<String, super::ProgramFacts>, StoreError> {
        let text = "SELECT program, facts FROM program WHERE plan = $1 AND label = $2 AND shard = $3";
        let query = sqlx::query(text).bind(&key.plan).bind(&key.label).bind(i64::from(shard));
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.query(error))?;
        rows.iter()
            .map(|row| Ok((self.get(row, "program")?, self.json(&self.get::<String>(row, "facts")?)?)))
            .collect()
    }

    /// SHA-256 of the programs' files in the night before this one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn files_before(&self, plan: &str, began: i64) -> Result<BTreeMap<String, String>, StoreError> {
        let text = "SELECT p.program AS program, p.facts AS facts FROM program p JOIN night n \
                    ON n.plan = p.plan AND n.label = p.label WHERE n.plan = $1 AND n.began < $2 ORDER BY n.began";
        let rows = sqlx::query(text).bind(plan).bind(began).fetch_all(&self.pool).await;
        let mut files = BTreeMap::new();
        for row in rows.map_err(|error| self.query(error))? {
            let facts: super::ProgramFacts = self.json(&self.get::<String>(&row, "facts")?)?;
            if let Some(sha256) = facts.sha256 {
                files.insert(self.get(&row, "program")?, sha256);
            }
        }
        Ok(files)
    }

    async fn of_night(&self, key: &Key, text: &str) -> Result<Vec<sqlx::any::AnyRow>, StoreError> {
        let rows = sqlx::query(text).bind(&key.plan).bind(&key.label).fetch_all(&self.pool).await;
        rows.map_err(|error| self.query(error))
    }

    /// Takes in all rows of a night that another database has; what is here already stays. All or nothing.
    ///
    /// # Errors
    /// When one cannot be read or the other not be written.
    pub async fn take_from(&self, other: &Store, key: &Key) -> Result<(), StoreError> {
        let mut change = self.pool.begin().await.map_err(|error| self.query(error))?;
        for (table, columns) in TABLES {
            let rows =
                other.of_night(key, &format!("SELECT * FROM {table} WHERE plan = $1 AND label = $2")).await?;
            let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
            let places: Vec<String> = (1..=columns.len() + 2).map(|at| format!("${at}")).collect();
            let conflict = match table {
                "finding" => {
                    "(plan, label, program, finding, cell) DO UPDATE SET trial = excluded.trial, facts = excluded.facts \
                     WHERE excluded.trial < finding.trial"
                }
                "part" => {
                    "(plan, label, shard) DO UPDATE SET complete = CASE WHEN excluded.complete > part.complete \
                     THEN excluded.complete ELSE part.complete END"
                }
                // What an exploration knows grows.
                "study" => {
                    "(plan, label, program, study) DO UPDATE SET facts = excluded.facts, \
                     milliseconds = excluded.milliseconds WHERE excluded.milliseconds > study.milliseconds"
                }
                "program" => "(plan, label, program, shard) DO UPDATE SET facts = excluded.facts",
                _ => "DO NOTHING",
            };
            let text = format!(
                "INSERT INTO {table} (plan, label, {}) VALUES ({}) ON CONFLICT {conflict}",
                names.join(", "),
                places.join(", ")
            );
            for row in rows {
                let mut query = sqlx::query(&text).bind(&key.plan).bind(&key.label);
                for (name, kind) in columns {
                    query = match kind {
                        Column::Whole => query.bind(other.get::<i64>(&row, name)?),
                        Column::Text => query.bind(other.get::<String>(&row, name)?),
                        Column::TextOrNone => query.bind(other.get::<Option<String>>(&row, name)?),
                    };
                }
                query.execute(&mut *change).await.map_err(|error| self.query(error))?;
            }
        }
        let text = "UPDATE night SET complete = CASE WHEN shards = (SELECT COUNT(*) FROM part WHERE plan = $1 AND \
                    label = $2 AND complete = 1) THEN 1 ELSE 0 END WHERE plan = $1 AND label = $2";
        let done = sqlx::query(text).bind(&key.plan).bind(&key.label).execute(&mut *change).await;
        done.map_err(|error| self.query(error))?;
        change.commit().await.map_err(|error| self.query(error))
    }
}

#[derive(Clone, Copy)]
enum Column {
    Whole,
    Text,
    TextOrNone,
}

use Column::{Text, TextOrNone, Whole};

/// All tables but `night`, with their columns besides plan and label.
const TABLES: [(&str, &[(&str, Column)]); 8] = [
    ("part", &[("shard", Whole), ("complete", Whole)]),
    ("program", &[("shard", Whole), ("program", Text), ("facts", Text)]),
    ("cell", &[("program", Text), ("cell", Text), ("facts", Text)]),
    (
        "batch",
        &[
            ("program", Text),
            ("cell", Text),
            ("first", Whole),
            ("step", Whole),
            ("trials", Whole),
            ("pass", Whole),
            ("wrong_result", Whole),
            ("crash", Whole),
            ("deadlock", Whole),
            ("timeout", Whole),
            ("slow", Whole),
            ("killed", Whole),
            ("delayed_stores", Whole),
            ("forgetful", Whole),
            ("forgotten", Whole),
            ("milliseconds", Whole),
        ],
    ),
    (
        "trial",
        &[
            ("program", Text),
            ("cell", Text),
            ("trial", Whole),
            ("seed", Text),
            ("outcome", Text),
            ("variation", TextOrNone),
            ("record", TextOrNone),
        ],
    ),
    (
        "sighting",
        &[("program", Text), ("cell", Text), ("first", Whole), ("finding", Text), ("trials", Whole)],
    ),
    ("finding", &[("program", Text), ("finding", Text), ("cell", Text), ("trial", Whole), ("facts", Text)]),
    ("study", &[("program", Text), ("study", Text), ("facts", Text), ("milliseconds", Whole)]),
];
