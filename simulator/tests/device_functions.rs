//! printf, assert and malloc of device code, calls by pointer, recursion, structures by value, local memory that
//! grows: as nvcc compiles them, plain and with stores delayed.

use crate::injected::{Argument, Injection, Outcome, Prepared, Work, run, run_original, words};
use crate::support::Device;
use bugaroo_device_handlers::HandlerModel;
use bugaroo_simulator::{ConsoleStream, End, LaunchSpec, RandomScheduler, StopKind, launch};

const PTX: &str = include_str!("kernels/device_functions.ptx");

/// Runs a kernel plain and with every degree of delay; what comes out must be the same.
fn outcome(prepared: &Prepared, work: &Work<'_>) -> Outcome {
    let plain = run_original(prepared, work, 0);
    for pw in [0.0, 0.5, 1.0] {
        for seed in 0..3 {
            let injection = Injection::new(HandlerModel::StoreBuffer, pw);
            let injected = run(prepared, work, Some(&injection), seed);
            assert_eq!(injected.buffers, plain.buffers, "{}, {pw}, seed {seed}", work.kernel);
            assert_eq!(injected.printed, plain.printed, "{}, {pw}, seed {seed}", work.kernel);
            assert_eq!(
                std::mem::discriminant(&injected.end),
                std::mem::discriminant(&plain.end),
                "{:?} {:?}",
                injected.end,
                plain.end
            );
        }
    }
    plain
}

fn results(kernel: &str, more: &[Argument]) -> Vec<u32> {
    let mut arguments = vec![words(&[0; 64])];
    arguments.extend_from_slice(more);
    outcome(&Prepared::new(PTX), &Work::new(kernel, 1, 64, &arguments)).complete().words(0)
}

fn each(value: impl Fn(i32) -> i32) -> Vec<u32> {
    (0..64).map(|t| value(t) as u32).collect()
}

fn fibonacci(n: i32) -> i32 {
    if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
}

#[test]
fn printf_formats_and_sees_the_threads_own_stores() {
    let arguments = [Argument::Buffer(b"block\0".to_vec()), words(&[0; 64])];
    let outcome = outcome(&Prepared::new(PTX), &Work::new("prints", 1, 64, &arguments)).complete();
    assert_eq!(outcome.words(1), [7; 64]);
    let mut expected = vec!["no arguments".to_string()];
    for t in 0..64u64 {
        let letter = char::from(b'a' + (t % 26) as u8);
        let (half, far) = (t as f64 * 0.5, t << 40);
        expected.push(format!("thread {t:2} of block: {half:5.2} {letter} {far} {:x} {}", 255 + t, 100 + t));
    }
    expected.sort();
    assert_eq!(outcome.printed, expected);
}

#[test]
fn a_failed_assertion_is_told_and_ends_the_launch() {
    let outcome = outcome(&Prepared::new(PTX), &Work::new("asserts", 1, 32, &[Argument::U32(31)]));
    let End::Fault(fault) = &outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!(fault.kind, StopKind::Assert);
    assert_eq!(fault.thread.thread, [31, 0, 0]);
    assert_eq!(fault.place.function, "asserts", "the call is the place, not the device's function");
    let [line] = outcome.printed.as_slice() else { panic!("{:?}", outcome.printed) };
    assert!(line.contains("device_functions.cu:"), "{line}");
    let rest =
        "block: [0,0,0], thread: [31,0,0] Assertion `(int)threadIdx.x < limit && \"too many\"` failed.";
    assert!(line.ends_with(rest), "{line}");
}

#[test]
fn assertions_go_to_the_standard_error_stream() {
    let mut device = Device::new(PTX);
    assert!(matches!(device.launch("asserts", 1, 32, &[30], 0).end, End::Fault(_)));
    let told = device.memory.console().take();
    assert!(told.iter().all(|(stream, _)| *stream == ConsoleStream::Error) && !told.is_empty());
    assert!(device.memory.console().take().is_empty());
}

#[test]
fn the_heap_gives_and_takes() {
    let n = 10;
    assert_eq!(results("heap", &[Argument::U32(n)]), each(|t| 10 * t + 45));
    assert_eq!(results("too_much", &[]), [1; 64]);
}

#[test]
fn heap_memory_outlives_the_kernel() {
    let mut device = Device::new(PTX);
    let out = device.buffer(256);
    let before = device.memory.allocations().count();
    assert_eq!(device.launch("keep", 1, 64, &[1000], 0).end, End::Complete);
    assert_eq!(device.memory.allocations().count(), before + 64);
    assert_eq!(device.launch("use", 1, 64, &[out, 1000], 0).end, End::Complete);
    assert_eq!(device.memory.allocations().count(), before);
    assert_eq!(device.words(out, 64), each(|t| 3 * t));
    device.memory.set_heap_limit(1 << 20);
    assert!(
        matches!(device.launch("keep", 1, 64, &[8192], 0).end, End::Fault(_)),
        "a null pointer is written to"
    );
}

#[test]
fn misused_heap_memory_faults() {
    let mut device = Device::new(PTX);
    let out = device.buffer(256);
    let fault = |end: End| match end {
        End::Fault(fault) => *fault,
        end => panic!("{end:?}"),
    };
    let twice = fault(device.launch("free_twice", 1, 1, &[], 0).end);
    assert!(matches!(twice.kind, StopKind::BadFree { .. }), "{twice}");
    assert_eq!(twice.place.function, "free_twice");
    let freed = fault(device.launch("use_freed", 1, 1, &[out], 0).end);
    assert!(matches!(freed.kind, StopKind::Freed { .. }), "{freed}");
}

#[test]
fn calls_by_pointer_and_by_value() {
    let shape = |t| if t & 1 == 1 { t * t * 2 } else { t * 3 + 2 };
    assert_eq!(results("virtuals", &[]), each(shape));
    let (more, twofold, less) = (|t: i32| t + 1, |t: i32| t * 2, |t: i32| t - 7);
    assert_eq!(results("pointers", &[]), {
        each(|t| match t % 3 {
            0 => more(t) * 1000 + less(t),
            1 => twofold(t) * 1000 + twofold(t),
            _ => less(t) * 1000 + more(t),
        })
    });
    assert_eq!(results("recursion", &[]), each(|t| fibonacci(t % 12)));
    assert_eq!(results("by_value", &[]), each(|t| (0..8).map(|i| (t + i) * t + i).sum::<i32>() + 1 + 2 * t));
}

#[test]
fn local_memory_grows() {
    let expected = |t: i32| {
        let size = 20 + t % 5;
        fibonacci(t % 6) + t * (size * (size - 1) / 2)
    };
    assert_eq!(results("growing", &[Argument::U32(20)]), each(expected));
    let outcome = run_original(
        &Prepared::new(PTX),
        &Work::new("growing", 1, 64, &[words(&[0; 64]), Argument::U32(1 << 28)]),
        0,
    );
    let End::Fault(fault) = &outcome.end else { panic!("{:?}", outcome.end) };
    assert!(matches!(fault.kind, StopKind::StackOverflow { .. }), "{fault}");
}

#[test]
fn parameters_may_be_large_and_have_addresses() {
    let mut device = Device::new(PTX);
    let out = device.buffer(128);
    let mut params: Vec<u8> = (0..4000u32).flat_map(|i| (i * 5).to_le_bytes()).collect();
    params.extend(out.to_le_bytes());
    let spec = LaunchSpec {
        kernel: "large_parameter",
        grid: [1; 3],
        block: [32, 1, 1],
        dynamic_shared: 0,
        params: &params,
        cluster: None,
        step_budget: Some(100_000),
    };
    let mut scheduler = RandomScheduler::new(0);
    let result = launch(&device.program, &mut device.memory, &device.config, &spec, &mut scheduler);
    assert_eq!(result.expect("a legal launch").end, End::Complete);
    let expected: Vec<u32> = (0..32).map(|t| 5 * (t * 100 + 7) + 5 * t).collect();
    assert_eq!(device.words(out, 32), expected);
}

#[test]
fn addresses_know_their_space() {
    assert_eq!(results("spaces", &[]), [7; 64]);
}
