//! Grids of several devices: device scope does not order them, system scope does.

use bugaroo_detectors::{HowFar, MissingOrder};
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::event::{AccessKind, WorkKind};
use bugaroo_semantics::splitmix::{GOLDEN, mix};

use crate::world::{How, LOAD, RMW, STORE, World, acquire, release, strong};

const A: (u32, u64, u32) = (1, 0, 0);
const B: (u32, u64, u32) = (2, 0, 0);
const C: (u32, u64, u32) = (3, 0, 0);
const DATA: u64 = 0x1000;
const FLAG: u64 = 0x2000;
const OTHER: u64 = 0x3000;
const SYS: Option<Scope> = Some(Scope::Sys);
const GPU: Option<Scope> = Some(Scope::Gpu);

/// Grids side by side, each on its device.
fn world(devices: &[u32]) -> World {
    let mut world = World::new();
    for (grid, device) in (1..).zip(devices) {
        world.work(grid, WorkKind::Grid, grid, &[]);
        world.on(grid, *device);
        world.begin(grid, 2, 32, 1);
    }
    world
}

#[derive(Clone, Copy)]
struct Message {
    sends: Option<Scope>,
    receives: Option<Scope>,
    flag: Scope,
    sc: bool,
}

fn message(devices: [u32; 2], how: Message) -> World {
    let mut world = world(&devices);
    let fence = |world: &mut World, thread, scope: Option<Scope>| {
        if let Some(scope) = scope {
            world.fence(thread, scope, how.sc, true, true);
        }
    };
    world.at(A, DATA, STORE);
    fence(&mut world, A, how.sends);
    world.at(A, FLAG, strong(STORE, how.flag));
    world.at(B, FLAG, strong(LOAD, how.flag));
    fence(&mut world, B, how.receives);
    world.at(B, DATA, LOAD);
    world
}

#[test]
fn messages_between_devices_need_the_scope_of_the_system() {
    for sc in [false, true] {
        let how = |sends, receives, flag| Message { sends, receives, flag, sc };
        for (sends, receives) in [(None, SYS), (SYS, None), (GPU, SYS), (SYS, GPU), (GPU, GPU), (None, None)]
        {
            let found = message([0, 1], how(sends, receives, Scope::Sys)).check();
            assert_eq!(found.len(), 1, "{sends:?} {receives:?} {sc}");
            assert_eq!((found[0].class, found[0].missing), (HowFar::InterGrid, MissingOrder::System));
        }
        // A flag of device scope races itself, too.
        assert_eq!(message([0, 1], how(SYS, SYS, Scope::Gpu)).check_found().len(), if sc { 1 } else { 2 });
        assert!(message([0, 1], how(SYS, SYS, Scope::Sys)).check().is_empty());
        // On one device device scope will do, and the other detectors' worlds are told of no devices.
        assert!(message([1, 1], how(GPU, GPU, Scope::Gpu)).check_found().is_empty());
    }
}

#[test]
fn releases_and_acquires() {
    for (sends, receives, races) in [
        (Scope::Sys, Scope::Sys, 0),
        (Scope::Gpu, Scope::Sys, 2),
        (Scope::Sys, Scope::Gpu, 2),
        (Scope::Gpu, Scope::Gpu, 2),
    ] {
        let mut world = world(&[0, 1]);
        world.at(A, DATA, STORE);
        world.at(A, FLAG, release(sends));
        world.at(B, FLAG, acquire(receives));
        world.at(B, DATA, LOAD);
        assert_eq!(world.check().len(), races, "{sends:?} {receives:?}");
    }
}

#[test]
fn a_fence_behind_the_flag_orders_nothing() {
    let mut world = world(&[0, 1]);
    world.at(A, DATA, STORE);
    world.at(A, FLAG, strong(STORE, Scope::Sys));
    world.fence(A, Scope::Sys, true, true, true);
    world.at(B, FLAG, strong(LOAD, Scope::Sys));
    world.fence(B, Scope::Sys, true, true, true);
    world.at(B, DATA, LOAD);
    assert_eq!(world.check().len(), 1);
}

#[test]
fn another_thread_of_the_device_hands_on() {
    // The first device's second grid learns at device scope, and tells the second device.
    for (scope, races) in [(Scope::Sys, 0), (Scope::Gpu, 1)] {
        let mut world = world(&[0, 0, 1]);
        world.at(A, DATA, STORE);
        world.membar(A, Scope::Gpu);
        world.at(A, FLAG, strong(STORE, Scope::Gpu));
        world.at(B, FLAG, strong(LOAD, Scope::Gpu));
        world.membar(B, scope);
        world.at(B, OTHER, strong(STORE, Scope::Sys));
        world.at(C, OTHER, strong(LOAD, Scope::Sys));
        world.membar(C, Scope::Sys);
        world.at(C, DATA, LOAD);
        assert_eq!(world.check().len(), races, "{scope:?}");
    }
}

#[test]
fn atomics_of_another_device_hand_on() {
    let mut world = world(&[0, 1, 2]);
    world.at(A, DATA, STORE);
    world.membar(A, Scope::Sys);
    world.at(A, FLAG, strong(STORE, Scope::Sys));
    world.at(B, FLAG, strong(RMW, Scope::Sys));
    world.at(C, FLAG, strong(LOAD, Scope::Sys));
    world.membar(C, Scope::Sys);
    world.at(C, DATA, LOAD);
    assert!(world.check().is_empty());
}

#[test]
fn what_comes_behind_the_receiver_comes_behind_the_message() {
    let mut world = message([0, 1], Message { sends: SYS, receives: SYS, flag: Scope::Sys, sc: false });
    // In the receiver's stream, once that has ended; nobody waits for the sender.
    world.end(2);
    world.work(4, WorkKind::Grid, 2, &[]);
    world.on(4, 1);
    world.begin(4, 1, 32, 1);
    world.at((4, 0, 0), DATA, LOAD);
    assert!(world.findings().is_empty());
}

/// What is found races, whatever grids of three devices do to each other.
#[test]
fn random_executions() {
    let wanted =
        std::env::var("BUGAROO_EXECUTIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(4_000);
    let mut racy = 0;
    for seed in 0..wanted {
        let mut state = mix(seed);
        let mut below = |most: u64| {
            state = state.wrapping_add(GOLDEN);
            mix(state) % most
        };
        let devices: Vec<u32> = (0..2 + below(3)).map(|_| below(3) as u32).collect();
        let mut world = world(&devices);
        world.told.push(format!("seed {seed}"));
        let grids = devices.len() as u64;
        for _ in 0..6 + below(14) {
            let thread = (1 + below(grids) as u32, below(2), 0);
            let scope = [Scope::Sys, Scope::Sys, Scope::Gpu, Scope::Cta][below(4) as usize];
            if below(3) == 0 {
                world.fence(thread, scope, below(2) == 0, true, true);
                continue;
            }
            let kind: How = [LOAD, STORE, RMW][below(3) as usize];
            let how = match below(4) {
                0 if kind.kind == AccessKind::Store => release(scope),
                0 if kind.kind == AccessKind::Load => acquire(scope),
                0 => How { acquire: true, release: true, ..strong(kind, scope) },
                1 if !matches!(kind.kind, AccessKind::Atomic(_)) => kind,
                _ => strong(kind, scope),
            };
            let plain = how.scope.is_none();
            let place = if plain { DATA + 4 * below(2) } else { FLAG + 4 * below(2) };
            world.at(thread, place, how);
        }
        racy += u64::from(!world.check_found().is_empty());
    }
    assert!(racy > wanted / 20, "{racy} of {wanted} race");
}
