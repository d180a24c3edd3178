//! The control-flow graph of a decoded program as places see it: what one instruction of the text became is one vertex.
//!
//! An instruction under a guard that is a site is two: the test of the guard, and the site, which not everybody passes.
//! So what is put in behind such a site alone is put in under its guard.

use bugaroo_injector::collect_sites::{InjectionPoint, PointKind, SiteTable};
use bugaroo_protocol::SiteKind;
use rustc_hash::FxHashMap;

use super::super::Program;
use crate::decoded::{Inst, Kind, NO_GUARD};

/// What a vertex is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A function that is called begins, or a kernel.
    Entry { kernel: bool },
    /// A function returns to its caller.
    Return,
    /// A thread ends.
    End,
    /// An instruction that is no site.
    Plain,
    /// One that decides where to go on.
    Decision,
    /// The guard of a site is looked at.
    Test,
    /// A site: something that orders, or is ordered.
    Site(Ordered),
}

/// Kinds of sites, as far as executions of a stretch are told apart by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Ordered {
    Load,
    Store,
    Atomic,
    Fence,
    Barrier,
    Call,
    Other,
}

impl From<SiteKind> for Ordered {
    fn from(kind: SiteKind) -> Ordered {
        match kind {
            SiteKind::Load => Ordered::Load,
            SiteKind::Store => Ordered::Store,
            SiteKind::Atomic => Ordered::Atomic,
            SiteKind::Fence => Ordered::Fence,
            SiteKind::Barrier => Ordered::Barrier,
        }
    }
}

/// A vertex, with its instructions of the program from the first up to, not including, the second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    pub what: What,
    pub code: (u32, u32),
    pub function: u32,
}

impl Vertex {
    /// Is it one of those between which things stand: a site, or where threads come from or go to?
    pub fn is_stop(&self) -> bool {
        matches!(self.what, What::Entry { .. } | What::Return | What::End | What::Site(_))
    }
}

/// How an edge goes from one instruction to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Behind the instruction.
    Fall,
    /// By a jump, or as a function begins.
    Jump,
    /// Out of the function.
    Leave,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub from: u32,
    pub to: u32,
    pub way: Way,
    /// Leads back to where a loop begins.
    pub back: bool,
}

/// The graph of all functions.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub vertices: Vec<Vertex>,
    pub edges: Vec<Edge>,
    /// Edges by vertex: those out of it, those into it.
    pub out: Vec<Vec<u32>>,
    pub into: Vec<Vec<u32>>,
    /// Whether a thread can come there.
    pub reached: Vec<bool>,
}

/// The kinds of sites, by span of the text.
fn kinds(table: &SiteTable) -> FxHashMap<(usize, usize), Ordered> {
    let kind = |point: &InjectionPoint| {
        let kind = match (point.site, &point.kind) {
            (Some(number), _) => table.sites.get(number as usize)?.kind.into(),
            (None, PointKind::Unknown) => Ordered::Other,
            _ => return None,
        };
        Some(((point.span.start, point.span.end), kind))
    };
    table.points.iter().filter_map(kind).collect()
}

/// Where control goes on behind an instruction: does it reach the next one, does it jump, does it leave?
pub(in super::super) fn falls_through(inst: &Inst) -> bool {
    let leaves =
        matches!(inst.kind, Kind::Branch | Kind::IndexedBranch | Kind::Ret | Kind::Exit | Kind::Trap);
    !leaves || inst.guard != NO_GUARD
}

impl Graph {
    pub fn new(program: &Program, table: &SiteTable) -> Graph {
        let mut graph = Graph::default();
        // By instruction: the vertex that begins there.
        let mut begins = vec![u32::MAX; program.code.len()];
        // What control goes through last in a vertex's instructions.
        let mut last = Vec::new();
        graph.split(program, &kinds(table), &mut begins, &mut last);
        graph.connect(program, &begins, &last);
        graph.index();
        graph.walk();
        graph
    }

    fn push(&mut self, what: What, code: (u32, u32), function: u32) -> u32 {
        self.vertices.push(Vertex { what, code, function });
        self.vertices.len() as u32 - 1
    }

    fn edge(&mut self, from: u32, to: u32, way: Way) {
        self.edges.push(Edge { from, to, way, back: false });
    }

    /// Makes the vertices of instructions.
    fn split(
        &mut self,
        program: &Program,
        kinds: &FxHashMap<(usize, usize), Ordered>,
        begins: &mut [u32],
        last: &mut Vec<(u32, u32)>,
    ) {
        let mut target = vec![false; program.code.len()];
        let jumps = program.code.iter().filter(|inst| inst.kind == Kind::Branch).map(|inst| inst.extra);
        let entries = program.functions.iter().filter(|f| f.defined).map(|f| f.entry);
        for pc in jumps.chain(program.tables.iter().flatten().copied()).chain(entries) {
            target[pc as usize] = true;
        }
        let mut pc = 0;
        while pc < program.code.len() {
            let (start, origin) = (pc, &program.origins[pc]);
            let goes_on = |at: usize| {
                let Some(next) = program.origins.get(at + 1) else { return false };
                let kind = program.code[at].kind;
                let control = matches!(kind, Kind::Branch | Kind::IndexedBranch | Kind::Exit | Kind::Trap);
                // What returns at the end of a body has the origin of the text's last instruction.
                let returns = kind == Kind::Ret || program.code[at + 1].kind == Kind::Ret;
                let same = (next.function, next.text) == (origin.function, origin.text);
                same && !control && !returns && !target[at + 1]
            };
            while goes_on(pc) {
                pc += 1;
            }
            pc += 1;
            let code = (start as u32, pc as u32);
            let insts = &program.code[start..pc];
            let called = insts.iter().any(|inst| inst.kind == Kind::Call);
            let synthetic = insts[0].kind == Kind::Ret;
            let kind = if called { Some(Ordered::Call) } else { kinds.get(&origin.text).copied() };
            let kind = kind.filter(|_| !synthetic);
            let end = insts[insts.len() - 1];
            let decides =
                matches!(end.kind, Kind::Branch if end.guard != NO_GUARD) || end.kind == Kind::IndexedBranch;
            let function = origin.function;
            let (first, behind) = match kind {
                Some(kind) if program.guard_of_text(pc - 1).0 != NO_GUARD => {
                    let test = self.push(What::Test, code, function);
                    let site = self.push(What::Site(kind), code, function);
                    self.edge(test, site, Way::Fall);
                    last.push((test, pc as u32 - 1));
                    (test, site)
                }
                Some(kind) => {
                    let site = self.push(What::Site(kind), code, function);
                    (site, site)
                }
                None => {
                    let what = if decides { What::Decision } else { What::Plain };
                    let plain = self.push(what, code, function);
                    (plain, plain)
                }
            };
            begins[start] = first;
            last.push((behind, pc as u32 - 1));
        }
    }

    /// Draws the edges between them.
    fn connect(&mut self, program: &Program, begins: &[u32], last: &[(u32, u32)]) {
        let kernels: FxHashMap<u32, ()> = program.kernels().iter().map(|k| (k.function, ())).collect();
        let nowhere = (0, 0);
        let mut leaves = FxHashMap::default();
        for (index, function) in program.functions.iter().enumerate().filter(|(_, f)| f.defined) {
            let index = index as u32;
            let kernel = kernels.contains_key(&index);
            let entry = self.push(What::Entry { kernel }, nowhere, index);
            self.edge(entry, begins[function.entry as usize], Way::Jump);
            let end = self.push(What::End, nowhere, index);
            let back = if kernel { end } else { self.push(What::Return, nowhere, index) };
            leaves.insert(index, (back, end));
        }
        for &(vertex, pc) in last {
            let inst = &program.code[pc as usize];
            let function = self.vertices[vertex as usize].function;
            let Some(&(back, end)) = leaves.get(&function) else { continue };
            match inst.kind {
                Kind::Branch => self.edge(vertex, begins[inst.extra as usize], Way::Jump),
                Kind::IndexedBranch => {
                    let mut targets = program.tables[inst.extra as usize].clone();
                    targets.sort_unstable();
                    targets.dedup();
                    for target in targets {
                        self.edge(vertex, begins[target as usize], Way::Jump);
                    }
                }
                Kind::Ret => self.edge(vertex, back, Way::Leave),
                Kind::Exit | Kind::Trap => self.edge(vertex, end, Way::Leave),
                _ => {}
            }
            if falls_through(inst) {
                // Every function ends with what returns.
                self.edge(vertex, begins[pc as usize + 1], Way::Fall);
            }
        }
    }

    fn index(&mut self) {
        self.out = vec![Vec::new(); self.vertices.len()];
        self.into = vec![Vec::new(); self.vertices.len()];
        for (number, edge) in self.edges.iter().enumerate() {
            self.out[edge.from as usize].push(number as u32);
            self.into[edge.to as usize].push(number as u32);
        }
    }

    /// Finds what can be reached, and the edges that lead back, from the functions' entries in depth first.
    fn walk(&mut self) {
        self.reached = vec![false; self.vertices.len()];
        let mut open = vec![false; self.vertices.len()];
        let entries = (0..self.vertices.len())
            .filter(|v| matches!(self.vertices[*v].what, What::Entry { .. }))
            .collect::<Vec<_>>();
        for entry in entries {
            let mut stack = vec![(entry, 0)];
            (self.reached[entry], open[entry]) = (true, true);
            while let Some((vertex, next)) = stack.last_mut() {
                let Some(&edge) = self.out[*vertex].get(*next) else {
                    open[*vertex] = false;
                    stack.pop();
                    continue;
                };
                *next += 1;
                let to = self.edges[edge as usize].to as usize;
                self.edges[edge as usize].back = open[to];
                if !self.reached[to] {
                    (self.reached[to], open[to]) = (true, true);
                    stack.push((to, 0));
                }
            }
        }
    }
}
