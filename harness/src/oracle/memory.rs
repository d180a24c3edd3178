//! What `memory` compares: what the program's device memory holds at its end.
//!
//! Each allocation counts with what it held when it was freed or when the program ended, each variable of a module with what it held
//! at the end. The program runs without injection under some schedules first: what differs between these is not compared, as the
//! order of a work list or the rounding of a sum. What it can miss: all that is not compared, memory of the host, what device code
//! allocates, and chunks that are mapped. What it can accuse wrongly: memory that may rightly differ, and did not in these runs.

use std::collections::BTreeMap;
use std::fmt;

use bugaroo_protocol::{HostFrame, MemoryEnd, MemoryPiece};
use serde::{Deserialize, Serialize};

use super::verdict::OracleVerdict;

/// Pieces that are named one by one.
const NAMED: usize = 3;

/// What a run's process told of its memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryEnds {
    ends: BTreeMap<MemoryPiece, MemoryEnd>,
    /// Processes that have told all.
    told: u32,
}

impl MemoryEnds {
    /// Takes a message's content.
    pub(crate) fn take(&mut self, ends: Vec<MemoryEnd>, last: bool) {
        self.ends.extend(ends.into_iter().map(|end| (end.piece.clone(), end)));
        self.told += u32::from(last);
    }

    /// What memory held, or why that is not known.
    fn known(&self) -> Result<&BTreeMap<MemoryPiece, MemoryEnd>, &'static str> {
        match self.told {
            0 => Err(
                "it did not come to the end at which it is asked what its memory holds: it has to return from main or call exit()",
            ),
            1 => Ok(&self.ends),
            _ => Err("several of its processes use the driver, and only the memory of one can be compared"),
        }
    }
}

/// What the program's memory holds at its end without injection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReferenceMemory {
    /// Runs that agree.
    pub runs: u64,
    /// What is compared.
    pub compared: Vec<Piece>,
    /// What is not, since it differs between these runs.
    pub differing: Vec<Piece>,
    /// Whether all of these runs had the same pieces.
    pub same_pieces: bool,
}

/// A piece of memory, and what it held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Which.
    pub piece: MemoryPiece,
    /// Its size.
    pub bytes: u64,
    /// A hash of what it held, hexadecimal.
    pub digest: String,
    /// Where the program asked for it, if that is known: `FILE:LINE` or the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<String>,
}

/// Where package managers and toolkits keep the libraries of others.
const OTHERS: [&str; 5] = ["/.cargo/", "/rustc/", "/site-packages/", "/dist-packages/", "/usr/"];

/// The innermost call that is in the program's own text, as far as paths tell; of another's text where there is none.
fn asked_at(frames: &[HostFrame]) -> Option<String> {
    let is_own = |file: &str| !OTHERS.iter().any(|folder| file.contains(folder));
    let lines = || frames.iter().filter_map(|frame| frame.source.as_ref());
    let line = lines().find(|line| is_own(&line.file)).or_else(|| lines().next());
    let name = || frames.iter().find_map(|frame| frame.function.clone());
    line.map(|line| format!("{}:{}", line.file, line.line)).or_else(name)
}

impl From<&MemoryEnd> for Piece {
    fn from(end: &MemoryEnd) -> Self {
        Self {
            piece: end.piece.clone(),
            bytes: end.bytes,
            digest: end.digest.clone(),
            asked_at: asked_at(&end.allocated_at),
        }
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.piece {
            MemoryPiece::Allocation(number) => write!(f, "allocation {number} ({} bytes", self.bytes)?,
            MemoryPiece::Variable(1, name) => write!(f, "variable {name} ({} bytes", self.bytes)?,
            MemoryPiece::Variable(load, name) => {
                write!(f, "variable {name} of module {load} ({} bytes", self.bytes)?;
            }
        }
        match &self.asked_at {
            Some(place) => write!(f, ", {place})"),
            None => f.write_str(")"),
        }
    }
}

/// Some pieces in words, the first few by name.
pub(crate) fn names(pieces: &[&Piece]) -> String {
    let named: Vec<String> = pieces.iter().take(NAMED).map(ToString::to_string).collect();
    let more = match pieces.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

impl ReferenceMemory {
    /// What a first run has told.
    ///
    /// # Errors
    /// Why nothing is known.
    pub(crate) fn of(ends: &MemoryEnds) -> Result<Self, &'static str> {
        let compared = ends.known()?.values().map(Piece::from).collect();
        Ok(Self { runs: 1, compared, differing: Vec::new(), same_pieces: true })
    }

    /// Compares no more what differs in another run.
    ///
    /// # Errors
    /// Why nothing is known of that one.
    pub(crate) fn narrow(&mut self, ends: &MemoryEnds) -> Result<(), &'static str> {
        let known = ends.known()?;
        self.same_pieces &= self.has_all(known);
        let (same, other) =
            std::mem::take(&mut self.compared).into_iter().partition(|piece| is_in(piece, known));
        self.compared = same;
        self.differing.extend::<Vec<Piece>>(other);
        self.runs += 1;
        Ok(())
    }

    /// Whether each of these pieces is one of its own.
    fn has_all(&self, known: &BTreeMap<MemoryPiece, MemoryEnd>) -> bool {
        known.len() <= self.compared.len() + self.differing.len()
            && known
                .keys()
                .all(|piece| self.compared.iter().chain(&self.differing).any(|mine| mine.piece == *piece))
    }

    /// Judges what a trial has told.
    pub(super) fn judge(&self, ends: &MemoryEnds) -> OracleVerdict {
        let known = match ends.known() {
            Ok(known) => known,
            Err(why) => return OracleVerdict::Discontent(why.to_owned()),
        };
        let other: Vec<&Piece> = self.compared.iter().filter(|piece| !is_in(piece, known)).collect();
        if !other.is_empty() {
            let names = names(&other);
            return OracleVerdict::Discontent(format!(
                "memory does not hold what it does without injection: {names}"
            ));
        }
        if self.same_pieces && !self.has_all(known) {
            return OracleVerdict::Discontent(
                "it asks for memory for which it does not ask without injection".to_owned(),
            );
        }
        OracleVerdict::Content
    }
}

/// Whether a piece is there and held the same.
fn is_in(piece: &Piece, known: &BTreeMap<MemoryPiece, MemoryEnd>) -> bool {
    known.get(&piece.piece).is_some_and(|end| end.bytes == piece.bytes && end.digest == piece.digest)
}
