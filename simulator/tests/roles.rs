//! What a program's text says about its accesses: fences beside them, and accesses that cover others.

use bugaroo_semantics::inferred::Reach;
use bugaroo_simulator::{DeviceConfig, Memory, Program};

/// Acquire, release, volatile, covered.
type Told = (Option<Reach>, Option<Reach>, bool, bool);

/// The roles of a kernel's instructions that have any, in the order of the text.
fn told(body: &str) -> Vec<Told> {
    let text = format!(
        ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<4>;\n\
         ld.param.u64 %d1, [p];\n{body}\nret;\n}}\n"
    );
    let module = bugaroo_ptx::parse(&text).expect("it parses");
    let config = DeviceConfig::default();
    let mut memory = Memory::new(1 << 24).expect("address space");
    let program = Program::load(&module, &mut memory, &config).expect("it loads");
    let roles = program.roles();
    let all = roles.iter().map(|role| (role.acquire, role.release, role.volatile, role.covered));
    all.filter(|role| *role != (None, None, false, false)).collect()
}

const GRID: Option<Reach> = Some(Reach::Grid);
const BLOCK: Option<Reach> = Some(Reach::Block);

#[test]
fn a_lock_acquires_and_releases() {
    let lock = "again: atom.cas.b32 %r1, [%d1], 0, 1;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra again;\nmembar.gl;\n\
        ld.u32 %r2, [%d1+8];\nadd.u32 %r2, %r2, 1;\nst.u32 [%d1+8], %r2;\nmembar.cta;\natom.exch.b32 %r3, [%d1], 0;";
    assert_eq!(told(lock), [(GRID, None, false, false), (None, BLOCK, false, false)]);
}

#[test]
fn a_volatile_flag_is_read_before_a_fence() {
    let wait =
        "again: ld.volatile.u32 %r1, [%d1];\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra again;\nfence.acq_rel.gpu;";
    assert_eq!(told(wait), [(GRID, None, true, false)]);
}

#[test]
fn accesses_of_one_block_cover_later_ones_while_the_address_stands() {
    let covered = (None, None, false, true);
    let twice = "ld.u32 %r1, [%d1];\nadd.u32 %r1, %r1, 1;\nld.u32 %r2, [%d1];\nst.u32 [%d1+4], %r1;\nld.u32 %r3, [%d1+4];";
    assert_eq!(told(twice), [covered, covered]);
    let moved = "ld.u32 %r1, [%d1];\nadd.u64 %d1, %d1, 4;\nld.u32 %r2, [%d1];\nst.u32 [%d1+8], %r2;";
    assert_eq!(told(moved), []);
    let parted = "ld.u32 %r1, [%d1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra on;\nld.u32 %r2, [%d1];\non:\nld.u32 %r3, [%d1];\n\
        st.u32 [%d1], %r3;";
    assert_eq!(told(parted), []);
    let barrier = "ld.u32 %r1, [%d1];\nbar.sync 0;\nld.u32 %r2, [%d1];\nst.u32 [%d1+8], %r2;";
    assert_eq!(told(barrier), []);
}
