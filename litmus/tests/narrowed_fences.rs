//! A fence whose scope is too narrow shows in trials, however many stores stand before it: the last block of a reduction sums
//! up what all have stored. What is asked of the fence: nothing, that it be left out, or narrowed to the block.

mod inserted;

use std::fmt::Write as _;

use bugaroo_device_handlers::HandlerModel;
use bugaroo_injector::collect_sites::PointKind;
use inserted::handlers::Instrumented;
use inserted::{Loaded, NARROW, OMIT, Own, Work, table};

/// Blocks, of one thread each.
const BLOCKS: u32 = 8;

/// Each block stores `stores` words, then takes a ticket; the last one sums all words up. Cells: ticket, sum, words.
fn last_block(stores: u32) -> String {
    let mut text = String::from(
        ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 cells) {\n.reg .pred %p<3>;\n\
         .reg .b32 %r<9>;\n.reg .b64 %rd<6>;\nld.param.u64 %rd0, [cells];\nmov.u32 %r0, %ctaid.x;\n",
    );
    let _ = writeln!(text, "mul.wide.u32 %rd1, %r0, {};\nadd.s64 %rd1, %rd0, %rd1;", 4 * stores);
    for store in 0..stores {
        let _ = writeln!(text, "st.global.u32 [%rd1+{}], 1;", 8 + 4 * store);
    }
    let _ = write!(
        text,
        "membar.gl;\natom.global.add.u32 %r1, [%rd0], 1;\nsetp.ne.u32 %p0, %r1, {last};\n@%p0 bra done;\n\
         mov.u32 %r2, 0;\nmov.u32 %r3, 0;\nadd.s64 %rd2, %rd0, 8;\nloop:\nld.global.u32 %r4, [%rd2];\n\
         add.u32 %r2, %r2, %r4;\nadd.u32 %r3, %r3, 1;\nadd.s64 %rd2, %rd2, 4;\nsetp.lt.u32 %p1, %r3, {all};\n\
         @%p1 bra loop;\nst.global.u32 [%rd0+4], %r2;\ndone:\nret;\n}}\n",
        last = BLOCKS - 1,
        all = BLOCKS * stores,
    );
    text
}

/// How many of so many trials sum up wrongly: by the simulator's own store buffers, or the device code's.
fn failures(stores: u32, asked: Option<u32>, native: bool, trials: u64) -> u64 {
    let text = last_block(stores);
    let bytes = (8 + 4 * BLOCKS * stores) as usize;
    let work = Work { text: &text, kernel: "k", grid: [BLOCKS, 1, 1], block: 1, bytes };
    let table = table(&text);
    let fence = table.points.iter().find(|point| matches!(point.kind, PointKind::Fence(_)));
    let fence = fence.and_then(|point| point.site).expect("the kernel has a fence");
    let words = asked.map(|word| inserted::words(&table, &vec![(fence, word)]));
    let wrong = |cells: &[u8]| cells[4..8] != (BLOCKS * stores).to_le_bytes();
    let trials = 0..trials;
    if native {
        let mut loaded = Loaded::new(&text, &table, words.as_deref(), bytes);
        trials.filter(|seed| wrong(&loaded.run(&work, Own::StoreBuffer, *seed).1)).count() as u64
    } else {
        let mut loaded = Instrumented::new(&text, &work, words.as_deref());
        trials.filter(|seed| wrong(&loaded.run(&work, HandlerModel::StoreBuffer, *seed))).count() as u64
    }
}

#[test]
fn a_narrowed_fence_fails_at_least_half_as_often_as_none() {
    for native in [true, false] {
        for stores in [1, 2, 6, 12, 24] {
            let trials = 400;
            let (none, narrow) = (
                failures(stores, Some(OMIT), native, trials),
                failures(stores, Some(NARROW), native, trials),
            );
            println!("native {native}: {stores} stores: omitted {none}, narrowed {narrow} of {trials}");
            assert!(none > 0 && 2 * narrow >= none, "{stores} stores: omitted {none}, narrowed {narrow}");
        }
    }
}
