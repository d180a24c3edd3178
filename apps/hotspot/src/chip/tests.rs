use super::Chip;

#[test]
fn a_chip_without_power_at_ambient_temperature_stays_as_it_is() {
    let mut chip = Chip::new(20);
    chip.power.fill(0.0);
    chip.temperature.fill(chip.step.ambient);
    assert_eq!(chip.simulate(10), chip.temperature);
}

#[test]
fn without_power_temperatures_close_in_on_the_ambient() {
    let mut chip = Chip::new(20);
    chip.power.fill(0.0);
    let farthest =
        |temperatures: &[f32]| temperatures.iter().map(|t| (t - chip.step.ambient).abs()).fold(0.0, f32::max);
    let distances: Vec<f32> = (0..5).map(|steps| farthest(&chip.simulate(steps))).collect();
    assert!(distances.is_sorted_by(|before, after| after < before), "{distances:?}");
}

#[test]
fn heat_reaches_one_ring_of_cells_further_with_each_step() {
    let mut chip = Chip::new(9);
    chip.power.fill(0.0);
    chip.temperature.fill(chip.step.ambient);
    chip.temperature[4 * 9 + 4] += 100.0;
    for steps in 0..4 {
        let warm = chip.simulate(steps).iter().filter(|&&t| t != chip.step.ambient).count() as u32;
        assert_eq!(warm, 2 * steps * (steps + 1) + 1, "after {steps} steps");
    }
}

#[test]
fn a_cell_at_the_edge_loses_no_heat_over_it() {
    let mut chip = Chip::new(2);
    chip.power.fill(0.0);
    chip.step.vertical = 0.0;
    let before: f32 = chip.temperature.iter().sum();
    let after: f32 = chip.simulate(50).iter().sum();
    assert!((before - after).abs() < 0.01, "{before} K became {after} K");
}
