//! Races of a pair of source lines: both accesses in the source, how often, and between which barriers.

use std::path::Path;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Renderer, Snippet};
use bugaroo_barriers::findings::{CommandPlace, LineRace, RaceAccess};
use bugaroo_barriers::program::SharedAccessKind;
use bugaroo_barriers::verdict::BarrierRaceKind;
use bugaroo_bisect::SourceText;

use super::place::{place, who};
use crate::output::thousands;

/// The races of one pair of lines, of which there is at least one. `file` is the PTX file.
pub fn told(races: &[LineRace], file: &Path) -> String {
    let race = &races[0];
    let title = title(race);
    let sides = [("first", &race.first), ("second", &race.second)];
    let labels = sides.map(|(when, side)| format!("{when}: {}", does(side)));
    let excerpts = sides.map(|(_, side)| Excerpt::find(&side.at, file));
    let mut elements: Vec<Element<'_>> = Vec::new();
    let mark = |at: usize, excerpt: &Excerpt| {
        let kind = if at == 0 { AnnotationKind::Context } else { AnnotationKind::Primary };
        kind.span(excerpt.span.clone()).label(labels[at].as_str())
    };
    match &excerpts {
        [Some(first), Some(second)] if first.path == second.path => {
            let snippet = Snippet::source(&first.text).path(&first.path);
            elements.push(snippet.annotation(mark(1, second)).annotation(mark(0, first)).into());
        }
        _ => {
            for (at, excerpt) in excerpts.iter().enumerate() {
                elements.push(match excerpt {
                    Some(found) => {
                        Snippet::source(&found.text).path(&found.path).annotation(mark(at, found)).into()
                    }
                    None => Level::NOTE.message(format!("{}, {}", labels[at], place(&sides[at].1.at))).into(),
                });
            }
        }
    }
    let level = if races.iter().all(|race| race.possible) { Level::WARNING } else { Level::ERROR };
    let group: Group<'_> = level.primary_title(title.as_str()).elements(elements);
    let notes = notes(races, &excerpts);
    let group = notes.iter().fold(group, |group, note| group.element(Level::NOTE.message(note.as_str())));
    Renderer::plain().render(&[group]) + "\n"
}

fn title(race: &LineRace) -> String {
    let what = match race.kind {
        BarrierRaceKind::WriteWrite => "two writes are not ordered",
        BarrierRaceKind::ReadWrite => "a read and a write are not ordered",
        BarrierRaceKind::ReadAtomic => "an atomic and a read are not ordered",
        BarrierRaceKind::WriteAtomic => "an atomic and a write are not ordered",
        BarrierRaceKind::MissingProxyFence => {
            "a write and an asynchronous copy are ordered, but without fence.proxy.async between"
        }
    };
    let sort = if race.possible { "possible: " } else { "" };
    let at_least = if race.at_least { "at least " } else { "" };
    let benign = match race.benign {
        0 => String::new(),
        all if all == race.pairs => ", all of them benign: the same value is written".to_owned(),
        some => format!(", {} of them benign", thousands(some)),
    };
    let pairs = thousands(race.pairs);
    let address = race.address;
    format!("{sort}{what}: {at_least}{pairs} pairs{benign}; for example at {address:#x} of shared memory")
}

/// What an access does, and who.
fn does(side: &RaceAccess) -> String {
    let copy = if side.asynchronous { "asynchronous " } else { "" };
    let kind = match side.kind {
        SharedAccessKind::Read => "read",
        SharedAccessKind::Write => "write",
        SharedAccessKind::Atomic => "atomic",
    };
    let value = side.value.map(|value| format!(" of {value:#x}")).unwrap_or_default();
    format!("{copy}{kind} of {} bytes at {:#x}{value} by{}", side.size, side.address, who(&side.at))
}

fn notes(races: &[LineRace], excerpts: &[Option<Excerpt>; 2]) -> Vec<String> {
    let race = &races[0];
    let mut notes = Vec::new();
    for ((when, side), excerpt) in
        [("first", &race.first), ("second", &race.second)].into_iter().zip(excerpts)
    {
        if excerpt.is_some() {
            notes.push(format!("{when}: PTX line {}: {}", side.at.ptx_line, side.at.instruction.trim()));
        }
        for (file, line) in side.at.inlined_at.iter().take(2) {
            notes.push(format!("{when}: inlined at {file}:{line}"));
        }
        if let Some(branch) = &side.condition {
            // A guard stands in the instruction; without one, it is about where the access goes.
            let itself =
                branch.ptx_line == side.at.ptx_line && !branch.instruction.trim_start().starts_with('@');
            notes.push(match itself {
                true => format!("{when}: perhaps there, as its address is not known"),
                false => format!("{when}: only if this goes one way: {}", place(branch)),
            });
        }
    }
    if let Some(flag) = &race.flag {
        notes.push(format!("no barrier orders them, but what is read here may: {}", place(flag)));
    }
    if let Some(point) = &race.after {
        notes.push(format!(
            "together from use {} of {} on:{}: {}",
            point.generation,
            point.barrier,
            who(&point.at),
            place(&point.at)
        ));
    }
    if let Some(point) = &race.before {
        notes.push(format!(
            "up to use {} of {}:{}: {}",
            point.generation,
            point.barrier,
            who(&point.at),
            place(&point.at)
        ));
    }
    notes.extend(races[1..].iter().map(|other| format!("also {}", title(other))));
    notes
}

/// A line of the source.
struct Excerpt {
    text: String,
    path: String,
    span: std::ops::Range<usize>,
}

impl Excerpt {
    fn find(at: &CommandPlace, ptx: &Path) -> Option<Excerpt> {
        let (file, line) = (at.file.as_deref()?, at.line?);
        let found = SourceText::find(file, line, ptx)?;
        let (start, end) = found.line_span(line)?;
        let start = start + found.indentation(line).len();
        // An empty line shows nothing: the source is not the one that was compiled.
        let span = (start < end).then_some(start..end)?;
        Some(Excerpt { path: found.path.display().to_string(), text: found.text, span })
    }
}
