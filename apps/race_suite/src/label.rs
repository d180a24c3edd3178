//! What each detector must report about a program: its first lines.
//!
//! ```text
//! // race: ptx=VERDICT barracuda=VERDICT [hirace=VERDICT] [scord=VERDICT] [arch=sm_80] [trials=50] [fault=yes] [children=yes] [gap=DETECTOR] | why, in plain English
//! // race SWITCH: … | the same of the program that is built with -DSWITCH [graphs=1,2]
//! // variants: NAME=VALUE,VALUE… NAME=VALUE,VALUE…
//! VERDICT := none | any | ITEM+ITEM+…
//! ITEM    := race(KIND/KIND…,CLASS/CLASS…,PLACE,PLACE) | lines(LINE,LINE,…)
//! ```
//!
//! `none`: no report at all. `any`: the detector's rules say nothing about what the program uses, so it is not judged. Each
//! `race` must be among the reports, by one of its kinds and classes. A place is a line of the program, or `host`: a call or an
//! access of the host. All reports must keep to the places of the `race` items and of `lines`.
//!
//! Of the kind `write-read` the first place is the write's, whichever of the two came first; `read-write` is the same race and has
//! no name of its own here. Of all other kinds the places may be told in either order.
//!
//! A report may say that its first access is the last of several of which one races: it may be anywhere then.
//!
//! `variants`: all of this holds for each choice of one value of each name, as in `-DNAME=VALUE`. `graphs`: the program takes the
//! number of a graph, and the races need not show with other graphs than these. A field `NAME=VALUE,VALUE` of a name in capital letters: there is
//! this program for such choices alone.
//!
//! `trials`: the race does not show in every execution, so that many are asked for at least. `fault`: the virtual GPU itself takes what
//! the program does for an error, and stops it. `children`: kernels launch others, and it is linked for that. `gap`: what this detector must report is known not to be seen by it yet.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

/// The detectors that labels speak of.
pub const DETECTORS: [&str; 4] = ["ptx", "barracuda", "hirace", "scord"];

/// Where an access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelPlace {
    /// A line of the program, from 1.
    Line(u32),
    /// A call of the host program, or an access of the host's own.
    Host,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelKind {
    /// Two writes.
    WriteWrite,
    /// A write and a read, whichever came first.
    WriteRead,
    /// An access of which the detector has not kept whether it wrote, and a write. No label demands it: it is either of the two above.
    AccessWrite,
    /// The order of a branch's sides.
    BranchOrder,
    /// A barrier that not all threads are at.
    BarrierDivergence,
}

/// How far apart the two threads are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelClass {
    /// In one warp.
    IntraWarp,
    /// In one warp, on different sides of a branch.
    Divergence,
    /// In one block.
    IntraBlock,
    /// In different blocks.
    InterBlock,
    /// In different grids.
    InterGrid,
    /// The host and the device.
    Host,
}

/// A race that must be reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedRace {
    /// As one of these.
    pub kinds: Vec<LabelKind>,
    /// As one of these.
    pub classes: Vec<LabelClass>,
    /// Of a write and a read, where the write is.
    pub first: LabelPlace,
    /// And the read.
    pub second: LabelPlace,
}

/// What a detector must say about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelVerdict {
    /// It is not judged.
    Any,
    /// Nothing.
    None,
    /// Races.
    Races {
        /// These.
        expected: Vec<ExpectedRace>,
        /// And none that names another place.
        places: BTreeSet<LabelPlace>,
    },
}

/// What is said of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The switch that it is built with; None: without any.
    pub switch: Option<String>,
    /// By detector, in the order of [`DETECTORS`].
    pub verdicts: [LabelVerdict; 4],
    /// The choices for which it holds: names, and values of each. All, if the name is not there.
    pub choices: Vec<(String, Vec<String>)>,
    /// The graphs with which the races show; None: it takes none.
    pub graphs: Option<Vec<u32>>,
    /// What it is built for: `sm_75` where nothing newer is needed.
    pub arch: String,
    /// Executions that are needed at least.
    pub trials: u32,
    /// Whether the virtual GPU stops it.
    pub fault: bool,
    /// Whether its kernels launch others.
    pub children: bool,
    /// The detector that is known not to see what it must.
    pub gap: Option<String>,
    /// Why, in plain English.
    pub why: String,
}

impl LabelKind {
    /// As labels and reports name it.
    pub fn name(self) -> &'static str {
        match self {
            LabelKind::WriteWrite => "write-write",
            LabelKind::WriteRead => "write-read",
            LabelKind::AccessWrite => "access-write",
            LabelKind::BranchOrder => "branch-order",
            LabelKind::BarrierDivergence => "barrier-divergence",
        }
    }

    fn parse(name: &str) -> Result<LabelKind> {
        Ok(match name {
            "write-write" => LabelKind::WriteWrite,
            "write-read" => LabelKind::WriteRead,
            "branch-order" => LabelKind::BranchOrder,
            "barrier-divergence" => LabelKind::BarrierDivergence,
            _ => bail!("{name} is no kind of race"),
        })
    }
}

impl LabelClass {
    /// As labels and reports name it.
    pub fn name(self) -> &'static str {
        match self {
            LabelClass::IntraWarp => "intra-warp",
            LabelClass::Divergence => "divergence",
            LabelClass::IntraBlock => "intra-block",
            LabelClass::InterBlock => "inter-block",
            LabelClass::InterGrid => "inter-grid",
            LabelClass::Host => "host",
        }
    }

    /// By its name in reports.
    pub fn parse(name: &str) -> Result<LabelClass> {
        Ok(match name {
            "intra-warp" => LabelClass::IntraWarp,
            "divergence" => LabelClass::Divergence,
            "intra-block" => LabelClass::IntraBlock,
            "inter-block" => LabelClass::InterBlock,
            "inter-grid" => LabelClass::InterGrid,
            "host" => LabelClass::Host,
            _ => bail!("{name} is no class of race"),
        })
    }
}

fn place(text: &str) -> Result<LabelPlace> {
    if text == "host" {
        return Ok(LabelPlace::Host);
    }
    let line = text.parse().with_context(|| format!("{text} is no line"))?;
    ensure!(line > 0, "lines are counted from 1");
    Ok(LabelPlace::Line(line))
}

/// `race(…)`, without the word and the parentheses.
fn expected(inner: &str) -> Result<ExpectedRace> {
    let [kinds, classes, first, second] = inner.split(',').collect::<Vec<_>>()[..] else {
        bail!("race({inner}) has not four parts");
    };
    Ok(ExpectedRace {
        kinds: kinds.split('/').map(LabelKind::parse).collect::<Result<_>>()?,
        classes: classes.split('/').map(LabelClass::parse).collect::<Result<_>>()?,
        first: place(first)?,
        second: place(second)?,
    })
}

impl LabelVerdict {
    /// From the text behind `DETECTOR=`.
    pub fn parse(text: &str) -> Result<LabelVerdict> {
        match text {
            "none" => return Ok(LabelVerdict::None),
            "any" => return Ok(LabelVerdict::Any),
            _ => {}
        }
        let mut races = Vec::new();
        let mut places = BTreeSet::new();
        for item in text.split('+') {
            let (word, rest) = item.split_once('(').with_context(|| format!("{item} is no verdict"))?;
            let inner = rest.strip_suffix(')').with_context(|| format!("{item} does not end"))?;
            match word {
                "race" => {
                    let race = expected(inner)?;
                    places.extend([race.first, race.second]);
                    races.push(race);
                }
                "lines" => {
                    for one in inner.split(',') {
                        places.insert(place(one)?);
                    }
                }
                _ => bail!("{word} is no part of a verdict"),
            }
        }
        ensure!(!races.is_empty(), "{text}: no race that must be reported");
        Ok(LabelVerdict::Races { expected: races, places })
    }

    /// The places that it names.
    pub fn places(&self) -> BTreeSet<LabelPlace> {
        match self {
            LabelVerdict::Races { places, .. } => places.clone(),
            LabelVerdict::Any | LabelVerdict::None => BTreeSet::new(),
        }
    }
}

impl Label {
    /// From a line of a program.
    pub fn parse(line: &str) -> Result<Label> {
        let text = line.strip_prefix("// race").context("the first line does not begin with `// race`")?;
        let (switch, text) = text.split_once(": ").context("there is no `: ` behind `// race`")?;
        let switch = match switch.strip_prefix(' ') {
            Some(name) if !name.is_empty() => Some(name.to_owned()),
            None if switch.is_empty() => None,
            _ => bail!("`{switch}` is no switch"),
        };
        let (fields, why) = text.split_once(" | ").context("there is no ` | ` with a reason behind it")?;
        let mut verdicts = [const { None }; 4];
        let mut graphs = None;
        let mut choices: Vec<(String, Vec<String>)> = Vec::new();
        let mut arch = None;
        let mut trials = None;
        let mut fault = None;
        let mut children = None;
        let mut gap = None;
        for field in fields.split_whitespace() {
            let (name, value) = field.split_once('=').with_context(|| format!("{field} has no value"))?;
            let twice = match name {
                "arch" => arch.replace(value.to_owned()).is_some(),
                "gap" => {
                    ensure!(DETECTORS.contains(&value), "gap={value}");
                    gap.replace(value.to_owned()).is_some()
                }
                "fault" => {
                    ensure!(value == "yes", "fault={value}");
                    fault.replace(true).is_some()
                }
                "children" => {
                    ensure!(value == "yes", "children={value}");
                    children.replace(true).is_some()
                }
                "graphs" => {
                    let numbers = value.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?;
                    graphs.replace(numbers).is_some()
                }
                _ if name.chars().all(|letter| letter.is_ascii_uppercase()) => {
                    let twice = choices.iter().any(|(one, _)| one == name);
                    choices.push((name.to_owned(), value.split(',').map(str::to_owned).collect()));
                    twice
                }
                "trials" => trials.replace(value.parse()?).is_some(),
                _ => {
                    let at = DETECTORS.iter().position(|detector| *detector == name);
                    let at = at.with_context(|| format!("{name} is no field"))?;
                    verdicts[at].replace(LabelVerdict::parse(value)?).is_some()
                }
            };
            ensure!(!twice, "{name} is said twice");
        }
        let [Some(ptx), Some(barracuda), hirace, scord] = verdicts else {
            bail!("a detector's verdict is missing")
        };
        ensure!(!why.trim().is_empty(), "there is no reason");
        Ok(Label {
            switch,
            choices,
            verdicts: [
                ptx,
                barracuda,
                hirace.unwrap_or(LabelVerdict::Any),
                scord.unwrap_or(LabelVerdict::Any),
            ],
            graphs,
            arch: arch.unwrap_or_else(|| "sm_75".to_owned()),
            trials: trials.unwrap_or(1),
            fault: fault.unwrap_or(false),
            children: children.unwrap_or(false),
            gap,
            why: why.trim().to_owned(),
        })
    }

    /// Whether it holds where this value of that name was chosen.
    pub fn is_of(&self, name: &str, value: &str) -> bool {
        let named = self.choices.iter().find(|(one, _)| one == name);
        named.is_none_or(|(_, values)| values.iter().any(|one| one == value))
    }

    /// What a detector must say; nothing is said of detectors that are not in [`DETECTORS`].
    pub fn verdict(&self, detector: &str) -> &LabelVerdict {
        let at = DETECTORS.iter().position(|one| *one == detector);
        at.map_or(&LabelVerdict::Any, |at| &self.verdicts[at])
    }
}
