//! Loops around barriers whose number of rounds is not known: proven where each round does what an earlier one did, and never where a late
//! one does not.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

/// A kernel of 64 threads with a loop of `n` rounds. `x` is a part of shared memory in `body`.
fn looping(before: &str, body: &str) -> KernelFindings {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 k_in, .param .u32 k_n, .param .u32 k_m)
.maxntid 64, 1, 1
{{
    .shared .align 4 .b8 data[4100];
    .reg .b32 tid, mine, other, v, n, m, x, y, i, s, q, z0, z1, z2, z3;
    .reg .b64 in;
    .reg .pred p, leader;
    mov.u32 tid, %tid.x;
    ld.param.u64 in, [k_in];
    ld.global.u32 v, [in];
    ld.param.u32 n, [k_n];
    ld.param.u32 m, [k_m];
    shl.b32 mine, tid, 2;
    mov.u32 x, data;
    add.u32 mine, mine, x;
    xor.b32 other, mine, 128;
    setp.eq.u32 leader, tid, 0;
    mov.u32 s, 0;
    mov.u32 q, 0;
    mov.u32 z0, 0;
    mov.u32 z1, 0;
    mov.u32 z2, 0;
    mov.u32 z3, 0;
    {before}
    mov.u32 i, 0;
AGAIN:
    setp.ge.u32 p, i, n;
    @p bra END;
    {body}
    add.u32 i, i, 1;
    bra AGAIN;
END:
    ret;
}}
"
    );
    let text = KernelText::new(&ptx).unwrap_or_else(|refusal| panic!("{refusal}\n{ptx}"));
    verify(&text, "k", &KernelOptions::default()).unwrap().findings
}

fn verdict(body: &str) -> &'static str {
    looping("", body).verdict
}

/// Writes to one part of shared memory, and reads what the other warp has written to a part; `x` is which.
fn passes_on(part: &str, read: &str) -> String {
    format!(
        "{part}\nshl.b32 x, x, 8;\nadd.u32 z0, x, mine;\nst.shared.u32 [z0], v;\nbar.sync 0;\n{read}\nadd.u32 z0, x, other;\n\
         ld.shared.u32 y, [z0];"
    )
}

#[test]
fn rounds_that_are_alike() {
    assert_eq!(
        verdict("st.shared.u32 [mine], v;\nbar.sync 0;\nld.shared.u32 y, [other];\nbar.sync 0;"),
        "verified"
    );
    assert_ne!(verdict("st.shared.u32 [mine], v;\nbar.sync 0;\nld.shared.u32 y, [other];"), "verified");
}

/// With two parts or more, one barrier in a round is enough.
#[test]
fn parts_that_come_back() {
    for part in [
        "and.b32 x, i, 1;",
        "xor.b32 s, s, 1;\nmov.u32 x, s;",
        "mul.lo.u32 x, i, 3;\nand.b32 x, x, 3;",
        "shr.u32 x, i, 1;\nand.b32 x, x, 3;\nshl.b32 x, x, 1;\nand.b32 y, i, 1;\nadd.u32 x, x, y;",
        "add.u32 q, q, 1;\nsetp.eq.u32 p, q, 3;\nselp.u32 q, 0, q, p;\nmov.u32 x, q;",
    ] {
        assert_eq!(verdict(&passes_on(part, "")), "verified", "{part}");
    }
    let next = "add.u32 x, i, 1;\nand.b32 x, x, 1;\nshl.b32 x, x, 8;";
    assert_eq!(verdict(&passes_on("and.b32 x, i, 1;", next)), "race");
    assert_eq!(verdict(&passes_on("mov.u32 x, 0;", "")), "race");
}

/// The first rounds are right, and so is each that looks like them.
#[test]
fn late_rounds_go_wrong() {
    let right = "st.shared.u32 [mine], v;\nbar.sync 0;\nld.shared.u32 y, [other];\nbar.sync 0;";
    let delayed = "mov.u32 z0, z1;\nmov.u32 z1, z2;\nmov.u32 z2, z3;\nmov.u32 z3, 1;";
    let wrong = "ld.shared.u32 y, [other];\nst.shared.u32 [mine], v;";
    for late in [
        // What changes goes from register to register first.
        format!("{right}\nsetp.eq.u32 p, z0, 0;\n@p bra SKIP;\n{wrong}\nSKIP:\n{delayed}"),
        // The number of a round.
        format!("{right}\nsetp.ne.u32 p, i, 30;\n@p bra SKIP;\n{wrong}\nSKIP:"),
        format!("{right}\nshr.u32 x, i, 5;\nsetp.eq.u32 p, x, 0;\n@p bra SKIP;\n{wrong}\nSKIP:"),
        // The same by way of shared memory, whose values are known.
        format!(
            "{right}\n@leader st.shared.u32 [data+4096], z0;\nbar.sync 0;\nld.shared.u32 x, [data+4096];\nbar.sync 0;\n\
             setp.eq.u32 p, x, 0;\n@p bra SKIP;\n{wrong}\nSKIP:\n{delayed}"
        ),
        // An address.
        format!("{right}\nshl.b32 x, z0, 7;\nadd.u32 x, x, mine;\nst.shared.u32 [x], v;\n{delayed}"),
        format!("{right}\nshr.u32 x, i, 4;\nshl.b32 x, x, 7;\nadd.u32 x, x, mine;\nst.shared.u32 [x], v;"),
        // Threads that part.
        format!("{right}\nadd.u32 x, i, tid;\nsetp.ne.u32 p, x, 70;\n@p bra SKIP;\n{wrong}\nSKIP:"),
    ] {
        let found = verdict(&late);
        assert_ne!(found, "verified", "{late}");
    }
}

/// A case that knows more of the parameters knows more of how the rounds begin; what later rounds do to that, other cases have to look at.
#[test]
fn what_a_case_knows_of_the_beginning() {
    let before = "setp.eq.u32 p, m, 3;\nmov.u32 q, 5;\n@!p bra FIVE;\nmov.u32 q, 1;\nFIVE:\nmov.u32 s, 1;";
    // `s` is a number that hardly any round has. In the end `q` may be 2 in a round in which `s` is 17.
    let late = "st.shared.u32 [mine], v;\nbar.sync 0;\nld.shared.u32 y, [other];\nbar.sync 0;\nmul.lo.u32 s, s, 5;\nadd.u32 s, s, 3;\n\
                setp.eq.u32 p, s, 40000;\nselp.u32 q, 2, q, p;\nsetp.ne.u32 p, s, 17;\n@p bra SKIP;\nsetp.ne.u32 p, m, 3;\n@p bra SKIP;\n\
                shr.u32 x, q, 1;\nshl.b32 x, x, 13;\nadd.u32 x, x, mine;\nst.shared.u32 [x], v;\nbar.sync 0;\nSKIP:";
    assert_ne!(looping(before, late).verdict, "verified");
}

/// Sums of atomic additions are known behind barriers, and go on from round to round.
#[test]
fn sums_go_on() {
    let count =
        "atom.shared.add.u32 y, [data+4096], 1;\nbar.sync 0;\nld.shared.u32 x, [data+4096];\nbar.sync 0;";
    let before = "@leader st.shared.u32 [data+4096], 0;\nbar.sync 0;";
    assert_eq!(looping(before, count).verdict, "verified");
    // By the twentieth round the sum is 1,280.
    let late = format!(
        "{count}\nsetp.lt.u32 p, x, 1280;\n@p bra SKIP;\nst.shared.u32 [other], v;\nld.shared.u32 y, [mine];\nSKIP:"
    );
    assert_ne!(looping(before, &late).verdict, "verified");
}

/// What goes wrong in some launch is shown with its parameters, as without a loop.
#[test]
fn errors_are_shown() {
    let found = looping("", "st.shared.u32 [mine], v;\nbar.sync 0;\nld.shared.u32 y, [other];");
    assert_eq!((found.verdict, found.example.len()), ("race", 1), "{found:#?}");
}

/// A loop in a loop, neither of a known length; loops one after the other.
#[test]
fn loops_within_loops() {
    let inner = "mov.u32 q, 0;\nINNER:\nsetp.ge.u32 p, q, m;\n@p bra OUT;\nst.shared.u32 [mine], v;\nbar.sync 0;\n\
         ld.shared.u32 y, [other];\nbar.sync 0;\nadd.u32 q, q, 1;\nbra INNER;\nOUT:";
    assert_eq!(verdict(inner), "verified");
    assert_eq!(verdict(&format!("{inner}\nst.shared.u32 [other], v;\nbar.sync 0;")), "verified");
    assert_ne!(verdict(&format!("{inner}\nst.shared.u32 [other], v;")), "verified");
    let first = inner.replace("INNER", "FIRST").replace("OUT", "SECOND");
    assert_eq!(looping(&first, &passes_on("and.b32 x, i, 1;", "")).verdict, "verified");
}

/// What is under way from one round to the next, and threads that are not all there.
#[test]
fn what_is_handed_over() {
    for body in [
        "cp.async.ca.shared.global [mine], [in], 4;\ncp.async.commit_group;\nbar.sync 0;\ncp.async.wait_group 0;\nbar.sync 0;",
        "setp.lt.u32 p, tid, 32;\n@p bra FULL;\nst.shared.u32 [other], v;\nbar.arrive 1, 64;\nbar.sync 2, 64;\nbra BOTH;\n\
         FULL:\nbar.sync 1, 64;\nld.shared.u32 y, [mine];\nbar.arrive 2, 64;\nBOTH:",
    ] {
        assert_eq!(verdict(body), "verified", "{body}");
    }
}

/// Threads that go round by conditions of their own are not proven to end together: the parameter is asked for.
#[test]
fn what_is_not_proven_is_refused() {
    let body = "setp.lt.u32 p, tid, 32;\n@p bra FULL;\nst.shared.u32 [other], v;\nbar.arrive 1, 64;\nbar.sync 2, 64;\nbra BOTH;\n\
                FULL:\nmul.lo.u32 x, i, i;\nmul.lo.u32 y, n, n;\nsetp.ge.u32 p, x, y;\n@p bra END;\nbar.sync 1, 64;\nld.shared.u32 y, [mine];\n\
                bar.arrive 2, 64;\nBOTH:";
    let found = looping("", body);
    assert_eq!(found.verdict, "not-verifiable", "{found:#?}");
    let refusal = found.refusal.expect("it says why");
    assert_eq!(refusal.parameter.as_deref(), Some("k_n"), "{body}");
}

/// As a compiler makes them: parts of loops are unrolled.
#[test]
fn compiled_kernels() {
    let path = format!("{}/tests/kernels/rounds.ptx", env!("CARGO_MANIFEST_DIR"));
    let text = KernelText::new(&std::fs::read_to_string(path).unwrap()).unwrap();
    for (kernel, verdict) in [
        ("tiles", "verified"),
        ("tiles_hurried", "race"),
        ("buffers", "verified"),
        ("buffers_ahead", "race"),
        ("planes", "verified"),
        ("planes_rimless", "race"),
        ("rows", "verified"),
    ] {
        let found = verify(&text, kernel, &KernelOptions::default()).unwrap().findings;
        assert_eq!(found.verdict, verdict, "{kernel}: {found:#?}");
        assert_eq!(found.example.is_empty(), verdict == "verified", "{kernel}: {:?}", found.example);
    }
}
