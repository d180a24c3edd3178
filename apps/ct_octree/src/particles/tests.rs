use super::*;

#[test]
fn a_code_names_the_halves_from_the_root_down() {
    let particle = [0x8000, 0x4000, 0xc000];
    assert_eq!(code(particle, 0), 1);
    assert_eq!(code(particle, 1), 0b1_101);
    assert_eq!(code(particle, 2), 0b1_101_110);
    assert_eq!(code(particle, 3), 0b1_101_110_000);
}

#[test]
fn the_word_holds_the_coordinates_apart() {
    assert_eq!(packed([0x1234, 0xffff, 0x8001]), 0x8001_ffff_1234);
}

#[test]
fn the_particles_are_the_same_every_time_and_crowd_in_places() {
    let all = particles(4096);
    assert_eq!(all, particles(4096));
    assert_eq!(all[..100], particles(100));
    let mut counts = vec![0; 64];
    for &particle in &all {
        counts[code(particle, 2) as usize & 63] += 1;
    }
    let (least, most) = (counts.iter().min(), counts.iter().max());
    assert!(least.is_some_and(|&least| least < 64) && most.is_some_and(|&most| most > 256), "{counts:?}");
}
