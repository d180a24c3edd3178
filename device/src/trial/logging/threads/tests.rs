use bugaroo_device_handlers::logging::{Queues, control, queue, record};

use super::*;

/// What stands in for a device: groups of lanes are threads, each of which is its own leader.
struct Device {
    queues: Queues,
    words: Vec<AtomicU64>,
    control: Vec<AtomicU64>,
    /// Times that somebody found its queue full.
    full: AtomicU64,
}

/// Where the queues are.
const BASE: u64 = 0x10_0000;

impl Device {
    fn new(queues: Queues) -> Device {
        let words = |bytes: u64| (0..bytes / 8).map(|_| AtomicU64::new(0)).collect();
        let (bytes, control) = (queues.bytes().expect("it fits"), queues.control_bytes());
        Device { queues, words: words(bytes), control: words(control), full: AtomicU64::new(0) }
    }

    fn tails(&self) -> Vec<Tail> {
        let stride = self.queues.stride().expect("it fits");
        (0..self.queues.count)
            .map(|number| Tail::new(BASE + u64::from(number) * stride, self.queues.capacity))
            .collect()
    }

    fn memory(&self) -> Words<'_> {
        Words { address: BASE, words: &self.words }
    }

    fn word(&self, number: u32, offset: u64) -> &AtomicU64 {
        let stride = self.queues.stride().expect("it fits");
        &self.words[((u64::from(number) * stride + offset) / 8) as usize]
    }

    /// One record, as the injected code makes it; answers its ticket.
    fn log(&self, number: u32, who: u32, what: u32) -> u64 {
        let capacity = u64::from(self.queues.capacity);
        let write = &self.control[((control::WRITE + u64::from(number) * control::STRIDE) / 8) as usize];
        let slot = loop {
            let (next, read) =
                (write.load(Ordering::Relaxed), self.word(number, queue::READ).load(Ordering::Acquire));
            if next.wrapping_sub(read) >= capacity {
                self.full.fetch_add(1, Ordering::Release);
                thread::yield_now();
                continue;
            }
            if write.compare_exchange(next, next + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                break next;
            }
        };
        let at = queue::RECORDS + slot % capacity * record::BYTES;
        for lane in 0..32 {
            let word = u64::from(who) << 32 | u64::from(what) << 8 | lane;
            self.word(number, at + 8 * lane).store(word, Ordering::Relaxed);
        }
        let commit = self.word(number, queue::COMMIT);
        while commit.load(Ordering::Acquire) != slot {
            thread::yield_now();
        }
        let ticket = self.control[control::TICKET as usize / 8].fetch_add(1, Ordering::Relaxed);
        let header = |low: u32, high: u64| u64::from(low) | high << 32;
        let put = |offset: usize, word: u64| {
            self.word(number, at + offset as u64).store(word, Ordering::Relaxed);
        };
        put(record::LANES, header(u32::MAX, what.into()));
        put(record::WARP, header(who, ticket & 0xffff_ffff));
        commit.store(slot + 1, Ordering::Release);
        ticket
    }
}

fn right(record: &Record) {
    for (lane, word) in (0..).zip(record.words) {
        assert_eq!(word, u64::from(record.warp) << 32 | u64::from(record.place) << 8 | lane, "{record:?}");
    }
}

/// Several writers to a queue, some to more than one, and queues that go round hundreds of times.
#[test]
fn nothing_is_lost_and_all_is_in_order() {
    const EACH: u32 = 2000;
    for (count, capacity, writers) in [(1, 1, 2), (1, 3, 4), (3, 2, 5), (4, 64, 4)] {
        let device = Device::new(Queues { count, capacity });
        let ended = AtomicBool::new(false);
        let mut seen = vec![0; writers as usize];
        let mut tickets = Vec::new();
        let taken = thread::scope(|scope| {
            let (device, ended) = (&device, &ended);
            let write = move |who: u32| {
                let of = |what| device.log(if who == 0 { what % count } else { who % count }, who, what);
                (0..EACH).map(of).collect::<Vec<u64>>()
            };
            let threads: Vec<_> = (0..writers).map(|who| scope.spawn(move || write(who))).collect();
            let end = scope.spawn(move || {
                let taken: Vec<Vec<u64>> =
                    threads.into_iter().map(|one| one.join().expect("a writer")).collect();
                ended.store(true, Ordering::Release);
                taken
            });
            let told = |(ticket, record): (u64, Record)| {
                right(&record);
                // Of one writer in its order; of all in that of their tickets.
                assert_eq!(record.place, seen[record.warp as usize]);
                seen[record.warp as usize] += 1;
                assert_eq!((ticket, record.ticket), (tickets.len() as u64, tickets.len() as u32));
                tickets.push(record.warp);
            };
            read(device.tails(), device.memory(), ended, told).expect("all can be read");
            end.join().expect("it ends")
        });
        assert_eq!(seen, vec![EACH; writers as usize], "{count} queues of {capacity}");
        for (who, taken) in (0..).zip(&taken) {
            assert!(taken.iter().all(|ticket| tickets[*ticket as usize] == who));
        }
    }
}

/// Who finds its queue full waits until there is a reader.
#[test]
fn a_full_queue_makes_the_device_wait() {
    let device = Device::new(Queues { count: 1, capacity: 4 });
    let ended = AtomicBool::new(false);
    let written = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for what in 0..50 {
                device.log(0, 0, what);
                written.fetch_add(1, Ordering::Release);
            }
            ended.store(true, Ordering::Release);
        });
        while device.full.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        assert_eq!(written.load(Ordering::Acquire), 4);
        assert_eq!(device.word(0, queue::COMMIT).load(Ordering::Acquire), 4);
        let mut next = 0;
        let told = |(_, record): (u64, Record)| {
            right(&record);
            assert_eq!(record.place, next);
            next += 1;
        };
        read(device.tails(), device.memory(), &ended, told).expect("all can be read");
        assert_eq!(next, 50);
    });
}

#[test]
fn what_is_not_there_is_told() {
    let device = Device::new(Queues { count: 2, capacity: 4 });
    let ended = AtomicBool::new(true);
    // A ticket that nobody has committed.
    device.control[0].fetch_add(1, Ordering::Relaxed);
    device.log(1, 0, 0);
    let told = read(device.tails(), device.memory(), &ended, |_| panic!("nothing can be told"));
    assert_eq!(told, Err(Broken::Gap { ticket: 0, left: 1 }));
    let elsewhere = Words { address: BASE + 8, words: &device.words };
    let told = read(device.tails(), elsewhere, &ended, |_| panic!("nothing is there"));
    assert_eq!(told, Err(Broken::Memory { address: BASE }));
}
