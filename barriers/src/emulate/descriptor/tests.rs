use super::*;

fn bits(start: u64, leading: u64, stride: u64, mode: u64) -> u64 {
    start >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | mode << 62
}

#[test]
fn fields_are_in_units_of_sixteen_bytes() {
    let found = Descriptor::new(bits(0x2400, 16, 1024, 1) | 5 << 49);
    assert_eq!(found, Descriptor { start: 0x2400, leading: 16, stride: 1024, base: 5, row: 8 });
}

#[test]
fn without_swizzling_core_matrices_lie_where_the_strides_say() {
    // 16 rows: two core matrices along the rows, 256 bytes apart, two along the sum, 128 bytes apart: all of 512 bytes.
    let dense = Descriptor::new(bits(0x100, 128, 256, 0));
    assert_eq!(dense.bytes([0, 16], false), [[0x100, 0x300]]);
    assert_eq!(dense.bytes([8, 16], false), [[0x200, 0x300]]);
    let apart = Descriptor::new(bits(0, 1024, 128, 0));
    assert_eq!(apart.bytes([0, 16], false), [[0, 256], [1024, 1280]]);
    // Transposed, the stride is from eight to eight rows, the other one along the sum.
    assert_eq!(apart.bytes([0, 16], true), [[0, 256], [1024, 1280]]);
}

#[test]
fn rows_of_128_bytes_are_read_in_four_steps() {
    // 64 elements of 16 bits a row, 16 of them at a time: each step has a quarter of each row, and all of them together have all.
    let mut all: Vec<u32> = Vec::new();
    for step in 0..4 {
        let ranges = Descriptor::new(bits(1024 + 32 * step, 16, 1024, 1)).bytes([0, 64], false);
        let halves: Vec<u32> = ranges.iter().flat_map(|[from, to]| (*from..*to).step_by(32)).collect();
        assert!(halves.iter().zip(0..).all(|(at, row)| (at - 1024) / 128 == row), "{halves:?}");
        all.extend(halves);
    }
    all.sort_unstable();
    assert!(all.iter().zip(0..).all(|(at, number)| *at == 1024 + 32 * number), "{all:?}");
    assert_eq!(all.len(), 256);
    // The first pieces of row 1 are where those of step 0 are not.
    let first = Descriptor::new(bits(0, 16, 1024, 1));
    assert_eq!((first.along(1, 0), first.along(1, 1)), (128 + 16, 128));
    assert_eq!((first.along(2, 0), first.along(6, 1)), (256 + 32, 6 * 128 + 112));
}

#[test]
fn narrower_patterns_swizzle_within_their_rows() {
    for (mode, width) in [(2, 64), (3, 32)] {
        let all = Descriptor::new(bits(0, 16, 8 * width, mode));
        let mut ranges = all.bytes([0, 64], false);
        if width == 64 {
            ranges.extend(Descriptor::new(bits(32, 16, 8 * width, mode)).bytes([0, 64], false));
        }
        let bytes: u32 = ranges.iter().map(|[from, to]| to - from).sum();
        assert_eq!(u64::from(bytes), 64 * width);
        assert!(ranges.iter().all(|range| u64::from(range[1]) <= 64 * width));
    }
}

#[test]
fn transposed_rows_of_128_bytes_hold_64_elements() {
    // 16 along the sum are two groups of eight rows, 128 bytes each; 128 elements along N are two such blocks.
    let found = Descriptor::new(bits(0, 2048, 1024, 1));
    assert_eq!(found.bytes([0, 64], true), [[0, 2048]]);
    assert_eq!(found.bytes([0, 128], true), [[0, 4096]]);
    // A warp's 16 rows of A are two of eight pieces of each row.
    assert_eq!(found.bytes([0, 16], true).iter().map(|[from, to]| to - from).sum::<u32>(), 16 * 32);
}
