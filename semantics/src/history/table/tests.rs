use super::*;

#[test]
fn the_machine_has_the_states_that_the_documents_say() {
    let machine = Machine::get();
    assert_eq!((machine.states(), machine.before), (21, 36));
    assert_eq!(machine.states() * inputs().count(), 1_008);
}

#[test]
fn untouched_is_first_and_a_race_last_and_stays() {
    let machine = Machine::get();
    assert_eq!(machine.histories[usize::from(UNTOUCHED)], None);
    for (action, apart, since) in inputs() {
        assert_ne!(machine.step(UNTOUCHED, input(action, apart, since)), UNTOUCHED);
        assert_eq!(machine.step(machine.race(), input(action, apart, since)), machine.race());
    }
}

/// For any two states there are accesses behind which one has raced and the other not.
#[test]
fn no_two_states_are_alike() {
    let machine = Machine::get();
    let told_apart = |one: State, other: State| {
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
    let states = machine.states() as State;
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
    let text = Machine::get().describe();
    assert!(text.starts_with("21 states, 1008 transitions\n"), "{text}");
    assert!(text.contains("threads of several blocks: reads"), "{text}");
}
