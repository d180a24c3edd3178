//! The axioms of the PTX memory model, checked on every candidate execution of a small program.
//!
//! Source: the chapter on memory consistency of the PTX ISA. It shares nothing with the machine: no histories, no
//! views. A candidate is a write for every read, an order of the writes of each location and one of all
//! `fence.sc`; relations are rows of bits. Coherence order is total here, as in the machine; the model needs it only
//! between writes that are morally strong or causally related, so what this allows the model allows.

use std::collections::BTreeSet;

use bugaroo_ptx::op::FenceKind;
use bugaroo_simulator::model::ptx::{Scope, Strength};

use super::{Final, Op, Test};

/// An event: an operation of a thread, or (first of all) what stood in a location.
struct Event {
    thread: usize,
    cta: u32,
    op: Option<Op>,
    location: Option<usize>,
    reads: bool,
    writes: bool,
    strength: Strength,
    acquire: bool,
    release: bool,
    fence: Option<FenceKind>,
    /// Which barrier of its CTA.
    barrier: Option<u32>,
}

type Relation = Vec<u32>;

fn closed(mut relation: Relation) -> Relation {
    for middle in 0..relation.len() {
        for from in 0..relation.len() {
            if relation[from] >> middle & 1 != 0 {
                relation[from] |= relation[middle];
            }
        }
    }
    relation
}

fn acyclic(relation: Relation) -> bool {
    closed(relation).iter().enumerate().all(|(index, row)| row >> index & 1 == 0)
}

fn events(test: &Test) -> Vec<Event> {
    let blank = |thread, cta, op| Event {
        thread,
        cta,
        op,
        location: None,
        reads: false,
        writes: false,
        strength: Strength::Weak,
        acquire: false,
        release: false,
        fence: None,
        barrier: None,
    };
    let mut events = Vec::new();
    for location in 0..test.locations.len() {
        events.push(Event { location: Some(location), writes: true, ..blank(usize::MAX, u32::MAX, None) });
    }
    for (thread, (cta, ops)) in test.threads.iter().enumerate() {
        let mut barriers = 0;
        for op in ops {
            let blank = blank(thread, *cta, Some(*op));
            events.push(match *op {
                Op::Load { location, strength, acquire, .. } => {
                    Event { location: Some(location), reads: true, strength, acquire, ..blank }
                }
                Op::Store { location, strength, release, .. } => {
                    Event { location: Some(location), writes: true, strength, release, ..blank }
                }
                Op::Atomic { location, order, .. } => Event {
                    location: Some(location),
                    reads: true,
                    writes: true,
                    strength: Strength::Strong(order.scope),
                    acquire: order.acquire,
                    release: order.release,
                    ..blank
                },
                Op::Fence { scope, kind } => {
                    Event { fence: Some(kind), strength: Strength::Strong(scope), ..blank }
                }
                Op::Barrier => {
                    barriers += 1;
                    Event { barrier: Some(barriers), ..blank }
                }
            });
        }
    }
    events
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let mut rest = items.to_vec();
        rest.remove(index);
        for mut tail in permutations(&rest) {
            tail.insert(0, *item);
            all.push(tail);
        }
    }
    all
}

/// Every combination of one of each list.
fn product<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    let mut all = vec![Vec::new()];
    for list in lists {
        all = all
            .iter()
            .flat_map(|head: &Vec<T>| {
                list.iter().map(move |item| head.iter().cloned().chain([item.clone()]).collect())
            })
            .collect();
    }
    all
}

/// What does not depend on the candidate.
struct Program<'a> {
    test: &'a Test,
    events: Vec<Event>,
    strong: Relation,
    order: Relation,
    same: Relation,
}

/// Two operations of a thread, the first before the second or the same.
type Pattern = (usize, usize);

impl Program<'_> {
    fn includes(&self, a: usize, b: usize) -> bool {
        match self.events[a].strength {
            Strength::Weak => false,
            Strength::Strong(Scope::Cta) => self.events[a].cta == self.events[b].cta,
            Strength::Strong(_) => true,
        }
    }

    /// The write of a release pattern and its first operation; the read of an acquire pattern and its last.
    fn patterns(&self) -> (Vec<Pattern>, Vec<Pattern>) {
        let (mut releases, mut acquires) = (Vec::new(), Vec::new());
        let strong = |event: &Event| event.strength != Strength::Weak;
        for (a, first) in self.events.iter().enumerate() {
            if first.release {
                releases.push((a, a));
            }
            if first.acquire {
                acquires.push((a, a));
            }
            for (b, second) in self.events.iter().enumerate() {
                if self.order[a] >> b & 1 == 0 {
                    continue;
                }
                let here = first.location == second.location;
                if second.writes
                    && strong(second)
                    && (first.fence.is_some_and(FenceKind::releases) || first.release && here)
                {
                    releases.push((b, a));
                }
                if first.reads
                    && strong(first)
                    && (second.fence.is_some_and(FenceKind::acquires) || second.acquire && here)
                {
                    acquires.push((a, b));
                }
            }
        }
        (releases, acquires)
    }
}

/// Every final state that the axioms allow.
pub fn allowed(test: &Test) -> BTreeSet<Final> {
    let events = events(test);
    let count = events.len();
    assert!(count <= 32);
    let relation = |holds: &dyn Fn(usize, usize) -> bool| -> Relation {
        (0..count).map(|a| (0..count).filter(|b| holds(a, *b)).fold(0, |row, b| row | 1 << b)).collect()
    };
    let order = relation(&|a, b| events[a].thread == events[b].thread && a < b && events[a].op.is_some());
    let same = relation(&|a, b| events[a].location.is_some() && events[a].location == events[b].location);
    let mut program = Program { test, events, strong: Vec::new(), order, same };
    program.strong = relation(&|a, b| {
        program.events[a].thread == program.events[b].thread
            || program.includes(a, b) && program.includes(b, a)
    });
    let mut found = BTreeSet::new();
    let of = |which: &dyn Fn(&Event) -> bool| -> Vec<usize> {
        (0..count).filter(|index| which(&program.events[*index])).collect()
    };
    let reads = of(&|event| event.reads);
    let sources: Vec<Vec<usize>> = reads
        .iter()
        .map(|read| {
            let location = program.events[*read].location;
            of(&|event| event.writes && event.location == location)
                .into_iter()
                .filter(|write| write != read)
                .collect()
        })
        .collect();
    let coherence: Vec<Vec<Vec<usize>>> = (0..test.locations.len())
        .map(|location| {
            let writes = of(&|event| event.writes && event.op.is_some() && event.location == Some(location));
            permutations(&writes).into_iter().map(|order| [vec![location], order].concat()).collect()
        })
        .collect();
    let fences = permutations(&of(&|event| event.fence == Some(FenceKind::Sc)));
    let coherence = product(&coherence);
    for from in product(&sources) {
        let Some(values) = values(&program, &reads, &from) else { continue };
        for coherence in &coherence {
            let state = state(&program, &values, coherence);
            if found.contains(&state) {
                continue;
            }
            if fences.iter().any(|fences| holds(&program, &reads, &from, coherence, fences)) {
                found.insert(state);
            }
        }
    }
    found
}

/// What each event reads and writes; none if atomics read from each other in a circle.
fn values(program: &Program, reads: &[usize], from: &[usize]) -> Option<Vec<(u32, u32)>> {
    let mut values: Vec<Option<(u32, u32)>> = program
        .events
        .iter()
        .map(|event| match event.op {
            None => Some((0, program.test.locations[event.location.expect("it is a location's")].1)),
            Some(Op::Store { value, .. }) => Some((0, value)),
            _ => None,
        })
        .collect();
    for _ in 0..reads.len() {
        for (read, from) in reads.iter().zip(from) {
            let Some((_, old)) = values[*from] else { continue };
            values[*read] = Some(match program.events[*read].op {
                Some(Op::Atomic { operand, exchange, .. }) => {
                    (old, if exchange { operand } else { old.wrapping_add(operand) })
                }
                _ => (old, 0),
            });
        }
    }
    reads
        .iter()
        .all(|read| values[*read].is_some())
        .then(|| values.into_iter().map(Option::unwrap_or_default).collect())
}

fn state(program: &Program, values: &[(u32, u32)], coherence: &[Vec<usize>]) -> Final {
    let mut registers = vec![[0; 4]; program.test.threads.len()];
    for (event, value) in program.events.iter().zip(values) {
        if let Some(Op::Load { register, .. } | Op::Atomic { register, .. }) = event.op {
            registers[event.thread][register] = value.0;
        }
    }
    (registers, coherence.iter().map(|order| values[order[order.len() - 1]].1).collect())
}

fn holds(
    program: &Program,
    reads: &[usize],
    from: &[usize],
    coherence: &[Vec<usize>],
    fences: &[usize],
) -> bool {
    let events = &program.events;
    let count = events.len();
    let mut read_from = vec![0; count];
    reads.iter().zip(from).for_each(|(read, from)| read_from[*from] |= 1 << read);
    let mut later = vec![0; count];
    for order in coherence {
        for (index, write) in order.iter().enumerate() {
            later[*write] = order[index + 1..].iter().fold(0, |row, other| row | 1 << other);
        }
    }
    let mut from_read = vec![0; count];
    reads.iter().zip(from).for_each(|(read, from)| from_read[*read] = later[*from] & !(1 << read));
    let has = |relation: &Relation, a: usize, b: usize| relation[a] >> b & 1 != 0;
    // Atomicity.
    for (read, from) in reads.iter().zip(from) {
        if events[*read].writes {
            if has(&later, *read, *from) {
                return false;
            }
            let between = |write: usize| has(&later, *from, write) && has(&later, write, *read);
            if (0..count).any(|write| between(write) && has(&program.strong, write, *read)) {
                return false;
            }
        }
    }
    // SC per location.
    let both = |row: usize| {
        (read_from[row] | later[row] | from_read[row]) & program.strong[row]
            | program.order[row] & program.same[row]
    };
    if !acyclic((0..count).map(both).collect()) {
        return false;
    }
    // Causality order.
    let observed = closed((0..count).map(|row| read_from[row] & program.strong[row]).collect());
    let mut base = program.order.clone();
    let (releases, acquires) = program.patterns();
    for (write, first) in &releases {
        for (read, last) in &acquires {
            if has(&observed, *write, *read) && has(&program.strong, *first, *last) {
                base[*first] |= 1 << last;
            }
        }
    }
    for (index, one) in fences.iter().enumerate() {
        fences[index + 1..]
            .iter()
            .filter(|other| has(&program.strong, *one, **other))
            .for_each(|other| base[*one] |= 1 << other);
    }
    for (a, one) in events.iter().enumerate() {
        for (b, other) in events.iter().enumerate() {
            if one.barrier.is_some() && one.barrier == other.barrier && one.cta == other.cta && a != b {
                base[a] |= 1 << b;
            }
        }
    }
    let base = closed(base);
    let cause: Relation = (0..count)
        .map(|row| {
            (0..count)
                .filter(|middle| has(&observed, row, *middle))
                .fold(base[row], |all, middle| all | base[middle])
        })
        .collect();
    // Fence-SC, coherence, causality.
    let contradicted = |index: usize, one: &usize| {
        fences[..index]
            .iter()
            .any(|earlier| has(&cause, *one, *earlier) && has(&program.strong, *one, *earlier))
    };
    if fences.iter().enumerate().any(|(index, one)| contradicted(index, one)) {
        return false;
    }
    for a in 0..count {
        for b in 0..count {
            if !has(&cause, a, b) {
                continue;
            }
            let writes = events[a].writes && events[b].writes && has(&program.same, a, b);
            if writes && !has(&later, a, b) || has(&read_from, b, a) || has(&from_read, b, a) {
                return false;
            }
        }
    }
    true
}
