use bugaroo_protocol::{BlockedThread, Conflict, ConflictKind, FaultAccess, Party, Relation};

use super::{Conflicts, MOST};

fn party(line: u32) -> Party {
    let at = BlockedThread {
        block: [0; 3],
        thread: [0; 3],
        threads: 1,
        function: "k".into(),
        ptx_line: Some(line),
        source: None,
        instruction: "ld.u32".into(),
    };
    Party { at, site: None, access: FaultAccess::Load, strong: false }
}

fn conflict(line: u32, count: u64) -> Conflict {
    Conflict {
        kind: ConflictKind::Unordered,
        relation: Relation::Block,
        shared: true,
        address: 4,
        first: party(line),
        second: party(7),
        between: None,
        count,
    }
}

/// Launches of one kernel tell of the same instructions again and again: what is kept does not grow with them.
#[test]
fn the_pairs_of_many_launches_are_added_up() {
    let mut all = Conflicts::default();
    for _ in 0..100 {
        let lost = Conflict { between: Some(party(9)), kind: ConflictKind::LostUpdate, ..conflict(1, 1) };
        all.take(vec![conflict(1, 2), conflict(2, 3), lost], 1);
    }
    let counts: Vec<_> = all.pairs.iter().map(|pair| pair.count).collect();
    assert_eq!((counts, all.more), (vec![200, 300, 100], 100));
}

#[test]
fn what_there_is_no_room_for_is_counted() {
    let mut all = Conflicts::default();
    for line in 0..MOST as u32 + 5 {
        all.take(vec![conflict(line, 2)], 0);
    }
    assert_eq!((all.pairs.len(), all.more), (MOST, 10));
}
