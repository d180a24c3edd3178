//! Acquires, releases and covered accesses, as texts imply them.

use bugaroo_ptx::op::AtomOp;
use bugaroo_semantics::inferred::{AccessedOperand, Order, Reach, Role, Step, What, Writes, roles};

fn step(what: What) -> Step<'static> {
    let operand = match what {
        What::Load | What::Store | What::Atomic(_) => {
            Some(AccessedOperand { register: Some(1), offset: 0, space: 1, size: 4, elements: 1 })
        }
        _ => None,
    };
    Step { what, order: Order::Weak, guard: None, operand, writes: Writes::These(&[]), begins_block: false }
}

fn fence(reach: Reach) -> What {
    What::Fence { reach, acquire: true, release: true }
}

/// The acquire and release of the only access in a text.
fn of(text: &[What]) -> (Option<Reach>, Option<Reach>) {
    let steps: Vec<Step<'_>> = text.iter().copied().map(step).collect();
    let all = roles(&steps);
    let access = |what: &What| matches!(what, What::Load | What::Store | What::Atomic(_));
    let at = text.iter().position(access).expect("one access");
    (all[at].acquire, all[at].release)
}

const BLOCK: Option<Reach> = Some(Reach::Block);
const GRID: Option<Reach> = Some(Reach::Grid);

#[test]
fn loads_before_fences_acquire_and_stores_behind_them_release() {
    let (block, grid) = (fence(Reach::Block), fence(Reach::Grid));
    assert_eq!(of(&[What::Load, block]), (BLOCK, None));
    assert_eq!(of(&[What::Load, What::Other, What::Other, grid]), (GRID, None));
    assert_eq!(of(&[grid, What::Load]), (None, None));
    assert_eq!(of(&[grid, What::Store]), (None, GRID));
    assert_eq!(of(&[block, What::Other, What::Store]), (None, BLOCK));
    assert_eq!(of(&[What::Store, grid]), (None, None));
    assert_eq!(of(&[grid, What::Stop, What::Store]), (None, None));
    assert_eq!(of(&[What::Load, What::Stop, grid]), (None, None));
    assert_eq!(of(&[block, grid, What::Store]), (None, GRID));
}

#[test]
fn one_sided_fences_count_for_their_side() {
    let acquires = What::Fence { reach: Reach::Grid, acquire: true, release: false };
    let releases = What::Fence { reach: Reach::Grid, acquire: false, release: true };
    assert_eq!(of(&[What::Load, acquires]), (GRID, None));
    assert_eq!(of(&[What::Load, releases]), (None, None));
    assert_eq!(of(&[releases, What::Store]), (None, GRID));
    assert_eq!(of(&[acquires, What::Store]), (None, None));
}

#[test]
fn locks_need_the_fence_on_their_side() {
    let (block, grid) = (fence(Reach::Block), fence(Reach::Grid));
    let (cas, exchange) = (What::Atomic(AtomOp::Cas), What::Atomic(AtomOp::Exch));
    assert_eq!(of(&[cas, What::Other, grid]), (GRID, None));
    assert_eq!(of(&[grid, cas]), (None, None));
    assert_eq!(of(&[block, exchange]), (None, BLOCK));
    assert_eq!(of(&[exchange, block]), (None, None));
    assert_eq!(of(&[grid, cas, block]), (BLOCK, GRID));
    assert_eq!(of(&[grid, exchange, grid]), (GRID, GRID));
    let add = What::Atomic(AtomOp::Add);
    assert_eq!(of(&[add]), (None, None));
    assert_eq!(of(&[grid, add, grid]), (GRID, GRID));
    assert_eq!(of(&[grid, add]), (GRID, GRID));
    assert_eq!(of(&[add, block]), (BLOCK, BLOCK));
}

#[test]
fn another_access_between_parts_them() {
    let grid = fence(Reach::Grid);
    let text =
        [step(grid), step(What::Store), step(What::Store), step(What::Load), step(What::Load), step(grid)];
    let all = roles(&text);
    let sync: Vec<_> = all.iter().map(|role| role.synchronises()).collect();
    assert_eq!(sync, [false, true, false, false, true, false]);
}

fn covered(text: &[Step<'_>]) -> Vec<bool> {
    roles(text).iter().map(|role: &Role| role.covered).collect()
}

#[test]
fn an_access_covers_later_ones_of_the_same_place() {
    let (load, store) = (step(What::Load), step(What::Store));
    assert_eq!(covered(&[load, load, store, store, load]), [false, true, false, true, true]);
    let mut other = load;
    other.operand = Some(AccessedOperand { register: Some(1), offset: 4, space: 1, size: 4, elements: 1 });
    assert_eq!(covered(&[load, other, load, other]), [false, false, true, true]);
    let mut wide = load;
    wide.operand = Some(AccessedOperand { register: Some(1), offset: 0, space: 1, size: 8, elements: 1 });
    assert_eq!(covered(&[load, wide]), [false, false]);
}

#[test]
fn what_may_order_or_change_the_address_ends_it() {
    let load = step(What::Load);
    for what in [What::Stop, fence(Reach::Block), What::Atomic(AtomOp::Add)] {
        assert!(!covered(&[load, step(what), load])[2], "{what:?}");
    }
    let mut changes = step(What::Other);
    changes.writes = Writes::These(&[1]);
    assert_eq!(covered(&[load, changes, load]), [false; 3]);
    changes.writes = Writes::These(&[2]);
    assert_eq!(covered(&[load, changes, load]), [false, false, true]);
    changes.writes = Writes::Any;
    assert_eq!(covered(&[load, changes, load]), [false; 3]);
    // A load that overwrites its own address.
    let mut chase = load;
    chase.writes = Writes::These(&[1]);
    assert_eq!(covered(&[chase, chase]), [false; 2]);
    let mut labelled = load;
    labelled.begins_block = true;
    assert_eq!(covered(&[load, labelled]), [false; 2]);
}

#[test]
fn guards_and_strength_have_to_fit() {
    let load = step(What::Load);
    let guarded = Step { guard: Some((5, false)), ..load };
    let negated = Step { guard: Some((5, true)), ..load };
    assert_eq!(covered(&[load, guarded]), [false, true]);
    assert_eq!(covered(&[guarded, load]), [false, false]);
    assert_eq!(covered(&[guarded, guarded, negated]), [false, true, false]);
    let mut changes = step(What::Other);
    changes.writes = Writes::These(&[5]);
    assert_eq!(covered(&[guarded, changes, guarded]), [false; 3]);
    let strong = Step { order: Order::Strong, ..load };
    assert_eq!(covered(&[strong, load]), [false, false]);
    assert_eq!(covered(&[load, strong]), [false, true]);
}

fn led(text: &[Step<'_>]) -> Vec<Option<(u32, u64)>> {
    roles(text).iter().map(|role: &Role| role.led_by).collect()
}

fn at(what: What, offset: u64) -> Step<'static> {
    let operand = Some(AccessedOperand { register: Some(1), offset, space: 1, size: 4, elements: 1 });
    Step { operand, ..step(what) }
}

#[test]
fn accesses_go_by_the_first_one_of_their_kind() {
    let load = |offset| at(What::Load, offset);
    assert_eq!(led(&[load(8), load(12), load(0)]), [None, Some((0, 4)), Some((0, 8_u64.wrapping_neg()))]);
    // A store goes by a store, another space or width by its like; what is covered is nobody's.
    let mut wide = load(16);
    wide.operand = wide.operand.map(|operand| AccessedOperand { elements: 2, ..operand });
    let text = [load(0), at(What::Store, 4), wide, load(0), at(What::Store, 8), load(4), load(12)];
    assert_eq!(led(&text), [None, None, None, None, Some((1, 4)), None, Some((0, 12))]);
    // Strong ones and those with guards go by themselves.
    let strong = Step { order: Order::Strong, ..load(4) };
    let volatile = Step { order: Order::Volatile, ..load(8) };
    let guarded = Step { guard: Some((5, false)), ..load(16) };
    assert_eq!(led(&[load(0), strong, volatile, guarded]), [None; 4]);
    assert_eq!(led(&[guarded, guarded, load(0)]), [None; 3]);
}

#[test]
fn nobody_goes_by_another_across_what_may_order_or_change_the_address() {
    let (first, second) = (at(What::Load, 0), at(What::Load, 4));
    for what in [What::Stop, fence(Reach::Block), What::Atomic(AtomOp::Add)] {
        assert_eq!(led(&[first, step(what), second]), [None; 3], "{what:?}");
    }
    assert_eq!(led(&[first, Step { begins_block: true, ..second }]), [None; 2]);
    for (writes, is_led) in [(Writes::These(&[1]), false), (Writes::These(&[2]), true), (Writes::Any, false)]
    {
        let changes = Step { writes, ..step(What::Other) };
        assert_eq!(led(&[first, changes, second])[2].is_some(), is_led, "{writes:?}");
        // The first one's own destination.
        assert_eq!(led(&[Step { writes, ..first }, second])[1].is_some(), is_led, "{writes:?}");
    }
}

fn overwritten(text: &[Step<'_>]) -> Vec<bool> {
    roles(text).iter().map(|role: &Role| role.overwritten).collect()
}

#[test]
fn a_later_store_makes_up_for_loads_of_the_same_place() {
    let (load, store) = (at(What::Load, 0), at(What::Store, 0));
    assert_eq!(overwritten(&[load, load, store, load]), [true, true, false, false]);
    assert_eq!(overwritten(&[load, at(What::Store, 4)]), [false; 2]);
    let mut wide = store;
    wide.operand = wide.operand.map(|operand| AccessedOperand { elements: 2, ..operand });
    assert_eq!(overwritten(&[load, wide]), [false; 2]);
    // Nobody goes by a load of which nobody is told.
    assert_eq!(led(&[load, at(What::Load, 4), store]), [None; 3]);
    assert_eq!(led(&[load, at(What::Load, 4), at(What::Load, 8), store])[2], Some((1, 4)));
}

#[test]
fn nothing_makes_up_for_a_load_across_what_may_order_or_change_the_address() {
    let (load, store) = (at(What::Load, 0), at(What::Store, 0));
    for what in [What::Stop, fence(Reach::Block), What::Atomic(AtomOp::Add)] {
        assert_eq!(overwritten(&[load, step(what), store]), [false; 3], "{what:?}");
    }
    assert_eq!(overwritten(&[load, Step { begins_block: true, ..store }]), [false; 2]);
    for (writes, is) in [(Writes::These(&[1]), false), (Writes::These(&[2]), true), (Writes::Any, false)] {
        let changes = Step { writes, ..step(What::Other) };
        assert_eq!(overwritten(&[load, changes, store])[0], is, "{writes:?}");
        assert_eq!(overwritten(&[Step { writes, ..load }, store])[0], is, "{writes:?}");
    }
}

#[test]
fn the_store_has_to_come_wherever_the_load_does() {
    let (load, store) = (at(What::Load, 0), at(What::Store, 0));
    let guarded = |step: Step<'static>, negated| Step { guard: Some((5, negated)), ..step };
    assert!(overwritten(&[guarded(load, false), store])[0]);
    assert!(!overwritten(&[load, guarded(store, false)])[0]);
    assert!(overwritten(&[guarded(load, false), guarded(store, false)])[0]);
    assert!(!overwritten(&[guarded(load, false), guarded(store, true)])[0]);
    let mut changes = step(What::Other);
    changes.writes = Writes::These(&[5]);
    assert!(!overwritten(&[guarded(load, false), changes, guarded(store, false)])[0]);
    for order in [Order::Strong, Order::Volatile] {
        assert!(!overwritten(&[Step { order, ..load }, store])[0]);
        assert!(!overwritten(&[load, Step { order, ..store }])[0]);
    }
}
