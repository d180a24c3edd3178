//! Launches with somebody looking on.

pub mod checker;
pub mod looks_on;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_semantics::Observer;
use bugaroo_simulator::model::{ptx, store_buffer};
use bugaroo_simulator::{
    AllocationKind, Counts, DeviceConfig, End, Grid, LaunchSpec, LaunchWatch, Memory, MemoryModel,
    PctScheduler, Program, RandomScheduler, SchedulerStrategy,
};

pub const MODELS: [&str; 3] = ["", "store-buffer", "ptx"];

/// Bytes of each buffer.
pub const BUFFER: u64 = 1 << 16;

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
pub struct Launch<'a> {
    pub ptx: &'a str,
    pub kernel: &'a str,
    pub grid: u32,
    pub block: u32,
    pub seed: u64,
    pub lockstep: bool,
    pub pct: bool,
    pub late_copies: bool,
    pub model: &'static str,
    /// Buffers that the kernel gets, of [`BUFFER`] bytes each, and numbers behind them.
    pub buffers: usize,
    pub numbers: &'a [u64],
}

/// All that a launch leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    pub end: End,
    pub counts: Counts,
    pub digest: u64,
    /// Where the buffers are, and what they hold.
    pub buffers: Vec<(u64, Vec<u8>)>,
}

impl<'a> Launch<'a> {
    /// One block of 64 threads of a kernel that [`text`] made.
    pub fn new(ptx: &'a str) -> Launch<'a> {
        Launch {
            ptx,
            kernel: "k",
            grid: 1,
            block: 64,
            seed: 0,
            lockstep: false,
            pct: false,
            late_copies: false,
            model: "",
            buffers: 1,
            numbers: &[],
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
            "looks on" => Some(Box::new(looks_on::LooksOn)),
            _ => None,
        }
    }

    /// Launches it, with somebody looking on or not.
    pub fn run(&self, observer: Option<Rc<RefCell<dyn Observer>>>) -> Left {
        let module = bugaroo_ptx::parse(self.ptx).expect("the test's PTX parses");
        let config = DeviceConfig {
            lockstep: self.lockstep,
            late_copies: self.late_copies,
            patience: Some(1 << 28),
            ..DeviceConfig::default()
        };
        let mut memory = Memory::new(1 << 26).expect("address space");
        let program = Arc::new(Program::load(&module, &mut memory, &config).expect("the test's PTX loads"));
        let room = |_| memory.alloc(BUFFER, 256, AllocationKind::Program).expect("room");
        let buffers: Vec<u64> = (0..self.buffers).map(room).collect();
        let model = self.model(&program, &module);
        let words = buffers.iter().chain(self.numbers);
        let params: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        let spec = LaunchSpec {
            kernel: self.kernel,
            grid: [self.grid, 1, 1],
            block: [self.block, 1, 1],
            dynamic_shared: 0,
            params: &params,
            cluster: None,
            step_budget: Some(2_000_000),
        };
        let scheduler: Box<dyn SchedulerStrategy> = if self.pct {
            Box::new(PctScheduler::new(self.seed, PctScheduler::DEPTH, None))
        } else {
            Box::new(RandomScheduler::new(self.seed))
        };
        let watch = observer.map(|observer| LaunchWatch { observer, grid: 7, first_site: 1000 });
        let mut grid =
            Grid::with_model(program, &config, &spec, None, scheduler, model, watch).expect("a legal launch");
        let end = grid.advance(&mut memory, u64::MAX).expect("it ends");
        let read = |address: u64| {
            let mut bytes = vec![0; BUFFER as usize];
            memory.read(address, &mut bytes).expect("allocated");
            (address, bytes)
        };
        let buffers = buffers.into_iter().map(read).collect();
        Left { end, counts: grid.counts(), digest: memory.digest(), buffers }
    }
}
