use bugaroo_ptx::op::FenceKind;

use crate::model::LackingEdge;
use crate::model::ptx::{
    Chances, GranuleSpan, Loaded, Location, PlainMemory, PtxMachine, Scope, Strength, ThreadKey,
};

/// Two words.
struct Words([u32; 2]);

impl PlainMemory for Words {
    fn read(&mut self, location: Location) -> u32 {
        self.0[location.offset as usize / 4]
    }

    fn write(&mut self, location: Location, value: u32, mask: u32) {
        let word = &mut self.0[location.offset as usize / 4];
        *word = *word & !mask | value & mask;
    }
}

const WEAK: (Strength, bool) = (Strength::Weak, false);
const RELAXED: (Strength, bool) = (Strength::Strong(Scope::Gpu), false);

fn word(index: u64) -> GranuleSpan {
    GranuleSpan::new(Location::global(index * 4), 0, 4)
}

/// Two readers miss the same write by the same load, each for a reason of its own: what is told of a reader and what is told
/// of the edge belong together, whichever it is.
#[test]
fn a_stale_read_is_told_as_it_was() {
    let mut machine = PtxMachine::new(3, Chances::new(0.0, 1.0), 1, 1 << 30);
    let mut memory = Words([0; 2]);
    (0..3).for_each(|slot| machine.start(slot, ThreadKey::new(slot as u32, 0)));
    let load = |machine: &mut PtxMachine, memory: &mut Words, slot, at, order, origin| match machine.load(
        memory,
        slot,
        word(at),
        order,
        origin,
        None,
    ) {
        Loaded::Now(value) => value[0],
        Loaded::Late => unreachable!("no token was given"),
    };
    let told = |machine: &PtxMachine| {
        let all = machine.stale_reads();
        let kind = all.iter().find(|kind| kind.load == 10).expect("the load has missed the write");
        (kind.reader.cta(), kind.missing, kind.count)
    };
    machine.store(&mut memory, 0, word(0), [1, 0, 0, 0], WEAK, 20);
    assert_eq!(load(&mut machine, &mut memory, 1, 0, WEAK, 10), 0);
    assert_eq!(told(&machine), (1, LackingEdge::Release, 1));
    machine.fence(&mut memory, 0, Scope::Gpu, FenceKind::AcqRel);
    machine.store(&mut memory, 0, word(1), [1, 0, 0, 0], RELAXED, 21);
    while load(&mut machine, &mut memory, 2, 1, RELAXED, 11) == 0 {}
    assert_eq!(load(&mut machine, &mut memory, 2, 0, WEAK, 10), 0);
    assert_eq!(told(&machine), (2, LackingEdge::Acquire, 2));
    // By now the other reader lacks an acquire, too; it is counted, and the example stays whole.
    assert_eq!(load(&mut machine, &mut memory, 1, 0, WEAK, 10), 0);
    assert_eq!(told(&machine), (2, LackingEdge::Acquire, 3));
}
