use super::*;

#[test]
fn samples_are_of_the_whole_and_hold_races_and_none() {
    for paper in Paper::ALL {
        let Some(suite) = paper.suite() else { continue };
        let all = of(suite, false).unwrap();
        let few = of(suite, true).unwrap();
        assert!(!few.is_empty() && few.len() * 3 < all.len(), "{suite}: {} of {}", few.len(), all.len());
        for question in &few {
            assert!(all.iter().any(|other| other.program.name == question.program.name));
        }
        let switched = few.iter().filter(|question| question.program.label.switch.is_some()).count();
        assert!(suite == PROGRAMS || (switched > 0 && switched < few.len()), "{suite}");
    }
    assert_eq!(of(INDIGO, false).unwrap()[0].runs.len(), 6);
    assert_eq!(of(INDIGO, true).unwrap()[0].runs, [["0"], ["1"]]);
}

#[test]
fn what_is_said_about_a_program_is_not_part_of_it() {
    let mut program = of(INDIGO, true).unwrap().remove(0).program;
    let before = digest(&program).unwrap();
    program.source = program.source.replace("// race", "// race X");
    assert_eq!(digest(&program).unwrap(), before);
    for more in ["int more;\n", "\n"] {
        program.source.push_str(more);
        assert_ne!(digest(&program).unwrap(), before);
    }
}
