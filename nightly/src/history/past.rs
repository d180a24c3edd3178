//! Reads nights: which there are, and how cells fared in them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::DeserializeOwned;
use sqlx::any::AnyRow;
use sqlx::{ColumnIndex, Row};

use super::error::StoreError;
use super::judge::SeenFailures;
use super::rows::{Key, NightRow};
use super::store::Store;
use crate::night::Past;

/// A night, as far as lists of nights tell.
pub type Night = NightRow;

/// How a cell fared in earlier nights, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellPast {
    /// The nights, with what was seen.
    pub nights: Vec<Past>,
}

impl CellPast {
    /// What was seen in each, for a test.
    pub fn seen(&self) -> Vec<SeenFailures> {
        self.nights.iter().map(|past| SeenFailures { failures: past.failures, told: past.told }).collect()
    }
}

impl Store {
    /// A night; None where there is none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn night_row(&self, key: &Key) -> Result<Option<NightRow>, StoreError> {
        let text = "SELECT * FROM night WHERE plan = $1 AND label = $2";
        let row = sqlx::query(text).bind(&key.plan).bind(&key.label).fetch_optional(&self.pool).await;
        row.map_err(|error| self.query(error))?.map(|row| self.to_night(&row)).transpose()
    }

    /// Whether a part of a night is done.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn is_complete(&self, key: &Key, shard: u32) -> Result<bool, StoreError> {
        let text = "SELECT complete FROM part WHERE plan = $1 AND label = $2 AND shard = $3";
        let row = sqlx::query(text).bind(&key.plan).bind(&key.label).bind(i64::from(shard));
        let row = row.fetch_optional(&self.pool).await.map_err(|error| self.query(error))?;
        row.map_or(Ok(false), |row| Ok(self.get::<i64>(&row, "complete")? != 0))
    }

    /// All nights, of this plan or of any, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn nights(&self, plan: Option<&str>) -> Result<Vec<NightRow>, StoreError> {
        let text = "SELECT * FROM night WHERE plan = $1 OR $1 = '' ORDER BY began, label";
        let rows = sqlx::query(text).bind(plan.unwrap_or("")).fetch_all(&self.pool).await;
        rows.map_err(|error| self.query(error))?.iter().map(|row| self.to_night(row)).collect()
    }

    /// How the cells of a plan's programs fared in nights before this one, by program and cell; also those that a
    /// night has no more.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn before(
        &self,
        plan: &str,
        night: &NightRow,
    ) -> Result<BTreeMap<(String, String), CellPast>, StoreError> {
        let text = "SELECT n.label AS label, n.began AS began, b.program AS program, b.cell AS cell, \
                    CAST(SUM(b.pass) AS BIGINT) AS pass, \
                    CAST(SUM(b.wrong_result + b.crash + b.deadlock + b.timeout) AS BIGINT) AS failures \
                    FROM batch b JOIN night n ON n.plan = b.plan AND n.label = b.label \
                    WHERE n.plan = $1 AND (n.began < $2 OR (n.began = $2 AND n.label < $3)) \
                    GROUP BY n.label, n.began, b.program, b.cell ORDER BY n.began, n.label";
        let rows = sqlx::query(text).bind(plan).bind(night.began).bind(&night.key.label);
        let rows = rows.fetch_all(&self.pool).await.map_err(|error| self.query(error))?;
        let mut cells: BTreeMap<(String, String), CellPast> = BTreeMap::new();
        for row in rows {
            let label: String = self.get(&row, "label")?;
            let (pass, failures) = (self.count_of(&row, "pass")?, self.count_of(&row, "failures")?);
            let cell = cells.entry((self.get(&row, "program")?, self.get(&row, "cell")?)).or_default();
            cell.nights.push(Past { label, told: pass + failures, failures });
        }
        Ok(cells)
    }

    /// What a trial took, by program and cell, over all nights of a plan.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn paces(&self, plan: &str) -> Result<BTreeMap<(String, String), Duration>, StoreError> {
        let text = "SELECT program, cell, CAST(SUM(trials) AS BIGINT) AS trials, \
                    CAST(SUM(milliseconds) AS BIGINT) AS milliseconds FROM batch WHERE plan = $1 GROUP BY program, cell";
        let rows = sqlx::query(text).bind(plan).fetch_all(&self.pool).await;
        let mut paces = BTreeMap::new();
        for row in rows.map_err(|error| self.query(error))? {
            let (trials, took) = (self.count_of(&row, "trials")?, self.count_of(&row, "milliseconds")?);
            let pace = Duration::from_millis(took).div_f64(trials.max(1) as f64);
            paces.insert((self.get(&row, "program")?, self.get(&row, "cell")?), pace);
        }
        Ok(paces)
    }

    fn to_night(&self, row: &AnyRow) -> Result<NightRow, StoreError> {
        let seed: String = self.get(row, "seed")?;
        let flag = |name: &str| Ok::<_, StoreError>(self.get::<i64>(row, name)? != 0);
        Ok(NightRow {
            key: Key { plan: self.get(row, "plan")?, label: self.get(row, "label")? },
            plan_sha256: self.get(row, "plan_sha256")?,
            seed: seed.parse().map_err(|_| self.damaged(format_args!("'{seed}' is no seed")))?,
            began: self.get(row, "began")?,
            ended: self.get(row, "ended")?,
            complete: flag("complete")?,
            shards: u32::try_from(self.get::<i64>(row, "shards")?).unwrap_or(1),
            bugaroo: self.get(row, "bugaroo")?,
            notes: self.json(&self.get::<String>(row, "notes")?)?,
        })
    }

    /// A column of a row.
    pub(super) fn get<'r, T>(&self, row: &'r AnyRow, column: &str) -> Result<T, StoreError>
    where
        T: sqlx::Decode<'r, sqlx::Any> + sqlx::Type<sqlx::Any>,
        for<'c> &'c str: ColumnIndex<AnyRow>,
    {
        row.try_get(column).map_err(|error| self.query(error))
    }

    /// A column that counts something.
    pub(super) fn count_of(&self, row: &AnyRow, column: &str) -> Result<u64, StoreError> {
        let count: i64 = self.get(row, column)?;
        u64::try_from(count).map_err(|_| self.damaged(format_args!("{column} is {count}")))
    }

    /// A text that holds JSON.
    pub(super) fn json<T: DeserializeOwned>(&self, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| self.damaged(error))
    }
}
