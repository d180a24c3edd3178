//! Launches of small kernels with a recorder.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_simulator::conflicts::{Collision, ConflictObserver, FoundConflict, FoundConflicts};
use bugaroo_simulator::model::{ptx, store_buffer};
use bugaroo_simulator::{
    AllocationKind, Counts, DeviceConfig, End, Grid, LaunchSpec, LaunchWatch, Memory, MemoryModel,
    PctScheduler, Program, RandomScheduler, SchedulerStrategy,
};

/// A kernel `k(out)`: `%rd0` is `out`, `%rd1` the thread's word of it, `%r1` its index in the block, `%r2` four times that,
/// `%r3` its word of the shared `values`, `%r4` a value of its own.
pub fn text(body: &str) -> String {
    format!(
        ".version 8.4\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .b64 %rd<8>;\n.reg .b32 %r<16>;\n.reg .f32 %f<4>;\n.reg .b128 %q<4>;\n\
         .reg .pred %p<4>;\n.shared .align 16 .b8 values[8192];\n.shared .align 4 .u32 flag;\n\
         ld.param.u64 %rd0, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd0, %rd1;\n\
         shl.b32 %r2, %r1, 2;\nmov.u32 %r3, values;\nadd.u32 %r3, %r3, %r2;\nadd.u32 %r4, %r1, 1000;\n{body}\nret;\n}}\n"
    )
}

/// What to launch.
#[derive(Clone, Debug)]
pub struct Launch {
    pub ptx: String,
    pub grid: u32,
    pub block: u32,
    pub seed: u64,
    pub lockstep: bool,
    pub pct: bool,
    /// `store-buffer`, `ptx`, or none.
    pub model: &'static str,
    pub record: bool,
}

/// All that a launch leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    pub end: End,
    pub counts: Counts,
    pub digest: u64,
    pub words: Vec<u32>,
}

impl Launch {
    /// One block of 64 threads.
    pub fn new(ptx: &str) -> Launch {
        Launch {
            ptx: ptx.to_owned(),
            grid: 1,
            block: 64,
            seed: 0,
            lockstep: false,
            pct: false,
            model: "",
            record: true,
        }
    }

    fn model(&self, program: &Program, module: &bugaroo_ptx::ast::Module) -> Option<Box<dyn MemoryModel>> {
        let seed = (self.seed, 0);
        match self.model {
            "ptx" => {
                let settings = ptx::PtxSettings { pw: [0.75; 2], pr: [0.5; 2], seed, memory: 1 << 30 };
                Some(Box::new(ptx::PtxModel::new(&settings, Arc::new(ptx::Facts::new(program)))))
            }
            "store-buffer" => {
                let settings = store_buffer::StoreBufferSettings { pw: [0.75; 2], seed, capacity: 256 };
                let sites = store_buffer::Sites::new(program, &collect_sites(module));
                Some(Box::new(store_buffer::StoreBuffer::new(&settings, Arc::new(sites))))
            }
            _ => None,
        }
    }

    /// Launches it.
    pub fn leaves(&self) -> (Left, FoundConflicts) {
        let module = bugaroo_ptx::parse(&self.ptx).expect("the test's PTX parses");
        let patience = Some(1 << 28);
        let config = DeviceConfig { lockstep: self.lockstep, patience, ..DeviceConfig::default() };
        let mut memory = Memory::new(1 << 24).expect("address space");
        let program = Arc::new(Program::load(&module, &mut memory, &config).expect("the test's PTX loads"));
        let out = memory.alloc(16384, 256, AllocationKind::Program).expect("room");
        let model = self.model(&program, &module);
        let looks = || Rc::new(RefCell::new(ConflictObserver::new(Arc::clone(&program), model.is_some())));
        let conflicts = self.record.then(looks);
        let watch = conflicts.clone().map(|observer| LaunchWatch { observer, grid: 7, first_site: 1000 });
        let spec = LaunchSpec {
            kernel: "k",
            grid: [self.grid, 1, 1],
            block: [self.block, 1, 1],
            dynamic_shared: 0,
            params: &out.to_le_bytes(),
            cluster: None,
            step_budget: Some(1_000_000),
        };
        let scheduler: Box<dyn SchedulerStrategy> = if self.pct {
            Box::new(PctScheduler::new(self.seed, PctScheduler::DEPTH, None))
        } else {
            Box::new(RandomScheduler::new(self.seed))
        };
        let mut grid =
            Grid::with_model(program, &config, &spec, None, scheduler, model, watch).expect("a legal launch");
        let end = grid.advance(&mut memory, u64::MAX).expect("it ends");
        let mut bytes = vec![0; 16384];
        memory.read(out, &mut bytes).expect("allocated");
        let words = bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("four bytes"))).collect();
        let left = Left { end, counts: grid.counts(), digest: memory.digest(), words };
        (left, conflicts.map(|conflicts| conflicts.borrow().found().clone()).unwrap_or_default())
    }

    /// The words of `out`, and the conflicts, of a launch that completes.
    pub fn run(&self) -> (Vec<u32>, FoundConflicts) {
        let (left, found) = self.leaves();
        assert_eq!(left.end, End::Complete);
        assert_eq!((found.more, found.unseen), (0, 0));
        (left.words, found)
    }
}

/// What the first seeds find, all together.
pub fn found(launch: &Launch) -> FoundConflicts {
    let mut all = FoundConflicts::default();
    for seed in 0..12 {
        let (_, found) = Launch { seed, pct: seed % 3 == 2, ..launch.clone() }.run();
        all.conflicts.extend(found.conflicts);
    }
    all
}

/// Those of a kind.
pub fn kinds(launch: &Launch, kind: Collision) -> Vec<FoundConflict> {
    let mut conflicts = found(launch).conflicts;
    conflicts.retain(|one| one.kind == kind);
    let key = |one: &FoundConflict| (one.relation, one.first.pc, one.second.pc);
    conflicts.sort_by_key(key);
    conflicts.dedup_by_key(|one| key(one));
    conflicts
}

/// The kinds that there are.
pub fn all_kinds(launch: &Launch) -> Vec<Collision> {
    let mut kinds: Vec<Collision> = found(launch).conflicts.iter().map(|one| one.kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}
