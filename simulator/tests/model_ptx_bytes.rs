//! What stands beside a store's bytes in their granule of four is not its own: there may be another allocation, or none.

use bugaroo_simulator::model::ptx::{
    Chances, GranuleSpan, Location, PlainMemory, PtxMachine, Strength, ThreadKey,
};

/// A granule of which one byte is there.
struct OneByte(u32);

impl PlainMemory for OneByte {
    fn read(&mut self, _: Location) -> u32 {
        self.0
    }

    fn write(&mut self, _: Location, value: u32, mask: u32) {
        assert_eq!(mask, 0xff, "bytes are written that nobody stored to");
        self.0 = value & mask;
    }
}

#[test]
fn a_store_that_comes_early_leaves_the_bytes_beside_it() {
    const THREADS: usize = 8;
    let byte = GranuleSpan::new(Location::global(0), 0, 1);
    for seed in 0..200 {
        let chances = Chances::new(0.5, 1.0);
        let mut machine = PtxMachine::new(THREADS, chances, seed, 1 << 30);
        let mut memory = OneByte(0);
        for slot in 0..THREADS {
            machine.start(slot, ThreadKey::new(slot as u32, 0));
        }
        for slot in 0..THREADS {
            let value = [slot as u32 + 1, 0, 0, 0];
            machine.store(&mut memory, slot, byte, value, (Strength::Weak, false), 0);
        }
        for slot in 0..THREADS {
            machine.exit(&mut memory, slot);
        }
        assert!((1..=THREADS as u32).contains(&memory.0), "{} was stored by nobody", memory.0);
    }
}
