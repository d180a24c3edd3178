//! Reads a plan, and checks all that can be checked without running anything.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use bugaroo_harness::oracle::ComparisonText;
use bugaroo_harness::user_file::Text;
use bugaroo_harness::{Oracle, Suppressions, Variation};
use bugaroo_protocol::amount::{bytes, duration};
use bugaroo_protocol::{Detector, MOST_DEVICES, Model, Scheduler};
use jiff::civil::Date;
use regex::Regex;
use sha2::{Digest as _, Sha256};
use toml::Spanned;

use super::PlanError;
use super::cells::{self, Cell, CellKind, PlanGrid};
use super::expect::{Expectation, Expected};
use super::file::{self, Entry, File};
use super::{Plan, PlanProgram, Slurm, Timeout, hints, words};
use crate::shard::MOST;

/// Trials of a cell where the plan says nothing.
const TRIALS: u64 = 1000;
/// Trials that look for races where the plan says nothing.
const RACE_TRIALS: u64 = 20;
/// Bytes of run directories where the plan says nothing.
const DISK: u64 = 2 << 30;
/// Times the baseline, and at least, that a trial may take where the plan says nothing.
const TIMEOUT: Timeout = Timeout { factor: 50.0, floor: Duration::from_secs(60) };
/// How long a build step may take where the plan says nothing.
const BUILD: Duration = Duration::from_secs(30 * 60);
/// Two keys that exclude each other.
const BOTH: &str = "either `trials` or `budget` says how much of each cell is run, not both";

impl Plan {
    /// Reads and checks a plan.
    ///
    /// # Errors
    /// When it cannot be read, or something in it is wrong.
    pub fn read(path: &Path) -> Result<Self, PlanError> {
        plan(path)
    }
}

/// Reads a plan.
fn plan(path: &Path) -> Result<Plan, PlanError> {
    let io = |source: io::Error| {
        let hint = match source.kind() {
            io::ErrorKind::NotFound => " (`bugaroo init` writes a first plan)",
            _ => "",
        };
        PlanError::Io { named_by: String::new(), path: path.to_owned(), source, hint }
    };
    let text = fs::read_to_string(path).map_err(io)?;
    let absolute = std::path::absolute(path).map_err(io)?;
    Reader { text: Text { path, text: &text }, folder: absolute.parent().unwrap_or(Path::new("/")) }
        .plan(&absolute)
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    text: Text<'a>,
    folder: &'a Path,
}

impl Reader<'_> {
    fn plan(self, path: &Path) -> Result<Plan, PlanError> {
        let file: File = self.text.parse().map_err(|error| hints::meant(self.text, error))?;
        let stem = path.file_stem().map_or("night".into(), |stem| stem.to_string_lossy().into_owned());
        let night = &file.night;
        if let Some(named) = &file.defaults.name {
            return Err(self.wrong(named, "[defaults] holds for all programs, and cannot name one"));
        }
        if let Some(run) = &file.defaults.run {
            return Err(self.wrong(run, "[defaults] holds for all programs: `run` belongs under [[program]]"));
        }
        if let (Some(_), Some(budget)) = (&file.defaults.trials, &file.defaults.budget) {
            return Err(self.wrong(budget, BOTH));
        }
        let space = self.space(file.explore.as_ref())?;
        let mut programs: Vec<PlanProgram> = Vec::new();
        for entry in &file.program {
            let program = self.program(entry, &file.defaults, &space, night.budget.is_some())?;
            if let Some(known) = programs.iter().find(|known| known.name == program.name) {
                let what = format!(
                    "a second program is called `{}` (the first: line {}): give it a `name` of its own",
                    program.name, known.line
                );
                return Err(self.wrong(entry, what));
            }
            programs.push(program);
        }
        if programs.is_empty() {
            return Err(self.text.wrong(0..0, "the plan has no [[program]]: there is nothing to run"));
        }
        let name = night.name.clone().unwrap_or(stem);
        let database = match &night.database {
            None => self.folder.join(format!("{name}.sqlite")).display().to_string(),
            Some(given) if given.get_ref().contains("://") => self.url(given)?,
            Some(given) => self.folder.join(given.get_ref()).display().to_string(),
        };
        Ok(Plan {
            path: path.to_owned(),
            database,
            reports: self.folder.join(night.reports.clone().unwrap_or_else(|| format!("{name}-reports"))),
            name,
            sha256: Sha256::digest(self.text.text).iter().map(|byte| format!("{byte:02x}")).collect(),
            seed: night.seed,
            budget: night.budget.as_ref().map(|given| self.parsed(given, duration)).transpose()?,
            jobs: night.jobs.as_ref().map(|jobs| self.some(jobs)).transpose()?.map(usize::from),
            disk: night.disk.as_ref().map(|given| self.parsed(given, bytes)).transpose()?.unwrap_or(DISK),
            search: night.search.unwrap_or(true),
            slurm: file.slurm.as_ref().map(|slurm| self.slurm(slurm)).transpose()?,
            programs,
        })
    }

    fn program(
        self,
        entry: &Spanned<Entry>,
        defaults: &Entry,
        space: &PlanGrid,
        by_time: bool,
    ) -> Result<PlanProgram, PlanError> {
        let own = entry.get_ref();
        let run = match &own.run {
            Some(run) if run.get_ref().first().is_some_and(|app| !app.is_empty()) => run.get_ref().clone(),
            Some(run) => {
                return Err(self.wrong(run, "`run` is empty: [\"./app\", \"argument\", …] is wanted"));
            }
            None => {
                return Err(self.wrong(entry, "a [[program]] needs `run`: [\"./app\", \"argument\", …]"));
            }
        };
        let stem = Path::new(&run[0]).file_name().map(|name| name.to_string_lossy().into_owned());
        let name = match &own.name {
            Some(name) if name.get_ref().trim().is_empty() => {
                return Err(self.wrong(name, "the name is empty"));
            }
            Some(name) if name.get_ref().chars().any(|c| c.is_control() || c == '/') => {
                return Err(self.wrong(name, "a name is one line, without `/`: folders are called by it"));
            }
            Some(name) => name.get_ref().clone(),
            None => stem.unwrap_or_else(|| run[0].clone()),
        };
        let mut variables: BTreeMap<String, String> = defaults.environment.clone().unwrap_or_default();
        variables.extend(own.environment.clone().unwrap_or_default());
        let directory = own.directory.as_ref().or(defaults.directory.as_ref());
        let timeout = own.timeout.as_ref().or(defaults.timeout.as_ref());
        let build_timeout = own.build_timeout.as_ref().or(defaults.build_timeout.as_ref());
        let stdin = own.stdin.as_ref().or(defaults.stdin.as_ref());
        let oracle = own.oracle.as_ref().or(defaults.oracle.as_ref());
        let oracle = oracle.map(|given| self.oracle(given)).transpose()?.unwrap_or(Oracle::Exit);
        // What holds for all programs does so for those whose outputs are compared.
        let shared = oracle.comparison().map(|_| defaults);
        let ignored = own.ignore_lines.as_deref().or(shared.and_then(|all| all.ignore_lines.as_deref()));
        let tolerance = own.tolerance.as_ref().or(shared.and_then(|all| all.tolerance.as_ref()));
        let lists = own.suppressions.as_ref().or(defaults.suppressions.as_ref());
        Ok(PlanProgram {
            name,
            line: self.text.line(entry.span().start),
            directory: directory.map_or(self.folder.to_owned(), |given| self.folder.join(given.get_ref())),
            variables,
            build: own.build.clone().or(defaults.build.clone()),
            build_timeout: build_timeout
                .map(|given| self.parsed(given, duration))
                .transpose()?
                .unwrap_or(BUILD),
            stdin: stdin.map(|given| self.folder.join(given.get_ref())),
            cells: self.cells(entry, defaults, space, by_time)?,
            verify: self.verify(own.verify.as_ref().or(defaults.verify.as_ref()))?,
            oracle: self.passing_over(oracle, ignored.unwrap_or_default(), tolerance)?,
            suppressions: lists.map(|lists| self.suppressions(lists)).transpose()?.unwrap_or_default(),
            warp_synchronous: own.warp_synchronous.or(defaults.warp_synchronous).unwrap_or(false),
            devices: self.devices(own.devices.as_ref().or(defaults.devices.as_ref()))?,
            ignore_faults: own.ignore_faults.or(defaults.ignore_faults).unwrap_or(false),
            timeout: timeout.map(|given| self.timeout(given)).transpose()?.unwrap_or(TIMEOUT),
            expect: self.expectations(own.expect.as_ref().or(defaults.expect.as_ref()))?,
            run,
        })
    }

    /// Where the night has a budget, cells have as many trials as fit.
    fn cells(
        self,
        entry: &Spanned<Entry>,
        defaults: &Entry,
        space: &PlanGrid,
        by_time: bool,
    ) -> Result<Vec<Cell>, PlanError> {
        let own = entry.get_ref();
        macro_rules! given {
            ($key:ident) => {
                own.$key.as_ref().or(defaults.$key.as_ref())
            };
        }
        let detector = |name: &str| words::named("detector", name, &words::detectors());
        let default = Variation::default();
        let grid = self.grid(
            (given!(models), given!(pw), given!(pr), given!(buffer), given!(schedulers)),
            PlanGrid {
                models: vec![Model::StoreBuffer, Model::Ptx],
                pw: vec![default.pw],
                pr: vec![default.pr],
                buffer: vec![default.buffer],
                schedulers: vec![Scheduler::Random],
            },
        )?;
        let kernel = given!(kernel).map(|kernel| self.pattern(kernel)).transpose()?;
        let base = Variation { kernel, ..default };
        let budget = given!(budget).map(|given| self.parsed(given, duration)).transpose()?;
        let trials = given!(trials).map(|trials| self.some(trials)).transpose()?;
        if own.trials.is_some() && own.budget.is_some() {
            return Err(self.wrong(entry, BOTH));
        }
        // What stands with the program wins over what stands with the defaults.
        let trials = if own.budget.is_some() { None } else { trials };
        let budget = if own.trials.is_some() { None } else { budget };
        let mut cells = Vec::new();
        for (key, variation) in grid.variations(&base) {
            let trials = trials.or((budget.is_none() && !by_time).then_some(TRIALS));
            cells.push(Cell { key, kind: CellKind::Trials, variation, trials, budget, space: None });
        }
        if own.explore.or(defaults.explore).unwrap_or(false) {
            let trials = trials.or((budget.is_none() && !by_time).then_some(TRIALS));
            cells.push(cells::explore(space.clone(), &base, trials, budget));
        }
        let detectors: Vec<Detector> = self.names(given!(detectors), vec![Detector::Ptx], detector)?;
        let race_trials = given!(race_trials).map_or(RACE_TRIALS, |trials| *trials.get_ref());
        if !detectors.is_empty() && race_trials > 0 {
            cells.push(cells::races(detectors, &base, race_trials));
        }
        Ok(cells)
    }

    /// What explorations choose among.
    fn space(self, given: Option<&file::Explore>) -> Result<PlanGrid, PlanError> {
        let none = file::Explore::default();
        let given = given.unwrap_or(&none);
        // An empty list is as none.
        let lists = (
            given.models.as_ref().filter(|list| !list.is_empty()),
            given.pw.as_ref(),
            given.pr.as_ref(),
            given.buffer.as_ref(),
            given.schedulers.as_ref().filter(|list| !list.is_empty()),
        );
        if let Some(models) = lists.0
            && let Some(wrong) = models.iter().find(|name| name.get_ref() == "bugaroo")
        {
            return Err(self
                .wrong(wrong, "model `bugaroo` cannot be explored: its trials do not tell what they show"));
        }
        self.grid(lists, PlanGrid::to_explore())
    }

    /// Lists of values, or the default's.
    fn grid(
        self,
        (models, pw, pr, buffer, schedulers): Lists<'_>,
        default: PlanGrid,
    ) -> Result<PlanGrid, PlanError> {
        let model = |name: &str| words::named("model", name, &words::MODELS);
        let scheduler = |name: &str| words::named("scheduler", name, &words::SCHEDULERS);
        Ok(PlanGrid {
            models: self.names(models, default.models, model)?,
            pw: self.values(pw, default.pw, |pw| (0.0..=1.0).contains(pw), PROBABILITY)?,
            pr: self.values(pr, default.pr, |pr| (0.0..=1.0).contains(pr), PROBABILITY)?,
            buffer: self.values(
                buffer,
                default.buffer,
                |buffer| *buffer > 0,
                "a buffer has at least 1 entry",
            )?,
            schedulers: self.names(schedulers, default.schedulers, scheduler)?,
        })
    }

    fn names<T>(
        self,
        given: Option<&Vec<Spanned<String>>>,
        default: Vec<T>,
        named: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Vec<T>, PlanError> {
        let Some(given) = given else { return Ok(default) };
        given.iter().map(|name| named(name.get_ref()).map_err(|what| self.wrong(name, what))).collect()
    }

    fn values<T: Copy>(
        self,
        given: Option<&Vec<Spanned<T>>>,
        default: Vec<T>,
        right: impl Fn(&T) -> bool,
        wanted: &str,
    ) -> Result<Vec<T>, PlanError> {
        let Some(given) = given.filter(|given| !given.is_empty()) else { return Ok(default) };
        let check = |value: &Spanned<T>| match right(value.get_ref()) {
            true => Ok(*value.get_ref()),
            false => Err(self.wrong(value, wanted)),
        };
        given.iter().map(check).collect()
    }

    fn devices(self, given: Option<&Spanned<u32>>) -> Result<u32, PlanError> {
        let Some(given) = given else { return Ok(1) };
        match *given.get_ref() {
            devices @ 1..=MOST_DEVICES => Ok(devices),
            _ => Err(self.wrong(given, format!("a program has 1 to {MOST_DEVICES} devices"))),
        }
    }

    fn verify(self, given: Option<&Spanned<file::Verify>>) -> Result<Option<Vec<String>>, PlanError> {
        let Some(given) = given else { return Ok(None) };
        match given.get_ref() {
            file::Verify::All(all) => Ok(all.then(Vec::new)),
            file::Verify::Kernels(patterns) => {
                for pattern in patterns {
                    Regex::new(pattern).map_err(|error| self.wrong(given, error.to_string()))?;
                }
                Ok((!patterns.is_empty()).then(|| patterns.clone()))
            }
        }
    }

    fn oracle(self, given: &Spanned<String>) -> Result<Oracle, PlanError> {
        match given.get_ref().parse() {
            Ok(Oracle::Race) => {
                Err(self.wrong(given, "races are looked for by `detectors`, not by an oracle"))
            }
            Ok(oracle) => Ok(oracle),
            Err(error) => Err(self.wrong(given, error.to_string())),
        }
    }

    /// The same oracle, where outputs are compared but for these lines, and numbers so far.
    fn passing_over(
        self,
        oracle: Oracle,
        lines: &[Spanned<String>],
        tolerance: Option<&Spanned<f64>>,
    ) -> Result<Oracle, PlanError> {
        let mut passing = oracle;
        let mut all = ComparisonText::default();
        for line in lines {
            all.ignore_lines.push(line.get_ref().clone());
            passing = passing.passing_over(&all).map_err(|error| self.wrong(line, error.to_string()))?;
        }
        if let Some(given) = tolerance {
            all.tolerance = Some(*given.get_ref());
            passing = passing.passing_over(&all).map_err(|error| self.wrong(given, error.to_string()))?;
        }
        Ok(passing)
    }

    fn suppressions(self, given: &[Spanned<String>]) -> Result<Suppressions, PlanError> {
        let mut rules = Suppressions::default();
        for name in given {
            let path = self.folder.join(name.get_ref());
            let text = fs::read_to_string(&path)
                .map_err(|error| self.wrong(name, format!("{}: {error}", path.display())))?;
            rules.add(&path, &text).map_err(|error| self.wrong(name, error.to_string()))?;
        }
        Ok(rules)
    }

    fn timeout(self, given: &file::Timeout) -> Result<Timeout, PlanError> {
        let factor = match &given.factor {
            Some(factor) if *factor.get_ref() >= 1.0 && factor.get_ref().is_finite() => *factor.get_ref(),
            Some(factor) => {
                return Err(
                    self.wrong(factor, "a factor is at least 1: so many times the program's own time")
                );
            }
            None => TIMEOUT.factor,
        };
        let floor = given.floor.as_ref().map(|floor| self.parsed(floor, duration)).transpose()?;
        Ok(Timeout { factor, floor: floor.unwrap_or(TIMEOUT.floor) })
    }

    fn expectations(self, given: Option<&Vec<Spanned<file::Expect>>>) -> Result<Vec<Expectation>, PlanError> {
        given.map_or(Ok(Vec::new()), |given| given.iter().map(|entry| self.expectation(entry)).collect())
    }

    fn expectation(self, entry: &Spanned<file::Expect>) -> Result<Expectation, PlanError> {
        let given = entry.get_ref();
        let finding = words::named("finding", given.finding.get_ref(), &Expected::ALL);
        let model = given.model.as_ref().map(|name| {
            words::named("model", name.get_ref(), &words::MODELS).map_err(|what| self.wrong(name, what))
        });
        if given.reason.get_ref().trim().is_empty() {
            return Err(self.wrong(&given.reason, "say in `reason` why this finding is known"));
        }
        let Some(date) = given.until.get_ref().date.filter(|_| given.until.get_ref().time.is_none()) else {
            return Err(self.wrong(&given.until, "`until` is a day: 2027-01-31"));
        };
        let until = Date::new(date.year as i16, date.month as i8, date.day as i8);
        Ok(Expectation {
            finding: finding.map_err(|what| self.wrong(&given.finding, what))?,
            model: model.transpose()?,
            place: given.place.clone(),
            reason: given.reason.get_ref().clone(),
            until: until.map_err(|error| self.wrong(&given.until, error.to_string()))?,
            line: self.text.line(entry.span().start),
        })
    }

    fn slurm(self, given: &file::Slurm) -> Result<Slurm, PlanError> {
        let shards = *given.shards.get_ref();
        if !(1..=MOST).contains(&shards) {
            return Err(self.wrong(&given.shards, format!("`shards` is from 1 to {MOST}")));
        }
        let folder = given.folder.as_ref().map_or("shards", |folder| folder.get_ref());
        Ok(Slurm {
            shards,
            partition: given.partition.clone(),
            gres: given.gres.clone(),
            time: given.time.as_ref().map(|time| self.time_limit(time)).transpose()?,
            memory: given.memory.clone(),
            cpus: given.cpus.as_ref().map(|cpus| self.some(cpus)).transpose()?.unwrap_or(1),
            account: given.account.clone(),
            qos: given.qos.clone(),
            options: given.options.clone().unwrap_or_default(),
            at_a_time: given.at_a_time.as_ref().map(|most| self.some(most)).transpose()?,
            folder: self.folder.join(folder),
        })
    }

    /// As `sbatch --time` takes it: minutes, or with colons and a dash.
    fn time_limit(self, given: &Spanned<String>) -> Result<String, PlanError> {
        let text = given.get_ref();
        let right = Regex::new(r"^(\d+-)?\d+(:\d\d?){0,2}$").expect("the expression is constant");
        match right.is_match(text) {
            true => Ok(text.clone()),
            false => {
                Err(self.wrong(given, format!("`{text}` is no time limit: MINUTES, HH:MM:SS or D-HH are")))
            }
        }
    }

    fn url(self, given: &Spanned<String>) -> Result<String, PlanError> {
        let url = given.get_ref();
        match url.split_once("://") {
            Some(("postgres" | "postgresql", _)) => Ok(url.clone()),
            Some(("sqlite", path)) => Ok(self.folder.join(path).display().to_string()),
            _ => {
                Err(self
                    .wrong(given, format!("`{url}` is no database: a file, or postgres://USER@HOST/NAME")))
            }
        }
    }

    fn pattern(self, given: &Spanned<String>) -> Result<String, PlanError> {
        Regex::new(given.get_ref()).map_err(|error| self.wrong(given, error.to_string()))?;
        Ok(given.get_ref().clone())
    }

    fn parsed<T>(
        self,
        given: &Spanned<String>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, PlanError> {
        parse(given.get_ref()).map_err(|what| self.wrong(given, what))
    }

    fn some<T: Copy + Default + PartialEq>(self, given: &Spanned<T>) -> Result<T, PlanError> {
        match *given.get_ref() == T::default() {
            true => Err(self.wrong(given, "at least 1 is wanted")),
            false => Ok(*given.get_ref()),
        }
    }

    fn wrong<T>(self, at: &Spanned<T>, what: impl Into<String>) -> PlanError {
        self.text.wrong(at.span(), what)
    }
}

/// Models, p_w, p_r, entries of buffers, schedulers.
type Lists<'a> = (
    Option<&'a Vec<Spanned<String>>>,
    Option<&'a Vec<Spanned<f64>>>,
    Option<&'a Vec<Spanned<f64>>>,
    Option<&'a Vec<Spanned<u32>>>,
    Option<&'a Vec<Spanned<String>>>,
);

const PROBABILITY: &str = "a probability is from 0 to 1";
