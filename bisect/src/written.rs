//! Places of the source: what a fence can be written beside, for every access and barrier of the program.
//!
//! The sites of the PTX say at which lines and columns the program touches memory, and at which calls what is inlined
//! there stands. The syntax tree of each file says what stands around such a position ([`crate::syntax`]). A place is a side
//! of a statement, a loop or a block, with all sites that belong to it: those of all kernels, template instances and
//! inlined copies.
//!
//! A site belongs to a statement of the function that it is written in, and to those of the functions which that one is
//! inlined into: a fence for the atomic in `lock()` may be written in there, or at each call of it.
//!
//! What it can miss: a file that cannot be found or read, and statements that no grammar knows. Their accesses have no
//! place here; where no site of a program has one, its lines are the places ([`crate::places::lines`]).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bugaroo_injector::is_toolkit_header;
use bugaroo_protocol::{Inserted, Position, Side, Site, SiteId, SiteKind, SourceLine};

use crate::beside::{Beside, WritablePlace};
use crate::places::{Put, SitePlace, reachable};
use crate::source::SourceText;
use crate::syntax::{Form, LocTold, SourceFile, Spot};

/// Loops and blocks around a statement that places are looked for beside.
const NESTING: u32 = 4;

/// Headers of one file that are looked into.
const HEADERS: usize = 64;

/// The source files of a program, as they are met.
#[derive(Debug)]
pub struct Sources {
    app: PathBuf,
    files: BTreeMap<String, Option<Arc<SourceFile>>>,
}

impl Sources {
    /// Those of the program at `app`.
    pub fn of(app: &Path) -> Sources {
        Sources { app: app.to_owned(), files: BTreeMap::new() }
    }

    /// The file that the compiler calls so, which has a line `line`; None where it is not there, or not text.
    ///
    /// Headers of the CUDA toolkit are not the user's to change, and count as not there.
    pub fn file(&mut self, name: &str, line: u32) -> Option<Arc<SourceFile>> {
        if is_toolkit_header(name) {
            return None;
        }
        let parsed = self.files.entry(name.to_owned()).or_insert_with(|| {
            let SourceText { path, text } = SourceText::find(name, line, &self.app)?;
            Some(Arc::new(SourceFile::parse(path, text)))
        });
        parsed.clone()
    }
}

impl Sources {
    /// The user's headers that a file includes, and those that these do, each once, with the names to ask for them by.
    pub fn headers(&mut self, file: &SourceFile) -> Vec<(String, Arc<SourceFile>)> {
        let mut found: Vec<(String, Arc<SourceFile>)> = Vec::new();
        let of = |file: &SourceFile| -> Vec<PathBuf> {
            let folder = file.path().parent().map(Path::to_owned).unwrap_or_default();
            file.includes().map(|name| folder.join(name)).collect()
        };
        let mut ahead = of(file);
        while let Some(path) = ahead.pop() {
            let Some(name) = path.to_str().filter(|_| path.is_file() && found.len() < HEADERS) else {
                continue;
            };
            if found.iter().any(|(known, _)| known == name) {
                continue;
            }
            let name = name.to_owned();
            let Some(header) = self.file(&name, 1) else { continue };
            ahead.extend(of(&header));
            found.push((name, header));
        }
        found
    }
}

/// The places of all accesses and barriers that the kernels can come to, in the order of their first site; none where no
/// source can be read.
pub fn written(sites: &[Site], kernels: &[String], sources: &mut Sources) -> Vec<SitePlace> {
    let mut spots: BTreeMap<(String, u32, u32), Vec<Arc<Spot>>> = BTreeMap::new();
    let mut places: Vec<SitePlace> = Vec::new();
    let mut known: BTreeMap<(String, Position, Position, Side), usize> = BTreeMap::new();
    for site in sites.iter().filter(|site| site.kind != SiteKind::Fence && reachable(site, kernels)) {
        let mut met = Vec::new();
        for (depth, (line, column)) in chain(site).enumerate() {
            let key = (line.file.clone(), line.line, column);
            let here = spots.entry(key).or_insert_with(|| at(sources, line, column));
            for spot in here.iter() {
                let key = (line.file.clone(), spot.span.from, spot.span.to, spot.side);
                let place = *known.entry(key).or_insert(places.len());
                // The function that calls itself, or a loop around a call: once is enough.
                if met.contains(&place) {
                    continue;
                }
                met.push(place);
                if place == places.len() {
                    let (file, beside) = (line.file.clone(), Beside::default());
                    places.push(SitePlace {
                        source: Some(SourceLine { file: file.clone(), line: spot.line }),
                        sites: Vec::new(),
                        put: Put::Written(WritablePlace {
                            file,
                            nesting: spot.depth as usize,
                            spot: Arc::clone(spot),
                            depth,
                            beside,
                            behind: Vec::new(),
                            fence: Inserted::Fence,
                            uses: Vec::new(),
                        }),
                    });
                }
                places[place].add(site, depth, spot);
            }
        }
    }
    behind_waiting(&mut places);
    places
}

/// Behind a loop whose only sites are those of a statement in it, a fence does what it does behind the statement, and
/// once: it is what an author writes who waits for a flag.
fn behind_waiting(places: &mut [SitePlace]) {
    let behind = |place: &SitePlace| match &place.put {
        Put::Written(written) if written.side() == Side::Behind => {
            Some((written.spot.form, written.file.clone(), place.ids().collect::<Vec<SiteId>>()))
        }
        _ => None,
    };
    let loops: Vec<_> = places
        .iter()
        .filter_map(behind)
        .filter(|(form, ..)| matches!(form, Form::Loop | Form::EnclosingLoop))
        .map(|(_, file, sites)| (file, sites))
        .collect();
    for place in places {
        let Some((form, file, sites)) = behind(place) else { continue };
        let waits = loops.contains(&(file, sites));
        if let (true, Put::Written(written)) = (waits, &mut place.put) {
            written.nesting = match form {
                Form::Loop | Form::EnclosingLoop => 0,
                _ => written.nesting + 1 + NESTING as usize,
            };
        }
    }
}

/// A site's line and the call sites around it, with their columns.
fn chain(site: &Site) -> impl Iterator<Item = (&SourceLine, u32)> {
    let columns = site.columns.iter().copied().chain(std::iter::repeat(0));
    site.source.iter().chain(&site.inlined_at).zip(columns)
}

/// The spots at a position that the PTX tells from what stands around them.
fn at(sources: &mut Sources, line: &SourceLine, column: u32) -> Vec<Arc<Spot>> {
    let Some(file) = sources.file(&line.file, line.line) else { return Vec::new() };
    // What the grammar does not know has no places.
    let Ok(spots) = file.spots_at(Position { line: line.line, column }) else { return Vec::new() };
    let shares =
        spots.iter().filter(|spot| spot.told == LocTold::SharesLine).map(|spot| spot.bytes().start).min();
    // Before the first of several statements that share a position is before all of them.
    let first = |spot: &Spot| {
        spot.told == LocTold::SharesLine && spot.side == Side::Before && Some(spot.bytes().start) == shares
    };
    let tried = |spot: &Spot| (spot.told == LocTold::ByPosition || first(spot)) && spot.depth <= NESTING;
    spots.into_iter().filter(tried).map(Arc::new).collect()
}

impl SitePlace {
    /// A site that belongs to it, by this spot of the site's statement.
    fn add(&mut self, site: &Site, depth: usize, spot: &Spot) {
        if let Put::Written(written) = &mut self.put {
            written.depth = written.depth.min(depth);
            written.beside.add(site, spot);
        }
        self.sites.push(site.clone());
    }
}
