use super::*;
use crate::fixture::results;
use crate::results::{Evaluation, Row};

const SOUND: Model = Model::StoreBuffer;

#[test]
fn table_one_has_all_seven_programs() {
    let text = programs();
    assert_eq!(text.lines().filter(|line| line.starts_with("| ")).count(), 8, "{text}");
}

#[test]
fn table_two_shows_measured_programs_beside_the_papers_numbers() {
    let text = metadata(&results());
    assert!(
        text.contains("| kmeans | 315,520 | 306,772 | 64 (2) | 0 (0) | 0 | 0 | 3,600 | 3,600 |"),
        "{text}"
    );
    assert!(!text.contains("hotspot"), "{text}");
}

#[test]
fn overheads_are_of_the_median_times() {
    let results = results();
    let overhead =
        |program| overhead(results.timed(program, results.timings[0].row.variant.as_str())?, SOUND);
    assert_eq!(overhead("cbe_dot"), Some(25.0));
    let text = run_times(&results);
    let row = "| cbe_dot original_2_fence | 3 | 20.0 | 25.0 | 1.25 | 25.0 % | 2.760 | 3.009 | 9.02 % |";
    assert!(text.contains(row), "{text}");
    // Of 25 % and 10 %.
    assert!(
        text.contains("over 2 of the seven programs under `store-buffer`: **17.5 %**; the paper's: 8.91 %"),
        "{text}"
    );
}

#[test]
fn the_second_variant_of_a_program_is_not_in_the_median() {
    let mut results = results();
    let mut timed = results.timings[0].clone();
    timed.row = Row::new("cbe_dot", "1_fence");
    results.timings.push(timed);
    assert_eq!(program_overheads(&results, SOUND).len(), 2);
}

#[test]
fn memory_is_shown_per_thread_and_in_total_beside_the_papers() {
    let mut results = results();
    results.profiles[1].total.buffer_bytes = 2_560_000;
    let text = memory(&results);
    assert!(text.contains("| kmeans, 1 x 256 | 256 | 10,000 | 2.6 |"), "{text}");
    assert!(text.contains("| the paper, for these | 65,535 | 13,733 | 900.0 |"), "{text}");
}

#[test]
fn nothing_measured_is_said() {
    let nothing = Evaluation::new(results().settings);
    assert_eq!(metadata(&nothing), "Not measured.\n\n");
    assert_eq!(run_times(&nothing), "Not measured.\n\n");
}
