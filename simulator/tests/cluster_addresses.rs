//! Addresses in the shared memory of a cluster that blocks hand to each other, and ranks that no block has.

use std::sync::Arc;

use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_simulator::model::{ptx, store_buffer};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, LaunchSpec, Memory, MemoryModel, Program, RandomScheduler, StopKind,
    launch_with,
};

const MODELS: [&str; 3] = ["none", "store-buffer", "ptx"];

/// How two blocks of 32 threads, a cluster, end, and what they leave in 16 words.
fn run(body: &str, model: &str, seed: u64) -> (End, Vec<u32>) {
    let source = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 out) .reqnctapercluster 2, 1, 1\n{{\n.reg .b64 %rd<16>;\n.reg .b32 %r<16>;\n\
         .reg .pred %p<4>;\n.shared .align 8 .b8 tile[64];\n.shared .align 8 .b8 inbox[16];\n\
         ld.param.u64 %rd1, [out];\nmov.u32 %r1, %cluster_ctarank;\nxor.b32 %r2, %r1, 1;\n\
         mul.wide.u32 %rd2, %r1, 32;\nadd.u64 %rd1, %rd1, %rd2;\nmov.u32 %r3, %tid.x;\nsetp.ne.u32 %p1, %r3, 0;\n\
         mov.u64 %rd3, tile;\ncvta.shared.u64 %rd3, %rd3;\nmov.u64 %rd4, inbox;\ncvta.shared.u64 %rd4, %rd4;\n\
         mapa.u64 %rd5, %rd4, %r2;\nadd.u32 %r4, %r1, 100;\n@%p1 bra END;\n{body}\n\
         END: barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n}}\n"
    );
    let module = bugaroo_ptx::parse(&source).expect("the test's PTX parses");
    let config = DeviceConfig::default();
    let mut memory = Memory::new(1 << 24).expect("address space");
    let program = Program::load(&module, &mut memory, &config).expect("the test's PTX loads");
    assert_eq!(program.kernels()[0].refused, None);
    let out = memory.alloc(64, 256, AllocationKind::Program).expect("room");
    let table = collect_sites(&module);
    let model: Option<Box<dyn MemoryModel>> = match model {
        "none" => None,
        "ptx" => {
            let settings = ptx::PtxSettings { pw: [0.75; 2], pr: [0.5; 2], seed: (seed, 0), memory: 1 << 30 };
            Some(Box::new(ptx::PtxModel::new(&settings, Arc::new(ptx::Facts::new(&program)))))
        }
        _ => {
            let settings =
                store_buffer::StoreBufferSettings { pw: [0.75; 2], seed: (seed, 0), capacity: 256 };
            let sites = Arc::new(store_buffer::Sites::new(&program, &table));
            Some(Box::new(store_buffer::StoreBuffer::new(&settings, sites)))
        }
    };
    let spec = LaunchSpec {
        kernel: "k",
        grid: [2, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        params: &out.to_le_bytes(),
        cluster: None,
        step_budget: Some(1_000_000),
    };
    let mut scheduler = RandomScheduler::new(seed);
    let (ran, _) =
        launch_with(&program, &mut memory, &config, &spec, &mut scheduler, model).expect("a legal launch");
    let mut bytes = [0; 64];
    memory.read(out, &mut bytes).expect("allocated");
    let words = bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")));
    (ran.end, words.collect())
}

/// Thread 0 of each block meets that of the other.
const MEET: &str = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";

#[test]
fn a_blocks_own_memory_through_an_address_from_its_neighbour() {
    // The neighbour maps the address of this block's tile and puts it into this block's inbox.
    let generic = format!(
        "st.shared.u32 [tile], %r4;\nmapa.u64 %rd6, %rd3, %r2;\nst.b64 [%rd5], %rd6;\n{MEET}\
         ld.shared.b64 %rd7, [inbox];\nadd.u32 %r4, %r4, 100;\nst.shared.u32 [tile+4], %r4;\n\
         ld.u32 %r5, [%rd7];\nst.global.u32 [%rd1], %r5;\nld.u32 %r5, [%rd7+4];\nst.global.u32 [%rd1+4], %r5;\n\
         add.u32 %r4, %r4, 100;\nst.u32 [%rd7+8], %r4;\nld.shared.u32 %r5, [tile+8];\nst.global.u32 [%rd1+8], %r5;\n\
         atom.add.u32 %r5, [%rd7+8], 7;\nst.global.u32 [%rd1+12], %r5;\nld.shared.u32 %r5, [tile+8];\n\
         st.global.u32 [%rd1+16], %r5;\nisspacep.shared::cta %p2, %rd7;\nselp.u32 %r5, 1, 0, %p2;\n\
         st.global.u32 [%rd1+20], %r5;\ngetctarank.u64 %r5, %rd7;\nst.global.u32 [%rd1+24], %r5;"
    );
    // The same in the space, with 32 bits.
    let narrow = generic
        .replace(
            "mapa.u64 %rd6, %rd3, %r2;\n",
            "mov.u32 %r9, tile;\nmapa.shared::cluster.u32 %r9, %r9, %r2;\n",
        )
        .replace("st.b64 [%rd5], %rd6;", "st.b32 [%rd5], %r9;")
        .replace(
            "ld.shared.b64 %rd7, [inbox];",
            "ld.shared.b32 %r10, [inbox];\ncvt.u64.u32 %rd7, %r10;\ncvta.shared::cluster.u64 %rd8, %rd7;",
        )
        .replace("ld.u32 %r5, [%rd7", "ld.shared::cluster.u32 %r5, [%r10")
        .replace("st.u32 [%rd7", "st.shared::cluster.u32 [%r10")
        .replace("atom.add.u32 %r5, [%rd7", "atom.shared::cluster.add.u32 %r5, [%r10")
        .replace("%p2, %rd7", "%p2, %rd8")
        .replace("getctarank.u64 %r5, %rd7", "getctarank.shared::cluster.u32 %r5, %r10");
    for body in [generic, narrow] {
        for model in MODELS {
            for seed in 0..60 {
                let (end, words) = run(&body, model, seed);
                assert_eq!(end, End::Complete, "{model}, seed {seed}");
                for rank in [0, 1] {
                    let want = [100, 200, 300, 300, 307].map(|value| value + rank);
                    let at = rank as usize * 8;
                    assert_eq!(words[at..at + 5], want, "{model}, seed {seed}");
                    assert_eq!(words[at + 5..at + 7], [1, rank], "{model}, seed {seed}");
                }
            }
        }
    }
}

#[test]
fn an_address_of_ones_own_memory_is_good_for_the_neighbour() {
    let body = format!(
        "st.shared.u32 [tile], %r4;\nmapa.u64 %rd6, %rd3, %r1;\nst.b64 [%rd5], %rd6;\nld.u32 %r6, [%rd6];\n{MEET}\
         ld.shared.b64 %rd7, [inbox];\nld.u32 %r5, [%rd7];\nst.global.u32 [%rd1], %r5;\nst.global.u32 [%rd1+4], %r6;"
    );
    for model in MODELS {
        for seed in 0..60 {
            let (end, words) = run(&body, model, seed);
            assert_eq!(end, End::Complete);
            assert_eq!(
                [words[0], words[1], words[8], words[9]],
                [101, 100, 100, 101],
                "{model}, seed {seed}"
            );
        }
    }
}

#[test]
fn ranks_that_no_block_has_fault() {
    for rank in ["2", "15", "254", "255", "256", "257", "65536", "2147483647", "4294967295"] {
        for body in [
            format!("mapa.u64 %rd6, %rd3, {rank};\nld.u32 %r5, [%rd6];"),
            format!("mapa.u64 %rd6, %rd3, {rank};\nst.u32 [%rd6], %r4;"),
            format!(
                "mov.u32 %r9, tile;\nmapa.shared::cluster.u32 %r9, %r9, {rank};\nld.shared::cluster.u32 %r5, [%r9];"
            ),
        ] {
            let (end, _) = run(&body, "none", 1);
            let End::Fault(fault) = end else { panic!("rank {rank}: {end:?}") };
            assert!(matches!(fault.kind, StopKind::BadClusterAddress { .. }), "rank {rank}: {fault}");
        }
    }
}
