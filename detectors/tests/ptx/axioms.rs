//! The PTX memory model's relations, as its text defines them: bit matrices over all operations of an execution.

use std::collections::HashMap;

use bugaroo_ptx::types::Scope;
use bugaroo_semantics::event::{AccessKind, SiteNumber, WhoseBytes, WorkId, WorkKind};

use crate::world::How;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Agent {
    Thread(WorkId, u64, u32),
    Host(WorkId),
}

impl Agent {
    pub fn work(self) -> WorkId {
        match self {
            Agent::Thread(work, ..) | Agent::Host(work) => work,
        }
    }
}

#[derive(Clone, Debug)]
pub enum What {
    Point,
    Fence { sc: bool, acquire: bool, release: bool, scope: Scope },
    Memory { memory: WhoseBytes, address: u64, size: u32, how: How, site: SiteNumber },
}

#[derive(Clone, Debug)]
pub struct Node {
    pub agent: Agent,
    pub what: What,
    /// Of each byte of a read: who wrote it (None: nobody, of this execution).
    pub from: Vec<Option<usize>>,
    /// Failed atomics that it reads from, too.
    failed: Vec<usize>,
}

impl Node {
    pub fn new(agent: Agent, what: What) -> Node {
        Node { agent, what, from: Vec::new(), failed: Vec::new() }
    }
}

#[derive(Clone, Debug)]
pub struct Race {
    pub first: Agent,
    pub second: Agent,
    pub first_site: SiteNumber,
    pub second_site: SiteNumber,
    pub bytes: Vec<(WhoseBytes, u64)>,
    /// Other writes are between them at each of the bytes, each behind the one before.
    pub covered: bool,
}

/// Fence-SC order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// All pairs in the order in which they were executed.
    Executed,
    /// Of fences as wide as the device, only those pairs that cannot be the other way round.
    Forced,
}

#[derive(Default)]
pub struct Axioms {
    pub nodes: Vec<Node>,
    pub sync: Vec<(usize, usize)>,
    pub cluster: HashMap<WorkId, u32>,
    /// Where grids run; those that are not named, on the first device.
    pub devices: HashMap<WorkId, u32>,
    works: HashMap<WorkId, (Vec<WorkId>, WorkKind)>,
    memory: HashMap<(WhoseBytes, u64), usize>,
    numbers: HashMap<(u64, WhoseBytes, u64), usize>,
    /// Of every byte, the writes in coherence order.
    pub coherence: HashMap<(WhoseBytes, u64), Vec<usize>>,
}

pub struct Matrix {
    words: usize,
    bits: Vec<u64>,
}

impl Matrix {
    pub fn new(n: usize) -> Matrix {
        let words = n.div_ceil(64);
        Matrix { words, bits: vec![0; n * words] }
    }
    pub fn set(&mut self, a: usize, b: usize) {
        self.bits[a * self.words + b / 64] |= 1 << (b % 64);
    }
    pub fn has(&self, a: usize, b: usize) -> bool {
        self.bits[a * self.words + b / 64] >> (b % 64) & 1 != 0
    }
    fn add_row(&mut self, a: usize, from: usize) {
        for word in 0..self.words {
            let bits = self.bits[from * self.words + word];
            self.bits[a * self.words + word] |= bits;
        }
    }
    pub fn close(&mut self, n: usize) {
        for k in 0..n {
            for a in 0..n {
                if self.has(a, k) {
                    self.add_row(a, k);
                }
            }
        }
    }
}

impl Axioms {
    pub fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    pub fn work(&mut self, id: WorkId, before: &[WorkId], kind: WorkKind) {
        let mut all: Vec<WorkId> = before.to_vec();
        for work in before {
            all.extend(self.works.get(work).into_iter().flat_map(|work| work.0.iter().copied()));
        }
        self.works.insert(id, (all, kind));
    }

    pub fn access(
        &mut self,
        agent: Agent,
        memory: WhoseBytes,
        address: u64,
        site: SiteNumber,
        number: u64,
        how: &How,
    ) {
        let size = how.size;
        let node = Node::new(agent, What::Memory { memory, address, size, how: *how, site });
        let me = self.add(node);
        let reads = how.kind != AccessKind::Store;
        let writes = how.kind == AccessKind::Store || (how.kind != AccessKind::Load && how.wrote);
        let bytes: Vec<u64> = (address..address + u64::from(size)).collect();
        if reads {
            let from: Vec<Option<usize>> = bytes
                .iter()
                .map(|byte| match how.source {
                    _ if how.own => None,
                    Some(number) => self.numbers.get(&(number, memory, *byte)).copied(),
                    None => self.memory.get(&(memory, *byte)).copied(),
                })
                .collect();
            let mut failed_ones = Vec::new();
            if !how.own {
                for (earlier, node) in self.nodes[..me].iter().enumerate() {
                    let What::Memory { memory: its, address: at, how: other, .. } = &node.what else {
                        continue;
                    };
                    let failed = matches!(other.kind, AccessKind::Atomic(_)) && !other.wrote;
                    if !failed || *its != memory {
                        continue;
                    }
                    let same = bytes.iter().zip(&from).any(|(byte, source)| {
                        let Some(index) =
                            byte.checked_sub(*at).filter(|index| *index < node.from.len() as u64)
                        else {
                            return false;
                        };
                        // Told by name that it is no strong one: it may be what the failed one has read.
                        let unnamed =
                            how.source.is_some() && source.is_none_or(|source| !self.is_strong(source));
                        let failed_reads = node.from[index as usize];
                        let unknown = |source: usize| !self.is_strong(source);
                        failed_reads == *source || (unnamed && failed_reads.is_none_or(unknown))
                    });
                    if same {
                        failed_ones.push(earlier);
                    }
                }
            }
            self.nodes[me].from = from;
            self.nodes[me].failed = failed_ones;
        }
        if writes {
            for byte in bytes {
                self.numbers.insert((number, memory, byte), me);
                if !how.held {
                    self.memory.insert((memory, byte), me);
                    self.coherence.entry((memory, byte)).or_default().push(me);
                }
            }
        }
    }

    fn is_strong(&self, node: usize) -> bool {
        matches!(&self.nodes[node].what, What::Memory { how, .. } if how.scope.is_some())
    }

    pub fn landed(&mut self, memory: WhoseBytes, address: u64, size: u32, number: u64) {
        for byte in address..address + u64::from(size) {
            let write = self.numbers[&(number, memory, byte)];
            self.memory.insert((memory, byte), write);
            self.coherence.entry((memory, byte)).or_default().push(write);
        }
    }

    pub fn host(&mut self, work: WorkId, address: u64, bytes: u64, writes: bool, site: SiteNumber) {
        let kind = if writes { AccessKind::Store } else { AccessKind::Load };
        let how = How { kind, size: bytes as u32, ..crate::world::LOAD };
        let number = u64::MAX - u64::from(site);
        self.access(Agent::Host(work), WhoseBytes::Global, address, site, number, &how);
    }

    fn includes(&self, scope: Scope, a: Agent, b: Agent) -> bool {
        match (a, b) {
            (Agent::Thread(g, block, _), Agent::Thread(h, other, _)) if g == h => match scope {
                Scope::Cta => block == other,
                Scope::Cluster => {
                    let cluster = u64::from(self.cluster[&g]);
                    block / cluster == other / cluster
                }
                _ => true,
            },
            _ => {
                let device = |agent: Agent| self.devices.get(&agent.work()).copied().unwrap_or(0);
                scope == Scope::Sys || (scope == Scope::Gpu && device(a) == device(b))
            }
        }
    }

    /// Scope of an operation that is strong.
    pub fn scope(&self, node: usize) -> Option<Scope> {
        match &self.nodes[node].what {
            What::Point => None,
            What::Fence { scope, .. } => Some(*scope),
            What::Memory { how, .. } => how.scope,
        }
    }

    fn morally_strong(&self, a: usize, b: usize) -> bool {
        let (one, other) = (self.nodes[a].agent, self.nodes[b].agent);
        if let (
            What::Memory { memory, address, size, .. },
            What::Memory { memory: m, address: at, size: s, .. },
        ) = (&self.nodes[a].what, &self.nodes[b].what)
            && (memory, address, size) != (m, at, s)
        {
            return false;
        }
        if one == other {
            return true;
        }
        let (Some(s), Some(t)) = (self.scope(a), self.scope(b)) else { return false };
        self.includes(s, one, other) && self.includes(t, other, one)
    }

    pub fn writes(&self, node: usize) -> bool {
        match &self.nodes[node].what {
            What::Memory { how, .. } => {
                how.kind == AccessKind::Store || (how.kind != AccessKind::Load && how.wrote)
            }
            _ => false,
        }
    }

    fn is_atomic(&self, node: usize) -> bool {
        matches!(&self.nodes[node].what, What::Memory { how, .. } if matches!(how.kind, AccessKind::Atomic(_)))
    }

    pub fn works_ordered(&self, a: WorkId, b: WorkId) -> bool {
        self.works.get(&b).is_some_and(|work| work.0.contains(&a))
    }

    /// Causality order (and, of different works, that of the works), with Fence-SC order as executed, or only what is forced.
    fn causality(&self, order: Order) -> Matrix {
        let n = self.nodes.len();
        // Observation order.
        let mut reads = Matrix::new(n);
        for (read, node) in self.nodes.iter().enumerate() {
            for write in node.from.iter().flatten().chain(&node.failed) {
                let strong = self.scope(*write).is_some() && self.scope(read).is_some();
                if strong && self.morally_strong(*write, read) {
                    reads.set(*write, read);
                }
            }
        }
        let mut observation = Matrix { words: reads.words, bits: reads.bits.clone() };
        // Through atomics: those come after what they read in the order of nodes.
        for middle in 0..n {
            if self.is_atomic(middle) {
                for write in 0..n {
                    if observation.has(write, middle) {
                        observation.add_row(write, middle);
                    }
                }
            }
        }
        let mut base = Matrix::new(n);
        for a in 0..n {
            for b in a + 1..n {
                if self.nodes[a].agent == self.nodes[b].agent {
                    base.set(a, b);
                }
            }
        }
        self.sync.iter().for_each(|(a, b)| base.set(*a, *b));
        for write in 0..n {
            for read in 0..n {
                if observation.has(write, read) {
                    self.synchronise(write, read, &mut base);
                }
            }
        }
        for a in 0..n {
            for b in a + 1..n {
                let sc = |node: usize| matches!(self.nodes[node].what, What::Fence { sc: true, .. });
                let free = order == Order::Forced && self.is_wide(a) && self.is_wide(b);
                if sc(a) && sc(b) && self.morally_strong(a, b) && !free {
                    base.set(a, b);
                }
            }
        }
        base.close(n);
        if order == Order::Forced {
            self.force(&mut base);
        }
        let mut causality = Matrix { words: base.words, bits: base.bits.clone() };
        for a in 0..n {
            // A failed compare is a read where it comes to races.
            if !self.writes(a) {
                continue;
            }
            for z in 0..n {
                if observation.has(a, z) {
                    causality.add_row_from(a, &base, z);
                }
            }
        }
        for a in 0..n {
            for b in 0..n {
                let (one, other) = (self.nodes[a].agent.work(), self.nodes[b].agent.work());
                if one != other && self.works_ordered(one, other) {
                    causality.set(a, b);
                }
            }
        }
        causality
    }

    /// The release patterns that `write` ends and the acquire patterns that `read` begins.
    fn synchronise(&self, write: usize, read: usize, base: &mut Matrix) {
        let place = |node: usize| match &self.nodes[node].what {
            What::Memory { memory, address, size, .. } => Some((*memory, *address, *size)),
            _ => None,
        };
        let agent = |node: usize| self.nodes[node].agent;
        let heads = (0..=write).filter(|head| {
            agent(*head) == agent(write)
                && match &self.nodes[*head].what {
                    What::Fence { release, .. } => *release,
                    What::Memory { how, .. } => how.release && place(*head) == place(write),
                    What::Point => false,
                }
        });
        let tails: Vec<usize> = (read..self.nodes.len())
            .filter(|tail| {
                agent(*tail) == agent(read)
                    && match &self.nodes[*tail].what {
                        What::Fence { acquire, .. } => *acquire,
                        What::Memory { how, .. } => how.acquire && place(*tail) == place(read),
                        What::Point => false,
                    }
            })
            .collect();
        for head in heads {
            for tail in &tails {
                if self.morally_strong(head, *tail) {
                    base.set(head, *tail);
                }
            }
        }
    }

    pub fn races(&self, order: Order) -> Vec<Race> {
        let causality = self.causality(order);
        let accesses: Vec<usize> = (0..self.nodes.len())
            .filter(|node| matches!(self.nodes[*node].what, What::Memory { .. }))
            .collect();
        let parts = |node: usize| match &self.nodes[node].what {
            What::Memory { memory, address, size, site, how, .. } => {
                (*memory, *address, address + u64::from(*size), *site, how.scope)
            }
            _ => unreachable!("it is an access"),
        };
        let mut races = Vec::new();
        for (index, x) in accesses.iter().copied().enumerate() {
            for e in accesses[..index].iter().copied() {
                let (a, b) = (parts(e), parts(x));
                let (from, to) = (a.1.max(b.1), a.2.min(b.2));
                if a.0 != b.0 || from >= to || !(self.writes(e) || self.writes(x)) {
                    continue;
                }
                let (one, other) = (self.nodes[e].agent, self.nodes[x].agent);
                if one == other || causality.has(e, x) || (self.morally_strong(e, x)) {
                    continue;
                }
                let host = |agent: Agent| matches!(agent, Agent::Host(work) if self.works[&work].1 == WorkKind::Host);
                if (host(one) && b.4 == Some(Scope::Sys)) || (host(other) && a.4 == Some(Scope::Sys)) {
                    continue;
                }
                let covered = |byte: u64| self.covered(&causality, (e, x), (a.0, byte));
                let bytes: Vec<u64> = (from..to).collect();
                races.push(Race {
                    first: one,
                    second: other,
                    first_site: a.3,
                    second_site: b.3,
                    covered: bytes.iter().all(|byte| covered(*byte)),
                    bytes: bytes.into_iter().map(|byte| (a.0, byte)).collect(),
                });
            }
        }
        races
    }
}

impl Axioms {
    /// Whether causality order leads from one access to the other through writes of this byte. Each step is coherence order; that
    /// of a step through observation and the next do not make causality order of the two together.
    fn covered(
        &self,
        causality: &Matrix,
        (from, to): (usize, usize),
        (memory, byte): (WhoseBytes, u64),
    ) -> bool {
        let has = |node: &usize| match &self.nodes[*node].what {
            What::Memory { memory: its, address, size, .. } => {
                self.writes(*node) && *its == memory && (*address..address + u64::from(*size)).contains(&byte)
            }
            _ => false,
        };
        let mut left: Vec<usize> = (0..self.nodes.len()).filter(has).collect();
        let mut reached = vec![from];
        while let Some(at) = reached.pop() {
            if at != from && causality.has(at, to) {
                return true;
            }
            let (behind, others): (Vec<usize>, _) = left.iter().partition(|node| causality.has(at, **node));
            left = others;
            reached.extend(behind);
        }
        false
    }
}

impl Matrix {
    fn add_row_from(&mut self, a: usize, other: &Matrix, from: usize) {
        for word in 0..self.words {
            self.bits[a * self.words + word] |= other.bits[from * self.words + word];
        }
    }
}
