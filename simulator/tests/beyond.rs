//! Stores that are ordered for the device alone: whether grids of another device, which take turns on the same memory, still miss them.

use std::sync::Arc;

use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_simulator::model::{held_from_beyond, ptx, store_buffer};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, Grid, LaunchSpec, Memory, MemoryModel, Program, RandomScheduler, Rng,
};

/// How the sender orders its two stores, and stores the flag.
const ORDERS: [(&str, &str, bool); 6] = [
    ("fence.sc.gpu;", "st.volatile.global.u32 [to+1024], 1;", false),
    ("fence.acq_rel.gpu;", "st.relaxed.sys.global.u32 [to+1024], 1;", false),
    ("", "st.release.gpu.global.u32 [to+1024], 1;", false),
    ("fence.sc.sys;", "st.volatile.global.u32 [to+1024], 1;", true),
    ("", "st.release.sys.global.u32 [to+1024], 1;", true),
    ("fence.acq_rel.sys;", "atom.relaxed.sys.global.exch.b32 old, [to+1024], 1;", true),
];

fn kernels((fence, flag, _): (&str, &str, bool)) -> String {
    format!(
        "
.version 8.0
.target sm_80
.address_size 64

// A value, then a flag, then turns in which the value may still be held.
.visible .entry send(.param .u64 word)
{{
    .reg .pred p;
    .reg .b32 old, left;
    .reg .b64 to;
    ld.param.u64 to, [word];
    st.global.u32 [to], 7;
    {fence}
    {flag}
    mov.u32 left, 40;
WAIT:
    ld.volatile.global.u32 old, [to+2048];
    sub.u32 left, left, 1;
    setp.ne.u32 p, left, 0;
    @p bra WAIT;
    ret;
}}

.visible .entry receive(.param .u64 word)
{{
    .reg .pred p;
    .reg .b32 value;
    .reg .b64 to;
    ld.param.u64 to, [word];
POLL:
    ld.acquire.sys.global.u32 value, [to+1024];
    setp.eq.u32 p, value, 0;
    @p bra POLL;
    ld.global.u32 value, [to];
    st.global.u32 [to+4096], value;
    ret;
}}
"
    )
}

/// What a receiver of another device reads of the value behind the flag, by seed. `settles`: the receiver is of the same
/// device.
fn received(order: (&str, &str, bool), model: &str, settles: bool, seeds: u64) -> Vec<u32> {
    let module = bugaroo_ptx::parse(&kernels(order)).expect("the test's PTX parses");
    let table = collect_sites(&module);
    let config = DeviceConfig::default();
    (0..seeds)
        .map(|seed| {
            let mut memory = Memory::new(1 << 24).expect("address space");
            let program = Arc::new(Program::load(&module, &mut memory, &config).expect("a program"));
            let word = memory.alloc(8192, 256, AllocationKind::Program).expect("room");
            memory.write(word, &[0; 8192]).expect("allocated");
            let mut draws = Rng::new(seed);
            let mut grids = ["send", "receive"].map(|kernel| {
                let spec = LaunchSpec {
                    kernel,
                    grid: [1, 1, 1],
                    block: [1, 1, 1],
                    dynamic_shared: 0,
                    cluster: None,
                    params: &word.to_le_bytes(),
                    step_budget: None,
                };
                let seed = (seed, u64::from(kernel == "send"));
                let under: Box<dyn MemoryModel> = if model == "ptx" {
                    let settings = ptx::PtxSettings { pw: [0.75; 2], pr: [0.5; 2], seed, memory: 1 << 28 };
                    Box::new(ptx::PtxModel::new(&settings, Arc::new(ptx::Facts::new(&program))))
                } else {
                    let settings = store_buffer::StoreBufferSettings { pw: [0.75; 2], seed, capacity: 256 };
                    let sites = Arc::new(store_buffer::Sites::new(&program, &table));
                    Box::new(store_buffer::StoreBuffer::new(&settings, sites))
                };
                let scheduler = Box::new(RandomScheduler::new(seed.0));
                let model = Some(held_from_beyond(under, seed.0 * 2 + seed.1));
                Grid::with_model(Arc::clone(&program), &config, &spec, None, scheduler, model, None)
                    .map(Some)
                    .expect("a launch")
            });
            while grids.iter().any(Option::is_some) {
                let (which, turns) = (draws.next() as usize & 1, 1 << (draws.next() % 5));
                let Some(grid) = &mut grids[which] else { continue };
                let end = grid.advance(&mut memory, turns);
                if settles && end.is_none() {
                    grid.settle(&mut memory);
                }
                if let Some(end) = end {
                    assert_eq!(end, End::Complete);
                    grids[which] = None;
                }
            }
            let mut value = [0; 4];
            memory.read(word, &mut value).expect("allocated");
            assert_eq!(u32::from_le_bytes(value), 7, "a grid that has ended has shown its stores");
            memory.read(word + 4096, &mut value).expect("allocated");
            u32::from_le_bytes(value)
        })
        .collect()
}

#[test]
fn only_system_scope_orders_for_another_device() {
    for model in ["store-buffer", "ptx"] {
        for order in ORDERS {
            let stale = received(order, model, false, 400).iter().filter(|value| **value == 0).count();
            assert_eq!(stale == 0, order.2, "{model}: {order:?}: {stale} of 400 stale");
        }
    }
}

#[test]
fn device_scope_orders_for_grids_of_the_same_device() {
    for model in ["store-buffer", "ptx"] {
        for order in ORDERS {
            assert!(received(order, model, true, 200).iter().all(|value| *value == 7), "{model}: {order:?}");
        }
    }
}
