//! The device without the driver: no function of C is called here.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_cuda_abi::{CUcontext, CUdeviceptr, CUfunction};
use bugaroo_device::images::image::Image;
use bugaroo_device::images::jit::JitOptions;
use bugaroo_device::lane::Lane;
use bugaroo_device::objects::context::Context;
use bugaroo_device::objects::graph::exec::Exec;
use bugaroo_device::objects::known::{KnownModules, TrialsWant};
use bugaroo_device::objects::stream::{LEAST_PRIORITY, NON_BLOCKING, Stream};
use bugaroo_device::objects::transfer::CopyPlace;
use bugaroo_device::objects::transfer::Transfer;
use bugaroo_device::objects::work::{BlocksTogether, NodeBody, Work};
use bugaroo_device::pump::PumpStep;
use bugaroo_device::state::Gpu;
use bugaroo_device::trial::injection::Injection;
use bugaroo_device::trial::report::ReportPipe;
use bugaroo_device::{CallResult, Status};
use bugaroo_simulator::Program;

/// `scale`: word = 3 · word, by one thread for each word. `store`: 7 to wherever it is told. `add`: word = word + 1.
const KERNELS: &str = r"
.version 8.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 words) {
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [words];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    mul.lo.u32 %r2, %r2, 3;
    st.global.u32 [%rd3], %r2;
    ret;
}
.visible .entry store(.param .u64 place) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [place];
    st.global.u32 [%rd1], 7;
    ret;
}
.visible .entry add(.param .u64 word) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [word];
    ld.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
";

/// A device with a context, and the kernels in it.
struct Bench {
    gpu: Box<Gpu>,
    context: CUcontext,
    kernels: [CUfunction; 3],
}

impl Bench {
    fn new() -> Self {
        let injection = Injection::new(None).expect("no orders have no patterns");
        let mut gpu = Gpu::new(injection, ReportPipe::new(None)).expect("there is room for its memory");
        let context = gpu.owners.contexts.insert(Context::new(0, 0));
        let module = gpu.load_module(Some(context), &Image::of(KERNELS.as_bytes()), &JitOptions::none());
        let module = module.expect("it is PTX");
        let kernels =
            ["scale", "store", "add"].map(|name| gpu.find_function(module, name).expect("it is there"));
        Self { gpu, context, kernels }
    }

    /// A launch of one block of `threads` threads, with one address as its parameter.
    fn launch(&self, kernel: usize, threads: u32, address: CUdeviceptr) -> CallResult<Work> {
        let shape = ([1; 3], [threads, 1, 1], 0);
        let request = self.gpu.request_of(
            self.kernels[kernel],
            shape,
            BlocksTogether::default(),
            address.to_le_bytes().to_vec(),
        )?;
        Ok(Work::Kernel(Rc::new(request), 0))
    }

    /// Memory of so many words.
    fn words(&mut self, count: usize) -> CUdeviceptr {
        self.gpu.allocate(self.context, 4 * count).expect("there is room")
    }

    /// A stream of its own, which waits for no other.
    fn stream(&mut self) -> Stream {
        let (context, flags, priority) = (self.context, NON_BLOCKING, LEAST_PRIORITY);
        let made = Stream { context, lane: Lane::Made(0), flags, priority };
        let handle = self.gpu.ordered.streams.insert(made);
        self.gpu.stream(handle, context).expect("it was made")
    }

    /// Has all that was handed over come to its end.
    fn finish(&mut self) {
        loop {
            match self.gpu.step() {
                PumpStep::Done(_) => {}
                PumpStep::Nothing => return,
                PumpStep::Call(..) | PumpStep::Busy | PumpStep::Stuck => {
                    panic!("nothing here calls or waits")
                }
            }
        }
    }

    fn read(&self, address: CUdeviceptr) -> u32 {
        let mut bytes = [0; 4];
        self.gpu.memory.read(address, &mut bytes).expect("it is allocated");
        u32::from_le_bytes(bytes)
    }
}

#[test]
fn copies_and_kernels_of_a_stream_run_in_their_order() {
    let mut bench = Bench::new();
    let place = bench.words(32);
    let stream = Stream::legacy(bench.context);
    let values: Vec<u32> = (0..32).collect();
    let mut back = vec![0_u32; 32];
    let host = |address: *const c_void| CopyPlace::Host(address.cast_mut());
    let to = Transfer::line(CopyPlace::Device(place), host(values.as_ptr().cast()), 128);
    let from = Transfer::line(CopyPlace::Host(back.as_mut_ptr().cast()), CopyPlace::Device(place), 128);
    let kernel = bench.launch(0, 32, place).expect("the launch is right");
    for work in [Work::Copy(to), kernel, Work::Copy(from)] {
        assert!(bench.gpu.submit(&stream, work).expect("no stream is captured").is_some());
    }
    bench.finish();
    let expected: Vec<u32> = values.iter().map(|value| 3 * value).collect();
    assert_eq!(back, expected);
}

#[test]
fn what_a_launch_may_not_be_is_refused() {
    let mut bench = Bench::new();
    let place = bench.words(1);
    assert_eq!(bench.launch(0, 1025, place).err(), Some(Status::InvalidValue), "blocks are smaller");
    assert_eq!(bench.launch(0, 0, place).err(), Some(Status::InvalidValue), "a block has threads");
    let shape = ([1; 3], [1; 3], 0);
    let short = bench.gpu.request_of(bench.kernels[0], shape, BlocksTogether::default(), vec![0; 4]);
    assert_eq!(short.err(), Some(Status::InvalidValue), "the kernel's parameter has eight bytes");
    let nothing = bench.gpu.request_of(null_mut(), shape, BlocksTogether::default(), Vec::new());
    assert_eq!(nothing.err(), Some(Status::InvalidHandle), "there is no such kernel");
}

#[test]
fn a_fault_breaks_its_context_and_no_other() {
    let mut bench = Bench::new();
    let place = bench.words(1);
    let stream = Stream::legacy(bench.context);
    let astray = bench.launch(1, 1, 8).expect("any address may be passed");
    bench.gpu.submit(&stream, astray).expect("it is handed over");
    bench.finish();
    assert!(bench.gpu.is_broken(bench.context));
    assert_eq!(bench.gpu.surface(bench.context), Err(Status::IllegalAddress));
    let late = bench.launch(1, 1, place).expect("the launch is right");
    assert!(bench.gpu.submit(&stream, late).expect("it is no error").is_none(), "it is dropped");
    bench.finish();
    assert_eq!(bench.read(place), 0);

    let other = bench.gpu.owners.contexts.insert(Context::new(0, 0));
    assert_eq!(bench.gpu.surface(other), Ok(()));
}

#[test]
fn work_of_one_stream_waits_for_work_of_another() {
    let mut bench = Bench::new();
    let place = bench.words(1);
    let (first, second) = (bench.stream(), bench.stream());
    let store = bench.launch(1, 1, place).expect("the launch is right");
    let stored = bench.gpu.submit(&first, store).expect("no capture").expect("no fault").ticket;
    let before = [stored];
    let add = bench.launch(2, 1, place).expect("the launch is right");
    let added = bench.gpu.running.queue.insert(bench.context, add, &before);
    bench.gpu.running.queue.append(&second, added);
    bench.finish();
    assert_eq!(bench.read(place), 8, "1 is added behind the store of 7");
}

#[test]
fn a_graph_runs_its_nodes_in_their_order_each_time_it_is_launched() {
    let mut bench = Bench::new();
    let place = bench.words(1);
    let store = bench.launch(1, 1, place).expect("the launch is right");
    let add = bench.launch(2, 1, place).expect("the launch is right");
    let scale = bench.launch(0, 1, place).expect("the launch is right");
    let graphs = &mut bench.gpu.ordered.graphs;
    let graph = graphs.create();
    let mut before = Vec::new();
    for work in [store, add, scale] {
        let node = graphs.add(graph, &before, NodeBody::Work(work)).expect("the graph is there");
        before = vec![node];
    }
    let steps = bench.gpu.steps(graph).expect("nodes wait for none behind them");
    let objects = bench.gpu.ordered.graphs.graphs.get(graph).expect("it is there").objects.clone();
    let exec = bench.gpu.ordered.graphs.execs.insert(Exec { steps, flags: 0, last: 0, objects });
    let stream = Stream::legacy(bench.context);
    for _ in 0..2 {
        bench.gpu.launch_graph(&stream, exec).expect("it can be launched");
        bench.finish();
        assert_eq!(bench.read(place), 24, "(7 + 1) · 3");
    }
}

/// Loads the kernels, by what is known, and gives what runs.
fn loaded(gpu: &mut Gpu, image: &Image<'_>) -> Arc<Program> {
    let module = gpu.load_module(None, image, &JitOptions::none()).expect("it is PTX");
    Arc::clone(&gpu.code.modules.get(module).expect("it was loaded").program)
}

/// A trial tells its server of a module, and the trials after it find it there, wherever their variables lie.
#[test]
fn what_a_trial_has_loaded_the_next_one_knows() {
    let text = format!("{KERNELS}.global .u32 counter = 5;");
    let image = Image::of(text.as_bytes());
    let wants = TrialsWant { table: true, native: true };
    let mut known = KnownModules::default();
    known.open();
    let mut programs = Vec::new();
    for round in 0..3 {
        let mut bench = Bench::new();
        bench.gpu.code.known = known;
        programs.push([loaded(&mut bench.gpu, &image), loaded(&mut bench.gpu, &image)]);
        let [(first, _), (second, _)] =
            [0, 1].map(|at| programs[round][at].variable("counter").expect("it has one"));
        assert_eq!((bench.read(first), bench.read(second)), (5, 5));
        assert_ne!(first, second);
        let mut learning = std::mem::take(&mut bench.gpu.code.known);
        // The first round has loaded it twice.
        assert_eq!(learning.learn(&bench.gpu.config, wants), round == 0);
        assert!(learning.find(&image).is_some() && learning.find(&Image::of(KERNELS.as_bytes())).is_none());
        known = learning;
    }
    for at in [0, 1] {
        assert!(!Arc::ptr_eq(&programs[0][at], &programs[1][at]));
        assert!(Arc::ptr_eq(&programs[1][at], &programs[2][at]));
    }
}
