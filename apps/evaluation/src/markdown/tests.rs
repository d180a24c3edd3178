use super::*;

#[test]
fn tables_align_numbers_to_the_right_and_escape_bars() {
    let mut table = Table::new(&["program"], &["n"]);
    assert!(table.is_empty());
    table.row(["a|b", "1"]);
    assert_eq!(table.render(), "| program | n |\n|---|---:|\n| a\\|b | 1 |\n\n");
}

#[test]
fn numbers() {
    assert_eq!(
        [0, 999, 1000, 2_294_132_736].map(thousands),
        ["0", "999", "1,000", "2,294,132,736"].map(str::to_owned)
    );
    assert_eq!(
        [0.0, 1.0, 0.0037, 0.857, 0.99996, 0.998].map(rate),
        ["0", "1", "0.0037", "0.857", "0.9999", "0.998"].map(str::to_owned)
    );
    assert_eq!(percent(69.71), "69.7 %");
    assert_eq!(or_nothing(None, percent), NOTHING);
}
