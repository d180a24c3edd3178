use super::*;

#[test]
fn both_machines_have_as_many_inputs() {
    assert_eq!(inputs().count(), papers::MACHINE.1 / papers::MACHINE.0);
    let text = section();
    assert!(text.contains("| ours | 21 | 48 | 1,008 |"), "{text}");
    assert!(text.contains("| the paper's | 25 | 48 | 1,200 |"), "{text}");
    assert!(table().starts_with("21 states, 1008 transitions\n"));
}
