use super::*;

#[test]
fn names_of_cpp_and_others() {
    assert_eq!(demangled("_Z10half_blockPi"), "half_block(int*)");
    assert_eq!(demangled("_Z4copyIfEvPT_PKS0_i"), "void copy<float>(float*, float const*, int)");
    for plain in ["dot", "i", "_Zzz", ""] {
        assert_eq!(demangled(plain), plain);
    }
}
