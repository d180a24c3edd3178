use super::{Arguments, format};

/// Arguments as a list of 64-bit values, and one string.
struct List(std::collections::VecDeque<u64>, &'static str);

impl Arguments for List {
    type Error = &'static str;
    fn word(&mut self) -> Result<u32, Self::Error> {
        self.long().map(|value| value as u32)
    }
    fn long(&mut self) -> Result<u64, Self::Error> {
        self.0.pop_front().ok_or("no argument left")
    }
    fn string(&mut self, _: u64) -> Result<Vec<u8>, Self::Error> {
        Ok(self.1.as_bytes().to_vec())
    }
}

fn show(text: &str, arguments: &[u64]) -> (String, i32) {
    let mut list = List(arguments.iter().copied().collect(), "abc");
    let (text, count) = format(text.as_bytes(), &mut list).expect("there are enough arguments");
    (String::from_utf8(text).expect("plain text"), count)
}

#[test]
fn numbers_and_lengths() {
    let minus = -5i64 as u64;
    assert_eq!(show("%d|%5d|%-5d|%05d|%+d", &[minus, 42, 42, 42, 42]).0, "-5|   42|42   |00042|+42");
    assert_eq!(show("%u %x %X %o %#x", &[minus, 255, 255, 8, 255]).0, "4294967291 ff FF 10 0xff");
    assert_eq!(show("%ld %lld %llu %zu %lx", &[minus, minus, minus, 7, minus]).0, {
        "-5 -5 18446744073709551611 7 fffffffffffffffb"
    });
    assert_eq!(show("%hd %hhd %hu %hhu", &[0x1_fffe, 0x1ff, 0x1_fffe, 0x1ff]).0, "-2 -1 65534 255");
}

#[test]
fn floats_strings_and_the_rest() {
    let (a, b) = (1.5f64.to_bits(), (-0.1f64).to_bits());
    assert_eq!(show("%f %.2f %8.3f|%e %g %a", &[a, b, a, a, b, a]).0, {
        "1.500000 -0.10    1.500|1.500000e+00 -0.1 0x1.8p+0"
    });
    assert_eq!(show("%s|%5s|%-5s|%.2s|%c", &[1, 1, 1, 1, 65]).0, "abc|  abc|abc  |ab|A");
    assert_eq!(show("%s %p", &[0, 0x7000]).0, "(null) 0x7000");
    assert_eq!(show("%*d|%-*d|%.*f", &[4, 7, 4, 7, 1, a]), ("   7|7   |1.5".to_string(), 6));
    assert_eq!(show("100%% %d", &[3]), ("100% 3".to_string(), 1));
    assert_eq!(show("%y %", &[]), ("%y %".to_string(), 0));
}
