//! Offsets, sizes and counts at the edges of what 32 and 64 bits hold: what cannot be is refused when the module is
//! loaded, by line; what only is wrong ends the launch with a fault; and nothing else changes.

mod support;

use bugaroo_simulator::{DeviceConfig, End, Memory, Program, StopKind};
use support::Device;

/// Offsets at which sums, products and sign changes go wrong.
const EDGES: [&str; 22] = [
    "9223372036854775807",
    "9223372036854775800",
    "9223372036854775792",
    "9223372036854775776",
    "-9223372036854775808",
    "-9223372036854775800",
    "18446744073709551615",
    "18446744073709551600",
    "4611686018427387904",
    "4294967296",
    "4294967295",
    "4294967280",
    "2147483648",
    "2147483647",
    "2147483632",
    "-2147483648",
    "-2147483656",
    "-4294967296",
    "-1",
    "-8",
    "-16",
    "65536",
];

fn text(items: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{items}\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .b64 %rd<16>;\n.reg .b32 %r<8>;\n\
         ld.param.u64 %rd1, [out];\nmov.b64 %rd2, 17;\nmov.b64 %rd3, 18;\n{body}\n\
         st.global.b64 [%rd1], %rd2;\nst.global.b64 [%rd1+8], %rd3;\nret;\n}}\n"
    )
}

/// Why the kernel is refused, or None.
fn refused(source: &str) -> Option<String> {
    let module = bugaroo_ptx::parse(source).expect("the test's PTX parses");
    let mut memory = Memory::new(1 << 24).expect("address space");
    match Program::load(&module, &mut memory, &DeviceConfig::default()) {
        Err(error) => Some(error.to_string()),
        Ok(program) => program.kernel("k").expect("it is there").refused.as_ref().map(ToString::to_string),
    }
}

/// How a launch ends, and the two results.
fn run(source: &str) -> (End, u64, u64) {
    let mut device = Device::new(source);
    let out = device.buffer(64);
    let end = device.launch("k", 1, 40, &[out], 1).end;
    let words: Vec<u64> = device.words(out, 4).into_iter().map(u64::from).collect();
    (end, words[0] | words[1] << 32, words[2] | words[3] << 32)
}

#[test]
fn parameters_of_calls_have_no_bytes_beyond_their_end() {
    let items = ".func f(.param .align 16 .b8 a[16]) { ret; }";
    for edge in EDGES {
        for (store, vector) in
            [("b64", "%rd2"), ("v2.b64", "{%rd2, %rd3}"), ("v4.b32", "{%r1, %r2, %r3, %r4}"), ("b8", "%r1")]
        {
            let stores = format!(
                "{{\n.param .align 16 .b8 a[16];\nst.param.{store} [a+{edge}], {vector};\ncall f, (a);\n}}"
            );
            let source = text(items, &stores);
            let reason = refused(&source).unwrap_or_else(|| panic!("taken: {stores}"));
            assert!(reason.starts_with("line 14: k: `st.param"), "{reason}");
            let loads =
                format!("{{\n.param .align 16 .b8 a[16];\nld.param.{store} {vector}, [a+{edge}];\n}}");
            let reason = refused(&text("", &loads)).unwrap_or_else(|| panic!("taken: {loads}"));
            assert!(reason.contains("line 14: k: `ld.param"), "{reason}");
        }
    }
    // The last bytes are there.
    let last =
        "{\n.param .align 16 .b8 a[16];\nst.param.v2.b64 [a+0], {%rd2, %rd3};\nld.param.b64 %rd2, [a+8];\n}";
    assert_eq!(run(&text("", last)), (End::Complete, 18, 18));
}

#[test]
fn addresses_of_variables_with_wild_offsets_fault() {
    let items = ".global .align 16 .b8 global[64];\n.const .align 16 .b8 bank[64];";
    let own = ".shared .align 16 .b8 tile[64];\n.local .align 16 .b8 own[64];\n";
    for edge in EDGES {
        for (space, name) in [
            (".global", "global"),
            (".const", "bank"),
            (".shared", "tile"),
            (".local", "own"),
            (".param", "out"),
        ] {
            let loads = [
                format!("ld{space}.v2.b64 {{%rd2, %rd3}}, [{name}+{edge}];"),
                format!("ld{space}.b64 %rd2, [{name}+{edge}];"),
                format!("ld{space}.v4.b32 {{%r1, %r2, %r3, %r4}}, [{name}+{edge}];"),
            ];
            let stores = [
                format!("st{space}.v2.b64 [{name}+{edge}], {{%rd2, %rd3}};"),
                format!("mov.u64 %rd4, {name};\nst{space}.b64 [%rd4+{edge}], %rd2;"),
                format!("mov.u64 %rd4, {name}+{edge};\nst{space}.b64 [%rd4], %rd2;"),
                format!("mov.u32 %r4, {name};\nst{space}.b64 [%r4+{edge}], %rd2;"),
                format!("atom{space}.exch.b64 %rd2, [{name}+{edge}], %rd3;"),
                format!("atom{space}.global.v2.f32.add {{%r1, %r2}}, [{name}+{edge}], {{%r1, %r2}};"),
            ];
            let writable = matches!(space, ".global" | ".shared" | ".local");
            for access in loads.iter().chain(stores.iter().filter(|_| writable)) {
                let source = text(items, &format!("{own}{access}"));
                // Some of them address nothing that 64 bits hold, or are no instruction.
                if refused(&source).is_some() {
                    continue;
                }
                match run(&source).0 {
                    End::Fault(fault) => assert!(
                        matches!(fault.kind, StopKind::OutOfBounds { .. } | StopKind::Misaligned { .. }),
                        "{access}: {fault}"
                    ),
                    other => panic!("{access}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn functions_with_parameters_that_no_frame_holds_are_refused() {
    for size in ["2147483648", "4294967295", "4294967304", "4294967288", "17179869184", "9223372036854775807"]
    {
        let items = format!(
            ".func (.param .b64 r) f(.param .align 8 .b8 a[{size}])\n{{\n.reg .b64 %x<4>;\n\
             ld.param.b64 %x1, [a+1048576];\nst.param.b64 [r], %x1;\nret;\n}}"
        );
        let call =
            "{\n.param .b64 r;\n.param .align 8 .b8 a[16];\ncall (r), f, (a);\nld.param.b64 %rd2, [r];\n}";
        assert!(refused(&text(&items, call)).is_some(), "{size}");
        let pointer = "mov.u64 %rd4, f;\n{\n.param .b64 r;\n.param .align 8 .b8 a[16];\n\
                       p: .callprototype (.param .b64 _) _ (.param .align 8 .b8 _[16]);\n\
                       call (r), %rd4, (a), p;\n}";
        assert!(refused(&text(&items, pointer)).is_some(), "{size}");
    }
}

#[test]
fn the_devices_own_functions_are_declared_with_parameters_of_their_size() {
    // 2^32 + 8 bytes are none that `malloc` has.
    let items = ".extern .func (.param .b64 r) malloc(.param .b8 bytes[4294967304]);";
    let call =
        "{\n.param .b64 r;\n.param .align 8 .b8 a[8];\nst.param.b64 [a], %rd2;\ncall (r), malloc, (a);\n}";
    assert!(refused(&text(items, call)).is_some());
}

#[test]
fn registers_beyond_those_that_have_numbers_are_refused() {
    // Registers of different widths must not share a row by numbers that came round.
    let body = ".reg .b32 %a<4294967290>;\n.reg .b64 %b<64>;\nmov.b32 %a0, 1;\nmov.b32 %a1, 2;\nmov.b32 %a2, 3;\n\
                mov.b64 %b40, 1;\nmov.b64 %b41, 1;";
    assert!(refused(&text("", body)).is_some());
    let items = ".func f(.reg .b64 x) { .reg .b32 %a<4294967295>; .reg .b64 %b<8>; mov.b32 %a1, 3; mov.b64 %b3, x; ret; }";
    assert!(refused(&text(items, "call f, (%rd2);")).is_some());
}

#[test]
fn results_of_calls_go_to_registers_and_parameters_alone() {
    let items = ".func (.reg .b64 r) f(.reg .b64 x) { add.u64 r, x, 1; ret; }";
    for result in ["5", "%ntid.x", "-1"] {
        let reason = refused(&text(items, &format!("call ({result}), f, (%rd2);"))).expect("it is no place");
        assert!(reason.contains("line 12"), "{reason}");
        let pointer = "mov.u64 %rd4, f;\np: .callprototype (.reg .b64 _) _ (.reg .b64 _);\n";
        let source = text(items, &format!("{pointer}call ({result}), %rd4, (%rd2), p;"));
        assert!(refused(&source).is_some(), "{result}");
    }
    assert_eq!(run(&text(items, "call (%rd3), f, (%rd2);")), (End::Complete, 17, 18));
}

#[test]
fn declarations_that_no_memory_holds_are_refused() {
    for size in [
        "4294967295",
        "4294967296",
        "4294967297",
        "2147483648",
        "9223372036854775807",
        "18446744073709551615",
    ] {
        for declaration in [
            format!(".local .align 16 .b8 own[{size}];\nst.local.b64 [own], %rd2;"),
            format!(".local .align 2147483648 .b8 own[{size}];\nst.local.b64 [own], %rd2;"),
            format!(".local .align 16 .b64 own[{size}][{size}];\nst.local.b64 [own], %rd2;"),
            format!(".param .align 16 .b8 own[{size}];\nst.param.b64 [own], %rd2;"),
            format!(".shared .align 16 .v4 .b32 own[{size}];\nst.shared.b64 [own], %rd2;"),
        ] {
            let source = text("", &declaration);
            assert!(refused(&source).is_some(), "{declaration}");
        }
        let source = text(&format!(".global .align 16 .b8 big[{size}];"), "st.global.b64 [big], %rd2;");
        assert!(refused(&source).is_some(), "{size}");
    }
    // Shared memory is counted by the launch.
    let source = text("", ".shared .align 16 .b8 own[4294967280];\nst.shared.b64 [own], %rd2;");
    assert_eq!(refused(&source), None);
}

#[test]
fn kernels_with_more_parameters_than_32_bits_count_are_refused() {
    for size in ["4294967295", "4294967296", "18446744073709551615"] {
        let source = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .b8 a[{size}], .param .align 16 .b8 b[16])\n{{\n.reg .b64 %rd<4>;\n\
             ld.param.b64 %rd1, [b];\nret;\n}}\n"
        );
        let reason = refused(&source).expect("there is no such buffer");
        assert!(reason.contains("parameters"), "{reason}");
    }
}

#[test]
fn sizes_of_blocks_that_64_bits_do_not_hold_are_no_small_ones() {
    let source = text("", "").replace("{\n.reg", ".maxntid 4294967295, 4294967295, 4294967295\n{\n.reg");
    assert_eq!(refused(&source), None);
    assert_eq!(run(&source), (End::Complete, 17, 18));
}

#[test]
fn allocas_of_any_size_fault_or_fit() {
    for size in ["18446744073709551615", "18446744073709551600", "9223372036854775807", "4294967296", "65536"]
    {
        let body = format!("mov.u64 %rd4, {size};\nalloca.u64 %rd5, %rd4, 16;\nst.local.b64 [%rd5], %rd2;");
        let (end, ..) = run(&text("", &body));
        let End::Fault(fault) = end else { panic!("{size}: {end:?}") };
        assert!(matches!(fault.kind, StopKind::StackOverflow { .. }), "{fault}");
    }
}

#[test]
fn a_label_hidden_by_a_declaration_is_still_a_target() {
    assert_eq!(
        run(&text("", "bra L;\n.reg .b32 L;\nmov.b64 %rd2, 3;\nL: mov.b64 %rd3, 4;")).0,
        End::Complete
    );
}

#[test]
fn long_chains_of_calls_load() {
    let mut items = String::from(".func f0() { ret; }\n");
    for number in 1..30_000 {
        items += &format!(".func f{number}() {{ call f{}; ret; }}\n", number - 1);
    }
    assert_eq!(refused(&text(&items, "call f29999;")), None);
}

#[test]
fn operands_that_are_missing_are_refused() {
    for instruction in [
        "createpolicy.fractional.L2::evict_last.b64;",
        "cp.async.ca.shared.global.L2::cache_hint [%rd1], [%rd1], 16;",
        "mbarrier.init.shared.b64;",
        "alloca.u64;",
        "mapa.u64;",
        "bar.sync;",
        "vote.sync.all.pred;",
    ] {
        let _ = refused(&text("", instruction));
    }
}
