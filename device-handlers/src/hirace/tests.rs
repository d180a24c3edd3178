use bugaroo_semantics::history::table::{HistoryMachine, PLACES};

use super::*;
use crate::header;

#[test]
fn every_field_has_its_bytes() {
    let state = HiraceState {
        control: 1,
        page_mask: 2,
        race_mask: 3,
        site: 4,
        lockstep: 5,
        ..HiraceState::default()
    };
    let bytes = state.to_bytes();
    let half = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    assert_eq!(half(0), 1);
    assert_eq!(half(std::mem::offset_of!(HiraceState, page_mask)), 2);
    assert_eq!(half(std::mem::offset_of!(HiraceState, race_mask)), 3);
    assert_eq!(half(std::mem::offset_of!(HiraceState, site)), 4);
    assert_eq!(half(std::mem::offset_of!(HiraceState, lockstep)), 5);
}

/// The table in the compiled code is the machine of the native detector.
#[test]
fn the_device_has_the_hosts_machine() {
    let machine = HistoryMachine::get();
    let name = "__bugaroo_hirace_machine[2048] = {";
    let text = HIRACE_PTX.split_once(name).expect("the compiled code has the table").1;
    let text = text.split_once('}').expect("the table ends").0;
    let mut compiled: Vec<u8> = text.split(',').map(|one| one.trim().parse().expect("a number")).collect();
    // The compiler leaves zeros at the end out.
    compiled.resize(PLACES, 0);
    assert_eq!(compiled, machine.next);
    assert!(header::hirace().contains(&format!("#define BUGAROO_RACE {:#x}u\n", machine.race())));
}
