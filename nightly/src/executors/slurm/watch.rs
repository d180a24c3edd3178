//! Waiting for the tasks of a job, and putting back into the queue what can go on.
//!
//! The controller (`squeue`) is asked first: it is up to date. The accounting (`sacct`) runs some seconds behind; it is asked for
//! tasks that the controller has forgotten, minutes after their end. Where there is no accounting the exit codes tell that the tasks
//! left beside their results.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use bugaroo_harness::Interrupt;
use jiff::{Timestamp, ToSpan};

use super::error::SlurmError;
use super::folder::{Folder, Restart, ShardProgress, SlurmJob};
use super::judge::{self, NextMove, judge};
use super::request::{SlurmCollected, SlurmProgress, Tell};
use super::state::{self, Task, Tasks};
use super::submit::LONGEST_PAUSE;
use super::tool::{ToolError, Tools};

/// How long something that should be there may be away: the accounting is behind, and file systems of several nodes are.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often it must have been looked for at least.
const LOOKS: u32 = 3;

/// A job that is waited for.
pub struct Watch<'a> {
    tools: &'a Tools,
    folder: &'a Folder,
    record: SlurmJob,
    id: u32,
    poll: Duration,
    tell: &'a dyn Tell,
    /// Whether Slurm keeps accounts.
    accounting: bool,
    seen: Seen,
}

/// What was seen of a job so far.
struct Seen {
    /// Shards that have ended for good; None: complete.
    ended: BTreeMap<u32, Option<String>>,
    /// Since when something is away, and how often it was looked for, by shard.
    away: BTreeMap<u32, (Instant, u32)>,
    /// Tasks that ran when last seen.
    ran: BTreeSet<u32>,
    /// What shards have said last.
    said: BTreeMap<u32, ShardProgress>,
    /// What went wrong last, so that it is told once.
    trouble: String,
}

/// What Slurm knows.
struct Look {
    tasks: Tasks,
    /// Whether a task that is not among them is unknown to Slurm, and not just to those who answered.
    whole: bool,
}

impl<'a> Watch<'a> {
    /// For a job that was submitted.
    pub fn new(
        tools: &'a Tools,
        folder: &'a Folder,
        record: SlurmJob,
        id: u32,
        poll: Duration,
        tell: &'a dyn Tell,
    ) -> Self {
        Self {
            tools,
            folder,
            record,
            id,
            poll,
            tell,
            accounting: true,
            seen: Seen {
                ended: BTreeMap::new(),
                away: BTreeMap::new(),
                ran: BTreeSet::new(),
                said: BTreeMap::new(),
                trouble: String::new(),
            },
        }
    }

    /// Waits until all tasks have ended for good.
    ///
    /// # Errors
    /// When Slurm says what this does not understand, and when the user wishes to stop.
    pub async fn until_all_ended(mut self, mut interrupt: Interrupt) -> Result<SlurmCollected, SlurmError> {
        let mut pause = self.poll;
        loop {
            let round = tokio::select! {
                round = self.round() => round,
                () = interrupt.wait() => return Err(self.left()),
            };
            match round {
                Ok(()) => pause = self.poll,
                // The job needs nobody who waits for it, so there is no reason to give up.
                Err(SlurmError::Tool(error @ ToolError::Failed { .. })) => {
                    self.in_trouble(&error.to_string());
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(error) => return Err(error),
            }
            if self.seen.ended.len() == self.record.shards as usize {
                return Ok(self.collected());
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = interrupt.wait() => return Err(self.left()),
            }
        }
    }

    async fn round(&mut self) -> Result<(), SlurmError> {
        let look = self.look().await?;
        for shard in 1..=self.record.shards {
            if self.seen.ended.contains_key(&shard) {
                continue;
            }
            match look.tasks.get(&shard) {
                Some(task) => self.weigh(shard, task).await?,
                None if look.whole => self.forgotten(shard),
                None => {}
            }
        }
        self.tell.progress(&self.progress(&look.tasks));
        Ok(())
    }

    /// Asks the controller, and the accounting where it is needed.
    async fn look(&mut self) -> Result<Look, SlurmError> {
        let words = ["--noheader", "--states=all"].map(String::from);
        let which = [format!("--jobs={}", self.id), format!("--Format={}", state::SQUEUE_FIELDS)];
        let printed = match self.tools.squeue.run(&[&words[..], &which[..]].concat()).await {
            Ok(printed) => printed,
            // What `squeue` calls a job that the controller has forgotten altogether.
            Err(error) if error.said().contains("Invalid job id specified") => String::new(),
            Err(error) => return Err(error.into()),
        };
        let mut tasks = state::of_squeue(&printed, self.record.shards)?;
        let known = |shard: u32| tasks.contains_key(&shard) || self.seen.ended.contains_key(&shard);
        if (1..=self.record.shards).all(known) || !self.accounting {
            self.seen.trouble.clear();
            return Ok(Look { tasks, whole: true });
        }
        let words = ["--noheader", "--parsable2", "--allocations"].map(String::from);
        let which = [format!("--jobs={}", self.id), format!("--format={}", state::SACCT_FIELDS)];
        let since = self.since().map(|since| format!("--starttime={since}"));
        let asked = [&words[..], &which[..], since.as_slice()].concat();
        match self.tools.sacct.run(&asked).await {
            Ok(printed) => {
                let accounted = state::of_sacct(&printed, self.id, self.record.shards)?;
                for (shard, task) in accounted {
                    tasks.entry(shard).or_insert(task);
                }
                self.seen.trouble.clear();
                Ok(Look { tasks, whole: true })
            }
            Err(error) if error.said().contains("accounting storage is disabled") => {
                self.accounting = false;
                Ok(Look { tasks, whole: true })
            }
            Err(ToolError::Missing(_)) => {
                self.accounting = false;
                Ok(Look { tasks, whole: true })
            }
            Err(error) => {
                self.in_trouble(&error.to_string());
                Ok(Look { tasks, whole: false })
            }
        }
    }

    /// The day before it was submitted: numbers of jobs come again after years, and zones differ.
    fn since(&self) -> Option<String> {
        let submitted: Timestamp = self.record.submitted.parse().ok()?;
        let before = submitted.checked_sub(24.hours()).ok()?;
        before.to_string().get(..10).map(str::to_owned)
    }

    /// Does what is to be done about a task.
    async fn weigh(&mut self, shard: u32, task: &Task) -> Result<(), SlurmError> {
        let next = judge(task);
        if let Some(said) = self.folder.progress(shard) {
            self.seen.said.insert(shard, said);
        }
        if next != NextMove::Done {
            self.seen.away.remove(&shard);
        }
        match next {
            NextMove::Run => {
                self.seen.ran.insert(shard);
            }
            NextMove::Wait => {
                if self.seen.ran.remove(&shard) {
                    self.tell.line(&format!(
                        "Slurm has put shard {shard} back into the queue; it goes on from its results"
                    ));
                }
            }
            NextMove::Done => self.done(shard),
            NextMove::Missing(why) => self.missing(shard, why),
            NextMove::Again { why, idle } => self.again(shard, task, why, idle).await?,
        }
        Ok(())
    }

    /// A shard that is complete, as soon as its results are seen from here.
    fn done(&mut self, shard: u32) {
        let results = self.folder.results(shard);
        if results.is_file() {
            self.seen.ended.insert(shard, None);
        } else if self.waited_enough(shard) {
            let why = format!(
                "it ended well, but {} is not there: all nodes must see the folder of [slurm]",
                results.display()
            );
            self.missing(shard, why);
        }
    }

    /// Puts a task back into the queue, unless that would lead nowhere.
    async fn again(
        &mut self,
        shard: u32,
        task: &Task,
        why: String,
        most_idle: u32,
    ) -> Result<(), SlurmError> {
        let before = self.record.restarts.get(&shard);
        // Slurm still tells of the end that was answered already.
        if before.is_some_and(|before| !task.ended.is_empty() && before.ended == task.ended) {
            return Ok(());
        }
        let done = self.seen.said.get(&shard).map_or(0, |said| said.done);
        let (known, idle) = before.map_or((0, 0), |before| (before.done, before.idle));
        let idle = if done > known { 0 } else { idle + 1 };
        if idle > most_idle {
            let since = match before {
                Some(_) => "since it was last started again",
                None => "at all",
            };
            let advice = match task.state {
                state::TaskState::TimeOut => ": write a longer `time` or more `shards` into [slurm]",
                _ => "",
            };
            self.missing(shard, format!("it {why}, and did no new trial {since}{advice}"));
            return Ok(());
        }
        let asked = ["requeue".to_owned(), format!("{}_{shard}", self.id)];
        match self.tools.scontrol.run(&asked).await {
            Ok(_) => {
                self.tell.line(&format!(
                    "Shard {shard} {why} after {done} trials; it is back in the queue and goes on from its results"
                ));
                self.seen.ran.remove(&shard);
                self.record.restarts.insert(shard, Restart { done, ended: task.ended.clone(), idle });
                self.folder.remember(&self.record)?;
            }
            // Slurm was faster, or is not yet done with it: the next look tells.
            Err(error)
                if ["pending execution", "already completing"]
                    .iter()
                    .any(|said| error.said().contains(said))
                    && !self.waited_enough(shard) => {}
            Err(error) if error.said().contains("Invalid job id") => {
                self.missing(shard, format!("it {why}, and Slurm has forgotten it, so it cannot go on"));
            }
            Err(error @ ToolError::Failed { .. }) => {
                if self.waited_enough(shard) {
                    self.missing(shard, format!("it {why}, and cannot be put back into the queue: {error}"));
                }
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// A task that Slurm does not know, or not any more.
    fn forgotten(&mut self, shard: u32) {
        if let Some(said) = self.folder.progress(shard) {
            self.seen.said.insert(shard, said);
        }
        match self.folder.exit(shard).map(|code| judge::failed(code, "")) {
            Some(NextMove::Done) => self.done(shard),
            Some(NextMove::Missing(why)) => self.missing(shard, why),
            Some(NextMove::Again { why, .. }) if self.waited_enough(shard) => {
                self.missing(shard, format!("it {why}, and Slurm has forgotten it, so it cannot go on"));
            }
            None if self.waited_enough(shard) => {
                let why = "Slurm has no record of it left: it was cancelled while it waited, or long ago";
                self.missing(shard, why.into());
            }
            _ => {}
        }
    }

    /// Counts one more look for what is away, and says whether that was enough.
    fn waited_enough(&mut self, shard: u32) -> bool {
        let (since, looks) = self.seen.away.entry(shard).or_insert((Instant::now(), 0));
        *looks += 1;
        *looks > LOOKS && since.elapsed() >= PATIENCE
    }

    fn missing(&mut self, shard: u32, why: String) {
        let why = format!("{why}{}", self.folder.tail(shard));
        self.tell.line(&format!("Shard {shard} is missing: {why}"));
        self.seen.ended.insert(shard, Some(why));
    }

    fn in_trouble(&mut self, trouble: &str) {
        if self.seen.trouble != trouble {
            self.tell.line(&format!("Slurm does not answer; the job does not mind. {trouble}"));
            trouble.clone_into(&mut self.seen.trouble);
        }
    }

    fn progress(&self, tasks: &Tasks) -> SlurmProgress {
        let open = |shard: &&u32| !self.seen.ended.contains_key(shard);
        let running =
            tasks.iter().filter(|(shard, task)| open(shard) && task.state == state::TaskState::Runs).count()
                as u32;
        let missing = self.seen.ended.values().flatten().count() as u32;
        let ended = self.seen.ended.len() as u32;
        let waiting = self.record.shards - ended - running;
        let said = || (1..=self.record.shards).map(|shard| self.seen.said.get(&shard));
        let reason = tasks.iter().find(|(shard, task)| open(shard) && !task.reason.is_empty());
        SlurmProgress {
            job: self.id,
            shards: self.record.shards,
            waiting,
            running,
            done: ended - missing,
            missing,
            trials: said().flatten().map(|said| said.done).sum(),
            planned: said().map(|said| said?.planned).sum(),
            reason: match (running, waiting) {
                (0, 1..) => reason.map(|(_, task)| task.reason.clone()).unwrap_or_default(),
                _ => String::new(),
            },
        }
    }

    fn left(&self) -> SlurmError {
        SlurmError::Left { job: self.id, label: self.record.label.clone() }
    }

    fn collected(self) -> SlurmCollected {
        let (mut done, mut missing) = (Vec::new(), Vec::new());
        for (shard, why) in self.seen.ended {
            match why {
                None => done.push((shard, self.folder.results(shard))),
                Some(why) => missing.push((shard, why)),
            }
        }
        SlurmCollected { job: self.id, seed: self.record.seed, done, missing }
    }
}
