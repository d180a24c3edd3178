use super::*;
use crate::races::fixture::{answered, said};

const RACY: &str = "push[DATA=int,SCOPE=thread,CONDITION=0].BUG_ATOMIC";
const CLEAN: &str = "push[DATA=int,SCOPE=thread,CONDITION=0]";

#[test]
fn nothing_is_odd_where_all_is_as_labels_demand() {
    let results = answered(INDIGO);
    assert_eq!(alarms(&results), Vec::<String>::new());
    let text = section(&results);
    assert!(text.contains("No difference in kind."), "{text}");
    let tests = results.races.len();
    for graph in GRAPHS {
        assert!(text.contains(&format!("| {} | {tests} |", graph.name)), "{text}");
    }
    assert!(text.contains(" / 0 | 346 / 0 |"), "{text}");
    assert!(text.contains("| the paper's HiRace | 1,861 | 215 |"), "{text}");
    assert!(text.contains("| BUG_BOUNDS | "), "{text}");
}

#[test]
fn misses_count_where_the_race_shows_and_false_positives_always() {
    let mut results = answered(INDIGO);
    // With the smallest graph it need not show, with the next it must.
    said(&mut results, RACY, 0, "hirace").races.clear();
    assert_eq!(alarms(&results), Vec::<String>::new());
    let races = std::mem::take(&mut said(&mut results, RACY, 1, "hirace").races);
    said(&mut results, CLEAN, 2, "hirace").races = races;
    // Others than HiRace are not judged by its paper.
    said(&mut results, RACY, 1, "scord").races.clear();
    let alarms = alarms(&results);
    assert_eq!(alarms.len(), 2, "{alarms:?}");
    assert!(
        alarms[0].contains("false positive in push") && alarms[0].contains("DAG_200n_400e"),
        "{alarms:?}"
    );
    assert!(
        alarms[1].contains("misses the race of push") && alarms[1].contains("DAG_100n_200e"),
        "{alarms:?}"
    );
}

#[test]
fn what_was_not_answered_is_told() {
    let mut results = answered(INDIGO);
    said(&mut results, CLEAN, 0, "hirace").refused = Some("no".to_owned());
    let alarms = alarms(&results);
    assert!(alarms.len() == 1 && alarms[0].contains("does not answer about push"), "{alarms:?}");
    results.races[0].unbuilt = Some("no".to_owned());
    assert!(super::alarms(&results).iter().any(|alarm| alarm.contains("does not build")));
    // Answers about what the program was once are none.
    results.races.iter_mut().for_each(|asked| asked.digest.clear());
    assert_eq!(section(&results), shown::NOT_ASKED);
}
