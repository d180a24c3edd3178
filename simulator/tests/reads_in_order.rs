//! Morally strong loads of one location never go back: whoever has read a store does not read what was there before it. So it is, too,
//! where a lane's store gets to memory with the very instruction by which the others of its warp load.

use crate::injected::{Injection, Prepared, Work, natively, run, under_ptx, words};
use bugaroo_device_handlers::HandlerModel;

const PLACES: u32 = 64;

/// Of each place in turn: one lane stores there, and all load twice.
const TWICE: &str = "
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 places, .param .u64 pointer)
{
    .reg .b32 tid, turn, writer, one, first, second;
    .reg .b64 out, place;
    .reg .pred p;
    ld.param.u64 place, [places];
    ld.param.u64 out, [pointer];
    mov.u32 tid, %tid.x;
    mad.wide.u32 out, tid, 4, out;
    mov.u32 turn, 0;
    mov.u32 one, 1;
ROUND:
    and.b32 writer, turn, 31;
    setp.eq.u32 p, writer, tid;
    @p st.relaxed.gpu.global.u32 [place], one;
    ld.relaxed.gpu.global.u32 first, [place];
    ld.relaxed.gpu.global.u32 second, [place];
    mad.lo.u32 first, first, 2, second;
    st.global.u32 [out], first;
    add.u64 place, place, 4;
    add.u64 out, out, 128;
    add.u32 turn, turn, 1;
    setp.lt.u32 p, turn, 64;
    @p bra ROUND;
    ret;
}";

#[test]
fn strong_loads_of_a_place_never_go_back() {
    let prepared = Prepared::new(TWICE);
    let buffers = [words(&[0; PLACES as usize]), words(&[0; 32 * PLACES as usize])];
    let work = Work::new("k", 1, 32, &buffers);
    let injection = Injection::new(HandlerModel::StoreBuffer, 0.75);
    let mut seen = [0; 4];
    for seed in 0..200 {
        let injected = || run(&prepared, &work, Some(&injection), seed);
        for (model, outcome) in [("store-buffer", natively(injected)), ("ptx", under_ptx(injected))] {
            for (at, read) in outcome.complete().words(1).into_iter().enumerate() {
                let (place, lane) = (at / 32, at % 32);
                assert_ne!(read, 2, "{model}, seed {seed}: lane {lane} has read place {place} back to front");
                seen[read as usize] += 1;
            }
        }
    }
    println!("0 0: {}, 0 1: {}, 1 1: {}", seen[0], seen[1], seen[3]);
    assert!(seen[1] > 0, "a store gets there between the loads");
}
