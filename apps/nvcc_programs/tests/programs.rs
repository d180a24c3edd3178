//! Each program, built by nvcc with either runtime, passes 50 trials under injection; and what it prints is right.

use std::path::Path;

use crate::support::{Runtime, build, nvcc, passes_under_injection, programs, python, run};

fn both_runtimes(source: &str, options: &[&str]) {
    let Some(nvcc) = nvcc() else { return };
    for runtime in [Runtime::Static, Runtime::Shared] {
        passes_under_injection(&[&build(&nvcc, source, runtime)], options);
    }
}

macro_rules! programs {
    ($($test:ident: $source:literal $($option:literal)*;)*) => {$(
        #[test]
        fn $test() {
            both_runtimes($source, &[$($option),*]);
        }
    )*};
}

programs! {
    cub_algorithms: "cub_algorithms.cu";
    thrust_algorithms: "thrust_algorithms.cu";
    cooperative_grid_sync: "grid_sync.cu";
    streams_and_events: "streams_events.cu";
    managed_and_mapped_memory: "managed.cu";
    relocatable_device_code: "two_files/main.cu";
    device_printf_assert_malloc: "device_printf.cu" "--oracle" "reference";
    atomics_of_libcudacxx: "atomics.cu";
    asynchronous_copies_and_tensor_cores: "tensor_tiles.cu";
    graphs: "graphs.cu";
    nodes_of_graphs: "graph_nodes.cu";
    tensor_copies: "tensor_copies.cu";
    launches_from_the_device: "device_launches.cu";
    clusters: "clusters.cu";
    polling_by_the_host: "mailbox.cu";
    calls_while_a_kernel_waits_for_the_host: "latch.cu";
    textures_and_surfaces: "textures.cu";
}

#[test]
fn device_printf_prints_what_printf_prints() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "device_printf.cu", Runtime::Static);
    let oracle = r"stdout:^before\nsum 20032,  0\.33\|left  \|0000beef x 1099511627776%\nafter\n$";
    let ran = run(&["run", "--trials", "5", "--oracle", oracle], &[&program]);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// What looks for races and what proves barriers goes past lookups.
#[test]
fn textures_are_no_races_and_no_obstacle() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "textures.cu", Runtime::Static);
    for command in [
        &["race", "--trials", "12"][..],
        &["race", "--trials", "12", "--detector", "barracuda"],
        &["race", "--trials", "12", "--detector", "scord"],
        &["race", "--trials", "6", "--handlers", "--detector", "barracuda"],
        &["run", "--trials", "20", "--handlers"],
        &["run", "--trials", "20", "--model", "ptx"],
    ] {
        let ran = run(command, &[&program]);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(0), "{command:?}: {said}{}", String::from_utf8_lossy(&ran.stdout));
    }
}

/// Warps in lockstep make their lanes' talk right, and no other mistake.
#[test]
fn warp_synchronous_programs_pass_in_lockstep() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "warp_synchronous.cu", Runtime::Static);
    passes_under_injection(&[&program], &["--warp-synchronous"]);
    let finds = |options: &[&str], arguments: &[&Path]| {
        let ran = run(&[&["run", "--trials", "30", "--no-fork-server"], options].concat(), arguments);
        let said = String::from_utf8_lossy(&ran.stderr);
        // Without injection it may fail, too.
        assert!(matches!(ran.status.code(), Some(1 | 3)), "{said}");
        assert!(ran.status.code() == Some(1) || said.contains("passes with --warp-synchronous"), "{said}");
    };
    finds(&[], &[&program]);
    finds(&["--warp-synchronous"], &[&program, Path::new("unfenced")]);
    // One that crashes is told of lockstep, too.
    finds(&[], &[&program, Path::new("astray")]);
}

/// Conda and wheels link so.
#[test]
fn a_runtime_that_the_program_says_where_to_find_is_redirected() {
    let Some(nvcc) = nvcc() else { return };
    passes_under_injection(&[&build(&nvcc, "streams_events.cu", Runtime::OwnPath)], &[]);
}

#[test]
fn numba_reduction() {
    let Some(python) = python() else { return };
    passes_under_injection(&[&python, &programs().join("numba_reduction.py")], &[]);
}

#[test]
fn nvrtc_machine_code() {
    let Some(python) = python() else { return };
    passes_under_injection(&[&python, &programs().join("nvrtc_machine_code.py")], &[]);
}

/// As of torch, of which tensors work, and kernels do not.
#[test]
fn machine_code_is_refused_when_a_kernel_of_it_is_launched_and_the_kernel_is_named() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "machine_code.cu", Runtime::Static);
    let ran = run(&["run", "--trials", "2"], &[&program, Path::new("launches")]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(4), "{said}");
    let named = "the module of the kernel `void twice<int>(int*)` is a fat binary that does not fit: it holds machine code only (sm_75)";
    assert!(said.contains(named), "{said}");
    let ran = run(&["run", "--trials", "2"], &[&program]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{said}");
}
