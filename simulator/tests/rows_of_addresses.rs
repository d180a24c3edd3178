//! Loads and stores of rows whose addresses follow all kinds of patterns, and none: memory and registers come out as if each lane went by
//! itself, and of lanes that may not go where they would the lowest is named.

use bugaroo_simulator::{DeviceConfig, End, Rng, StopKind};

use crate::support::Device;

/// Bytes of each memory that is read and written.
const BYTES: u64 = 4096;
/// Bytes that a row of results takes.
const ROOM: usize = 32 * 16;

/// What is moved: its name, bytes of an element, and how many.
const MOVES: [(&str, u64, u64); 7] = [
    ("u8", 1, 1),
    ("u16", 2, 1),
    ("u32", 4, 1),
    ("u64", 8, 1),
    ("v2.u32", 4, 2),
    ("v4.u32", 4, 4),
    ("v2.u64", 8, 2),
];

/// A kernel that loads a row by the offsets at `index`, and stores one there.
fn kernel(what: &str, elements: u64, shared: bool) -> String {
    let wide = what.ends_with("64");
    let of = |prefix: &str| {
        let all: Vec<String> = (0..elements).map(|element| format!("%{prefix}{element}")).collect();
        if elements == 1 { all[0].clone() } else { format!("{{{}}}", all.join(", ")) }
    };
    let values = of(if wide { "v" } else { "w" });
    let (class, bytes) = if wide { ("u64", 8) } else { ("u32", 4) };
    let prefix = if wide { "v" } else { "w" };
    let give: String = (0..elements)
        .map(|element| format!("st.global.{class} [%rd4+{}], %{prefix}{element};\n", element * bytes))
        .collect();
    let make: String = (0..elements)
        .map(|element| {
            let convert = if wide { "cvt.u64.u32 %v" } else { "mov.u32 %w" };
            format!("mad.lo.u32 %r6, %r1, 2654435761, {};\n{convert}{element}, %r6;\n", element * 40503)
        })
        .collect();
    let (space, address) = if shared { ("shared", "%r5+64") } else { ("global", "%rd3+64") };
    // The offsets are of 32 bits, and come round where they are negative.
    let place = if shared {
        "mov.u32 %r5, memory;\nadd.u32 %r5, %r5, %r4;\nsub.u32 %r5, %r5, 64;\n"
    } else {
        "cvt.u64.u32 %rd3, %r4;\nadd.u64 %rd3, %rd3, %rd0;\nsub.u64 %rd3, %rd3, 64;\n"
    };
    // Shared memory is filled from global memory, and given back.
    let copy = |to: &str, from: &str| {
        format!(
            "mov.u32 %r7, %r1;\n{to}: mul.wide.u32 %rd5, %r7, 4;\nadd.u64 %rd5, %rd5, %rd0;\nmov.u32 %r8, memory;\n\
             mad.lo.u32 %r8, %r7, 4, %r8;\n{from}\nadd.u32 %r7, %r7, 32;\nsetp.lt.u32 %p1, %r7, 1024;\n@%p1 bra {to};\n\
             bar.sync 0;\n"
        )
    };
    let fill = copy("FILL", "ld.global.u32 %r9, [%rd5];\nst.shared.u32 [%r8], %r9;");
    let back = copy("BACK", "ld.shared.u32 %r9, [%r8];\nst.global.u32 [%rd5], %r9;");
    let (fill, back) = if shared { (fill, back) } else { (String::new(), String::new()) };
    format!(
        ".version 8.4\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 memory0, .param .u64 index, .param .u64 out, .param .u64 mask)\n{{\n\
         .reg .b64 %rd<8>;\n.reg .b64 %v<4>;\n.reg .b32 %r<12>;\n.reg .b32 %w<4>;\n.reg .pred %p<3>;\n\
         .shared .align 64 .b8 memory[{BYTES}];\n\
         ld.param.u64 %rd0, [memory0];\nld.param.u64 %rd1, [index];\nld.param.u64 %rd2, [out];\nld.param.u64 %rd6, [mask];\n\
         mov.u32 %r1, %tid.x;\n{fill}\
         cvt.u32.u64 %r2, %rd6;\nshr.u32 %r2, %r2, %r1;\nand.b32 %r2, %r2, 1;\nsetp.ne.u32 %p0, %r2, 0;\n\
         mul.wide.u32 %rd7, %r1, 4;\nadd.u64 %rd1, %rd1, %rd7;\nld.global.u32 %r4, [%rd1];\n{place}\
         mul.wide.u32 %rd7, %r1, 16;\nadd.u64 %rd4, %rd2, %rd7;\n\
         @%p0 ld.{space}.{what} {values}, [{address}];\n{give}\
         {make}@%p0 st.{space}.{what} [{address}], {values};\n{back}ret;\n}}\n"
    )
}

/// Offsets of the lanes, each with so many bytes inside the memory.
fn offsets(rng: &mut Rng, bytes: u64) -> [u64; 32] {
    let rows = BYTES - 32 * bytes;
    let mut start = || rng.below(rows / bytes) * bytes;
    let (first, second) = (start(), start());
    let cut = rng.below(32);
    let kind = rng.below(8);
    std::array::from_fn(|lane| {
        let lane = lane as u64;
        let of_part = if lane < cut { first } else { second };
        match kind {
            0 | 1 => first + lane * bytes,
            2 => first,
            3 => of_part + lane * bytes,
            4 => of_part,
            5 => first + (31 - lane) * bytes,
            // One of a row is elsewhere.
            6 => {
                if lane == cut {
                    second
                } else {
                    first + lane * bytes
                }
            }
            _ => rng.below(BYTES / bytes) * bytes,
        }
    })
}

fn value(lane: usize, element: u64) -> u64 {
    u64::from((lane as u32).wrapping_mul(2_654_435_761).wrapping_add(element as u32 * 40503))
}

fn try_one(device: &mut Device, rng: &mut Rng, (what, size, elements): (&str, u64, u64), shared: bool) {
    let bytes = size * elements;
    let mut at = offsets(rng, bytes);
    let mask = if rng.below(2) == 0 { !0 } else { rng.next() as u32 };
    let bad = (rng.below(4) == 0 && mask != 0).then(|| {
        let nth = rng.below(u64::from(mask.count_ones()));
        let lane = (0..nth).fold(mask, |lanes, _| lanes & (lanes - 1)).trailing_zeros() as usize;
        // Behind the end, or not aligned.
        at[lane] = if bytes == 1 || rng.below(2) == 0 { BYTES } else { at[lane] + bytes / 2 };
        lane
    });
    let before: Vec<u8> = (0..BYTES).map(|_| rng.next() as u8).collect();
    let [memory, index, out] = [BYTES, 128, ROOM as u64].map(|bytes| device.buffer(bytes));
    device.memory.write(memory, &before).expect("allocated");
    let words: Vec<u8> = at.iter().flat_map(|at| (*at as u32).to_le_bytes()).collect();
    device.memory.write(index, &words).expect("allocated");
    let result = device.launch("k", 1, 32, &[memory, index, out, u64::from(mask)], rng.next());
    let [mut after, mut given] = [vec![0; BYTES as usize], vec![0; ROOM]];
    device.memory.read(memory, &mut after).expect("allocated");
    device.memory.read(out, &mut given).expect("allocated");
    for buffer in [memory, index, out] {
        device.memory.free(buffer).expect("allocated");
    }
    let said = format!("{what}, shared: {shared}, mask: {mask:#x}, offsets: {at:?}");
    if let Some(lane) = bad {
        let End::Fault(fault) = &result.end else { panic!("{said}: {:?}", result.end) };
        assert_eq!(fault.thread.thread[0], lane as u32, "{said}");
        let fits = match fault.kind {
            StopKind::OutOfBounds { .. } => at[lane] == BYTES,
            StopKind::Misaligned { .. } => at[lane] != BYTES,
            _ => false,
        };
        assert!(fits, "{said}: {fault}");
        return;
    }
    assert_eq!(result.end, End::Complete, "{said}");
    let mut expected = before.clone();
    for lane in (0..32).filter(|lane| mask >> lane & 1 != 0) {
        for element in 0..elements {
            let from = (at[lane] + element * size) as usize;
            let mut loaded = [0; 8];
            loaded[..size as usize].copy_from_slice(&before[from..from + size as usize]);
            let (room, to) = (size.max(4) as usize, lane * 16 + (element * size.max(4)) as usize);
            assert_eq!(given[to..to + room], loaded[..room], "{said}: lane {lane} loads");
            let stored = value(lane, element).to_le_bytes();
            expected[from..from + size as usize].copy_from_slice(&stored[..size as usize]);
        }
    }
    assert!(after == expected, "{said}: what is stored");
}

#[test]
fn rows_of_all_patterns_are_loaded_and_stored_lane_by_lane() {
    let mut rng = Rng::new(0x70_77);
    for what in MOVES {
        for shared in [false, true] {
            // Lanes stay together: of those that store to one place the highest comes last.
            let config = DeviceConfig { lockstep: true, ..DeviceConfig::default() };
            let mut device = Device::with(&kernel(what.0, what.2, shared), config);
            for _ in 0..150 {
                try_one(&mut device, &mut rng, what, shared);
            }
        }
    }
}
