//! `host_habits`: `cbe_dot`'s kernel without fences, and what hosts do before and after a launch. It is for tests
//! of how trials are run: each habit says what it does.
//!
//! Exit codes are those of all programs under test; with a habit that ends otherwise, they show where the
//! device's sum is right.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio, abort};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use bugaroo_apps_host::{CheckVerdict, Device, conclude, shape};
use clap::{Parser, ValueEnum};
use cudarc::driver::{CudaSlice, CudaStream, PushKernelArg as _};
use cudarc::nvrtc::Ptx;

const KERNELS: &str = include_str!("../../cbe_dot/kernel.ptx");
const BLOCKS: u32 = 32;
const THREADS_PER_BLOCK: u32 = 256;
const SIZE: u16 = 2048;

/// cbe_dot's kernel without fences, with things that a host does around a launch.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// What the host does
    habit: Habit,
    /// A file of its own; any path also serves to find its processes by
    file: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Habit {
    /// Nothing else
    None,
    /// Prints to both outputs before the launch, and half a line that is not flushed
    Prints,
    /// Reads half of its file before the launch, and the rest after it
    Reads,
    /// Writes its file before the launch
    Writes,
    /// Writes its file before the launch and leaves it open
    KeepsOpen,
    /// Starts a thread before the launch
    Threads,
    /// Starts a process before the launch
    Processes,
    /// Runs a process before the launch, and reads what it says
    Runs,
    /// The same, and the process writes to our outputs
    RunsAloud,
    /// A thread that has ended before the launch wrote the file
    WroteByThread,
    /// Notes that it was forked, and does not work then
    RefusesForks,
    /// Starts a thread between the launch and the wait for it
    ThreadsLater,
    /// Loads modules behind the first launch, the same ones twice, and runs them
    LoadsLater,
    /// Writes to all of its memory, some 40 MiB, before the launch and behind it
    Rewrites,
    /// Makes an empty file between the launch and the wait for it, named as its file and its process id
    MarksLater,
    /// Aborts where the sum is wrong
    Crashes,
    /// Never ends where the sum is wrong
    Hangs,
    /// Launches the kernel over and over where the sum is wrong
    Works,
    /// Reads half of a line of standard input before the launch, and the rest after it, and prints that
    Asks,
    /// Leaves a process behind, whose number it writes to its file
    Leaves,
}

fn main() -> ExitCode {
    conclude("host_habits", run(&Options::parse()))
}

fn run(options: &Options) -> anyhow::Result<CheckVerdict> {
    let Options { habit, file } = options;
    let ones = vec![1_f32; usize::from(SIZE)];
    let device = Device::open(KERNELS)?;
    let kernel = device.kernel("dot_no_fence")?;
    let stream = &device.stream;
    let a = stream.clone_htod(&ones)?;
    let mut sum = stream.alloc_zeros::<f32>(1)?;
    let mut mutex = stream.alloc_zeros::<i32>(1)?;
    let size = i32::from(SIZE);

    let mut opened = None;
    let mut memory = if *habit == Habit::Rewrites { numbers() } else { Vec::new() };
    match habit {
        Habit::Prints => {
            println!("before the launch");
            eprintln!("before the launch, on the other output");
            print!("half a line, ");
        }
        Habit::Reads => {
            let mut reader = File::open(file)?;
            let mut half = [0; 4];
            reader.read_exact(&mut half)?;
            opened = Some(reader);
        }
        Habit::Writes => OpenOptions::new().append(true).create(true).open(file)?.write_all(b"written\n")?,
        Habit::KeepsOpen => opened = Some(OpenOptions::new().append(true).create(true).open(file)?),
        Habit::Threads => drop(thread::spawn(|| thread::sleep(Duration::from_secs(1000)))),
        Habit::Processes => drop(asleep()?),
        // SAFETY: the handler writes to an atomic alone.
        Habit::RefusesForks => unsafe {
            anyhow::ensure!(libc::pthread_atfork(None, None, Some(was_forked)) == 0, "pthread_atfork");
        },
        Habit::Runs => {
            anyhow::ensure!(Command::new("echo").arg("said").output()?.stdout == b"said\n", "echo")
        }
        Habit::RunsAloud => anyhow::ensure!(Command::new("echo").arg("said").status()?.success(), "echo"),
        Habit::WroteByThread => {
            let path = file.clone();
            let wrote = thread::spawn(move || fs::write(path, b"written\n")).join();
            wrote.map_err(|_| anyhow::anyhow!("the thread panicked"))??;
        }
        Habit::Asks => {
            let mut half = [0; 4];
            // Past the buffer of the standard library, which would read all of it.
            File::from(std::io::stdin().as_fd().try_clone_to_owned()?).read_exact(&mut half)?;
            print!("{}", String::from_utf8_lossy(&half));
        }
        Habit::None
        | Habit::ThreadsLater
        | Habit::LoadsLater
        | Habit::Rewrites
        | Habit::MarksLater
        | Habit::Works
        | Habit::Crashes
        | Habit::Hangs
        | Habit::Leaves => {}
    }

    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&a).arg(&a).arg(&mut sum).arg(&mut mutex).arg(&size);
    // SAFETY: the arguments are the kernel's parameters, in order and type; the kernel reads `size`
    // elements of the vector and writes one of `sum` and `mutex`, which is what they hold.
    unsafe { launch.launch(shape(BLOCKS, THREADS_PER_BLOCK)) }.context("the launch failed")?;
    match habit {
        Habit::ThreadsLater => drop(thread::spawn(|| thread::sleep(Duration::from_secs(1000)))),
        Habit::MarksLater => drop(File::create(file.with_extension(std::process::id().to_string()))?),
        _ => {}
    }
    let sum = stream.clone_dtoh(&sum).context("the kernel failed")?[0];

    let expected = f32::from(SIZE);
    match habit {
        Habit::LoadsLater => {
            for _ in 0..2 {
                println!("the sum is {}", sum_again(stream, &a)?);
                println!("the table holds {:?}", table(stream)?);
            }
        }
        Habit::Rewrites => {
            for round in 0..3 {
                let wrong =
                    memory.iter().flatten().zip(0..).filter(|(number, index)| **number != *index + round);
                println!("{} numbers are wrong", wrong.count());
                memory.iter_mut().flatten().for_each(|number| *number += 1);
            }
        }
        Habit::Reads => {
            let mut rest = String::new();
            opened.context("it was opened")?.read_to_string(&mut rest)?;
            println!("the rest of the file is {rest:?}");
        }
        Habit::Crashes if sum != expected => abort(),
        Habit::Hangs if sum != expected => loop {
            thread::sleep(Duration::from_secs(1));
        },
        Habit::Works if sum != expected => loop {
            let zero = stream.clone_htod(&[0_i32])?;
            let mut sum = stream.alloc_zeros::<f32>(1)?;
            let mut launch = stream.launch_builder(&kernel);
            launch.arg(&a).arg(&a).arg(&mut sum).arg(&zero).arg(&size);
            // SAFETY: as above.
            unsafe { launch.launch(shape(BLOCKS, THREADS_PER_BLOCK)) }.context("the launch failed")?;
            stream.synchronize().context("the kernel failed")?;
        },
        Habit::Asks => {
            let mut rest = String::new();
            File::from(std::io::stdin().as_fd().try_clone_to_owned()?).read_to_string(&mut rest)?;
            println!("{rest}");
        }
        Habit::Leaves => fs::write(file.with_extension(std::process::id().to_string()), asleep()?)?,
        _ => {}
    }
    anyhow::ensure!(!FORKED.load(Ordering::Relaxed), "this process was forked");
    Ok(if sum == expected {
        Ok(format!("{sum} is right"))
    } else {
        Err(format!("{sum} instead of {expected}"))
    })
}

/// Numbers from 0 in blocks of many sizes, from the heap and from the system.
fn numbers() -> Vec<Vec<u64>> {
    let sizes = [64, 1 << 10, 10_000, 100_000, 1 << 20].into_iter().cycle();
    let mut next = 0..;
    sizes.take(20).map(|size| next.by_ref().take(size).collect()).collect()
}

/// The sum of another module of the same text.
fn sum_again(stream: &Arc<CudaStream>, a: &CudaSlice<f32>) -> anyhow::Result<f32> {
    let kernel = stream.context().load_module(Ptx::from_src(KERNELS))?.load_function("dot_no_fence")?;
    let mut sum = stream.alloc_zeros::<f32>(1)?;
    let (mutex, size) = (stream.alloc_zeros::<i32>(1)?, i32::from(SIZE));
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(a).arg(a).arg(&mut sum).arg(&mutex).arg(&size);
    // SAFETY: as for the first launch.
    unsafe { launch.launch(shape(BLOCKS, THREADS_PER_BLOCK)) }?;
    Ok(stream.clone_dtoh(&sum)?[0])
}

/// What a module's variables hold, which a kernel of it changes.
fn table(stream: &Arc<CudaStream>) -> anyhow::Result<Vec<u64>> {
    let kernel = stream.context().load_module(Ptx::from_src(TABLE))?.load_function("read")?;
    let out = stream.alloc_zeros::<u64>(4)?;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&out);
    // SAFETY: the kernel writes four numbers.
    unsafe { launch.launch(shape(1, 1)) }?;
    Ok(stream.clone_dtoh(&out)?)
}

/// A module with variables of all kinds that say something: a number, how far apart two of them are, a constant, and whether a
/// pointer leads where it should.
const TABLE: &str = ".version 7.0
.target sm_70
.address_size 64
.global .align 8 .u64 counter = 41;
.global .align 8 .u64 places[2] = {counter, generic(counter)+8};
.const .align 4 .u32 factor = 3;
.visible .entry read(.param .u64 out) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<16>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [out];
    ld.global.u64 %rd2, [counter];
    add.u64 %rd2, %rd2, 1;
    st.global.u64 [counter], %rd2;
    st.global.u64 [%rd1], %rd2;
    ld.global.u64 %rd3, [places];
    ld.global.u64 %rd4, [places+8];
    sub.u64 %rd5, %rd4, %rd3;
    st.global.u64 [%rd1+8], %rd5;
    ld.const.u32 %r1, [factor];
    cvt.u64.u32 %rd6, %r1;
    st.global.u64 [%rd1+16], %rd6;
    ld.u64 %rd7, [%rd3];
    st.global.u64 [%rd1+24], %rd7;
    ret;
}
";

/// Whether the process is a fork, by its own account.
static FORKED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn was_forked() {
    FORKED.store(true, Ordering::Relaxed);
}

/// Starts a process that outlives us, if nobody kills it; its number.
fn asleep() -> anyhow::Result<String> {
    let mut command = Command::new("sleep");
    command.arg("100000").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.spawn()?.id().to_string())
}
