//! Each label parses, names lines that there are, and gives a reason.

use race_suite::label::{LabelKind, LabelPlace, LabelVerdict};
use race_suite::suite::{programs, programs_of};

#[test]
fn both_detectors_have_enough_to_say() {
    let programs = programs().expect("all labels can be read");
    for at in 0..2 {
        let count =
            |is: fn(&LabelVerdict) -> bool| programs.iter().filter(|one| is(&one.label.verdicts[at])).count();
        let clean = count(|verdict| matches!(verdict, LabelVerdict::None));
        let racy = count(|verdict| matches!(verdict, LabelVerdict::Races { .. }));
        assert!(clean + racy >= 66 && clean >= 30 && racy >= 30, "{clean} clean, {racy} racy");
    }
    let kinds = programs.iter().flat_map(|one| &one.label.verdicts).flat_map(|verdict| match verdict {
        LabelVerdict::Races { expected, .. } => expected.clone(),
        LabelVerdict::Any | LabelVerdict::None => Vec::new(),
    });
    let kinds: Vec<LabelKind> = kinds.flat_map(|race| race.kinds).collect();
    for kind in
        [LabelKind::WriteWrite, LabelKind::WriteRead, LabelKind::BranchOrder, LabelKind::BarrierDivergence]
    {
        assert!(kinds.contains(&kind), "{kind:?}");
    }
}

#[test]
fn reasons_are_sentences_and_lines_are_of_the_program() {
    for program in programs().expect("all labels can be read") {
        let why = &program.label.why;
        assert!(why.split_whitespace().count() >= 6, "{}: {why}", program.name);
        let lines = program.source.lines().count();
        for place in program.label.verdicts.iter().flat_map(LabelVerdict::places) {
            let LabelPlace::Line(line) = place else { continue };
            assert!((2..=lines).contains(&(line as usize)), "{}: line {line}", program.name);
        }
    }
}

/// As many as the papers have, each with its label.
#[test]
fn the_suites_of_the_two_papers_are_whole() {
    let scor = programs_of("scor").expect("all labels can be read");
    let micro =
        scor.iter().filter(|program| program.path.parent().is_some_and(|folder| folder.ends_with("micro")));
    let racy = |name: &str| name.contains("_race_");
    let (races, clean): (Vec<_>, Vec<_>) = micro.partition(|program| racy(&program.name));
    assert_eq!((races.len(), clean.len()), (18, 14));
    let switches = scor.iter().filter(|program| program.label.switch.is_some()).count();
    assert_eq!(switches, 26);
    for program in &scor {
        let is_racy = matches!(program.label.verdict("scord"), LabelVerdict::Races { .. });
        assert_eq!(is_racy, racy(&program.name) || program.label.switch.is_some(), "{}", program.name);
    }
    let indigo = programs_of("indigo").expect("all labels can be read");
    let clean = indigo.iter().filter(|program| program.label.switch.is_none()).count();
    assert!(clean >= 60, "{clean} clean programs");
    for program in &indigo {
        let name = &program.name;
        if program.label.switch.is_none() {
            assert_eq!(program.label.verdict("hirace"), &LabelVerdict::None, "{name}");
        }
    }
}
