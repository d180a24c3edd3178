use super::{Protection, least, protection};

const MAPS: &str = "\
1000-3000 rw-p 00000000 00:00 0 [heap]
3000-4000 r--p 00000000 08:01 77 /lib/x y.so
6000-7000 ---p 00000000 00:00 0
";

#[test]
fn the_least_of_a_range_counts() {
    assert_eq!(least(MAPS, 0x1000, 0x3000), Protection::ReadWrite);
    assert_eq!(least(MAPS, 0x2fff, 0x3001), Protection::Read);
    assert_eq!(least(MAPS, 0x3fff, 0x4001), Protection::None, "a hole behind");
    assert_eq!(least(MAPS, 0xfff, 0x1001), Protection::None, "a hole before");
    assert_eq!(least(MAPS, 0x6000, 0x6001), Protection::None);
    assert_eq!(least("", 1, 2), Protection::None);
}

#[test]
fn the_process_is_looked_at() {
    let mut mine = vec![1_u8; 10_000];
    let start = mine.as_mut_ptr() as usize;
    assert_eq!(protection(start, start + mine.len()), Protection::ReadWrite);
    let text = b"constant".as_ptr() as usize;
    assert_eq!(protection(text, text + 8), Protection::Read);
    assert_eq!(protection(0, 8), Protection::None);
}
