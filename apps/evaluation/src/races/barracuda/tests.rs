use super::*;
use crate::races::asked::AppAsked;
use crate::races::fixture::{answered, said};

#[test]
fn programs_are_judged_by_their_labels() {
    let mut results = answered(PROGRAMS);
    assert_eq!(alarms(&results), Vec::<String>::new());
    let [text, apps] = section(&results);
    assert!(text.contains("| the paper's BARRACUDA | 66 | 66 |"), "{text}");
    assert!(
        text.contains("tells 25.0 % in the median and at most 25.0 %, with its pruning 20.0 %"),
        "{text}"
    );
    assert_eq!(apps, shown::NOT_ASKED);

    said(&mut results, "shared_reverse_no_barrier", 0, "barracuda").races.clear();
    let alarms = alarms(&results);
    assert!(alarms.len() == 1 && alarms[0].contains("shared_reverse_no_barrier: missing: "), "{alarms:?}");
    said(&mut results, "shared_reverse_no_barrier", 0, "barracuda").refused = Some("it said nothing".into());
    assert!(super::alarms(&results)[0].contains("no answer: it said nothing"));
}

#[test]
fn benchmarks_stand_beside_the_papers() {
    let mut results = answered(PROGRAMS);
    let app = |program: &str, variant: &str, races: (u64, u64)| AppAsked {
        program: program.to_owned(),
        variant: variant.to_owned(),
        code: Code { instructions: 200, told: Ok(Told { all: 50, pruned: 40 }) },
        launch: (36, 256),
        races,
        kinds: vec!["write-read intra-block".to_owned()],
        detector_bytes: 1_500_000,
    };
    results.apps = vec![app("hotspot", "original", (0, 3))];
    let [_, text] = section(&results);
    let ours = text
        .find("| ours: hotspot | write-read intra-block | 200 | 25.0 % | 20.0 % | 9,216 | – | 0 | 3 | 1.5 |");
    let papers = text.find("| paper: Hotspot | – | 338 | – | – | 473,344 | 119 | 0 | 0 | – |");
    assert!(ours.is_some() && ours < papers, "{text}");
    assert!(text.contains("| paper: dxtc |"), "{text}");
    let alarms = alarms(&results);
    let told = "Hotspot: 0 races in shared memory; our hotspot: 3. ";
    assert!(alarms.len() == 1 && alarms[0].starts_with(told), "{alarms:?}");
}
