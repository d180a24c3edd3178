use super::*;

const PTX: &str = "\
.version 7.0
.target sm_75
.address_size 64
.visible .entry one(.param .u64 one_param_0)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [one_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r1, [%rd2];
    ld.global.u32 %r2, [%rd2];
    add.s32 %r3, %r1, %r2;
    st.global.u32 [%rd2], %r3;
    ret;
}
.visible .entry two()
{
    ret;
}
";

#[test]
fn instructions_and_what_is_told_of_them_are_counted() {
    let code = count(PTX, &["one".to_owned()]).unwrap();
    assert_eq!(code.instructions, 7);
    // Both loads, the store and the end; the second load is told by the first.
    assert_eq!(code.told, Ok(Told { all: 4, pruned: 3 }));
    assert_eq!(count(PTX, &[]).unwrap().instructions, 8);
}

#[test]
fn what_is_not_told_is_named() {
    let code = count(&PTX.replace("add.s32 %r3, %r1, %r2;", "call unknown;"), &[]).unwrap();
    let why = code.told.unwrap_err();
    assert!(why.contains("unknown"), "{why}");
}
