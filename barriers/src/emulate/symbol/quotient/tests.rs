//! Products that are quotients.

use super::divisor;

/// A multiplier and a shift that are taken for a divisor are right for every number of eight bits, and each divisor is found for one of them.
#[test]
fn holds_for_all_numbers_of_eight_bits() {
    let mut found = [false; 128];
    for by in 1..1_u128 << 9 {
        for shift in 8..=16 {
            let Some(divisor) = divisor(by, shift, 8) else { continue };
            for x in 0..256_u128 {
                assert_eq!((x * by) >> shift, x / u128::from(divisor), "{x} by {divisor}: {by}, {shift}");
            }
            if let Some(found) = found.get_mut(divisor as usize) {
                *found = true;
            }
        }
    }
    assert!(found[2..].iter().all(|found| *found), "{found:?}");
}

/// What compilers write.
#[test]
fn multipliers_of_compilers() {
    for (by, shift, expected) in [
        (0xaaaa_aaab, 33, 3),
        (0xcccc_cccd, 34, 5),
        (0xaaaa_aaab, 34, 6),
        (0x1_2492_4925, 35, 7),
        (0x38e3_8e39, 33, 9),
    ] {
        assert_eq!(divisor(by, shift, 32), Some(expected), "{by:#x}");
    }
    assert_eq!(divisor(0xaaaa_aaaa_aaaa_aaab, 65, 64), Some(3));
    // These round wrongly for some numbers.
    assert_eq!(divisor(0x5555_5556, 32, 32), None);
    assert_eq!(divisor(0xaaaa_aaaa, 33, 32), None);
    assert_eq!(divisor(0, 40, 32), None);
}
