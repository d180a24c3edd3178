use super::*;

#[test]
fn the_machine_has_the_states_that_the_documents_say() {
    let machine = HistoryMachine::get();
    assert_eq!((machine.states(), machine.before), (21, 36));
    assert_eq!(machine.states() * inputs().count(), 1_008);
}

#[test]
fn untouched_is_first_and_a_race_last_and_stays() {
    let machine = HistoryMachine::get();
    assert_eq!(machine.histories[usize::from(UNTOUCHED)], None);
    for (action, apart, since) in inputs() {
        assert_ne!(machine.step(UNTOUCHED, input(action, apart, since)), UNTOUCHED);
        assert_eq!(machine.step(machine.race(), input(action, apart, since)), machine.race());
    }
}

/// For any two states there are accesses behind which one has raced and the other not.
#[test]
fn no_two_states_are_alike() {
    let machine = HistoryMachine::get();
    let told_apart = |one: StateNumber, other: StateNumber| {
        let mut seen = vec![(one, other)];
        let mut at = 0;
        while let Some((one, other)) = seen.get(at).copied() {
            at += 1;
            for (action, apart, since) in inputs() {
                let by = input(action, apart, since);
                let next = (machine.step(one, by), machine.step(other, by));
                if (next.0 == machine.race()) != (next.1 == machine.race()) {
                    return true;
                }
                if !seen.contains(&next) {
                    seen.push(next);
                }
            }
        }
        false
    };
    let states = machine.states() as StateNumber;
    for one in 0..states {
        for other in 0..one {
            assert!(
                told_apart(one, other),
                "{one} and {other}: {:?} {:?}",
                machine.histories[usize::from(one)],
                machine.histories[usize::from(other)]
            );
        }
    }
}

#[test]
fn every_state_and_input_is_described() {
    let text = HistoryMachine::get().describe();
    assert!(text.starts_with("21 states, 1008 transitions\n"), "{text}");
    assert!(text.contains("threads of several blocks: reads"), "{text}");
}

/// Who accesses many words at once may go by this.
#[test]
fn a_second_neighbour_changes_nothing_and_behind_a_barrier_all_threads_of_a_block_are_alike() {
    let machine = HistoryMachine::get();
    for state in 0..machine.states() as StateNumber {
        for action in Action::ALL {
            for apart in [Apart::Thread, Apart::Warp] {
                let neighbour = input(action, apart, Since::Nothing);
                let one = machine.step(state, neighbour);
                // Where nobody was, the first one has no neighbour.
                assert!(
                    state == UNTOUCHED || machine.step(one, neighbour) == one,
                    "{state} {action:?} {apart:?}"
                );
            }
            let behind = |apart| machine.step(state, input(action, apart, Since::BlockBarrier));
            assert_eq!(behind(Apart::Thread), behind(Apart::Warp), "{state} {action:?}");
            assert_eq!(behind(Apart::Thread), behind(Apart::Block), "{state} {action:?}");
        }
    }
    let untouched = |(action, apart, since)| machine.step(UNTOUCHED, input(action, apart, since));
    let first = |action| untouched((action, Apart::Thread, Since::Nothing));
    assert!(inputs().all(|input| untouched(input) == first(input.0)));
}
