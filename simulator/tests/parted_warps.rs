//! Lanes that were sent ahead are joined by the others at the turn of the loop where they are, and not a turn before or after:
//! what a warp does together, it does for one turn, and its stores are one row.

use crate::injected::{Injection, Outcome, Prepared, Work, natively, run, run_original, under_ptx, words};
use bugaroo_device_handlers::HandlerModel;

const TURNS: u32 = 300;
const THREADS: u32 = 64;

/// Each thread notes the time of each turn of its loop: lanes that are together note the same one.
const NOTES: &str = "
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 pointer)
{
    .reg .b32 tid, turn, time;
    .reg .b64 out;
    .reg .pred p;
    ld.param.u64 out, [pointer];
    mov.u32 tid, %tid.x;
    mad.wide.u32 out, tid, 4, out;
    mov.u32 turn, 0;
ROUND:
    mov.u32 time, %clock;
    st.global.u32 [out], time;
    add.u64 out, out, 256;
    add.u32 turn, turn, 1;
    setp.lt.u32 p, turn, 300;
    @p bra ROUND;
    ret;
}";

/// Of all turns of the loop of all warps, those that no warp did in parts.
fn together(outcome: Outcome) -> f64 {
    let times = outcome.complete().words(0);
    let whole = times.chunks(32).filter(|warp| warp.iter().all(|time| *time == warp[0]));
    whole.count() as f64 / f64::from(TURNS * THREADS / 32)
}

#[test]
fn parts_of_a_warp_meet_at_the_same_turn_of_a_loop() {
    let prepared = Prepared::new(NOTES);
    let work = Work::new("k", 1, THREADS, &[words(&[0; (TURNS * THREADS) as usize])]);
    let injection = Injection::new(HandlerModel::StoreBuffer, 0.75);
    for seed in 0..8 {
        let injected = || run(&prepared, &work, Some(&injection), seed);
        let all = [
            ("none", run_original(&prepared, &work, seed)),
            ("store-buffer", natively(injected)),
            ("ptx", under_ptx(injected)),
        ];
        for (model, outcome) in all {
            let together = together(outcome);
            println!("{model}, seed {seed}: {together:.3}");
            assert!(together < 1.0, "{model}, seed {seed}: no lane is ever sent ahead");
            assert!(
                together > 0.5,
                "{model}, seed {seed}: only {together:.3} of the turns are done together"
            );
        }
    }
}
