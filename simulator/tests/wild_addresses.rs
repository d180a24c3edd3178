//! The virtual GPU is a sandbox: 10,000 random kernels with wild addresses.

mod sandbox;

use bugaroo_simulator::Rng;
use sandbox::{Choices, Ended, try_kernel};

#[test]
fn ten_thousand_wild_kernels_stay_inside() {
    let mut ends = [0; 3];
    for seed in 0..10_000 {
        let mut rng = Rng::new(seed);
        let mut word = (0, 0_u64);
        let mut next = || {
            if word.0 == 0 {
                word = (8, rng.next());
            }
            word = (word.0 - 1, word.1 >> 8);
            word.1 as u8
        };
        ends[try_kernel(&mut Choices(&mut next)) as usize] += 1;
    }
    let count = |end| ends[end as usize];
    // Of each kind enough to mean something.
    assert!(
        count(Ended::Complete) > 500 && count(Ended::Stopped) > 3000 && count(Ended::Refused) < 500,
        "{ends:?}"
    );
}
