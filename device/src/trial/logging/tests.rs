use std::collections::BTreeMap;

use bugaroo_device_handlers::logging::{Queues, queue, record};

use super::tail::Record;
use super::{Merge, Tail};
use crate::trial::logging::broken::{Broken, Visible};
use crate::trial::logging::session::queues_for;

/// Memory of words.
#[derive(Default)]
struct Words(BTreeMap<u64, u64>);

impl Visible for Words {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Broken> {
        for (at, bytes) in (address..).step_by(8).zip(into.chunks_mut(8)) {
            let word = self.0.get(&at).copied().unwrap_or(0);
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }

    fn acquire(&self, address: u64) -> Result<u64, Broken> {
        Ok(self.0.get(&address).copied().unwrap_or(0))
    }

    fn release(&mut self, address: u64, value: u64) -> Result<(), Broken> {
        self.0.insert(address, value);
        Ok(())
    }
}

fn record(ticket: u32) -> Record {
    Record { lanes: 1, place: 0, warp: 0, ticket, words: [0; 32] }
}

#[test]
fn a_tail_goes_round_and_gives_room_back() {
    let mut memory = Words::default();
    let mut tail = Tail::new(4096, 2);
    assert_eq!(tail.take(&mut memory), Ok(None));
    for index in 0..9u64 {
        let at = 4096 + queue::RECORDS + index % 2 * record::BYTES;
        memory.0.insert(at + 8 * 3, 100 + index);
        memory.0.insert(at + record::LANES as u64, 7 << 32 | 8);
        memory.0.insert(at + record::WARP as u64, index << 32 | 5);
        memory.0.insert(4096 + queue::COMMIT, index + 1);
        let found = tail.take(&mut memory).expect("it can be read").expect("it is committed");
        assert_eq!((found.lanes, found.place, found.warp), (8, 7, 5));
        assert_eq!((found.ticket, found.words[3]), (index as u32, 100 + index));
        assert_eq!(memory.0[&(4096 + queue::READ)], index + 1);
        assert_eq!(tail.take(&mut memory), Ok(None));
    }
}

#[test]
fn more_than_fits_is_damage() {
    let mut memory = Words::default();
    memory.0.insert(queue::COMMIT, 3);
    let told = Tail::new(0, 2).take(&mut memory);
    assert!(matches!(told, Err(Broken::Damaged { .. })), "{told:?}");
}

#[test]
fn records_come_in_the_order_of_their_tickets() {
    let mut merge = Merge::new(2);
    merge.put(0, record(1));
    merge.put(0, record(3));
    assert_eq!(merge.next(), None);
    merge.put(1, record(0));
    merge.put(1, record(2));
    merge.put(1, record(5));
    let order: Vec<u64> = std::iter::from_fn(|| merge.next()).map(|(ticket, _)| ticket).collect();
    assert_eq!(order, [0, 1, 2, 3]);
    assert_eq!(merge.finish(), Err(Broken::Gap { ticket: 4, left: 1 }));
    merge.put(0, record(4));
    assert_eq!(std::iter::from_fn(|| merge.next()).count(), 2);
    assert_eq!(merge.finish(), Ok(()));
}

#[test]
fn sizes_are_checked() {
    assert_eq!(queues_for(0), 1);
    assert_eq!(queues_for(132), 165);
    let most = Queues { count: u32::MAX, capacity: u32::MAX };
    assert_eq!(most.stride().map(|bytes| bytes % queue::ALIGN), Some(0));
    assert_eq!(most.bytes(), None);
}
