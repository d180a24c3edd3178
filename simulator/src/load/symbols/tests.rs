//! A module that is loaded again is what a load makes of it.

use bugaroo_ptx::parse;

use crate::memory::AllocationKind;
use crate::{DeviceConfig, End, LaunchSpec, Memory, Program, RandomScheduler, launch};

/// Variables with what they hold at first, and code that names them. None is managed: where that comes to lie, a second memory of
/// one process says anew.
const TEXT: &str = ".version 8.0
.target sm_75
.address_size 64
.global .align 4 .u32 counter = 7;
.global .align 8 .u64 places[3] = {counter, generic(counter)+4, callee};
.const .align 4 .u32 factors[2] = {3, 5};
.global .align 1 .b8 open[] = {1, 2, 3};
.global .align 4 .u32 __bugaroo_state[4];
.func callee() { ret; }
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .global .align 4 .u32 own = 11;
    ld.param.u64 %rd1, [out];
    ld.global.u32 %r1, [counter];
    ld.global.u32 %r2, [own];
    ld.const.u32 %r3, [factors+4];
    add.u32 %r1, %r1, %r2;
    st.global.u32 [%rd1], %r1;
    mov.u64 %rd2, places;
    st.global.u64 [%rd1+8], %rd2;
    ret;
}
";

fn memory() -> Memory {
    Memory::new(1 << 24).expect("there is room")
}

/// All variables, with what they hold.
fn held(program: &Program, memory: &Memory) -> Vec<(String, u64, Vec<u8>)> {
    let held = program.variables().map(|(name, (address, size))| {
        let mut bytes = vec![0; size as usize];
        memory.read(address, &mut bytes).expect("it lies there");
        (name.to_owned(), address, bytes)
    });
    held.collect()
}

#[test]
fn it_is_what_a_load_makes() {
    let (module, config) = (parse(TEXT).expect("it is PTX"), DeviceConfig::default());
    let (mut first, mut second) = (memory(), memory());
    let loaded = Program::load(&module, &mut first, &config).expect("it loads");
    let addresses = Program::needs(&module).place(&mut second).expect("there is room");
    assert_eq!(addresses, loaded.allocations());
    let (again, contents) = Program::load_at(&module, &addresses, &config).expect("it loads");
    contents.write(&mut second).expect("they are allocated");
    for (program, memory) in [(&loaded, &mut first), (&again, &mut second)] {
        let out = memory.alloc(16, 8, AllocationKind::Program).expect("there is room");
        let spec = LaunchSpec {
            kernel: "k",
            grid: [1; 3],
            block: [1; 3],
            dynamic_shared: 0,
            params: &out.to_le_bytes(),
            cluster: None,
            step_budget: None,
        };
        let ended = launch(program, memory, &config, &spec, &mut RandomScheduler::new(1));
        assert_eq!(ended.expect("the launch is right").end, End::Complete);
        let mut sum = [0; 4];
        memory.read(out, &mut sum).expect("it lies there");
        assert_eq!(u32::from_le_bytes(sum), 7 + 11);
    }
    assert_eq!(held(&again, &second), held(&loaded, &first));
    let names: Vec<_> = held(&again, &second).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["__bugaroo_state", "counter", "factors", "open", "own", "places"]);
    assert_eq!(first.digest(), second.digest());
    // Each frees what is its own.
    loaded.unload(&mut first);
    again.unload(&mut second);
    assert_eq!(first.available(), second.available());
}

#[test]
fn places_that_are_not_as_many_are_refused() {
    let (module, config) = (parse(TEXT).expect("it is PTX"), DeviceConfig::default());
    let addresses = Program::needs(&module).place(&mut memory()).expect("there is room");
    for wrong in [&addresses[1..], &[&addresses[..], &[64]].concat()] {
        let refused = Program::load_at(&module, wrong, &config).expect_err("one is missing, or one too many");
        assert!(refused.to_string().starts_with("`the module`: its variables are not"), "{refused}");
    }
}

#[test]
fn without_room_nothing_stays() {
    let module =
        parse(".version 8.0 .target sm_75 .address_size 64 .global .b8 a[1024]; .global .b8 b[1073741824];");
    let mut memory = memory();
    let before = memory.available();
    assert!(Program::needs(&module.expect("it is PTX")).place(&mut memory).is_err());
    assert_eq!(memory.available(), before);
}
