//! `wgmma`: products of matrices in every layout of shared memory, and of fragments, against plain products. Where elements lie
//! is written here as the PTX ISA draws it: core matrices of eight rows of 16 bytes, and rows of a pattern in whose lines of
//! 16 bytes the row's number is mixed.

use bugaroo_simulator::{End, StopKind};

use crate::support::Device;

const ROWS: usize = 64;
const COLUMNS: usize = 16;
const DEPTH: usize = 16;
/// Bytes of shared memory for a matrix.
const ROOM: usize = 16384;

/// How a matrix of halves lies in shared memory.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Bytes of a row of the pattern; 16 without a swizzle.
    width: usize,
    /// Neighbours are those of a column of A, a row of B.
    transposed: bool,
    /// Lines of the pattern before the first element.
    skipped: usize,
}

impl Layout {
    /// Bytes between neighbours of the leading dimension, and of the other.
    fn steps(self) -> (usize, usize) {
        match (self.width, self.transposed) {
            (16, _) => (2048, 128),
            (width, false) => (16, 8 * width),
            (width, true) => (4096, 8 * width),
        }
    }

    /// The byte of the element of this row of A, or column of B, and this depth.
    fn place(self, row: usize, depth: usize) -> usize {
        let (leading, stride) = self.steps();
        let (across, down) = if self.transposed { (row, depth) } else { (depth, row) };
        if self.width == 16 {
            let core = across / 8 * if self.transposed { stride } else { leading };
            let cores = down / 8 * if self.transposed { leading } else { stride };
            return core + cores + down % 8 * 16 + across % 8 * 2;
        }
        let across = across + self.skipped * 8;
        let (period, across) = (across / (self.width / 2), across % (self.width / 2));
        // The row's number among those of 128 bytes, as far as a row has lines.
        let mixed = (across / 8) ^ (down * self.width / 128 % 8 % (self.width / 16));
        period * leading + down / 8 * stride + down % 8 * self.width + mixed * 16 + across % 8 * 2
    }

    /// The descriptor of a matrix at this address.
    fn descriptor(self, at: usize) -> u64 {
        let (leading, stride) = self.steps();
        let mode = match self.width {
            16 => 0,
            128 => 1,
            64 => 2,
            _ => 3_u64,
        };
        let units = |bytes: usize| (bytes / 16) as u64;
        units(at + self.skipped * 16) | units(leading) << 16 | units(stride) << 32 | mode << 62
    }

    /// Shared memory with elements of these numbers.
    fn image(self, rows: usize, element: impl Fn(usize, usize) -> i32) -> Vec<u8> {
        let mut image = vec![0xff; ROOM];
        for row in 0..rows {
            for depth in 0..DEPTH {
                let at = self.place(row, depth);
                image[at..at + 2].copy_from_slice(&half(element(row, depth)).to_le_bytes());
            }
        }
        image
    }
}

/// A small whole number as binary16.
fn half(number: i32) -> u16 {
    let single = (number as f32).to_bits();
    if number == 0 {
        0
    } else {
        ((single >> 16 & 0x8000) | ((single >> 13 & 0x3_ffff) - (112 << 10)) & 0x7fff) as u16
    }
}

fn a(row: usize, depth: usize) -> i32 {
    (row * 7 + depth * 3) as i32 % 23 - 11
}

fn b(column: usize, depth: usize) -> i32 {
    (column * 5 + depth * 11) as i32 % 19 - 9
}

/// The kernel. Shared memory is filled, D set to the thread's number, or nothing known, and multiplied.
fn kernel(a: &str, signs: &str) -> String {
    let registers: Vec<String> = (0..8).map(|i| format!("d{i}")).collect();
    let registers = registers.join(", ");
    let stores: String = (0..8).map(|i| format!("st.global.f32 [to + {}], d{i};\n", 4 * i)).collect();
    let sets: String = (0..8).map(|i| format!("mov.f32 d{i}, start;\n")).collect();
    format!(
        ".version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 image, .param .u64 out, .param .u64 one, .param .u64 two, .param .u64 fragments)
{{
    .shared .align 1024 .b8 data[{both}];
    .reg .b64 from, to, desca, descb, at;
    .reg .b32 tid, i, place, w<4>;
    .reg .f32 start, d<8>;
    .reg .pred p;
    ld.param.u64 from, [image];
    ld.param.u64 to, [out];
    ld.param.u64 desca, [one];
    ld.param.u64 descb, [two];
    ld.param.u64 at, [fragments];
    mov.u32 tid, %tid.x;
    mad.wide.u32 at, tid, 16, at;
    ld.global.v4.b32 {{w0, w1, w2, w3}}, [at];
    mov.u32 i, tid;
fill:
    mad.wide.u32 at, i, 4, from;
    ld.global.b32 w0, [at];
    shl.b32 place, i, 2;
    mov.u32 w1, data;
    add.u32 place, place, w1;
    st.shared.b32 [place], w0;
    add.u32 i, i, 128;
    setp.lt.u32 p, i, {words};
    @p bra fill;
    mov.u32 tid, %tid.x;
    ld.param.u64 at, [fragments];
    mad.wide.u32 at, tid, 16, at;
    ld.global.v4.b32 {{w0, w1, w2, w3}}, [at];
    bar.sync 0;
    // Descriptors have addresses in units of 16 bytes.
    mov.u32 place, data;
    shr.u32 place, place, 4;
    cvt.u64.u32 at, place;
    add.u64 desca, desca, at;
    add.u64 descb, descb, at;
    cvt.rn.f32.u32 start, tid;
    {sets}
    // True of all threads.
    setp.ne.u32 p, tid, 1000;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {{{registers}}}, {a}, descb, p, {signs};
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    mad.wide.u32 to, tid, 32, to;
    {stores}
    ret;
}}
",
        both = 2 * ROOM,
        words = 2 * ROOM / 4,
    )
}

/// Runs a kernel on matrices that lie so, and gives D by row and column.
fn product(text: &str, one: Layout, two: Layout) -> Vec<Vec<f32>> {
    let mut device = Device::new(text);
    let mut image = one.image(ROWS, a);
    image.extend(two.image(COLUMNS, b));
    let from = device.buffer(image.len() as u64);
    device.memory.write(from, &image).expect("allocated");
    let mut fragments = Vec::new();
    for thread in 0..128 {
        for register in 0..4 {
            let (row, depth) =
                (thread / 32 * 16 + thread % 32 / 4 + register % 2 * 8, thread % 4 * 2 + register / 2 * 8);
            for e in 0..2 {
                fragments.extend(half(a(row, depth + e)).to_le_bytes());
            }
        }
    }
    let held = device.buffer(fragments.len() as u64);
    device.memory.write(held, &fragments).expect("allocated");
    let out = device.buffer(128 * 32);
    let descriptors = [one.descriptor(0), two.descriptor(ROOM)];
    let done = device.launch("k", 1, 128, &[from, out, descriptors[0], descriptors[1], held], 0);
    assert_eq!(done.end, End::Complete);
    let words = device.words(out, 128 * 8);
    let mut d = vec![vec![f32::NAN; COLUMNS]; ROWS];
    for thread in 0..128 {
        for i in 0..8 {
            let row = thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8;
            d[row][i / 4 * 8 + thread % 4 * 2 + i % 2] = f32::from_bits(words[thread * 8 + i]);
        }
    }
    d
}

/// D as it should be: of so many times A and B, and what each thread had begun with so many times.
fn expected(times: i32, begun: i32) -> Vec<Vec<f32>> {
    let thread = |row: usize, column: usize| row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
    let one = |row, column| {
        let sum: i32 = (0..DEPTH).map(|depth| a(row, depth) * b(column, depth)).sum();
        (times * sum + begun * thread(row, column) as i32) as f32
    };
    (0..ROWS).map(|row| (0..COLUMNS).map(|column| one(row, column)).collect()).collect()
}

const WIDTHS: [usize; 4] = [16, 32, 64, 128];

#[test]
fn matrices_are_read_in_every_layout() {
    for (one, two) in WIDTHS.into_iter().flat_map(|one| WIDTHS.map(|two| (one, two))) {
        for transposed in [[false, false], [false, true], [true, false], [true, true]] {
            let layout = |width, transposed| Layout { width, transposed, skipped: 0 };
            let (one, two) = (layout(one, transposed[0]), layout(two, transposed[1]));
            let signs = format!("1, 1, {}, {}", u8::from(transposed[0]), u8::from(transposed[1]));
            let d = product(&kernel("desca", &signs), one, two);
            assert_eq!(d, expected(1, 1), "{one:?} {two:?}");
        }
    }
}

#[test]
fn a_matrix_may_begin_within_the_pattern() {
    let layout = |skipped| Layout { width: 128, transposed: false, skipped };
    for skipped in [2, 4, 6] {
        let d = product(&kernel("desca", "1, 1, 0, 0"), layout(skipped), layout(skipped));
        assert_eq!(d, expected(1, 1), "{skipped}");
    }
}

#[test]
fn a_can_be_in_registers_and_factors_can_be_negated() {
    let layout = Layout { width: 64, transposed: false, skipped: 0 };
    let product = |a, signs| product(&kernel(a, signs), layout, layout);
    assert_eq!(product("{w0, w1, w2, w3}", "1, 1, 0"), expected(1, 1));
    assert_eq!(product("{w0, w1, w2, w3}", "-1, 1, 0"), expected(-1, 1));
    assert_eq!(product("desca", "1, -1, 0, 0"), expected(-1, 1));
    assert_eq!(product("desca", "-1, -1, 0, 0"), expected(1, 1));
}

#[test]
fn without_scale_d_what_was_in_d_does_not_count() {
    let layout = Layout { width: 16, transposed: false, skipped: 0 };
    let text = kernel("desca", "1, 1, 0, 0").replace("setp.ne.u32 p, tid, 1000", "setp.eq.u32 p, 0, 1");
    assert_eq!(product(&text, layout, layout), expected(1, 0));
}

#[test]
fn a_matrix_outside_of_shared_memory_is_a_fault() {
    let text = kernel("desca", "1, 1, 0, 0");
    let mut device = Device::new(&text);
    let buffer = device.buffer(2 * ROOM as u64);
    let outside = Layout { width: 16, transposed: false, skipped: 0 }.descriptor(2 * ROOM);
    let done = device.launch("k", 1, 128, &[buffer, buffer, outside, outside, buffer], 0);
    let End::Fault(fault) = done.end else { panic!("{:?}", done.end) };
    assert!(matches!(fault.kind, StopKind::OutOfBounds { size: 16, .. }), "{fault:?}");
}
