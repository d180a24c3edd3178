//! BARRACUDA fed with what device code logs, in a process under test: from the orders to the report.

use bugaroo_cuda_abi::CUfunction;
use bugaroo_protocol::{Detector, Message, Orders, Race};
use cuda::api::context::cuCtxSynchronize;
use cuda::api::module::cuModuleGetFunction;

use crate::support::{
    Device, Trial, baseline, launch, load, parameter, store_buffers, trial, upload, varied,
};

const KERNELS: &str = concat!(
    include_str!("support/racing.ptx"),
    r"
.visible .global .align 4 .u32 counter;

// Each thread writes its number to the first word, and those of even number to the next.
.visible .entry all(.param .u64 words)
{
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p, %r2, 0;
    @%p st.global.u32 [%rd1+4], %r1;
    atom.global.add.u32 %r2, [counter], 1;
    ret;
}

// Sides of a branch write one word.
.visible .entry sides(.param .u64 words)
{
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p, %r2, 0;
    @%p bra OTHER;
    st.global.u32 [%rd1], 1;
    bra BEHIND;
OTHER:
    st.global.u32 [%rd1], 2;
BEHIND:
    @%p st.global.u32 [%rd1+8], 7;
    ret;
}

"
);

/// A kernel that copies asynchronously.
const COPIES: &str = r"
.version 8.0
.target sm_80
.address_size 64

.visible .entry copies(.param .u64 words)
{
    .shared .align 16 .b8 word[16];
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
    cp.async.ca.shared.global [word], [%rd1], 16;
    cp.async.wait_all;
    ret;
}
";

fn kernel(source: &str, name: &std::ffi::CStr) -> CUfunction {
    let module = load(source).expect("the kernels load");
    let mut function = std::ptr::null_mut();
    // SAFETY: the place is one for a handle, the name a C string.
    let found = unsafe { cuModuleGetFunction(&mut function, module, name.as_ptr()) };
    assert_eq!(found, cuda::Status::Success);
    function
}

fn run(test: &str, orders: &Orders, kernels: &[(&std::ffi::CStr, u32, u32)]) -> Trial {
    trial(test, orders, || {
        let device = Device::new();
        let words = upload(&[0_u32; 64]);
        for (name, grid, block) in kernels {
            let function = kernel(KERNELS, name);
            assert_eq!(launch(function, *grid, *block, &[parameter(&words)]), cuda::Status::Success);
            assert_eq!(cuCtxSynchronize(), cuda::Status::Success);
        }
        // The end of the process must tell, too.
        std::mem::forget(device);
    })
}

/// What users read of a race: its kind and class, how often, and its places. Who it was depends on the schedule.
fn line(race: &Race) -> String {
    let place = |party: &bugaroo_protocol::RaceParty| {
        let at = party.at.as_ref().expect("a thread");
        format!("{} {:?} {:?} {:?} {}", party.kernel, party.site, party.access, at.ptx_line, at.instruction)
    };
    let Race { detector, kind, class, shared, proven, .. } = race;
    let (first, second) = (place(&race.first), place(&race.second));
    format!("{detector:?} {kind:?} {class:?} {shared} {proven}: {first} / {second}")
}

fn lines(trial: &Trial) -> Vec<String> {
    let races = |message: &Message| match message {
        Message::Races(races) => races.races.clone(),
        _ => Vec::new(),
    };
    let mut lines: Vec<String> = trial.messages.iter().flat_map(races).map(|race| line(&race)).collect();
    lines.sort();
    lines
}

fn orders(handlers: bool, seed: u64) -> Orders {
    varied(Orders { seed, ..baseline() }, |variation| {
        variation.race = vec![Detector::Barracuda];
        variation.handlers = handlers;
    })
}

/// Several launches, one after the other; the same module for each.
#[test]
fn reports_are_those_of_the_engine() {
    let kernels =
        [(c"all", 1, 64), (c"none", 1, 64), (c"barrier", 2, 64), (c"sides", 1, 32), (c"pass", 2, 1)];
    for seed in 0..4 {
        let test = "reports_are_those_of_the_engine";
        let engine = lines(&run(test, &orders(false, seed), &kernels));
        let device = lines(&run(test, &orders(true, seed), &kernels));
        assert!(engine.len() >= 5, "{engine:#?}");
        assert_eq!(engine, device);
    }
}

/// Pairs of places that race, by this detector.
fn shown(trial: &Trial, detector: Detector) -> Vec<String> {
    let races = trial.messages.iter().filter_map(|message| match message {
        Message::Races(races) => Some(races),
        _ => None,
    });
    let mut shown = Vec::new();
    let mut accesses = 0;
    for races in races {
        accesses += races.accesses;
        for race in &races.races {
            assert_eq!((race.detector, race.proven), (detector, false));
            let place = |party: &bugaroo_protocol::RaceParty| {
                let at = party.at.as_ref().expect("a thread");
                format!("{} {:?} {:?} {}", party.kernel, party.site, at.ptx_line, at.instruction)
            };
            let mut places = [place(&race.first), place(&race.second)];
            places.sort();
            shown.push(format!("{:?} {} {places:?}", race.class, race.shared));
        }
    }
    shown.sort();
    shown.dedup();
    assert!(accesses > 8, "{accesses} accesses of warps");
    shown
}

/// Device code takes turns of its own, so either access of a race may come first.
fn on_the_device_as_natively(
    test: &str,
    detector: Detector,
    kernels: &[(&std::ffi::CStr, u32, u32)],
    least: usize,
) {
    for seed in 0..3 {
        let orders = |handlers| varied(orders(handlers, seed), |variation| variation.race = vec![detector]);
        let native = shown(&run(test, &orders(false), kernels), detector);
        let device = shown(&run(test, &orders(true), kernels), detector);
        assert!(native.len() >= least, "{native:#?}");
        assert_eq!(native, device);
    }
}

#[test]
fn hirace_on_the_device_reports_what_it_does_natively() {
    let test = "hirace_on_the_device_reports_what_it_does_natively";
    on_the_device_as_natively(test, Detector::Hirace, &[(c"barrier", 2, 64), (c"pass", 2, 1)], 2);
}

#[test]
fn scord_on_the_device_reports_what_it_does_natively() {
    let test = "scord_on_the_device_reports_what_it_does_natively";
    on_the_device_as_natively(test, Detector::Scord, &[(c"all", 4, 32), (c"pass", 2, 1)], 2);
}

/// What the trial says could not be looked at.
fn warnings(trial: &Trial) -> Vec<String> {
    let races = |message: &Message| match message {
        Message::Races(races) => races.warnings.clone(),
        _ => Vec::new(),
    };
    trial.messages.iter().flat_map(races).map(|(what, _)| what).collect()
}

#[test]
fn a_kernel_that_cannot_be_logged_runs_and_is_named() {
    let trial = trial("a_kernel_that_cannot_be_logged_runs_and_is_named", &orders(true, 0), || {
        let device = Device::new();
        let words = upload(&[0_u32; 64]);
        let copies = kernel(COPIES, c"copies");
        assert_eq!(launch(copies, 1, 1, &[parameter(&words)]), cuda::Status::Success);
        std::mem::forget(device);
    });
    let told = warnings(&trial);
    let [what] = &told[..] else { panic!("{told:?}") };
    assert!(
        what.starts_with("kernel copies is not looked at: logging on the device does not know"),
        "{what}"
    );
    assert!(what.contains("cp.async.ca.shared.global") && what.contains("(line 11, in copies)"), "{what}");
}

fn unsupported(trial: &Trial) -> Vec<String> {
    let what = |message: &Message| match message {
        Message::Unsupported { what } => Some(what.clone()),
        _ => None,
    };
    trial.messages.iter().filter_map(what).collect()
}

#[test]
fn what_a_log_does_not_say_is_refused() {
    for (orders, part) in [
        (
            varied(orders(true, 0), |variation| variation.race = vec![Detector::Ptx]),
            "device code is there for barracuda, hirace and scord, one at a time",
        ),
        (
            varied(orders(true, 0), |variation| variation.race = vec![Detector::Scord, Detector::Hirace]),
            "one at a time",
        ),
        (
            varied(orders(true, 0), |variation| variation.race = vec![Detector::Barracuda, Detector::Hirace]),
            "one at a time",
        ),
        (
            varied(store_buffers(0.5), |variation| {
                variation.race = vec![Detector::Barracuda];
                variation.handlers = true;
            }),
            "without weak memory",
        ),
    ] {
        let trial = trial("what_a_log_does_not_say_is_refused", &orders, || {
            assert_eq!(cuda::api::init::cuInit(0), cuda::Status::NotSupported);
        });
        let told = unsupported(&trial);
        assert!(told.iter().any(|what| what.contains(part)), "{told:?}");
    }
}
