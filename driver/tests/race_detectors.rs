//! Race detectors in a process under test, from the orders to the report.

use bugaroo_cuda_abi::{CUfunction, CUlaunchAttribute, CUlaunchAttributeValue, CUlaunchConfig};
use bugaroo_protocol::{Detector, FaultAccess, Message, Orders, Race, RaceClass, RaceKind, Races};
use cuda::api::context::cuCtxSynchronize;
use cuda::api::launch::cuLaunchKernelEx;
use cuda::api::module::cuModuleGetFunction;

use crate::support::{
    Device, Trial, baseline, launch, load, parameter, store_buffers, trial, upload, varied,
};

const KERNELS: &str = concat!(
    include_str!("support/racing.ptx"),
    r#"
// Each thread writes its number to the first word.
.visible .entry all(.param .u64 words)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}

// What two sides of a branch did, merged: line 0 is none.
.visible .entry merged(.param .u64 to) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    .loc 1 7 3
    ld.param.u64 %rd1, [to];
    mov.u32 %r1, %tid.x;
    .loc 1 0 0
    st.global.u32 [%rd1], %r1;
    .loc 1 9 1
    ret;
}

.file 1 "merged.cu"
"#
);

fn kernel(name: &std::ffi::CStr) -> CUfunction {
    let module = load(KERNELS).expect("the kernels load");
    let mut function = std::ptr::null_mut();
    // SAFETY: the place is one for a handle, the name a C string.
    let found = unsafe { cuModuleGetFunction(&mut function, module, name.as_ptr()) };
    assert_eq!(found, cuda::Status::Success);
    function
}

fn run(test: &str, orders: &Orders, name: &std::ffi::CStr, (grid, block): (u32, u32)) -> Trial {
    trial(test, orders, || {
        let device = Device::new();
        let words = upload(&[0_u32; 64]);
        assert_eq!(launch(kernel(name), grid, block, &[parameter(&words)]), cuda::Status::Success);
        assert_eq!(cuCtxSynchronize(), cuda::Status::Success);
        // The end of the process must tell, too.
        std::mem::forget(device);
    })
}

fn told(trial: &Trial) -> Vec<Races> {
    let races =
        |message: &Message| if let Message::Races(races) = message { Some(races.clone()) } else { None };
    trial.messages.iter().filter_map(races).collect()
}

fn races(trial: &Trial) -> Vec<Race> {
    told(trial).into_iter().flat_map(|told| told.races).collect()
}

fn barracuda() -> Orders {
    varied(baseline(), |variation| variation.race = vec![Detector::Barracuda])
}

#[test]
fn barracuda_finds_threads_that_write_one_word() {
    let trial = run("barracuda_finds_threads_that_write_one_word", &barracuda(), c"all", (1, 64));
    let races = races(&trial);
    let [warp, block] = &races[..] else { panic!("{races:?}") };
    assert_eq!((warp.class, block.class), (RaceClass::IntraWarp, RaceClass::IntraBlock));
    for race in &races {
        assert_eq!((race.detector, race.kind), (Detector::Barracuda, RaceKind::WriteWrite));
        assert!(!race.shared && race.proven && race.count > 0, "{race:?}");
        assert_eq!(race.first.access, FaultAccess::Store);
        let thread = race.second.at.as_ref().expect("a thread");
        assert!(thread.instruction.starts_with("st.global.u32"), "{thread:?}");
        assert_eq!(race.first.kernel, "all");
    }
    assert!(told(&trial).iter().any(|races| races.accesses > 0));
}

#[test]
fn an_access_without_a_line_is_told_near_the_line_before_it() {
    let ptx = varied(baseline(), |variation| variation.race = vec![Detector::Ptx]);
    let trial = run("an_access_without_a_line_is_told_near_the_line_before_it", &ptx, c"merged", (1, 2));
    let races = races(&trial);
    let [race] = &races[..] else { panic!("{races:?}") };
    let source = race.first.at.as_ref().and_then(|at| at.source.as_ref()).expect("a line");
    assert_eq!((source.file.as_str(), source.line, race.first.near_line), ("merged.cu", 7, true));
}

#[test]
fn barracuda_misses_a_barrier() {
    let found = races(&run("barracuda_misses_a_barrier", &barracuda(), c"none", (1, 64)));
    assert!(found.iter().any(|race| race.shared && race.class == RaceClass::IntraBlock), "{found:?}");
    for race in &found {
        let variable = race.allocation.as_ref().expect("a variable of shared memory");
        assert_eq!((variable.variable.as_deref(), variable.size, variable.offset), (Some("word"), 4, 0));
    }
}

#[test]
fn barracuda_knows_barriers() {
    assert_eq!(races(&run("barracuda_knows_barriers", &barracuda(), c"barrier", (1, 64))), []);
}

#[test]
fn barracuda_knows_fences() {
    let trial = run("barracuda_knows_fences", &barracuda(), c"pass", (2, 1));
    assert_eq!(races(&trial), []);
}

#[test]
fn detectors_look_on_under_models() {
    let orders = varied(store_buffers(0.5), |variation| variation.race = vec![Detector::Barracuda]);
    let found = races(&run("detectors_look_on_under_models", &orders, c"all", (1, 64)));
    assert!(!found.is_empty());
}

fn ptx() -> Orders {
    varied(baseline(), |variation| variation.race = vec![Detector::Ptx])
}

#[test]
fn the_exact_detector_finds_threads_that_write_one_word() {
    let trial = run("the_exact_detector_finds_threads_that_write_one_word", &ptx(), c"all", (2, 64));
    let races = races(&trial);
    assert!(!races.is_empty());
    for race in &races {
        assert_eq!((race.detector, race.kind), (Detector::Ptx, RaceKind::WriteWrite));
        assert!(race.proven && race.allocation.is_some(), "{race:?}");
    }
}

#[test]
fn the_exact_detector_misses_a_barrier() {
    let found = races(&run("the_exact_detector_misses_a_barrier", &ptx(), c"none", (1, 64)));
    assert!(found.iter().any(|race| race.shared && race.class == RaceClass::IntraBlock), "{found:?}");
}

#[test]
fn the_exact_detector_knows_barriers() {
    assert_eq!(races(&run("the_exact_detector_knows_barriers", &ptx(), c"barrier", (1, 64))), []);
}

#[test]
fn the_exact_detector_knows_fences() {
    assert_eq!(races(&run("the_exact_detector_knows_fences", &ptx(), c"pass", (2, 1))), []);
}

#[test]
fn several_detectors_look_on_together() {
    let orders = varied(baseline(), |variation| variation.race = vec![Detector::Ptx, Detector::Barracuda]);
    let found = races(&run("several_detectors_look_on_together", &orders, c"all", (1, 64)));
    for detector in [Detector::Ptx, Detector::Barracuda] {
        assert!(found.iter().any(|race| race.detector == detector), "{detector:?}: {found:?}");
    }
}

#[test]
fn launches_long_ago_are_let_go() {
    let trial = trial("launches_long_ago_are_let_go", &ptx(), || {
        let device = Device::new();
        let words = upload(&[0_u32; 64]);
        let (clean, racy) = (kernel(c"barrier"), kernel(c"all"));
        for at in 0..500 {
            assert_eq!(launch(clean, 1, 64, &[parameter(&words)]), cuda::Status::Success);
            if at % 10 == 0 {
                assert_eq!(cuCtxSynchronize(), cuda::Status::Success);
            }
        }
        assert_eq!(launch(racy, 1, 64, &[parameter(&words)]), cuda::Status::Success);
        assert_eq!(cuCtxSynchronize(), cuda::Status::Success);
        std::mem::forget(device);
    });
    let races = races(&trial);
    assert!(!races.is_empty());
    for race in races {
        assert_eq!((&*race.first.kernel, &*race.second.kernel), ("all", "all"));
        assert!(race.first.at.is_some() && race.second.at.is_some());
    }
}

#[test]
fn a_launch_that_may_begin_early_is_warned_of() {
    let trial = trial("a_launch_that_may_begin_early_is_warned_of", &ptx(), || {
        let device = Device::new();
        let words = upload(&[0_u32; 64]);
        for allowed in [0, 1] {
            let mut bytes = [0; 64];
            bytes[0] = allowed;
            // `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`
            let attribute = CUlaunchAttribute { id: 6, pad: [0; 4], value: CUlaunchAttributeValue { bytes } };
            let config = CUlaunchConfig {
                grid: [1, 1, 1],
                block: [64, 1, 1],
                shared_mem_bytes: 0,
                stream: std::ptr::null_mut(),
                attributes: &attribute,
                attribute_count: 1,
            };
            let each = [parameter(&words)];
            // SAFETY: the attribute is there, and so is what the kernel takes.
            let launched =
                unsafe { cuLaunchKernelEx(&config, kernel(c"barrier"), each.as_ptr(), std::ptr::null()) };
            assert_eq!(launched, cuda::Status::Success);
        }
        assert_eq!(cuCtxSynchronize(), cuda::Status::Success);
        std::mem::forget(device);
    });
    let warnings: Vec<_> = told(&trial).into_iter().flat_map(|told| told.warnings).collect();
    let [(what, 1)] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(what.contains("programmatic dependent launch"), "{what}");
}
