//! The four formats of clocks, as executions come to them and leave them again.

use bugaroo_semantics::inferred::{Reach, Role};

use crate::run::Run;
use crate::support::{At, Size};
use crate::trace::{Access, Kind, Op};

const ALL: u32 = u32::MAX;

fn write(warp: u32, lanes: u32, first: u64) -> Op {
    let values = Box::new([0; 32]);
    let (kind, shared, at, role) = (Kind::Write, false, At::Consecutive(first), Role::default());
    Op::Access(warp, Access { kind, lanes, shared, size: 4, elements: 1, at, values, role })
}

fn sync(warp: u32, lane: u32, kind: Kind, role: Role) -> Op {
    let (at, values) = (At::Same(0x8000), Box::new([0; 32]));
    Op::Access(warp, Access { kind, lanes: 1 << lane, shared: false, size: 4, elements: 1, at, values, role })
}

fn entries(size: Size, ops: &[Op]) -> [u64; 4] {
    Run::all(size, ops).detector.clock_use().entries
}

#[test]
fn warps_begin_converged_and_are_so_again_behind_a_branch() {
    let size = Size { blocks: 1, threads: 32 };
    let mut ops = vec![write(0, ALL, 0x1000)];
    assert_eq!(entries(size, &ops), [1, 0, 0, 0]);
    ops.push(Op::If { warp: 0, lanes: ALL, taken: 0xff, taken_first: true });
    ops.push(write(0, 0xff, 0x1000));
    assert_eq!(entries(size, &ops), [0, 2, 0, 0]);
    ops.push(Op::If { warp: 0, lanes: 0xff, taken: 0xf, taken_first: true });
    ops.push(write(0, 0xf, 0x1000));
    assert_eq!(entries(size, &ops), [0, 1, 2, 0]);
    ops.push(Op::Else { warp: 0, lanes: 0xf0 });
    ops.push(Op::Fi { warp: 0, lanes: 0xff });
    assert_eq!(entries(size, &ops), [0, 2, 0, 0]);
    ops.push(Op::Else { warp: 0, lanes: ALL & !0xff });
    ops.push(Op::Fi { warp: 0, lanes: ALL });
    assert_eq!(entries(size, &ops), [1, 0, 0, 0]);
}

#[test]
fn a_lock_of_another_block_makes_it_sparse_and_a_barrier_of_the_block_does_not() {
    let size = Size { blocks: 2, threads: 64 };
    let release = Role { release: Some(Reach::Grid), ..Role::default() };
    let acquire = Role { acquire: Some(Reach::Grid), ..Role::default() };
    let mut ops =
        vec![Op::Bar { block: 0 }, sync(0, 0, Kind::Write, release), sync(2, 5, Kind::Read, acquire)];
    assert_eq!(entries(size, &ops), [3, 0, 0, 1]);
    // All threads of the block share it from then on.
    ops.push(Op::Bar { block: 1 });
    assert_eq!(entries(size, &ops), [2, 0, 0, 2]);
}

#[test]
fn a_lock_within_the_block_is_forgotten_at_its_barrier() {
    let size = Size { blocks: 1, threads: 64 };
    let release = Role { release: Some(Reach::Block), ..Role::default() };
    let acquire = Role { acquire: Some(Reach::Block), ..Role::default() };
    let mut ops = vec![sync(0, 0, Kind::Write, release), sync(1, 5, Kind::Read, acquire)];
    assert_eq!(entries(size, &ops), [1, 0, 0, 1]);
    ops.push(Op::Bar { block: 0 });
    assert_eq!(entries(size, &ops), [2, 0, 0, 0]);
}

#[test]
fn a_thread_takes_few_bytes() {
    let size = Size { blocks: 8, threads: 256 };
    let ops: Vec<Op> = (0..8).map(|block| Op::Bar { block }).collect();
    let used = Run::all(size, &ops).detector.clock_use();
    println!("{} bytes for {} threads", used.bytes, used.threads);
    assert_eq!(used.threads, 2048);
    assert!(used.bytes <= 2 * used.threads, "{used:?}");
}
