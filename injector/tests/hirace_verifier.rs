//! The verifier notices: text that lacks or changes something that has HiRace look at a module is refused. And what HiRace on the
//! device does not know is refused by name.

use bugaroo_injector::hirace::passes::PASSES;
use bugaroo_injector::hirace::{detect, detect_with};
use bugaroo_injector::verify::{Violation, verify_hirace};

const SOURCES: [&str; 3] = [
    include_str!("corpus/vectors.ptx"),
    include_str!("corpus/predicated.ptx"),
    include_str!("corpus/control.ptx"),
];

fn judge(source: &str, output: &str) -> Result<(), Violation> {
    let original = bugaroo_ptx::parse(source).expect("the corpus parses");
    let (_, log) = detect_with(source, &PASSES).expect("it is known");
    verify_hirace(&original, &log, &PASSES, output)
}

#[test]
fn every_injected_line_has_to_be_there() {
    let mut missed = 0;
    for source in SOURCES {
        let output = detect(source).expect("it is known").ptx;
        assert_eq!(judge(source, &output), Ok(()));
        let lines: Vec<&str> = output.lines().collect();
        // What is merged in stands at the end.
        let detector =
            lines.iter().position(|line| line.contains("__bugaroo_hirace_make(") && !line.ends_with(';'));
        for line in 0..detector.expect("the detector is there") {
            let text = lines[line].trim();
            // Declarations are ptxas's business; the prologue is checked as a whole, and what it does by running it.
            let declares = text.starts_with('.') || text.contains("[__bugaroo_hirace];");
            let prologue = lines[..line]
                .iter()
                .rposition(|one| one.contains("[__bugaroo_hirace];"))
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
            assert!(judge(source, &without).is_err(), "nobody misses '{text}' (line {line})");
            missed += 1;
        }
    }
    assert!(missed > 100, "only {missed} lines were tried");
}

#[test]
fn what_is_wrong_is_refused() {
    let output = detect(SOURCES[0]).expect("it is known").ptx;
    for (from, to) in [
        ("@!%bugaroo_logging bra", "@%bugaroo_logging bra"),
        ("st.param.b64 [bugaroo_in0], %bugaroo_address;", "st.param.b64 [bugaroo_in0], 0;"),
        ("call __bugaroo_hirace_access, ", "call.uni __bugaroo_hirace_access, "),
        ("call __bugaroo_hirace_access, ", "call __bugaroo_hirace_race, "),
        ("call __bugaroo_hirace_exit;", "call __bugaroo_hirace_begin;"),
        ("st.param.b64 [bugaroo_in1], 0x", "st.param.b64 [bugaroo_in1], 0x1"),
    ] {
        // Behind the prologue, which is judged as a whole.
        let body = output.find("_entered:").expect("a prologue");
        let changed = format!("{}{}", &output[..body], output[body..].replacen(from, to, 1));
        assert_ne!(changed, output, "'{from}' is not in the output");
        assert!(judge(SOURCES[0], &changed).is_err(), "'{to}' instead of '{from}' passes");
    }
}

#[test]
fn what_is_not_known_is_refused_by_name() {
    let allocates = ".version 8.0\n.target sm_75\n.address_size 64\n\
        .extern .func (.param .b64 out) malloc (.param .b64 bytes);\n\
        .visible .entry k()\n{\n.reg .b64 %rd<3>;\n{\n.param .b64 p;\nst.param.b64 [p], 8;\n.param .b64 q;\n\
        call.uni (q), malloc, (p);\nld.param.b64 %rd1, [q];\n}\nst.u32 [%rd1], 1;\nret;\n}\n";
    let told = detect(allocates).map(drop).expect_err("its memory comes and goes").to_string();
    assert!(told.starts_with("HiRace on the device does not know `call.uni (q), malloc, (p);`"), "{told}");
    let old = ".version 8.0\n.target sm_60\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";
    let told = detect(old).map(drop).expect_err("it is too old").to_string();
    assert!(told.contains("compute capability 7.0"), "{told}");
}
