//! The virtual GPU is a sandbox: random kernels with wild addresses, 10,000 of them unless told otherwise.
//!
//! `BUGAROO_KERNELS=COUNT` says how many, and `BUGAROO_FIRST_KERNEL=SEED` where to begin: for long runs, and for one kernel
//! that a long run has stopped at.

mod sandbox;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use bugaroo_simulator::Rng;
use sandbox::{Choices, Ended, try_kernel};

/// A number from the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn wild_kernels_stay_inside() {
    let kernels = setting("BUGAROO_KERNELS", 10_000);
    let first = setting("BUGAROO_FIRST_KERNEL", 0);
    // Threads take a kernel each, by its seed.
    let next = AtomicU64::new(first);
    let some = || {
        let mut ends = [0; 3];
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + kernels {
                return ends;
            }
            let mut rng = Rng::new(seed);
            let mut word = (0, 0_u64);
            let mut next = || {
                if word.0 == 0 {
                    word = (8, rng.next());
                }
                word = (word.0 - 1, word.1 >> 8);
                word.1 as u8
            };
            let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                try_kernel(&mut Choices::new(&mut next))
            }));
            match tried {
                Ok(end) => ends[end as usize] += 1,
                Err(_) => panic!("kernel {seed}"),
            }
            if (seed + 1 - first).is_multiple_of(50_000) {
                println!("{} kernels", seed + 1 - first);
            }
        }
    };
    let mut ends = [0_u64; 3];
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(some)).collect();
        for thread in running {
            let found = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            ends.iter_mut().zip(found).for_each(|(sum, more)| *sum += more);
        }
    });
    let share = |end| ends[end as usize] * 100 / kernels;
    println!("complete, stopped, refused: {ends:?}");
    // Of each kind enough to mean something.
    assert!(
        kernels < 1000
            || share(Ended::Complete) >= 5 && share(Ended::Stopped) >= 30 && share(Ended::Refused) <= 10,
        "{ends:?}"
    );
}
