//! A valid mbarrier is nobody's data, and is initialised once (PTX ISA, "mbarrier").

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

/// One warp of two initialises an mbarrier; all threads arrive there and wait. `between` stands behind that.
fn found(between: &str) -> KernelFindings {
    let ptx = format!(
        "
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 from, .param .u32 given)
.reqntid 64, 1, 1
{{
    .shared .align 16 .b8 words[512];
    .reg .pred %first, %p;
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, words;
    setp.eq.u32 %first, %r1, 0;
    @%first mbarrier.init.shared.b64 [%r2+256], 64;
    shl.b32 %r3, %r1, 2;
    add.u32 %r3, %r2, %r3;
    bar.sync 0;
    mbarrier.arrive.shared.b64 %rd1, [%r2+256];
WAIT:
    mbarrier.try_wait.shared.b64 %p, [%r2+256], %rd1;
    @!%p bra WAIT;
    {between}
    ret;
}}
"
    );
    let text = KernelText::new(&ptx).unwrap_or_else(|refusal| panic!("{refusal}\n{ptx}"));
    verify(&text, "k", &KernelOptions::default()).unwrap().findings
}

/// The verdict, and why.
fn told(between: &str) -> (&'static str, String) {
    let found = found(between);
    (found.verdict, found.refusal.map(|refused| refused.reason).unwrap_or_default())
}

#[test]
fn data_beside_it_is_right() {
    for between in [
        "st.shared.u32 [%r3], 1;",
        "@%first st.shared.u32 [%r2+264], 1;",
        "@%first ld.shared.u32 %r4, [%r2+252];",
    ] {
        assert_eq!(told(between).0, "verified", "{between}: {:?}", told(between));
    }
}

#[test]
fn an_access_of_its_bytes_is_illegal() {
    for between in [
        "@%first st.shared.u32 [%r2+256], 5;",
        "@%first st.shared.u8 [%r2+263], 5;",
        "@%first ld.shared.u32 %r4, [%r2+260];",
        "@%first atom.shared.add.u32 %r4, [%r2+256], 1;",
        "st.shared.u32 [%r3+128], 1;",
        "@%first ld.param.u64 %rd2, [from];\n@%first cp.async.ca.shared.global [%r2+256], [%rd2], 16;",
    ] {
        let (verdict, why) = told(between);
        assert_eq!(verdict, "illegal", "{between}: {why}");
        assert!(why.contains("an access of the mbarrier at 0x100, which is valid"), "{why}");
    }
}

#[test]
fn an_access_that_may_happen_is_not_verifiable() {
    let between = "ld.param.u32 %r5, [given];\nsetp.gt.s32 %p, %r5, 0;\n@%first ld.shared.u32 %r4, [%r2];\n\
                   @!%p bra DONE;\n@%first st.shared.u32 [%r2+256], 5;\nDONE:";
    let (verdict, why) = told(between);
    assert!(["illegal", "unsupported", "not-verifiable"].contains(&verdict), "{verdict}: {why}");
}

#[test]
fn one_that_is_invalidated_is_memory_again() {
    let between =
        "bar.sync 0;\n@%first mbarrier.inval.shared.b64 [%r2+256];\n@%first st.shared.u32 [%r2+256], 5;";
    assert_eq!(told(between).0, "verified", "{:?}", told(between));
    let again = "bar.sync 0;\n@%first mbarrier.inval.shared.b64 [%r2+256];\n@%first mbarrier.init.shared.b64 [%r2+256], 64;";
    assert_eq!(told(again).0, "verified", "{:?}", told(again));
}

#[test]
fn it_is_initialised_again_only_when_it_is_invalid() {
    let (verdict, why) = told("bar.sync 0;\n@%first mbarrier.init.shared.b64 [%r2+256], 64;");
    assert_eq!(verdict, "illegal", "{why}");
    assert!(why.contains("the mbarrier at 0x100 is initialised while it is valid"), "{why}");
}
