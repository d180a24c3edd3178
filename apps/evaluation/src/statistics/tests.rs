use super::*;

#[test]
fn medians() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[3.0]), Some(3.0));
    assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), Some(3.0));
}

#[test]
fn overheads() {
    assert_eq!(overhead_percent(2.0, 3.0), 50.0);
    assert_eq!(overhead_percent(2.0, 1.0), -50.0);
}

#[test]
fn shares() {
    let histogram = BTreeMap::from([(1, 3), (34, 1)]);
    assert_eq!(share_percent(&histogram, 1), Some(75.0));
    assert_eq!(share_percent(&histogram, 2), Some(0.0));
    assert_eq!(share_percent(&BTreeMap::new(), 1), None);
}
