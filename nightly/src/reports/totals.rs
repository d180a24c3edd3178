//! What a program, or a night, comes to in numbers.

use bugaroo_harness::Outcome;

use crate::night::{Night, NightFinding, NightProgram, Status};

/// Sums over cells and findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub trials: u64,
    pub failures: u64,
    pub slow: u64,
    pub killed: u64,
    pub forgetful: u64,
    pub spent_ms: u64,
    /// Cells and kernels that pass.
    pub passing: u64,
    /// The same that fail.
    pub failing: u64,
    /// The same in which all that was found is expected.
    pub expected: u64,
    /// The same that say nothing.
    pub silent: u64,
    /// Findings that are not expected and that no earlier night has seen.
    pub new: u64,
    /// Findings that are not expected and were there before.
    pub known: u64,
    /// Findings that are expected.
    pub accepted: u64,
}

impl Totals {
    pub fn of_night(night: &Night) -> Self {
        let mut totals = Self::default();
        night.programs.iter().for_each(|program| totals.add(program));
        totals
    }

    pub fn of(program: &NightProgram) -> Self {
        let mut totals = Self::default();
        totals.add(program);
        totals
    }

    fn add(&mut self, program: &NightProgram) {
        for cell in &program.cells {
            let of = |outcome: Outcome| cell.outcomes.get(&outcome).copied().unwrap_or(0);
            self.trials += cell.trials;
            self.failures += cell.failures;
            self.slow += of(Outcome::Slow);
            self.killed += of(Outcome::Killed);
            self.forgetful += cell.forgetful;
            self.spent_ms += cell.spent_ms;
            self.status(cell.status);
        }
        program.kernels.iter().for_each(|kernel| self.status(kernel.status));
        for finding in &program.findings {
            match finding {
                NightFinding { expected: Some(_), .. } => self.accepted += 1,
                NightFinding { new: true, .. } => self.new += 1,
                NightFinding { .. } => self.known += 1,
            }
        }
    }

    fn status(&mut self, status: Status) {
        match status {
            Status::Pass => self.passing += 1,
            Status::Fail => self.failing += 1,
            Status::Expected => self.expected += 1,
            Status::Nothing => self.silent += 1,
        }
    }

    /// Whether nothing at all was tested: no cell and no kernel says anything.
    pub fn nothing(&self) -> bool {
        self.passing + self.failing + self.expected == 0
    }

    /// All findings.
    pub fn findings(&self) -> u64 {
        self.new + self.known + self.accepted
    }
}

/// What a program comes to: the worst of what is in it.
pub fn standing(program: &NightProgram) -> Status {
    let totals = Totals::of(program);
    let unexpected = totals.new + totals.known > 0;
    match &program.error {
        Some(error) if error.expected.is_none() => Status::Fail,
        _ if totals.failing > 0 || unexpected => Status::Fail,
        _ if totals.silent > 0 => Status::Nothing,
        Some(_) => Status::Expected,
        None if totals.nothing() => Status::Nothing,
        None if totals.expected + totals.accepted > 0 => Status::Expected,
        None => Status::Pass,
    }
}
