//! Makes the night that reports are made of out of what the database has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bugaroo_harness::findings::Share;
use bugaroo_harness::words::shell::shell_word;
use bugaroo_harness::{Outcome, clopper_pearson};
use jiff::Timestamp;
use sqlx::any::AnyRow;

use super::error::StoreError;
use super::judge::{self, SeenFailures};
use super::past::CellPast;
use super::rows::{CellFacts, Key, NightRow, ProgramFacts, Tally};
use super::store::Store;
use crate::night::{
    Cell, Change, Night, NightFinding, NightKernel, NightProgram, NightVerdict, SCHEMA, Status,
};
use crate::plan::expect::Expected;
use crate::{runs, study};

/// Earlier nights that a cell shows.
const SHOWN: usize = 30;

/// The cell and the trial that showed a finding.
type Example = (String, u64, NightFinding);

/// Whether there is a night to compare with, and the command that shows a trial again.
type News<'a> = (bool, &'a dyn Fn(&str, &str, u64) -> String);

/// All rows of a night that are by program.
#[derive(Default)]
struct Rows {
    programs: BTreeMap<String, Vec<ProgramFacts>>,
    cells: BTreeMap<String, Vec<(String, CellFacts)>>,
    tallies: BTreeMap<(String, String), (Tally, u64)>,
    /// Cell, trial and finding of the examples, by program and fingerprint.
    findings: BTreeMap<(String, String), Vec<Example>>,
    first_failures: BTreeMap<(String, String), u64>,
    sightings: BTreeMap<(String, String), BTreeMap<String, u64>>,
    studies: BTreeMap<String, BTreeMap<String, String>>,
    parts: BTreeSet<u32>,
}

impl Store {
    /// A night, with what of it is news; None where there is none. Expectations are not looked at: that is the plan's.
    ///
    /// `reports` is the folder that run directories are written to ([`crate::runs::write`]).
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn night(&self, key: &Key, reports: &Path) -> Result<Option<Night>, StoreError> {
        let Some(row) = self.night_row(key).await? else { return Ok(None) };
        let rows = self.rows(key).await?;
        let before = self.before(&key.plan, &row).await?;
        let known = self.known_findings(&row).await?;
        let earlier = self.nights(Some(&key.plan)).await?;
        let compared_with = earlier
            .iter()
            .rfind(|night| (night.began, &night.key.label) < (row.began, &row.key.label))
            .map(|night| night.key.label.clone());
        let replay = |program: &str, cell: &str, trial: u64| {
            let directory = runs::of_cell(reports, &key.label, program, cell);
            format!("bugaroo replay {} {trial}", shell_word(&directory.display().to_string()))
        };
        let mut programs = programs(&rows, &before, &known, (compared_with.is_some(), &replay));
        judge_all(&mut programs, &before);
        // A night that is not divided has no shards: it is not complete.
        let missing = |shard: &u32| row.shards > 1 && !rows.parts.contains(shard);
        let missing_shards = (1..=row.shards).filter(missing).collect();
        Ok(Some(Night {
            schema: SCHEMA,
            plan: row.key.plan,
            label: row.key.label,
            plan_sha256: row.plan_sha256,
            seed: row.seed,
            began: time(row.began),
            ended: row.ended.map(time),
            complete: row.complete,
            missing_shards,
            bugaroo: row.bugaroo,
            verdict: NightVerdict::Red,
            compared_with,
            programs,
            notes: row.notes,
        }))
    }

    async fn all(&self, key: &Key, text: &str) -> Result<Vec<AnyRow>, StoreError> {
        let rows = sqlx::query(text).bind(&key.plan).bind(&key.label).fetch_all(&self.pool).await;
        rows.map_err(|error| self.query(error))
    }

    async fn rows(&self, key: &Key) -> Result<Rows, StoreError> {
        let mut rows = Rows::default();
        let about = "WHERE plan = $1 AND label = $2";
        for row in self.all(key, &format!("SELECT * FROM program {about} ORDER BY shard")).await? {
            let facts = self.json(&self.get::<String>(&row, "facts")?)?;
            rows.programs.entry(self.get(&row, "program")?).or_default().push(facts);
        }
        for row in self.all(key, &format!("SELECT * FROM cell {about}")).await? {
            let facts = self.json(&self.get::<String>(&row, "facts")?)?;
            rows.cells.entry(self.get(&row, "program")?).or_default().push((self.get(&row, "cell")?, facts));
        }
        for row in self.all(key, &format!("SELECT * FROM batch {about}")).await? {
            let at = (self.get(&row, "program")?, self.get(&row, "cell")?);
            let (tally, spent) = rows.tallies.entry(at).or_default();
            tally.merge(&self.tally(&row)?);
            *spent += self.count_of(&row, "milliseconds")?;
        }
        let failing = "outcome IN ('wrong-result', 'crash', 'deadlock', 'timeout')";
        let text = format!(
            "SELECT program, cell, MIN(trial) AS first FROM trial {about} AND {failing} GROUP BY program, cell"
        );
        for row in self.all(key, &text).await? {
            let at = (self.get(&row, "program")?, self.get(&row, "cell")?);
            rows.first_failures.insert(at, self.count_of(&row, "first")?);
        }
        let text = format!(
            "SELECT program, cell, finding, CAST(SUM(trials) AS BIGINT) AS trials FROM sighting {about} \
             GROUP BY program, cell, finding"
        );
        for row in self.all(key, &text).await? {
            let at = (self.get(&row, "program")?, self.get(&row, "finding")?);
            rows.sightings
                .entry(at)
                .or_default()
                .insert(self.get(&row, "cell")?, self.count_of(&row, "trials")?);
        }
        for row in self.all(key, &format!("SELECT * FROM finding {about}")).await? {
            let at = (self.get(&row, "program")?, self.get(&row, "finding")?);
            let facts = self.json(&self.get::<String>(&row, "facts")?)?;
            let example = (self.get(&row, "cell")?, self.count_of(&row, "trial")?, facts);
            rows.findings.entry(at).or_default().push(example);
        }
        for row in self.all(key, &format!("SELECT * FROM study {about}")).await? {
            let studies = rows.studies.entry(self.get(&row, "program")?).or_default();
            studies.insert(self.get(&row, "study")?, self.get(&row, "facts")?);
        }
        for (program, facts) in self.searches_before(key).await? {
            rows.studies.entry(program).or_default().entry(study::SEARCH.to_owned()).or_insert(facts);
        }
        for row in self.all(key, &format!("SELECT shard FROM part {about} AND complete = 1")).await? {
            rows.parts.insert(u32::try_from(self.get::<i64>(&row, "shard")?).unwrap_or(0));
        }
        Ok(rows)
    }

    pub(super) fn tally(&self, row: &AnyRow) -> Result<Tally, StoreError> {
        let mut outcomes = [0; Outcome::ALL.len()];
        for outcome in Outcome::ALL {
            outcomes[outcome as usize] = self.count_of(row, &outcome.name().replace('-', "_"))?;
        }
        Ok(Tally {
            outcomes,
            delayed_stores: self.count_of(row, "delayed_stores")?,
            forgetful: self.count_of(row, "forgetful")?,
            forgotten: self.count_of(row, "forgotten")?,
        })
    }

    /// What the last search for missing fences found, by program: of a known failure, the cure is as well.
    async fn searches_before(&self, key: &Key) -> Result<BTreeMap<String, String>, StoreError> {
        let text = "SELECT s.program AS program, s.facts AS facts FROM study s JOIN night n \
                    ON n.plan = s.plan AND n.label = s.label WHERE n.plan = $1 AND n.began < \
                    (SELECT began FROM night WHERE plan = $1 AND label = $2) AND s.study = $3 ORDER BY n.began";
        let rows = sqlx::query(text).bind(&key.plan).bind(&key.label).bind(study::SEARCH);
        let rows = rows.fetch_all(&self.pool).await.map_err(|error| self.query(error))?;
        rows.iter().map(|row| Ok((self.get(row, "program")?, self.get(row, "facts")?))).collect()
    }

    /// Fingerprints that nights before this one have seen, by program.
    async fn known_findings(&self, night: &NightRow) -> Result<BTreeSet<(String, String)>, StoreError> {
        let text = "SELECT DISTINCT f.program AS program, f.finding AS finding FROM finding f JOIN night n \
                    ON n.plan = f.plan AND n.label = f.label \
                    WHERE n.plan = $1 AND (n.began < $2 OR (n.began = $2 AND n.label < $3))";
        let rows = sqlx::query(text).bind(&night.key.plan).bind(night.began).bind(&night.key.label);
        let rows = rows.fetch_all(&self.pool).await.map_err(|error| self.query(error))?;
        let known: Result<BTreeSet<_>, StoreError> =
            rows.iter().map(|row| Ok((self.get(row, "program")?, self.get(row, "finding")?))).collect();
        let mut known = known?;
        let text = "SELECT s.program AS program, s.facts AS facts FROM study s JOIN night n \
                    ON n.plan = s.plan AND n.label = s.label \
                    WHERE n.plan = $1 AND (n.began < $2 OR (n.began = $2 AND n.label < $3)) AND s.study = $4";
        let rows = sqlx::query(text).bind(&night.key.plan).bind(night.began).bind(&night.key.label);
        let rows = rows.bind(study::VERIFY).fetch_all(&self.pool).await.map_err(|error| self.query(error))?;
        for row in rows {
            let program: String = self.get(&row, "program")?;
            // What another version has written, and cannot be read, is not known.
            let verdicts: study::Verdicts =
                serde_json::from_str(&self.get::<String>(&row, "facts")?).unwrap_or_default();
            known.extend(verdicts.findings.into_iter().map(|found| (program.clone(), found.fingerprint)));
        }
        Ok(known)
    }
}

/// A point in time as RFC 3339.
fn time(milliseconds: i64) -> String {
    Timestamp::from_millisecond(milliseconds).map_or_else(|_| milliseconds.to_string(), |at| at.to_string())
}

fn programs(
    rows: &Rows,
    before: &BTreeMap<(String, String), CellPast>,
    known: &BTreeSet<(String, String)>,
    news: News<'_>,
) -> Vec<NightProgram> {
    let mut programs: Vec<(usize, NightProgram)> = rows
        .programs
        .iter()
        .map(|(name, facts)| {
            // Shards differ in what they measured alone: the first that came to an error tells of it.
            let told = facts.iter().find(|facts| facts.error.is_some()).or(facts.first());
            let told = told.cloned().unwrap_or_default();
            let mut notes: Vec<String> = Vec::new();
            for note in facts.iter().flat_map(|facts| &facts.notes) {
                if !notes.contains(note) {
                    notes.push(note.clone());
                }
            }
            let cells = cells(rows, name, before);
            let mut program = NightProgram {
                name: name.clone(),
                run: told.run,
                sha256: told.sha256,
                error: told.error,
                baseline_ms: told.baseline_ms,
                without_fork_server: told.fork_server.and_then(|used| used.why_not),
                findings: findings(rows, name, known, news, &cells),
                cells,
                kernels: Vec::<NightKernel>::new(),
                flush_lengths: BTreeMap::new(),
                explored: None,
                expectations: Vec::new(),
                notes,
            };
            for (study, facts) in rows.studies.get(name).into_iter().flatten() {
                study::take(&mut program, study, facts);
            }
            for finding in program.findings.iter_mut().filter(|finding| finding.kind == Expected::Verify) {
                finding.new = news.0 && !known.contains(&(name.clone(), finding.fingerprint.clone()));
            }
            study::hidden(&mut program, rows.studies.get(name).into_iter().flatten());
            study::exploration(&mut program, rows.studies.get(name).into_iter().flatten());
            (told.place, program)
        })
        .collect();
    programs.sort_by(|a, b| (a.0, &a.1.name).cmp(&(b.0, &b.1.name)));
    programs.into_iter().map(|(_, program)| program).collect()
}

fn cells(rows: &Rows, program: &str, before: &BTreeMap<(String, String), CellPast>) -> Vec<Cell> {
    let mut cells: Vec<&(String, CellFacts)> = rows.cells.get(program).into_iter().flatten().collect();
    cells.sort_by_key(|(key, facts)| (facts.place, key));
    cells.into_iter().map(|(key, facts)| cell(rows, program, key, facts, before)).collect()
}

fn cell(
    rows: &Rows,
    program: &str,
    key: &str,
    facts: &CellFacts,
    before: &BTreeMap<(String, String), CellPast>,
) -> Cell {
    let at = (program.to_owned(), key.to_owned());
    let (tally, spent_ms) = rows.tallies.get(&at).copied().unwrap_or_default();
    let (failures, told) = (tally.failures(), tally.told());
    let past = before.get(&at).map(|past| &past.nights[..]).unwrap_or_default();
    Cell {
        key: key.to_owned(),
        kind: facts.kind,
        model: facts.variation.model,
        pw: facts.variation.pw,
        pr: facts.variation.pr,
        buffer: facts.variation.buffer,
        scheduler: facts.variation.scheduler,
        trials: tally.trials(),
        planned: facts.planned,
        failures,
        rate: (told > 0).then(|| failures as f64 / told as f64),
        ci95: clopper_pearson(failures, told),
        outcomes: Outcome::ALL
            .into_iter()
            .map(|outcome| (outcome, tally.outcomes[outcome as usize]))
            .filter(|(_, count)| *count > 0)
            .collect(),
        first_failing_trial: rows.first_failures.get(&at).copied(),
        delayed_stores: tally.delayed_stores,
        forgetful: tally.forgetful,
        spent_ms,
        status: Status::Nothing,
        reason: String::new(),
        change: Change::First,
        before: past[past.len().saturating_sub(SHOWN)..].to_vec(),
    }
}

/// A finding is one over all cells of its program: the example is that of the first cell.
fn findings(
    rows: &Rows,
    program: &str,
    known: &BTreeSet<(String, String)>,
    (compared, replay): News<'_>,
    cells: &[Cell],
) -> Vec<NightFinding> {
    let place = |key: &str| cells.iter().position(|cell| cell.key == key).unwrap_or(usize::MAX);
    let mut all = Vec::new();
    for (at, examples) in rows.findings.range((program.to_owned(), String::new())..) {
        if at.0 != program {
            break;
        }
        let Some((cell, trial, first)) = examples.iter().min_by_key(|(cell, trial, _)| (place(cell), *trial))
        else {
            continue;
        };
        let mut finding = first.clone();
        finding.replay = replay(program, cell, *trial);
        let seen = rows.sightings.get(at);
        let mut keys: Vec<&String> = seen.into_iter().flat_map(BTreeMap::keys).collect();
        keys.sort_by_key(|key| (place(key), *key));
        finding.trials = Share {
            seen: seen.into_iter().flat_map(BTreeMap::values).sum(),
            of: cells.iter().filter(|cell| keys.contains(&&cell.key)).map(|cell| cell.trials).sum(),
        };
        finding.cells = keys.into_iter().cloned().collect();
        finding.new = compared && !known.contains(at);
        all.push(finding);
    }
    all
}

/// Says of all cells of the night together what is news: they are corrected together.
fn judge_all(programs: &mut [NightProgram], before: &BTreeMap<(String, String), CellPast>) {
    let asked: Vec<(Vec<SeenFailures>, SeenFailures)> = programs
        .iter()
        .flat_map(|program| program.cells.iter().map(move |cell| (program, cell)))
        .map(|(program, cell)| {
            let past = before.get(&(program.name.clone(), cell.key.clone()));
            let told: u64 =
                cell.outcomes.iter().filter(|(outcome, _)| outcome.tells()).map(|(_, count)| count).sum();
            let tonight = SeenFailures { failures: cell.failures, told };
            (past.map(CellPast::seen).unwrap_or_default(), tonight)
        })
        .collect();
    let changes = judge::changes(&asked);
    for (cell, change) in programs.iter_mut().flat_map(|program| &mut program.cells).zip(changes) {
        cell.change = change;
    }
}
