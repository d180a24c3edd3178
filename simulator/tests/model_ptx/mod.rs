//! Small concurrent programs on the PTX machine, with a random scheduler: no engine, no PTX.

pub mod axioms;

use std::collections::BTreeMap;

use bugaroo_ptx::op::FenceKind;
use bugaroo_simulator::Rng;
use bugaroo_simulator::model::ptx::{
    AtomicOrder, Chances, GranuleSpan, Loaded, Location, PlainMemory, PtxMachine, Scope, Strength, ThreadKey,
    WriterSet,
};

/// What tests draw.
pub struct Draw(pub Rng);

impl Draw {
    pub fn below(&mut self, count: usize) -> usize {
        (self.0.next() % count as u64) as usize
    }

    pub fn scope(&mut self) -> Scope {
        [Scope::Cta, Scope::Gpu, Scope::Gpu, Scope::Sys][self.below(4)]
    }
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Load { register: usize, location: usize, strength: Strength, acquire: bool },
    Store { location: usize, value: u32, strength: Strength, release: bool },
    Atomic { register: usize, location: usize, operand: u32, exchange: bool, order: AtomicOrder },
    Fence { scope: Scope, kind: FenceKind },
    Barrier,
}

/// A program: its threads with their CTAs, its locations with their initial values.
#[derive(Clone, Debug, Default)]
pub struct Test {
    #[allow(dead_code, reason = "each of the two tests shows it in its own way")]
    pub name: String,
    pub locations: Vec<(String, u32)>,
    pub threads: Vec<(u32, Vec<Op>)>,
}

/// The registers of every thread, and memory.
pub type Final = (Vec<[u32; 4]>, Vec<u32>);

struct Words(Vec<u32>);

impl PlainMemory for Words {
    fn read(&mut self, location: Location) -> u32 {
        self.0[location.offset as usize / 4]
    }

    fn write(&mut self, location: Location, value: u32, mask: u32) {
        let word = &mut self.0[location.offset as usize / 4];
        *word = *word & !mask | value & mask;
    }
}

/// Runs a test once.
pub fn run(test: &Test, chances: Chances, random: &mut Rng) -> Final {
    let threads = test.threads.len();
    let mut machine = PtxMachine::new(threads, chances, random.next(), 1 << 30);
    let mut memory = Words(test.locations.iter().map(|location| location.1).collect());
    let mut places = BTreeMap::new();
    for (slot, (cta, _)) in test.threads.iter().enumerate() {
        let place = places.entry(*cta).or_insert(0);
        machine.start(slot, ThreadKey::new(*cta, *place));
        *place += 1;
    }
    let mut registers = vec![[0; 4]; threads];
    let mut at = vec![0; threads];
    let mut blocked = vec![false; threads];
    let mut live: Vec<usize> = (0..threads).collect();
    // Half of the runs let a thread go on for a while.
    let sticky = random.next().is_multiple_of(2);
    let mut slot = 0;
    while !live.is_empty() {
        let ready: Vec<usize> = live.iter().copied().filter(|slot| !blocked[*slot]).collect();
        if !sticky || !ready.contains(&slot) || random.next().is_multiple_of(4) {
            slot = ready[(random.next() % ready.len() as u64) as usize];
        }
        let (cta, ops) = &test.threads[slot];
        match ops.get(at[slot]) {
            None => {
                machine.exit(&mut memory, slot);
                live.retain(|other| *other != slot);
            }
            Some(Op::Barrier) => {
                machine.arrive(&mut memory, slot);
                blocked[slot] = true;
                let mates: Vec<usize> = (0..threads).filter(|other| test.threads[*other].0 == *cta).collect();
                if mates.iter().all(|mate| blocked[*mate]) {
                    machine.barrier(&mates, &mates, Some(WriterSet::cta(*cta)));
                    mates.iter().for_each(|mate| blocked[*mate] = false);
                }
            }
            Some(op) => step(&mut machine, &mut memory, slot, *op, &mut registers[slot]),
        }
        at[slot] += 1;
        for (late, value) in machine.take_settled(slot) {
            registers[slot][late.token as usize] = value[0];
        }
    }
    (registers, memory.0)
}

fn step(machine: &mut PtxMachine, memory: &mut Words, slot: usize, op: Op, registers: &mut [u32; 4]) {
    let span = |location: usize| GranuleSpan::new(Location::global(location as u64 * 4), 0, 4);
    match op {
        Op::Load { register, location, strength, acquire } => {
            machine.settle(memory, slot, register as u64);
            let token = Some(register as u64);
            let loaded = machine.load(memory, slot, span(location), (strength, acquire), 0, token);
            if let Loaded::Now(value) = loaded {
                registers[register] = value[0];
            }
        }
        Op::Store { location, value, strength, release } => {
            machine.store(memory, slot, span(location), [value, 0, 0, 0], (strength, release), 0);
        }
        Op::Atomic { register, location, operand, exchange, order } => {
            machine.settle(memory, slot, register as u64);
            let old = machine.atomic(memory, slot, span(location), order, 0, |old| {
                Some([if exchange { operand } else { old[0].wrapping_add(operand) }, 0, 0, 0])
            });
            registers[register] = old[0];
        }
        Op::Fence { scope, kind } => machine.fence(memory, slot, scope, kind),
        Op::Barrier => unreachable!("barriers are the scheduler's"),
    }
}
