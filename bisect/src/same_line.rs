//! Places between statements of one line, and between those of a macro's definition.
//!
//! The compiler gives one position to all that stands on a line, and to all that a use of a macro expands to. So where a
//! fence between two of its statements goes in the PTX cannot be told by position. It is told by counting instead: the
//! text names atomics, fences and barriers, and the PTX has them in the same order; between two of these, stores are
//! counted by the assignments of the text.
//!
//! What it can miss: lines where the counts do not agree, as the compiler left a store out, or as the text does not show
//! what is an access. They have no places here. It goes wrong where the compiler has moved plain accesses among each other;
//! building the patched program shows that.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use bugaroo_protocol::{Inserted, Position, Side, Site, SiteId, SiteKind, SourceLine, SourceSpan};
use regex::Regex;

use crate::beside::{Beside, WritablePlace, strong};
use crate::places::{Put, SitePlace, reachable};
use crate::syntax::{LocTold, SourceFile, Spot};
use crate::written::Sources;

/// What the text says of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Atomic,
    Fence,
    Barrier,
    /// An assignment, to what is memory for certain.
    Store,
    /// An assignment, to what may be a variable of the thread.
    Assignment,
}

/// Words that say what an access is. Assignments come last: what is none of the others.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?P<comment> //[^\n]* | /\*(?s:.*?)\*/ | \x22(?:[^\x22\\]|\\.)*\x22 )
        | (?P<fence> \b __threadfence\w* \s*\( | \b atomic_thread_fence \s*\( )
        | (?P<barrier> \b __sync(?:threads|warp)\w* \s*\( )
        | (?P<atomic> \b atomic[A-Z]\w* \s*\( | [.>] (?:exchange|fetch_\w+|compare_exchange\w*) \s*\( )
        | (?P<compare> [\w\])] \s* [=!<>]= )
        | (?P<store> [\w\])] \s* (?: (?:[-+*/%&|^]|<<|>>)? = | \+\+ | -- ) )
        ",
    )
    // A constant, and a test uses it.
    .expect("a regular expression")
});

/// A name.
static NAME: LazyLock<Regex> =
    // A constant, and a test uses it.
    LazyLock::new(|| Regex::new(r"\b[A-Za-z_]\w*\b").expect("a regular expression"));

/// The words of a text, with where they stand.
fn words(text: &str, from: usize) -> Vec<(usize, Word)> {
    WORDS
        .captures_iter(text)
        .filter_map(|found| {
            let whole = found.get(0)?;
            let word = match () {
                () if found.name("fence").is_some() => Word::Fence,
                () if found.name("barrier").is_some() => Word::Barrier,
                () if found.name("atomic").is_some() => Word::Atomic,
                () if found.name("store").is_some() => {
                    let before = &text[..whole.end()];
                    let target = before.rsplit([';', '{', '}', '\n']).next().unwrap_or(before);
                    match target.contains(['*', '[', '.']) || target.contains("->") {
                        true => Word::Store,
                        false => Word::Assignment,
                    }
                }
                () => return None,
            };
            Some((from + whole.start(), word))
        })
        .collect()
}

/// Places between statements that share their position, for the sites of the kernels.
pub fn same_line(sites: &[Site], kernels: &[String], sources: &mut Sources) -> Vec<SitePlace> {
    let mut lines: BTreeMap<(&SourceLine, u32), Vec<&Site>> = BTreeMap::new();
    for site in sites.iter().filter(|site| reachable(site, kernels)) {
        if let Some(line) = &site.source {
            lines.entry((line, site.columns.first().copied().unwrap_or(0))).or_default().push(site);
        }
    }
    let mut places = Vec::new();
    let mut included: BTreeMap<&str, Vec<(String, Arc<SourceFile>)>> = BTreeMap::new();
    for ((line, column), mut here) in lines {
        let Some(file) = sources.file(&line.file, line.line) else { continue };
        let Ok(spots) = file.spots_at(Position { line: line.line, column }) else { continue };
        here.sort_by_key(|site| site.id);
        let shared = spots.iter().filter(|spot| spot.told == LocTold::SharesLine && spot.depth == 0);
        places.extend(between(&here, shared.collect(), &file, line, None));
        // Before the first of a macro's statements is before the one that uses it.
        let statement = file.statements_at(Position { line: line.line, column }).ok().and_then(|found| {
            let alone = found.len() == 1;
            let span = found.into_iter().next()?.span;
            alone.then(|| SourceSpan { file: line.file.clone(), from: span.from, to: span.to })
        });
        let mut by_macro: BTreeMap<&str, Vec<&Spot>> = BTreeMap::new();
        for spot in spots.iter().filter(|spot| spot.told == LocTold::InMacro) {
            if let Some(used) = &spot.in_macro {
                by_macro.entry(&used.name).or_default().push(spot);
            }
        }
        for spots in by_macro.into_values() {
            places.extend(between(&here, spots, &file, line, statement.clone()));
        }
        let headers = included.entry(&line.file).or_insert_with(|| sources.headers(&file));
        for name in names(file.text(), line.line) {
            for (header, text) in headers.iter() {
                let spots = text.spots_in_macro(name, names_in(file.text(), name));
                let defined = SourceLine { file: header.clone(), line: line.line };
                places.extend(between(&here, spots.iter().collect(), text, &defined, statement.clone()));
            }
        }
    }
    joined(places)
}

/// The names on a line of a text, from 1, that may be macros'.
fn names(text: &str, line: u32) -> Vec<&str> {
    let line = text.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default();
    let mut names: Vec<&str> = NAME.find_iter(line).map(|found| found.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// How often a text has a name.
fn names_in(text: &str, name: &str) -> usize {
    NAME.find_iter(text).filter(|found| found.as_str() == name).count()
}

/// A macro that is written into changes with all its uses: what is tried is tried at all of them.
fn joined(places: Vec<SitePlace>) -> Vec<SitePlace> {
    let mut joined: Vec<SitePlace> = Vec::new();
    for place in places {
        let Put::Written(written) = &place.put else { continue };
        let bytes = (written.spot.bytes(), written.spot.side, &written.file);
        let same = joined.iter_mut().find(|known| match &known.put {
            Put::Written(other) => {
                written.spot.in_macro.is_some() && (other.spot.bytes(), other.spot.side, &other.file) == bytes
            }
            _ => false,
        });
        match same {
            Some(known) => {
                known.sites.extend(place.sites);
                if let (Put::Written(known), Put::Written(more)) = (&mut known.put, place.put) {
                    known.behind.extend(more.behind);
                    known.uses.extend(more.uses);
                }
            }
            None => joined.push(place),
        }
    }
    joined
}

/// What tells one copy of a line from another: the function, and the call sites that it was inlined at.
type Copy<'a> = (&'a str, &'a [SourceLine], &'a [u32]);

/// The places that `spots` are, among sites of one position in the order of the text.
fn between(
    sites: &[&Site],
    spots: Vec<&Spot>,
    file: &SourceFile,
    line: &SourceLine,
    statement: Option<SourceSpan>,
) -> Vec<SitePlace> {
    let (Some(from), Some(to)) =
        (spots.iter().map(|spot| spot.bytes().start).min(), spots.iter().map(|spot| spot.bytes().end).max())
    else {
        return Vec::new();
    };
    let Some(text) = file.text().get(from..to) else { return Vec::new() };
    let words = words(text, from);
    let mut copies: BTreeMap<Copy<'_>, Vec<&Site>> = BTreeMap::new();
    for site in sites {
        let columns = site.columns.get(1..).unwrap_or(&[]);
        copies.entry((&site.function, &site.inlined_at, columns)).or_default().push(site);
    }
    let mut places: Vec<SitePlace> = Vec::new();
    for spot in spots {
        let bytes = spot.bytes();
        let at = if spot.side == Side::Before { bytes.start } else { bytes.end };
        let mut behind: Vec<SiteId> = Vec::new();
        let mut beside = Beside::default();
        let told = copies.values().all(|copy| match point(copy, &words, at, &text[..at - from]) {
            Some(found) => {
                for at in found {
                    behind.push(copy[at].id);
                    beside.after(copy[at]);
                    if let Some(next) = copy.get(at + 1) {
                        beside.before(next);
                    }
                }
                true
            }
            None => false,
        });
        let first = spot.side == Side::Before && file.text()[from..at].trim().is_empty();
        let (sites, behind, uses) = match &statement {
            Some(statement) if first => {
                copies.values().filter_map(|copy| copy.first()).for_each(|site| beside.before(site));
                (sites.to_vec(), Vec::new(), vec![statement.clone()])
            }
            _ if told && !behind.is_empty() => {
                let of = |site: &&&Site| behind.contains(&site.id);
                (sites.iter().filter(of).copied().collect(), behind, Vec::new())
            }
            _ => continue,
        };
        let file = line.file.clone();
        places.push(SitePlace {
            source: Some(SourceLine { file: file.clone(), line: spot.line }),
            sites: sites.into_iter().cloned().collect(),
            put: Put::Written(WritablePlace {
                file,
                spot: Arc::new(spot.clone()),
                depth: 0,
                nesting: 0,
                beside,
                behind,
                fence: Inserted::Fence,
                uses,
            }),
        });
    }
    places
}

/// The sites of a copy that what is written at a byte of the text comes directly behind, one for each time that the copy
/// repeats the text; None where that cannot be told.
fn point(copy: &[&Site], words: &[(usize, Word)], at: usize, before: &str) -> Option<Vec<usize>> {
    let anchor = |kind: SiteKind| match kind {
        SiteKind::Atomic => Some(Word::Atomic),
        SiteKind::Fence => Some(Word::Fence),
        SiteKind::Barrier => Some(Word::Barrier),
        SiteKind::Load | SiteKind::Store => None,
    };
    let anchors: Vec<(usize, Word)> =
        copy.iter().enumerate().filter_map(|(at, site)| Some((at, anchor(site.kind)?))).collect();
    let told: Vec<(usize, Word)> = words
        .iter()
        .copied()
        .filter(|(_, word)| matches!(word, Word::Atomic | Word::Fence | Word::Barrier))
        .collect();
    let times = match (anchors.len(), told.len()) {
        (0, 0) => 1,
        (_, 0) => return None,
        (anchors, told) if anchors % told == 0 && anchors > 0 => anchors / told,
        _ => return None,
    };
    let repeats = anchors.iter().enumerate().all(|(at, (_, word))| *word == told[at % told.len()].1);
    if !repeats {
        return None;
    }
    let passed = told.iter().filter(|(place, _)| *place < at).count();
    // The text between the two anchors that the byte lies between.
    let first = passed.checked_sub(1).map_or(0, |last| told[last].0);
    let end = told.get(passed).map_or(usize::MAX, |(place, _)| *place);
    let stores: Vec<(usize, Word)> = words
        .iter()
        .copied()
        .filter(|(place, word)| {
            matches!(word, Word::Store | Word::Assignment) && (first..end).contains(place)
        })
        .collect();
    (0..times)
        .map(|time| {
            let anchor = |count: usize| anchors.get(time * told.len() + count).map(|(at, _)| *at);
            let start = match passed {
                0 if time == 0 => None,
                0 => anchor(0).and_then(|_| anchors.get(time * told.len() - 1)).map(|(at, _)| *at),
                passed => anchor(passed - 1),
            };
            let stop = match anchors.get(time * told.len() + passed) {
                Some((at, _)) => *at,
                None => copy.len(),
            };
            let segment = start.map_or(0, |start| start + 1)..stop;
            let there: Vec<usize> = segment.clone().filter(|at| copy[*at].kind == SiteKind::Store).collect();
            let certain = stores.iter().filter(|(_, word)| *word == Word::Store);
            let count =
                |all: &mut dyn Iterator<Item = &(usize, Word)>| all.filter(|(place, _)| *place < at).count();
            let behind = match () {
                () if stores.len() == there.len() => count(&mut stores.iter()),
                () if certain.clone().count() == there.len() => count(&mut certain.clone()),
                () if stores.iter().all(|(place, _)| *place >= at) => 0,
                () if stores.iter().all(|(place, _)| *place < at) => there.len(),
                () => return None,
            };
            match behind {
                0 => start.or_else(|| {
                    // Nothing but loads comes before: those that wait for others.
                    let waits = |at: &usize| copy[*at].kind == SiteKind::Load && strong(copy[*at]);
                    let waiting = segment.take_while(waits).last();
                    waiting.filter(|_| !before.trim().is_empty())
                }),
                behind => Some(there[behind - 1]),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
