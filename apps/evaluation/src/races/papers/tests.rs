use super::*;

#[test]
fn sums_are_those_of_the_papers() {
    // HiRace, V-D: 3480 tests, 2076 races, 215 missed.
    let tests: u64 = GRAPHS.iter().map(|graph| graph.tests).sum();
    let of = |which: fn(&Graph) -> Found| {
        GRAPHS.iter().map(which).fold((0, 0), |sum, (found, missed)| (sum.0 + found, sum.1 + missed))
    };
    assert_eq!(tests, 3480);
    assert_eq!(of(|graph| graph.hirace), (2076 - 215, 215));
    for which in
        [|graph: &Graph| graph.iguard, |graph: &Graph| graph.racecheck, |graph: &Graph| graph.sequential]
    {
        let (found, missed) = of(which);
        assert_eq!(found + missed, 2076);
    }
    // ScoRD, Table VI's last row.
    let sum = |which: fn(&Workload) -> u64| WORKLOADS.iter().map(which).sum::<u64>();
    assert_eq!([sum(|row| row.present), sum(|row| row.base), sum(|row| row.scord)], [44, 44, 43]);
    // BARRACUDA, 6.2: nine races in global memory.
    assert_eq!(BENCHMARKS.iter().map(|row| row.global).sum::<u64>(), 9);
}

#[test]
fn our_programs_are_there() {
    for row in BENCHMARKS.iter().filter_map(|row| row.ours) {
        assert!(crate::catalog::program(row).is_some(), "{row}");
    }
}
