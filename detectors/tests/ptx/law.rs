//! What is found is so, and whatever races is found: on random executions. `BUGAROO_EXECUTIONS` says how many. A pair with other writes
//! of the same bytes between the two, each behind the one before in causality order, may be left out: the detector says that it is.

use crate::generate::Generator;

#[test]
fn random_executions() {
    let wanted =
        std::env::var("BUGAROO_EXECUTIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(5_000u64);
    let first: u64 = std::env::var("BUGAROO_FIRST").ok().and_then(|first| first.parse().ok()).unwrap_or(0);
    let (mut racy, mut found, mut nodes, mut free) = (0, 0, 0, 0);
    for seed in first..first + wanted {
        let mut generator = Generator::new(seed);
        generator.run();
        generator.world.told.push(format!("seed {seed}"));
        let findings = generator.world.check();
        racy += u64::from(!findings.is_empty());
        found += findings.len();
        free += generator.world.beyond;
        nodes += generator.world.axioms.nodes.len();
    }
    println!(
        "{wanted} executions, {racy} with races, {found} findings, {free} of them not with Fence-SC order as executed, {nodes} operations"
    );
}
