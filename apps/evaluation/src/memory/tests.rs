use super::*;

#[test]
fn as_many_threads_as_the_papers_take_less_than_a_third_of_its_memory() {
    let ours = of_launch(PAPER_LAUNCH) as f64;
    assert!(ours < 2.0 * paper::MEMORY_GB_A_SPACE * 1e9 / 3.0, "{ours}");
    // 13 chunks of 16 entries of 16 bytes for each thread, and the tables.
    assert!(ours > 65_535.0 * 13.0 * 256.0, "{ours}");
}
