//! Votes, shuffles and elections make the lanes of a warp wait for each other. That orders waits and arrivals at mbarriers, and no memory.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

/// The lanes of warp 0 wait until the buffer is empty, and one of them says that it is full; a thread of warp 1 waits for that and gives it back. In
/// between, warp 0 does `exchange`, and those who come to `GO` go on; before it `before`, and behind it `behind`.
fn kernel(before: &str, exchange: &str, behind: &str) -> KernelFindings {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 in)
.maxntid 64, 1, 1
{{
    .shared .align 8 .b64 empty;
    .shared .align 8 .b64 full;
    .shared .align 4 .b8 data[128];
    .reg .b32 tid, lane, a, e, f, x, y;
    .reg .b64 in;
    .reg .pred p, q, r;
    ld.param.u64 in, [in];
    mov.u32 tid, %tid.x;
    and.b32 lane, tid, 31;
    mov.u32 e, empty;
    mov.u32 f, full;
    mov.u32 a, data;
    shl.b32 x, lane, 2;
    add.u32 a, a, x;
    setp.eq.u32 p, tid, 0;
    setp.eq.u32 r, lane, 0;
    @p mbarrier.init.shared.b64 [e], 1;
    @p mbarrier.init.shared.b64 [f], 1;
    bar.sync 0;
    setp.ge.u32 p, tid, 32;
    @p bra consume;
WAIT: mbarrier.try_wait.parity.shared.b64 q, [e], 1;
    @!q bra WAIT;
    {before}
    {exchange}
GO:
    {behind}
    mbarrier.arrive.shared.b64 _, [f];
    ret;
consume:
    @!r bra DONE;
LOOP: mbarrier.try_wait.parity.shared.b64 q, [f], 0;
    @!q bra LOOP;
    ld.shared.u32 y, [data];
    mbarrier.arrive.shared.b64 _, [e];
DONE:
    ret;
}}
"
    );
    let text = KernelText::new(&ptx).unwrap_or_else(|error| panic!("{error:?}\n{ptx}"));
    verify(&text, "k", &KernelOptions::default()).unwrap().findings
}

const ELECT: &str = "elect.sync _|q, 0xffffffff;\n@!q ret;";
const EXCHANGES: [&str; 5] = [
    ELECT,
    "vote.sync.any.pred q, r, 0xffffffff;\n@!r ret;",
    "shfl.sync.idx.b32 y, lane, 0, 31, 0xffffffff;\n@!r ret;",
    "match.any.sync.b32 y, lane, 0xffffffff;\n@!r ret;",
    "redux.sync.add.u32 y, lane, 0xffffffff;\n@!r ret;",
];

#[test]
fn who_is_elected_goes_on_behind_all_waits() {
    for exchange in EXCHANGES {
        let found = kernel("", exchange, "");
        assert_eq!(found.verdict, "verified", "{exchange}\n{found:#?}");
    }
}

#[test]
fn without_an_exchange_a_wait_can_come_too_late() {
    for exchange in ["@!r ret;", "vote.sync.any.pred q, r, 0xffff;\n@!r ret;"] {
        // The second is an exchange of half of the warp, where the others go past it.
        let half = format!("setp.ge.u32 p, lane, 16;\n@p ret;\n{exchange}");
        let found = kernel("", if exchange.starts_with('v') { &half } else { exchange }, "");
        assert_eq!(found.verdict, "unsafe-recycling", "{exchange}\n{found:#?}");
    }
}

/// Each lane writes its word, and the elected one alone says that all are there.
#[test]
fn an_exchange_orders_no_memory() {
    for exchange in EXCHANGES {
        let found = kernel("@!r st.shared.u32 [data], tid;", exchange, "");
        assert_eq!(found.verdict, "race", "{exchange}\n{found:#?}");
        let found =
            kernel("@!r st.shared.u32 [data], tid;", &format!("bar.warp.sync 0xffffffff;\n{exchange}"), "");
        assert_ne!(found.verdict, "verified", "31 lanes write one word: {exchange}\n{found:#?}");
        let one = "setp.eq.u32 p, lane, 1;\n@p st.shared.u32 [data], tid;";
        assert_eq!(kernel(one, exchange, "").verdict, "race", "{exchange}");
        let synchronised = kernel(one, &format!("bar.warp.sync 0xffffffff;\n{exchange}"), "");
        assert_eq!(synchronised.verdict, "verified", "{exchange}\n{synchronised:#?}");
        // What is written behind it, before the arrival of the same thread, is ordered by that.
        assert_eq!(kernel("", exchange, "st.shared.u32 [data], tid;").verdict, "verified", "{exchange}");
    }
}

#[test]
fn without_waits_at_mbarriers_exchanges_are_no_commands() {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n.maxntid 32, 1, 1\n{\n.reg .b32 x;\nmov.u32 x, %tid.x;\n\
               shfl.sync.idx.b32 x, x, 0, 31, 0xffffffff;\nbar.sync 0;\nret;\n}\n";
    let text = KernelText::new(ptx).unwrap();
    let verified = verify(&text, "k", &KernelOptions::default()).unwrap();
    assert_eq!(verified.findings.stats.commands, 32);
}
