//! Where in a decoded program something goes that the source would have beside a stretch of it.
//!
//! What matters is where it stands relative to sites: accesses, fences, barriers, and calls. Behind a stretch, there is one
//! on every path from a site of the stretch to one that is not of it, or that is of another execution of it, and none on
//! other paths; before it, likewise with the direction turned. The places are found as lazy code motion finds
//! those of computations (Knoop, Rüthing, Steffen: "Lazy code motion", 1992): by data flow over what the last site was and
//! what the next one can be, on each edge; of the edges where both are right on all paths, it is the first. Whether each
//! path then has exactly one is verified; where it has not, there is no such place, and that is said.
//!
//! Departures. An edge is right by pairs of sites, as whether two belong to one execution depends on both. Ends of threads
//! need nothing behind the last site, and begins of kernels nothing before the first; it may be there all the same.
//!
//! What it can miss. Lines and columns are all that is known of the source, and nvcc gives all of a line the column where
//! the line's first statement begins: statements of one line are one. A loop is the stretch's own if all of its
//! instructions that have a line have one in the stretch; of `for (;;) { S }` nothing is outside of `S`, and behind `S` is then
//! behind the loop. Two accesses of one kind in a statement that has no others look like two rounds of an unrolled loop.

mod flow;
mod graph;
mod stretch;

use bugaroo_injector::collect_sites::SiteTable;
use bugaroo_injector::is_toolkit_header;
use bugaroo_protocol::{Insertion, SourceSpan};

use super::Program;
pub(super) use graph::falls_through;
use graph::{Graph, What};

/// A position in a file, which is named by the first index that its path has in the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct At {
    file: u32,
    line: u32,
    column: u32,
}

impl At {
    /// Does it lie in a stretch of its file? Where a column is not known, the line decides.
    fn is_in(&self, span: &SourceSpan) -> bool {
        let (from, to) = (span.from, span.to);
        if self.column == 0 {
            return from.line <= self.line && (self.line < to.line || self.line == from.line);
        }
        (from.line, from.column) <= (self.line, self.column)
            && (self.line, self.column) < (to.line, to.column)
    }
}

/// A place between instructions of the program, by numbers of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spot {
    /// Behind an instruction, for those who do not jump there.
    Behind(u32, Under),
    /// In front of an instruction, for all who come there.
    Front(u32, Under),
    /// On the way from a branch to its target.
    Jump(u32, u32),
    /// On the way into a function of this number.
    Entry(u32),
}

/// Whom a place is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Under {
    /// All who come there.
    Everybody,
    /// Those for whom the guard of the instruction holds.
    Guard,
    /// Those for whom it does not.
    NotGuard,
}

/// Where something goes.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    pub(super) spots: Vec<Spot>,
    /// Sites of the PTX that belong to the stretch.
    pub sites: u32,
    /// Why there is no such place.
    pub refused: Option<String>,
}

impl Placement {
    /// Places of the PTX that it becomes.
    pub fn places(&self) -> usize {
        self.spots.len()
    }
}

/// What has to be known of a program to find places in it.
pub struct Places<'p> {
    program: &'p Program,
    graph: Graph,
    /// Sites and decisions by position, once for each of the lines that they stand at.
    by_position: Vec<(At, u32)>,
    /// By index of a file, from the least: the first index of the same path, and whether it is the toolkit's.
    files: Vec<(u32, u32, bool)>,
}

impl<'p> Places<'p> {
    /// For a program that was loaded from the text that the table is of.
    pub fn new(program: &'p Program, table: &SiteTable) -> Places<'p> {
        let first = |path: &String| program.files.iter().find(|(_, other)| other == path);
        let mut files: Vec<(u32, u32, bool)> = program
            .files
            .iter()
            .map(|(index, path)| {
                (*index, first(path).map_or(*index, |(index, _)| *index), is_toolkit_header(path))
            })
            .collect();
        files.sort_unstable();
        let graph = Graph::new(program, table);
        let mut places = Places { program, graph, by_position: Vec::new(), files };
        let mut by_position = Vec::new();
        for vertex in 0..places.graph.vertices.len() as u32 {
            let what = places.graph.vertices[vertex as usize].what;
            if matches!(what, What::Site(_) | What::Decision | What::Test)
                && places.graph.reached[vertex as usize]
            {
                by_position.extend(places.chain(vertex).into_iter().map(|at| (at, vertex)));
            }
        }
        by_position.sort_unstable();
        places.by_position = by_position;
        places
    }

    /// Where an insertion goes in this program.
    pub fn place(&self, insertion: &Insertion) -> Placement {
        let stretch = self.stretch(insertion);
        if stretch.sites == 0 {
            return Placement::default();
        }
        let sites = stretch.sites;
        match self.flow(insertion, &stretch) {
            Ok(spots) => Placement { spots, sites, refused: None },
            Err(reason) => Placement { spots: Vec::new(), sites, refused: Some(reason) },
        }
    }

    /// The user's line of a vertex, and the call sites around it.
    fn chain(&self, vertex: u32) -> Vec<At> {
        let vertex = &self.graph.vertices[vertex as usize];
        if vertex.code.0 == vertex.code.1 {
            return Vec::new();
        }
        let origin = &self.program.origins[vertex.code.1 as usize - 1];
        let positions = &self.program.positions[origin.source.0 as usize..origin.source.1 as usize];
        let file = |index: u32| {
            let at = self.files.binary_search_by_key(&index, |file| file.0);
            at.map_or((index, false), |at| (self.files[at].1, self.files[at].2))
        };
        let user = positions.iter().position(|at| !file(at.file).1).unwrap_or(0);
        let known = positions[user.min(positions.len())..].iter().filter(|at| at.line != 0);
        known.map(|at| At { file: file(at.file).0, line: at.line, column: at.column }).collect()
    }

    /// Sites and decisions of which a line lies in a stretch, in the order of the text.
    fn vertices_in(&self, span: &SourceSpan) -> Vec<u32> {
        let mut found = Vec::new();
        if let Some((file, _)) = self.program.files.iter().find(|(_, path)| *path == span.file) {
            let from = At { file: *file, line: span.from.line, column: 0 };
            let start = self.by_position.partition_point(|(at, _)| *at < from);
            let near = self.by_position[start..]
                .iter()
                .take_while(|(at, _)| at.file == *file && at.line <= span.to.line);
            found.extend(near.filter(|(at, _)| at.is_in(span)).map(|(_, vertex)| *vertex));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The lines of a vertex up to the outermost that lies in a stretch, and those outside of it.
    fn split_chain(&self, vertex: u32, span: &SourceSpan) -> Option<(Vec<At>, Vec<At>)> {
        let mut chain = self.chain(vertex);
        let file = self.program.files.iter().find(|(_, path)| *path == span.file)?.0;
        let last = chain.iter().rposition(|at| at.file == file && at.is_in(span))?;
        let outside = chain.split_off(last + 1);
        Some((chain, outside))
    }

    /// The line of a vertex in the PTX.
    fn line(&self, vertex: u32) -> u32 {
        let code = self.graph.vertices[vertex as usize].code;
        self.program.origins.get(code.0 as usize).map_or(0, |origin| origin.line)
    }
}
