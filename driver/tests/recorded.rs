//! Launches as they are, in the driver's report: what each holds, and that what is large is said once.

use bugaroo_cuda_abi::CUdeviceptr;
use bugaroo_protocol::{Hex, Message, Orders, RecordedLaunch};
use cuda::Status;
use cuda::api::context::cuCtxSynchronize;
use cuda::api::copy::cuMemcpyHtoD_v2;
use cuda::api::module::cuModuleGetGlobal_v2;

use crate::support::{baseline, launch, load, parameter, trial};

const KERNEL: &str = ".version 7.0
.target sm_70
.address_size 64
.visible .const .align 4 .b32 plain;
.visible .const .align 4 .b32 initial = 5;
.global .align 4 .b32 table[2] = {1, 2};
.visible .global .align 4 .b32 visible = 3;
.visible .entry nothing(.param .u64 place, .param .u32 number)
{
    ret;
}
";

/// Address of a variable.
fn address(module: bugaroo_cuda_abi::CUmodule, name: &std::ffi::CStr) -> CUdeviceptr {
    let mut address = 0;
    // SAFETY: the places are ones for an address and a size, the name a C string.
    let found = unsafe { cuModuleGetGlobal_v2(&mut address, std::ptr::null_mut(), module, name.as_ptr()) };
    assert_eq!(found, Status::Success);
    address
}

fn write(place: CUdeviceptr, value: u32) {
    // SAFETY: the value has four bytes.
    let done = unsafe { cuMemcpyHtoD_v2(place, std::ptr::from_ref(&value).cast(), 4) };
    assert_eq!(done, Status::Success);
}

fn run() {
    assert_eq!(cuda::api::init::cuInit(0), Status::Success);
    let mut context = std::ptr::null_mut();
    // SAFETY: the place is one for a handle.
    assert_eq!(unsafe { cuda::api::context::cuCtxCreate_v2(&mut context, 0, 0) }, Status::Success);
    let module = load(KERNEL).expect("the kernel loads");
    let mut function = std::ptr::null_mut();
    // SAFETY: the place is one for a handle, the name a C string.
    let found = unsafe { cuda::api::module::cuModuleGetFunction(&mut function, module, c"nothing".as_ptr()) };
    assert_eq!(found, Status::Success);
    let go = |place: u64, number: u32| {
        let done = launch(function, 3, 64, &[parameter(&place), parameter(&number)]);
        assert_eq!(done, Status::Success);
        assert_eq!(cuCtxSynchronize(), Status::Success);
    };
    go(1, 2);
    write(address(module, c"plain"), 7);
    go(1, 2);
    go(1, 3);
    write(address(module, c"initial"), 7);
    write(address(module, c"visible"), 7);
    go(1, 2);
    // Its address is among the parameters: the kernel may write it.
    go(address(module, c"table") + 4, 2);
    write(address(module, c"table"), 7);
    go(1, 2);
    // The same text again.
    assert!(load(KERNEL).is_ok());
}

#[test]
fn launches_are_told_as_they_are() {
    let orders = Orders { launches: true, ..baseline() };
    let trial = trial("launches_are_told_as_they_are", &orders, run);
    let mut told: Vec<&RecordedLaunch> = Vec::new();
    let (mut texts, mut contents) = (Vec::new(), Vec::new());
    for message in &trial.messages {
        match message {
            Message::ModuleText { digest, text } => texts.push((digest.as_str(), text.as_str())),
            Message::VariableBytes { digest, bytes } => contents.push((digest.as_str(), bytes)),
            Message::Recorded(launch) => told.push(launch),
            _ => {}
        }
    }
    let [(module, text)] = texts[..] else { panic!("{} texts", texts.len()) };
    assert_eq!(text, KERNEL);
    let first = told[0];
    assert_eq!((first.module.as_str(), first.kernel.as_str()), (module, "nothing"));
    assert_eq!((first.grid, first.block, first.cluster), ([3, 1, 1], [64, 1, 1], None));
    let params = |number: u8| Hex([&1_u64.to_le_bytes()[..], &[number, 0, 0, 0]].concat());
    assert_eq!((&first.params, first.dynamic_shared, &first.tensors), (&params(2), 0, &vec![]));
    assert_eq!(told[2].params, params(3));
    // What each constant holds, unless it is as its initialiser says, and each variable that no kernel writes, unless the text alone says that it
    // keeps its value.
    let held = |launch: &RecordedLaunch| -> Vec<(String, Hex)> {
        let bytes = |digest: &str| {
            let found = contents.iter().find(|(known, _)| *known == digest);
            (*found.expect("said before").1).clone()
        };
        launch.constants.iter().map(|(name, digest)| (name.clone(), bytes(digest))).collect()
    };
    let word = |name: &str, value: u8| (name.to_owned(), Hex(vec![value, 0, 0, 0]));
    let wanted = [
        vec![word("plain", 0), word("visible", 3)],
        vec![word("plain", 7), word("visible", 3)],
        vec![word("plain", 7), word("visible", 3)],
        vec![word("plain", 7), word("initial", 7), word("visible", 7)],
    ];
    assert_eq!(told.len(), 6);
    for (launch, wanted) in told.iter().zip(&wanted) {
        assert_eq!(held(launch), *wanted);
        assert_eq!(launch.changed, [""; 0]);
    }
    // Each content is said once, whatever variable holds it.
    assert_eq!(contents.len(), 4);
    // What the kernel may write by its address is not known.
    assert_eq!((&told[4].changed[..], held(told[4])), (&["table".to_owned()][..], wanted[3].clone()));
    let table = ("table".to_owned(), Hex(vec![7, 0, 0, 0, 2, 0, 0, 0]));
    let wanted = [word("plain", 7), word("initial", 7), table, word("visible", 7)];
    assert_eq!((&told[5].changed[..], &held(told[5])[..]), (&[][..], &wanted[..]));
}

#[test]
fn nobody_is_told_who_did_not_ask() {
    let trial = trial("nobody_is_told_who_did_not_ask", &baseline(), run);
    let recorded = |message: &&Message| {
        matches!(message, Message::ModuleText { .. } | Message::VariableBytes { .. } | Message::Recorded(_))
    };
    assert_eq!(trial.messages.iter().filter(recorded).count(), 0);
    assert_eq!(trial.launches().len(), 6);
}
