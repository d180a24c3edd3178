//! Writes nights. Each call is one transaction, and may be repeated: what is there already is not counted again.

use serde::Serialize;
use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, Row as _, Transaction};

use super::error::StoreError;
use super::rows::{Batch, CellFacts, Key, NightRow, ProgramFacts, UNSEEN};
use super::store::Store;
use crate::hides::HIDES;

/// A whole number as databases have it. What we count does not reach 2^63.
pub(super) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A statement about a night: its first two values are the plan and the label.
fn about<'q>(key: &'q Key, text: &'q str) -> Query<'q, Any, AnyArguments<'q>> {
    sqlx::query(text).bind(&key.plan).bind(&key.label)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("facts are maps with text for keys")
}

impl Store {
    /// Begins a night, or finds it begun: what the database has of it comes back.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn begin(&self, night: &NightRow) -> Result<NightRow, StoreError> {
        let text = "INSERT INTO night (plan, label, plan_sha256, seed, began, ended, complete, shards, bugaroo, notes) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING";
        about(&night.key, text)
            .bind(&night.plan_sha256)
            .bind(night.seed.to_string())
            .bind(night.began)
            .bind(night.ended)
            .bind(i64::from(night.complete))
            .bind(i64::from(night.shards))
            .bind(&night.bugaroo)
            .bind(json(&night.notes))
            .execute(&self.pool)
            .await
            .map_err(|error| self.query(error))?;
        let there = self.night_row(&night.key).await?;
        there.ok_or_else(|| {
            self.damaged(format_args!("night {} was written and is not there", night.key.label))
        })
    }

    /// A night goes on: it has not ended after all.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn reopen(&self, key: &Key) -> Result<(), StoreError> {
        let text = "UPDATE night SET ended = NULL, complete = 0 WHERE plan = $1 AND label = $2";
        about(key, text).execute(&self.pool).await.map(drop).map_err(|error| self.query(error))
    }

    /// Ends a shard of a night, and with the last one the night.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn end(
        &self,
        key: &Key,
        shard: u32,
        complete: bool,
        at: i64,
        notes: &[String],
    ) -> Result<(), StoreError> {
        let done = async {
            let mut change = self.pool.begin().await?;
            let text = "INSERT INTO part (plan, label, shard, complete) VALUES ($1, $2, $3, $4) \
                        ON CONFLICT (plan, label, shard) DO UPDATE SET complete = excluded.complete";
            about(key, text).bind(i64::from(shard)).bind(i64::from(complete)).execute(&mut *change).await?;
            let text = "SELECT COUNT(*) FROM part WHERE plan = $1 AND label = $2 AND complete = 1";
            let parts: i64 = about(key, text).fetch_one(&mut *change).await?.try_get(0)?;
            let text = "UPDATE night SET ended = CASE WHEN ended > $3 THEN ended ELSE $3 END, notes = $4, \
                        complete = CASE WHEN shards = $5 THEN 1 ELSE 0 END WHERE plan = $1 AND label = $2";
            about(key, text).bind(at).bind(json(&notes)).bind(parts).execute(&mut *change).await?;
            change.commit().await
        };
        done.await.map_err(|error| self.query(error))
    }

    /// A part of a night ended then: the night did not end before.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn ended(&self, key: &Key, at: i64) -> Result<(), StoreError> {
        let text = "UPDATE night SET ended = CASE WHEN ended > $3 THEN ended ELSE $3 END WHERE plan = $1 AND label = $2";
        about(key, text).bind(at).execute(&self.pool).await.map(drop).map_err(|error| self.query(error))
    }

    /// Says what is known of a program; what was said before of the same shard is replaced.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn tell_program(
        &self,
        key: &Key,
        shard: u32,
        program: &str,
        facts: &ProgramFacts,
    ) -> Result<(), StoreError> {
        let text = "INSERT INTO program (plan, label, shard, program, facts) VALUES ($1, $2, $3, $4, $5) \
                    ON CONFLICT (plan, label, program, shard) DO UPDATE SET facts = excluded.facts";
        let query = about(key, text).bind(i64::from(shard)).bind(program).bind(json(facts));
        query.execute(&self.pool).await.map(drop).map_err(|error| self.query(error))
    }

    /// Says what cells a program has.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn tell_cells(
        &self,
        key: &Key,
        program: &str,
        cells: &[(String, CellFacts)],
    ) -> Result<(), StoreError> {
        let done = async {
            let mut change = self.pool.begin().await?;
            for (cell, facts) in cells {
                let text = "INSERT INTO cell (plan, label, program, cell, facts) VALUES ($1, $2, $3, $4, $5) \
                            ON CONFLICT DO NOTHING";
                about(key, text).bind(program).bind(cell).bind(json(facts)).execute(&mut *change).await?;
            }
            change.commit().await
        };
        done.await.map_err(|error| self.query(error))
    }

    /// Says what was done of a program besides trials.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn tell_study(
        &self,
        key: &Key,
        program: &str,
        (study, facts): (&str, &impl Serialize),
        milliseconds: u64,
    ) -> Result<(), StoreError> {
        let text = "INSERT INTO study (plan, label, program, study, facts, milliseconds) \
                    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
        let query = about(key, text).bind(program).bind(study).bind(json(facts)).bind(whole(milliseconds));
        query.execute(&self.pool).await.map(drop).map_err(|error| self.query(error))
    }

    /// Counts trials, all of a batch or none. Whether they were counted: a batch counts only where it follows on the trials that are
    /// there already. Else somebody else writes the same night.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn count(&self, key: &Key, batch: &Batch) -> Result<bool, StoreError> {
        self.count_with(key, batch, None).await
    }

    /// The same, with what an exploration knows behind them, under the name of its study.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn count_explored(
        &self,
        key: &Key,
        batch: &Batch,
        (study, known): (&str, &impl Serialize),
    ) -> Result<bool, StoreError> {
        self.count_with(key, batch, Some((study, json(known)))).await
    }

    async fn count_with(
        &self,
        key: &Key,
        batch: &Batch,
        explored: Option<(&str, String)>,
    ) -> Result<bool, StoreError> {
        let done = async {
            let mut change = self.pool.begin().await?;
            // The first statement writes, so that two who count at once come one after the other, on every kind of database.
            let text = "UPDATE night SET ended = ended WHERE plan = $1 AND label = $2";
            about(key, text).execute(&mut *change).await?;
            let follows = follows(&mut change, key, batch).await? && insert(&mut change, key, batch).await?;
            if follows {
                details(&mut change, key, batch).await?;
                if let Some((study, facts)) = explored {
                    // Its time only grows, by which a merge knows the newer one.
                    let text = "INSERT INTO study (plan, label, program, study, facts, milliseconds) \
                                VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (plan, label, program, study) DO UPDATE \
                                SET facts = excluded.facts, milliseconds = study.milliseconds + excluded.milliseconds + 1";
                    let query = about(key, text).bind(&batch.program).bind(study).bind(facts);
                    query.bind(whole(batch.milliseconds)).execute(&mut *change).await?;
                }
                change.commit().await?;
            } else {
                change.rollback().await?;
            }
            Ok(follows)
        };
        done.await.map_err(|error| self.query(error))
    }
}

/// Whether the batch begins with the first trial of its shard that is not there.
async fn follows(change: &mut Transaction<'_, Any>, key: &Key, batch: &Batch) -> Result<bool, sqlx::Error> {
    let text = "SELECT CAST(COALESCE(SUM(trials), 0) AS BIGINT) FROM batch WHERE plan = $1 AND label = $2 AND program = $3 \
                AND cell = $4 AND step = $5 AND first % $5 = $6";
    let (step, place) = (whole(batch.step), whole(batch.first % batch.step));
    let query = about(key, text).bind(&batch.program).bind(&batch.cell).bind(step).bind(place);
    let there: i64 = query.fetch_one(&mut **change).await?.try_get(0)?;
    Ok(there.checked_mul(step).and_then(|trials| trials.checked_add(place)) == Some(whole(batch.first)))
}

/// Whether the batch was not there yet.
async fn insert(change: &mut Transaction<'_, Any>, key: &Key, batch: &Batch) -> Result<bool, sqlx::Error> {
    let text = "INSERT INTO batch (plan, label, program, cell, first, step, trials, pass, wrong_result, crash, deadlock, \
                timeout, slow, killed, delayed_stores, forgetful, forgotten, milliseconds) VALUES \
                ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) ON CONFLICT DO NOTHING";
    let Batch { tally, .. } = batch;
    let mut query = about(key, text)
        .bind(&batch.program)
        .bind(&batch.cell)
        .bind(whole(batch.first))
        .bind(whole(batch.step))
        .bind(whole(tally.trials()));
    for outcome in tally.outcomes {
        query = query.bind(whole(outcome));
    }
    let query = query
        .bind(whole(tally.delayed_stores))
        .bind(whole(tally.forgetful))
        .bind(whole(tally.forgotten))
        .bind(whole(batch.milliseconds));
    Ok(query.execute(&mut **change).await?.rows_affected() == 1)
}

async fn details(change: &mut Transaction<'_, Any>, key: &Key, batch: &Batch) -> Result<(), sqlx::Error> {
    for row in &batch.trials {
        let text = "INSERT INTO trial (plan, label, program, cell, trial, seed, outcome, variation, record) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        about(key, text)
            .bind(&batch.program)
            .bind(&batch.cell)
            .bind(whole(row.trial))
            .bind(row.seed.to_string())
            .bind(row.outcome.name())
            .bind(row.variation.as_ref().map(json))
            .bind(row.record.as_ref().map(json))
            .execute(&mut **change)
            .await?;
    }
    let unseen = batch.unseen.iter().map(|what| (format!("{UNSEEN}{what}"), json(what)));
    let hides =
        batch.hides.iter().map(|hides| (format!("{HIDES}{} {}", batch.cell, batch.first), json(hides)));
    for (study, facts) in unseen.chain(hides) {
        let text = "INSERT INTO study (plan, label, program, study, facts, milliseconds) VALUES ($1, $2, $3, $4, $5, 0) \
                    ON CONFLICT DO NOTHING";
        about(key, text).bind(&batch.program).bind(study).bind(facts).execute(&mut **change).await?;
    }
    for (fingerprint, sighting) in &batch.sightings {
        let text = "INSERT INTO sighting (plan, label, program, cell, first, finding, trials) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7)";
        about(key, text)
            .bind(&batch.program)
            .bind(&batch.cell)
            .bind(whole(batch.first))
            .bind(fingerprint)
            .bind(whole(sighting.trials))
            .execute(&mut **change)
            .await?;
        let Some(example) = &sighting.example else { continue };
        // The first trial that shows a finding is its example, in whatever order batches come.
        let text = "INSERT INTO finding (plan, label, program, finding, cell, trial, facts) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (plan, label, program, finding, cell) \
                    DO UPDATE SET trial = excluded.trial, facts = excluded.facts WHERE excluded.trial < finding.trial";
        about(key, text)
            .bind(&batch.program)
            .bind(fingerprint)
            .bind(&batch.cell)
            .bind(whole(example.trial))
            .bind(json(&example.finding))
            .execute(&mut **change)
            .await?;
    }
    Ok(())
}
