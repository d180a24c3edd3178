//! The verifier notices: text that lacks or changes something that has a detector look at a module is refused. And what a detector on the
//! device does not know is refused by name.

mod looking_kits;

use bugaroo_injector::verify::Violation;
use looking_kits::{KITS, Looking};

/// Fences, and compare-and-swaps whose results go where their addresses and comparands stand.
const LOCKS: &str = "\
.version 8.0
.target sm_75
.address_size 64
.visible .entry locks(.param .u64 lock)
{
.reg .pred %p<2>;
.reg .b16 %h<3>;
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [lock];
mov.u32 %r1, 0;
fence.acq_rel.cta;
atom.global.cas.b32 %r1, [%rd1+4], %r1, 1;
setp.eq.u32 %p1, %r1, 0;
@%p1 atom.acq_rel.gpu.global.cas.b64 %rd1, [%rd1+8], 0, 7;
@!%p1 atom.release.cta.cas.b64 %rd2, [%rd1], %rd2, %rd3;
atom.cas.b16 %h1, [%rd1+2], 3, %h2;
membar.gl;
fence.sc.sys;
atom.exch.b32 %r2, [%rd1], 0;
bar.warp.sync 0xffffffff;
barrier.sync 1, 64;
ret;
}
";
const SOURCES: [&str; 4] = [
    include_str!("corpus/vectors.ptx"),
    include_str!("corpus/predicated.ptx"),
    include_str!("corpus/control.ptx"),
    LOCKS,
];

/// What its functions' and variables' names begin with.
fn prefix(kit: &Looking) -> String {
    format!("__bugaroo_{}", kit.name.to_lowercase())
}

fn judge(kit: &Looking, source: &str, output: &str) -> Result<(), Violation> {
    let original = bugaroo_ptx::parse(source).expect("the corpus parses");
    let (_, log) = (kit.detect_with)(source, kit.passes).expect("it is known");
    (kit.verify)(&original, &log, kit.passes, output)
}

#[test]
fn every_injected_line_has_to_be_there() {
    for kit in &KITS {
        let variable = format!("[{}];", prefix(kit));
        let mut missed = 0;
        for source in SOURCES {
            let output = (kit.detect)(source).expect("it is known").ptx;
            assert_eq!(judge(kit, source, &output), Ok(()), "{}", kit.name);
            let lines: Vec<&str> = output.lines().collect();
            // What is merged in stands at the end.
            let make = format!("{}_make(", prefix(kit));
            let detector = lines.iter().position(|line| line.contains(&make) && !line.ends_with(';'));
            for line in 0..detector.expect("the detector is there") {
                let text = lines[line].trim();
                // Declarations are ptxas's business; the prologue is checked as a whole, and what it does by running it.
                let declares = text.starts_with('.') || text.contains(&variable);
                let prologue = lines[..line]
                    .iter()
                    .rposition(|one| one.contains(&variable))
                    .is_some_and(|at| lines[at..line].iter().all(|one| !one.trim().ends_with("_entered:")));
                // That the phase is kept shows in a run.
                let phase = text.starts_with("ld.param.b32 %bugaroo_phase");
                if !text.contains("bugaroo_") || declares || prologue || phase {
                    continue;
                }
                let without: String = lines
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| *at != line)
                    .map(|(_, one)| format!("{one}\n"))
                    .collect();
                assert!(
                    judge(kit, source, &without).is_err(),
                    "{}: nobody misses '{text}' (line {line})",
                    kit.name
                );
                missed += 1;
            }
        }
        assert!(missed > 100, "{}: only {missed} lines were tried", kit.name);
    }
}

/// What stands in `from` instead of what has to.
fn is_refused(kit: &Looking, source: &str, (from, to): (&str, &str)) {
    let output = (kit.detect)(source).expect("it is known").ptx;
    let (from, to) = (from.replace("KIT", &prefix(kit)), to.replace("KIT", &prefix(kit)));
    // Behind the prologue, which is judged as a whole.
    let body = output.find("_entered:").expect("a prologue");
    let changed = format!("{}{}", &output[..body], output[body..].replacen(&from, &to, 1));
    assert_ne!(changed, output, "'{from}' is not in the output of {}", kit.name);
    assert!(judge(kit, source, &changed).is_err(), "{}: '{to}' instead of '{from}' passes", kit.name);
}

#[test]
fn what_is_wrong_is_refused() {
    for kit in &KITS {
        for changed in [
            ("@!%bugaroo_logging bra", "@%bugaroo_logging bra"),
            ("st.param.b64 [bugaroo_in0], %bugaroo_address;", "st.param.b64 [bugaroo_in0], 0;"),
            ("call KIT_access, ", "call.uni KIT_access, "),
            ("call KIT_access, ", "call KIT_race, "),
            ("call KIT_exit;", "call KIT_begin;"),
            ("st.param.b64 [bugaroo_in1], 0x", "st.param.b64 [bugaroo_in1], 0x1"),
        ] {
            is_refused(kit, SOURCES[0], changed);
        }
    }
}

#[test]
fn what_is_wrong_about_locks_is_refused() {
    let [_, scord] = &KITS;
    for changed in [
        ("setp.eq.u64 %bugaroo_p, %bugaroo_answer", "setp.ne.u64 %bugaroo_p, %bugaroo_answer"),
        ("setp.eq.u64 %bugaroo_p, %bugaroo_answer", "setp.eq.u64 %bugaroo_p, %bugaroo_comparand"),
        ("cvt.u64.u32 %bugaroo_answer", "cvt.u64.u16 %bugaroo_answer"),
        ("cvt.u64.u32 %bugaroo_comparand", "cvt.u64.u16 %bugaroo_comparand"),
        ("mov.b64 %bugaroo_comparand, 0x0;", "mov.b64 %bugaroo_comparand, 0x1;"),
        ("selp.u32 %bugaroo_word, 1, 0", "selp.u32 %bugaroo_word, 0, 1"),
        ("add.s64 %bugaroo_address, %rd1, 8;", "add.s64 %bugaroo_address, %rd1, 4;"),
        ("call KIT_swapped, ", "call KIT_access, "),
        ("call KIT_release, ", "call KIT_fence, "),
        ("st.param.b32 [bugaroo_in0], 0;", "st.param.b32 [bugaroo_in0], 1;"),
        ("st.param.b32 [bugaroo_in0], 1;", "st.param.b32 [bugaroo_in0], 0;"),
        ("st.param.b32 [bugaroo_in1], 1;", "st.param.b32 [bugaroo_in1], 0;"),
        ("_outcome:", "_kept:"),
    ] {
        is_refused(scord, LOCKS, changed);
    }
}

/// A kernel that calls a function that allocates, through another one, and one that does not.
#[test]
fn kernels_that_reach_what_is_not_known_are_named_and_the_others_looked_at() {
    let head = ".version 8.0\n.target sm_75\n.address_size 64\n\
        .extern .func (.param .b64 out) malloc (.param .b64 bytes);\n";
    let allocates = ".func (.param .b64 made) make()\n{\n.reg .b64 %rd<3>;\n{\n.param .b64 p;\nst.param.b64 [p], 8;\n\
        .param .b64 q;\ncall.uni (q), malloc, (p);\nld.param.b64 %rd1, [q];\n}\nst.u32 [%rd1], 1;\n\
        st.param.b64 [made], %rd1;\nret;\n}\n";
    let between = ".func between()\n{\n{\n.param .b64 r;\ncall.uni (r), make, ();\n}\nret;\n}\n";
    let kernels = ".visible .entry makes()\n{\ncall.uni between, ();\nret;\n}\n\
        .visible .entry stores(.param .u64 p)\n{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], 1;\nret;\n}\n";
    let source = [head, allocates, between, kernels].concat();
    let old = ".version 8.0\n.target sm_60\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";
    for kit in &KITS {
        let detecting = (kit.detect)(&source).expect("some of it is known");
        let blind: Vec<&str> = detecting.blind.iter().map(|blind| blind.kernel.as_str()).collect();
        assert_eq!(blind, ["makes"]);
        let told = detecting.blind[0].why.to_string();
        let named = format!("{} on the device does not know `call.uni (q), malloc, (p);` (line ", kit.name);
        assert!(told.starts_with(&named) && told.ends_with(", in make)"), "{told}");
        let original = bugaroo_ptx::parse(&source).expect("it is PTX");
        let (detecting, log) = (kit.detect_with)(&source, kit.passes).expect("as before");
        (kit.verify)(&original, &log, kit.passes, &detecting.ptx).expect("what is known is looked at");
        let has_points = |name: &str| {
            log.sites.points.iter().any(|point| log.sites.functions[point.function].name == name)
        };
        assert!(has_points("stores") && !has_points("make"));
        let told = detecting.whole().map(drop).expect_err("not all is known").to_string();
        assert!(told.starts_with(&named), "{told}");
        let told = (kit.detect)(old).map(drop).expect_err("it is too old").to_string();
        assert!(told.contains("compute capability 7.0"), "{told}");
    }
}
