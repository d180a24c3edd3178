//! What `bugaroo race --format json` prints, as far as labels ask for it.

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::label::{LabelClass, LabelKind, LabelPlace};

/// One of the two accesses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedParty {
    /// Where it is; none if that is in no line of the program.
    pub place: Option<LabelPlace>,
    /// It may be anywhere: the detector has not kept its instruction.
    pub anywhere: bool,
    /// As it is told, for what differs.
    pub told: String,
}

/// A race that was reported. Of a write and a read, the write stands first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// What is wrong.
    pub kind: LabelKind,
    /// How far apart.
    pub class: LabelClass,
    /// It is of shared memory; else of global memory.
    pub shared: bool,
    /// One access.
    pub first: ReportedParty,
    /// The other.
    pub second: ReportedParty,
    /// How many trials have shown it.
    pub trials: u64,
}

impl Reported {
    /// In a few words.
    pub fn told(&self) -> String {
        format!("{:?} {:?} {} and {}", self.kind, self.class, self.first.told, self.second.told)
    }
}

/// Who is no thread is the host or something that it has called.
fn party(party: &Value, file: &str) -> ReportedParty {
    let kernel = party["kernel"].as_str().unwrap_or("?");
    if party["instruction"].is_null() {
        return ReportedParty {
            place: Some(LabelPlace::Host),
            anywhere: false,
            told: format!("{kernel} (host)"),
        };
    }
    let source = &party["source"];
    let line = source["line"].as_u64().and_then(|line| u32::try_from(line).ok());
    let (Some(line), Some(path)) = (line, source["file"].as_str()) else {
        let anywhere = party["ptx_line"].is_null();
        return ReportedParty { place: None, anywhere, told: format!("{kernel}, no line") };
    };
    let ours = path.rsplit('/').next() == Some(file);
    ReportedParty {
        place: ours.then_some(LabelPlace::Line(line)),
        anywhere: false,
        told: if ours { format!("line {line}") } else { format!("{path}:{line}") },
    }
}

fn race(race: &Value, file: &str) -> Result<Reported> {
    let text = |name: &str| race[name].as_str().with_context(|| format!("a race has no {name}: {race}"));
    let mut first = party(&race["first"], file);
    let mut second = party(&race["second"], file);
    let kind = match text("kind")? {
        "write-write" => LabelKind::WriteWrite,
        "write-read" => LabelKind::WriteRead,
        "read-write" => {
            (first, second) = (second, first);
            LabelKind::WriteRead
        }
        "access-write" => LabelKind::AccessWrite,
        "branch-order" => LabelKind::BranchOrder,
        "barrier-divergence" => LabelKind::BarrierDivergence,
        other => bail!("{other} is no kind of race"),
    };
    let trials = race["trials"].as_u64().context("a race has no trials")?;
    let shared = text("space")? == "shared";
    Ok(Reported { kind, class: LabelClass::parse(text("class")?)?, shared, first, second, trials })
}

/// The races in a report about a program in this file.
pub fn races(report: &Value, file: &str) -> Result<Vec<Reported>> {
    if let Some(error) = report.get("error").filter(|error| !error.is_null()) {
        bail!("bugaroo says: {error}");
    }
    ensure!(report["trials"].as_u64() > Some(0), "no trials: {report}");
    let races = report["races"].as_array().context("there are no races in the report")?;
    races.iter().map(|one| race(one, file)).collect()
}
