use super::*;

#[test]
fn names_of_cpp_and_others() {
    assert_eq!(demangled("_Z10half_blockPi"), "half_block(int*)");
    assert_eq!(demangled("_Z4copyIfEvPT_PKS0_i"), "void copy<float>(float*, float const*, int)");
    for plain in ["dot", "i", "_Zzz", ""] {
        assert_eq!(demangled(plain), plain);
    }
}

#[test]
fn names_in_a_text() {
    assert_eq!(readable("in _Z4pastPi, line 3, and _Z1av"), "in past(int*), line 3, and a()");
    for plain in ["nothing", "", "my_Z4pastPi", "_Z", "at _Zzz: x"] {
        assert_eq!(readable(plain), plain);
    }
}
