//! Weak loads of memory that a launch does not write are no visible operations, and no memory model is asked. Nothing that
//! threads may see of each other is lost for that.

use std::collections::BTreeMap;
use std::sync::Arc;

use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_simulator::model::ptx::{self, PtxModel};
use bugaroo_simulator::model::store_buffer::{Sites, StoreBuffer, StoreBufferSettings};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, Grid, LaunchSpec, Memory, MemoryModel, Others, Program,
    RandomScheduler, launch_with,
};

const HEAD: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";

/// Each thread adds up 64 words of `data`, which come by this load. `also` stands in its loop; nobody is `%never`.
fn sums(load: &str, also: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 data, .param .u64 out)\n{{\n\
         .reg .pred %p, %never;\n.reg .b32 %r<6>;\n.reg .b64 %rd<6>;\n\
         ld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\n\
         mov.u32 %r2, 0;\nmov.u32 %r3, 64;\nsetp.eq.u32 %never, %r1, 1000;\nmov.u64 %rd4, %rd1;\n\
         LOOP:\n{load} %r4, [%rd4];\nadd.u32 %r2, %r2, %r4;\nadd.u64 %rd4, %rd4, 4;\nsub.u32 %r3, %r3, 1;\n\
         {also}setp.ne.u32 %p, %r3, 0;\n@%p bra LOOP;\n\
         mul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd2, %rd2, %rd3;\nst.global.u32 [%rd2], %r2;\nret;\n}}\n"
    )
}

/// The turns of 4 blocks of 64 threads; and what each has added up, which is the same for all.
fn turns(ptx: &str, kind: AllocationKind, others: &[Others]) -> (u64, u32) {
    let module = bugaroo_ptx::parse(ptx).expect("the test's PTX parses");
    let config = DeviceConfig::default();
    let mut memory = Memory::new(1 << 24).expect("address space");
    let program = Arc::new(Program::load(&module, &mut memory, &config).expect("it loads"));
    let data = memory.alloc(256, 256, kind).expect("room");
    let out = memory.alloc(256, 256, AllocationKind::Program).expect("room");
    let words: Vec<u8> = (0..64_u32).flat_map(|i| (i * i + 1).to_le_bytes()).collect();
    memory.write(data, &words).expect("in bounds");
    let params: Vec<u8> = [data, out].into_iter().flat_map(u64::to_le_bytes).collect();
    let spec = LaunchSpec {
        kernel: "k",
        grid: [4, 1, 1],
        block: [64, 1, 1],
        dynamic_shared: 0,
        params: &params,
        cluster: None,
        step_budget: None,
    };
    let scheduler = Box::new(RandomScheduler::new(7));
    let mut grid = Grid::new(program, &config, &spec, None, scheduler).expect("a legal launch");
    for others in others {
        grid.set_others(*others);
        assert_eq!(grid.advance(&mut memory, 1), None);
    }
    assert_eq!(grid.advance(&mut memory, u64::MAX), Some(End::Complete));
    let mut sums = [0; 256];
    memory.read(out, &mut sums).expect("in bounds");
    let sums: Vec<u32> =
        sums.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect();
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
    (grid.counts().turns, sums[0])
}

#[test]
fn only_weak_loads_of_the_devices_own_memory_that_nobody_writes_are_quiet() {
    let (own, alone) = (AllocationKind::Program, &[Others::Nobody(0)]);
    let (quiet, value) = turns(&sums("ld.global.u32", ""), own, alone);
    let (seen, same) = turns(&sums("ld.volatile.global.u32", ""), own, alone);
    assert_eq!(value, same);
    assert!(seen > 8 * quiet, "a turn of two operations in the mean: {seen} and {quiet}");
    let is_seen = |(turns, sum): (u64, u32), why: &str| {
        assert_eq!(sum, value, "{why}");
        assert!(turns > 8 * quiet, "{why}: {turns} and {quiet}");
    };
    let is_quiet = |(turns, sum): (u64, u32), why: &str| {
        assert_eq!(sum, value, "{why}");
        assert!(turns < 2 * quiet, "{why}: {turns} and {quiet}");
    };
    let weak = sums("ld.global.u32", "");
    is_quiet(turns(&sums("ld.u32", ""), own, alone), "a generic address");
    is_quiet(turns(&weak, own, &[Others::Suspected(3)]), "nobody is known who writes");
    is_seen(turns(&sums("ld.relaxed.gpu.global.u32", ""), own, alone), "a strong load");
    is_seen(turns(&weak, own, &[Others::MayWrite]), "others may write");
    let left = [Others::Nobody(0), Others::MayWrite];
    is_seen(turns(&weak, own, &left), "others may write from some time on");
    let came = [Others::MayWrite, Others::Nobody(1)];
    is_seen(turns(&weak, own, &came), "others might have written before");
    is_seen(turns(&weak, AllocationKind::Managed, alone), "the host reaches it");
    is_seen(turns(&weak, AllocationKind::Pinned, alone), "the host reaches it");
    let writes = "@%never st.global.u32 [%rd4], %r1;\n";
    is_seen(turns(&sums("ld.global.u32", writes), own, alone), "the text may write there");
}

/// Message passing through two words, in an allocation each. The text does not show that the message is written: its address is made
/// of that of the flag and the distance of the two. `fence` stands between both accesses of both threads.
fn passing(fence: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 data, .param .u64 flag, .param .u64 out, .param .u64 apart)\n{{\n\
         .reg .pred %p;\n.reg .b32 %r<6>;\n.reg .b64 %rd<6>;\n\
         ld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [flag];\nld.param.u64 %rd3, [out];\n\
         ld.param.u64 %rd4, [apart];\nmov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p, %r1, 0;\n@%p bra READS;\n\
         sub.u64 %rd4, %rd2, %rd4;\nst.global.u32 [%rd4], 1;\n{fence}st.relaxed.gpu.global.u32 [%rd2], 1;\nret;\n\
         READS:\nld.relaxed.gpu.global.u32 %r2, [%rd2];\n{fence}ld.global.u32 %r3, [%rd1];\n\
         st.global.v2.u32 [%rd3], {{%r2, %r3}};\nret;\n}}\n"
    )
}

/// How often the reader sees which flag and which message.
fn outcomes(ptx: &str, model: &str, trials: u64) -> BTreeMap<(u32, u32), u64> {
    let module = bugaroo_ptx::parse(ptx).expect("the test's PTX parses");
    let (config, table) = (DeviceConfig::default(), collect_sites(&module));
    let mut seen = BTreeMap::new();
    for trial in 0..trials {
        let mut memory = Memory::new(1 << 24).expect("address space");
        let program = Program::load(&module, &mut memory, &config).expect("it loads");
        let [data, flag, out] =
            [(); 3].map(|()| memory.alloc(256, 256, AllocationKind::Program).expect("room"));
        let params: Vec<u8> =
            [data, flag, out, flag.wrapping_sub(data)].into_iter().flat_map(u64::to_le_bytes).collect();
        let spec = LaunchSpec {
            kernel: "k",
            grid: [2, 1, 1],
            block: [1, 1, 1],
            dynamic_shared: 0,
            params: &params,
            cluster: None,
            step_budget: Some(1 << 16),
        };
        let (pw, seed) = ([0.5; 2], (trial, 0));
        let model: Option<Box<dyn MemoryModel>> = match model {
            "store-buffer" => {
                let settings = StoreBufferSettings { pw, seed, capacity: 256 };
                Some(Box::new(StoreBuffer::new(&settings, Arc::new(Sites::new(&program, &table)))))
            }
            "ptx" => {
                let settings = ptx::PtxSettings { pw, pr: [0.5; 2], seed, memory: 1 << 24 };
                Some(Box::new(PtxModel::new(&settings, Arc::new(ptx::Facts::new(&program)))))
            }
            _ => None,
        };
        let mut scheduler = RandomScheduler::new(trial);
        let result = launch_with(&program, &mut memory, &config, &spec, &mut scheduler, model);
        assert_eq!(result.expect("a legal launch").0.end, End::Complete);
        let word = |at| {
            let mut bytes = [0; 4];
            memory.read(at, &mut bytes).expect("in bounds");
            u32::from_le_bytes(bytes)
        };
        *seen.entry((word(out), word(out + 4))).or_default() += 1;
    }
    seen
}

#[test]
fn a_message_that_the_text_does_not_show_is_late_as_any_other() {
    for model in ["none", "store-buffer", "ptx"] {
        let fenced = outcomes(&passing("fence.acq_rel.gpu;\n"), model, 2000);
        assert!(!fenced.contains_key(&(1, 0)), "{model}: {fenced:?}");
        for outcome in [(0, 0), (0, 1), (1, 1)] {
            assert!(fenced.contains_key(&outcome), "{model}: {outcome:?} of {fenced:?}");
        }
        let open = outcomes(&passing(""), model, 2000);
        assert_eq!(open.contains_key(&(1, 0)), model != "none", "{model}: {open:?}");
    }
}

/// The reader has a load that may be late, and behind it one of memory that nobody writes, then uses both.
fn late(load: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 data, .param .u64 flag, .param .u64 out, .param .u64 apart)\n{{\n\
         .reg .pred %p;\n.reg .b32 %r<6>;\n.reg .b64 %rd<6>;\n\
         ld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [flag];\nld.param.u64 %rd3, [out];\n\
         mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p, %r1, 0;\n@%p bra READS;\n\
         st.global.u32 [%rd2], 1;\nst.global.u32 [%rd2+4], 1;\nret;\n\
         READS:\nmov.u32 %r2, 77;\nmov.u32 %r3, 78;\nld.global.u32 %r2, [%rd2+4];\nld.global.u32 %r3, [%rd2];\n\
         {load} %r4, [%rd1];\nadd.u32 %r2, %r2, %r4;\nadd.u32 %r3, %r3, %r4;\n\
         st.global.v2.u32 [%rd3], {{%r2, %r3}};\nret;\n}}\n"
    )
}

#[test]
fn a_load_that_is_late_until_a_quiet_one_comes_before_its_use() {
    for load in ["ld.global.u32", "ld.u32", "ld.volatile.global.u32"] {
        let seen = outcomes(&late(load), "ptx", 4000);
        let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
        assert!(seen.keys().eq(all.iter()), "{load}: {seen:?}");
    }
}
