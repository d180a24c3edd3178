//! Warps in lockstep under the memory models: lanes of a warp see each other's stores in the next instruction, and other
//! warps see no more than without.

use std::sync::Arc;

use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_simulator::model::{ptx, store_buffer};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, LaunchSpec, Memory, MemoryModel, Program, RandomScheduler, launch_with,
};

const MODELS: [&str; 2] = ["store-buffer", "ptx"];

/// What 64 threads leave in `words` results of a kernel `k(out)`, under a model, with warps in lockstep.
fn run(source: &str, model: &str, seed: u64, words: usize) -> Vec<u32> {
    let module = bugaroo_ptx::parse(source).expect("the test's PTX parses");
    let config = DeviceConfig { lockstep: true, ..DeviceConfig::default() };
    let mut memory = Memory::new(1 << 24).expect("address space");
    let program = Program::load(&module, &mut memory, &config).expect("the test's PTX loads");
    let out = memory.alloc(words as u64 * 4, 256, AllocationKind::Program).expect("room");
    let table = collect_sites(&module);
    let seed_of_launch = (seed, 0);
    let model: Box<dyn MemoryModel> = match model {
        "ptx" => {
            let settings =
                ptx::PtxSettings { pw: [0.75; 2], pr: [0.5; 2], seed: seed_of_launch, memory: 1 << 30 };
            Box::new(ptx::PtxModel::new(&settings, Arc::new(ptx::Facts::new(&program))))
        }
        _ => {
            let settings =
                store_buffer::StoreBufferSettings { pw: [0.75; 2], seed: seed_of_launch, capacity: 256 };
            let sites = Arc::new(store_buffer::Sites::new(&program, &table));
            Box::new(store_buffer::StoreBuffer::new(&settings, sites))
        }
    };
    let spec = LaunchSpec {
        kernel: "k",
        grid: [1, 1, 1],
        block: [64, 1, 1],
        dynamic_shared: 0,
        params: &out.to_le_bytes(),
        cluster: None,
        step_budget: Some(10_000_000),
    };
    let mut scheduler = RandomScheduler::new(seed);
    let (ran, _) = launch_with(&program, &mut memory, &config, &spec, &mut scheduler, Some(model))
        .expect("a legal launch");
    assert_eq!(ran.end, End::Complete);
    let mut bytes = vec![0; words * 4];
    memory.read(out, &mut bytes).expect("allocated");
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

fn text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .b64 %rd<8>;\n.reg .b32 %r<16>;\n.reg .pred %p<4>;\n\
         .shared .align 4 .b8 values[256];\n.shared .align 4 .u32 flag;\n\
         ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd1, %rd1, %rd2;\n\
         shl.b32 %r2, %r1, 2;\nmov.u32 %r3, values;\nadd.u32 %r3, %r3, %r2;\nadd.u32 %r4, %r1, 1000;\n{body}\nret;\n}}\n"
    )
}

/// The second warp stores values and a flag; the first waits for the flag, and each of its lanes takes one of the values.
fn two_warps(store: &str, between: &str) -> String {
    text(&format!(
        "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra READ;\nst{store}.shared.u32 [%r3], %r4;\n{between}\n\
         setp.ne.u32 %p2, %r1, 32;\n@%p2 bra END;\nmov.u32 %r5, 1;\nst.volatile.shared.u32 [flag], %r5;\nbra END;\n\
         READ: ld.volatile.shared.u32 %r6, [flag];\nsetp.eq.u32 %p3, %r6, 0;\n@%p3 bra READ;\n{between}\n\
         ld{store}.shared.u32 %r7, [%r3+128];\nst.global.u32 [%rd1], %r7;\nEND:"
    ))
}

fn failures(source: &str, model: &str, trials: u64) -> usize {
    let right: Vec<u32> = (1032..1064).collect();
    (0..trials).filter(|seed| run(source, model, *seed, 64)[..32] != right[..]).count()
}

#[test]
fn what_another_warp_has_stored_needs_its_fence() {
    for model in MODELS {
        for store in ["", ".volatile"] {
            let failed = failures(&two_warps(store, ""), model, 300);
            assert!(failed > 3, "{model}, st{store}: {failed} of 300");
        }
    }
}

#[test]
fn with_the_fence_it_is_seen() {
    for model in MODELS {
        for fence in ["membar.cta;", "fence.acq_rel.cta;", "membar.gl;"] {
            assert_eq!(failures(&two_warps("", fence), model, 300), 0, "{model}, {fence}");
        }
    }
}

/// Only the lane that sets the flag executes the fence: what the others of its warp have stored comes before it.
#[test]
fn a_fence_of_one_lane_orders_what_its_warp_has_stored() {
    let source = text(
        "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra READ;\nst.shared.u32 [%r3], %r4;\nsetp.ne.u32 %p2, %r1, 32;\n@%p2 bra END;\n\
         membar.cta;\nmov.u32 %r5, 1;\nst.volatile.shared.u32 [flag], %r5;\nbra END;\n\
         READ: ld.volatile.shared.u32 %r6, [flag];\nsetp.eq.u32 %p3, %r6, 0;\n@%p3 bra READ;\nmembar.cta;\n\
         ld.shared.u32 %r7, [%r3+128];\nst.global.u32 [%rd1], %r7;\nEND:",
    );
    for model in MODELS {
        assert_eq!(failures(&source, model, 300), 0, "{model}");
    }
}

/// Lanes hand values round in both spaces, plain and volatile, by stores, atomics and where they have parted.
#[test]
fn lanes_of_a_warp_see_each_others_stores() {
    for (space, store) in
        [("shared", ""), ("shared", ".volatile"), ("global", ""), ("global", ".relaxed.gpu")]
    {
        let base = if space == "shared" { "%rd3" } else { "%rd1" };
        // The next lane of the warp, which a shuffle would ask.
        let source = text(&format!(
            "cvt.u64.u32 %rd3, %r3;\nadd.u32 %r5, %r1, 1;\nand.b32 %r5, %r5, 31;\nand.b32 %r6, %r1, 32;\n\
             or.b32 %r5, %r5, %r6;\nsub.u32 %r5, %r5, %r1;\nmul.wide.s32 %rd4, %r5, 4;\nadd.u64 %rd4, {base}, %rd4;\n\
             mov.u32 %r9, 20;\nLOOP: st{store}.{space}.u32 [{base}], %r4;\nld{store}.{space}.u32 %r4, [%rd4];\n\
             and.b32 %r10, %r1, 1;\nsetp.eq.u32 %p1, %r10, 0;\n@%p1 bra EVEN;\n\
             add.u32 %r4, %r4, 1;\nst{store}.{space}.u32 [{base}], %r4;\nEVEN: ld{store}.{space}.u32 %r11, [{base}];\n\
             @!%p1 mov.u32 %r4, %r11;\natom.{space}.add.u32 %r12, [{base}], 0;\n@!%p1 mov.u32 %r4, %r12;\n\
             sub.u32 %r9, %r9, 1;\nsetp.ne.u32 %p2, %r9, 0;\n@%p2 bra LOOP;\nst.global.u32 [%rd1], %r4;"
        ));
        let mut values: Vec<u32> = (1000..1064).collect();
        for _ in 0..20 {
            let given = values.clone();
            for (thread, value) in values.iter_mut().enumerate() {
                *value = given[thread & 32 | (thread + 1) & 31] + (thread as u32 & 1);
            }
        }
        for model in MODELS {
            for seed in 0..100 {
                assert_eq!(run(&source, model, seed, 64), values, "{model}, {space}{store}, seed {seed}");
            }
        }
    }
}

/// A branch whose second arm stands behind the end, and a loop that is left in its middle for what stands there: wherever they stand,
/// lanes meet behind the branch, and behind the loop.
#[test]
fn lanes_meet_however_the_text_is_laid_out() {
    let source = "
.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 pointer)
{
    .reg .b32 lane, tid, met, turn;
    .reg .b64 out;
    .reg .pred p;
    ld.param.u64 out, [pointer];
    mov.u32 lane, %laneid;
    mov.u32 tid, %tid.x;
    mad.wide.u32 out, tid, 8, out;
    setp.gt.u32 p, lane, 15;
    @p bra ASIDE;
    add.u32 tid, tid, 1;
MET:
    activemask.b32 met;
    st.global.u32 [out], met;
    mov.u32 turn, 0;
ROUND:
    setp.lt.u32 p, turn, lane;
    @p bra MORE;
    activemask.b32 met;
    st.global.u32 [out+4], met;
    ret;
MORE:
    add.u32 turn, turn, 1;
    setp.eq.u32 p, turn, 40;
    @p bra ROUND;
    bra.uni ROUND;
ASIDE:
    add.u32 tid, tid, 2;
    bra.uni MET;
}";
    for model in MODELS {
        for seed in 0..4 {
            assert_eq!(run(source, model, seed, 128), [u32::MAX; 128], "{model}, seed {seed}");
        }
    }
}
