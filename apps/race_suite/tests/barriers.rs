//! `bisect --oracle race`: of a race within a block or a warp it is a barrier that is put in, where all threads pass, and where an
//! author would put it.

mod support;

use race_suite::suite::programs;
use support::tools;

/// The program, and the line that the patch adds with the one before it.
const CURED: [(&str, [&str; 2]); 6] = [
    ("shared_reverse_no_barrier", ["tile[t] = 3 * t;", "__syncthreads();"]),
    ("warp_broadcast_no_syncwarp", ["if (t == 0) values[0] = in;", "__syncwarp();"]),
    // Threads go round a loop as often as their number says: the barrier stands behind it.
    ("matrix_tile_no_barrier", ["}", "__syncthreads();"]),
    // All go round as often, and behind the loop a barrier would be too late.
    ("tree_sum_no_barrier", ["if (t < half) part[t] += part[t + half];", "__syncthreads();"]),
    ("scan_one_barrier", ["sums[t] += left;", "__syncthreads();"]),
    ("histogram_not_cleared_in_time", ["if (t < 16) bins[t] = 0;", "__syncthreads();"]),
];

#[test]
fn races_within_blocks_are_cured_by_barriers() {
    let Some(tools) = tools() else { return };
    let programs = programs().expect("all labels can be read");
    for (name, cure) in CURED {
        let program = programs.iter().find(|program| program.name == name).expect("it is in the suite");
        let built = tools.build(program).expect("it builds");
        let arguments = ["bisect", "--oracle", "race", "--seed", "1", "--trials", "100"];
        let done = tools.run(&built, &arguments, &[]).expect("bugaroo starts");
        let said = String::from_utf8_lossy(&done.stdout);
        assert_eq!(done.status.code(), Some(1), "{name}: {said}");
        let patch: Vec<&str> = said.lines().skip_while(|line| !line.starts_with("+++")).skip(1).collect();
        let added = |line: &&str| line.starts_with('+');
        assert_eq!(patch.iter().filter(|line| added(line)).count(), 1, "{name}: {said}");
        let at = patch.iter().position(added).expect("one was counted");
        assert_eq!([patch[at - 1][1..].trim(), patch[at][1..].trim()], cure, "{name}: {said}");
    }
}

#[test]
fn the_advice_cures_the_races_of_all_threads() {
    let Some(tools) = tools() else { return };
    let programs = programs().expect("all labels can be read");
    let name = "matrix_tile_no_barrier";
    let program = programs.iter().find(|program| program.name == name).expect("it is in the suite");
    let built = tools.build(program).expect("it builds");
    // The same two lines race within a warp, where __syncwarp() would do, and between warps.
    let done = tools.run(&built, &["race", "--seed", "1", "--trials", "8"], &[]).expect("bugaroo starts");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(said.contains("what adds it: __syncthreads() between the two"), "{said}");
    assert!(!said.contains("what adds it: __syncwarp()"), "{said}");
    assert!(said.contains("also as by threads of one warp"), "{said}");
    assert!(said.contains("of the 512-byte shared variable square()::tile"), "{said}");
}
