use super::*;
use crate::fixture::results;
use crate::results::Evaluation;

#[test]
fn a_figure_has_a_panel_for_each_program_with_such_stores() {
    let results = results();
    let global = draw(&results, Which::Global).unwrap().unwrap();
    assert!(global.contains("(a) cbe_dot") && global.contains("(b) kmeans"), "{global}");
    assert!(global.contains("flush length, stores") && global.contains("share of flushes, %"), "{global}");
    assert!(global.contains("--model store-buffer"), "{global}");
    let shared = draw(&results, Which::Shared).unwrap().unwrap();
    assert!(shared.contains("cbe_dot") && !shared.contains("kmeans"), "{shared}");
}

#[test]
fn a_figure_is_whole_svg() {
    let figure = draw(&results(), Which::Global).unwrap().unwrap();
    assert!(figure.starts_with("<svg") && figure.trim_end().ends_with("</svg>"), "{figure}");
}

#[test]
fn nothing_measured_gives_no_figure() {
    let nothing = Evaluation::new(results().settings);
    assert_eq!(draw(&nothing, Which::Shared).unwrap(), None);
    assert!(shares(&nothing, Which::Shared, 72.24).starts_with("Not measured."));
}

#[test]
fn shares_stand_beside_the_papers() {
    let text = shares(&results(), Which::Global, 69.71);
    assert!(text.contains("| kmeans | 66.7 % | 34 |"), "{text}");
    assert!(text.contains("| mean of the programs | 83.3 % |"), "{text}");
    assert!(text.contains("The paper, over all its programs: 69.71 %."), "{text}");
}

#[test]
fn numbers_on_bars_are_never_wrong_about_all_or_nothing() {
    assert_eq!([0.01, 99.9, 100.0, 66.7].map(bar_label), ["<1", ">99", "100", "67"].map(str::to_owned));
}

fn numbers_of(histograms: &[(Model, &[(u32, u64)])], models: &[Model], pixels: f64) -> Vec<(f64, f64)> {
    let histograms: Vec<(Model, BTreeMap<u32, u64>)> =
        histograms.iter().map(|(model, lengths)| (*model, lengths.iter().copied().collect())).collect();
    let histograms = histograms.iter().map(|(model, histogram)| (*model, histogram)).collect();
    numbers(&Panel { program: "x", histograms }, models, pixels)
}

#[test]
fn wide_bars_have_a_number_each() {
    let one = [Model::StoreBuffer];
    assert_eq!(numbers_of(&[(one[0], &[(1, 3), (2, 1)])], &one, 50.0), [(1.0, 75.0), (2.0, 25.0)]);
    let two = [Model::StoreBuffer, Model::Bugaroo];
    let numbers = numbers_of(&[(two[0], &[(1, 1)]), (two[1], &[(1, 1)])], &two, 60.0);
    let [(left, 100.0), (right, 100.0)] = numbers[..] else { panic!("{numbers:?}") };
    assert!((left - 0.8).abs() < 1e-9 && (right - 1.2).abs() < 1e-9, "{numbers:?}");
}

#[test]
fn narrow_bars_share_a_number_where_they_say_the_same_and_there_is_room() {
    let two = [Model::StoreBuffer, Model::Bugaroo];
    let same: &[(u32, u64)] = &[(1, 2), (34, 2)];
    assert_eq!(numbers_of(&[(two[0], same), (two[1], same)], &two, 12.0), [(1.0, 50.0), (34.0, 50.0)]);
    assert_eq!(numbers_of(&[(two[0], same), (two[1], &[(1, 3), (34, 1)])], &two, 12.0), []);
    assert_eq!(numbers_of(&[(two[0], &[(1, 1), (2, 1), (34, 2)])], &two, 12.0), [(34.0, 50.0)]);
}
