use bugaroo_protocol::{
    BlockedThread, DelayedSpace, Detector, FaultAccess, HostFrame, KnownThread, Model, NearAllocation, Race,
    RaceClass, RaceKind, RaceMissing, RaceParty, Races, Scheduler, SourceLine, Turns, Variation,
};

use super::{Gathered, Look, MOST_RACES, RaceKey, RaceSummary, TrialRaces};
use crate::oracle::verdict::OracleVerdict;
use crate::outcome::{Exit, Outcome};
use crate::record::TrialRecord;
use crate::settings::Settings;
use crate::suppressions::Suppressions;

/// An access at a line of `kernel.cu`.
pub(crate) fn party(line: u32, access: FaultAccess) -> RaceParty {
    RaceParty {
        kernel: "_Z3sumPi".into(),
        at: Some(BlockedThread {
            block: [0, 0, 0],
            thread: [line, 0, 0],
            threads: 1,
            function: "_Z3sumPi".into(),
            ptx_line: Some(100 + line),
            source: Some(SourceLine { file: "/src/app/kernel.cu".into(), line }),
            instruction: "st.global.u32 [%rd1], %r1;".into(),
        }),
        known: KnownThread::Thread,
        forgotten: None,
        near_line: false,
        site: None,
        access,
        bytes: 4,
        scope: "weak".into(),
        asynchronous: false,
        called_at: Vec::new(),
    }
}

/// A race between a store and a load at these lines.
pub(crate) fn race(first: u32, second: u32) -> Race {
    Race {
        detector: Detector::Ptx,
        kind: RaceKind::WriteRead,
        class: RaceClass::InterBlock,
        shared: false,
        address: 0x7000,
        allocation: Some(NearAllocation {
            base: 0x7000,
            size: 4,
            offset: 0,
            freed: false,
            variable: Some("total".into()),
            allocated_at: Vec::new(),
            freed_at: Vec::new(),
        }),
        first: party(first, FaultAccess::Store),
        latest: None,
        second: party(second, FaultAccess::Load),
        missing: RaceMissing::Acquire,
        proven: true,
        count: 1,
    }
}

fn gathered(messages: Vec<Races>) -> TrialRaces {
    let mut all = Gathered::default();
    messages.into_iter().for_each(|races| all.take(races));
    all.all
}

pub(crate) fn one(races: Vec<Race>) -> TrialRaces {
    gathered(vec![Races { races, accesses: 10, ..Races::default() }])
}

pub(crate) fn record(trial: u64, races: Option<TrialRaces>) -> TrialRecord {
    TrialRecord {
        trial,
        seed: trial,
        outcome: Outcome::Pass,
        duration_ms: 1.0,
        exit: Exit::Code(i32::from(trial == 3)),
        launches: 1,
        delayed_stores: 0,
        forgotten: 0,
        digest: None,
        failure: None,
        incidents: Vec::new(),
        more_incidents: 0,
        races,
        hides: None,
        variation: None,
    }
}

pub(crate) fn turns(detectors: &[Detector]) -> Variation {
    let turns = Turns { detectors: detectors.to_vec(), model: None, scheduler: None };
    Variation { turns: Some(turns), ..Variation::default() }
}

#[test]
fn what_is_new_is_added_up() {
    let warning = |count| vec![("no room".to_owned(), count)];
    let later = Race { count: 4, address: 0x7004, proven: false, ..race(3, 9) };
    let sum = gathered(vec![
        Races {
            races: vec![race(3, 9), race(5, 9)],
            warnings: warning(1),
            accesses: 7,
            bytes: 50,
            ..Races::default()
        },
        Races { races: vec![later], warnings: warning(2), accesses: 5, bytes: 40, ..Races::default() },
        Races::default(),
    ]);
    let counts: Vec<(u64, u64)> = sum.races.iter().map(|race| (race.count, race.address)).collect();
    assert_eq!(counts, [(5, 0x7000), (1, 0x7000)], "the first example stays");
    assert_eq!((sum.warnings, sum.accesses, sum.bytes), (warning(3), 12, 50));
}

#[test]
fn no_more_are_kept_than_there_is_room_for() {
    let most = u32::try_from(MOST_RACES).unwrap();
    let sum = one((0..most + 3).map(|line| race(line, 1)).chain([race(0, 1)]).collect());
    assert_eq!((sum.races.len(), sum.more, sum.races[0].count), (MOST_RACES, 3, 2));
}

/// Which of two writes came first says nothing; which of a write and a read did, does.
#[test]
fn races_of_the_same_places_are_one() {
    let writes = |first, second| Race { kind: RaceKind::WriteWrite, ..race(first, second) };
    assert_eq!(RaceKey::of(&writes(3, 9)), RaceKey::of(&writes(9, 3)));
    assert_ne!(RaceKey::of(&race(3, 9)), RaceKey::of(&race(9, 3)));
    assert_eq!(RaceKey::of(&race(3, 9)).pair(), RaceKey::of(&race(9, 3)).pair());
    let others = [
        Race { detector: Detector::Barracuda, ..race(3, 9) },
        Race { kind: RaceKind::ReadWrite, ..race(3, 9) },
        Race { class: RaceClass::IntraBlock, ..race(3, 9) },
        Race { shared: true, ..race(3, 9) },
        race(3, 8),
    ];
    for other in others {
        assert_ne!(RaceKey::of(&other), RaceKey::of(&race(3, 9)), "{other:?}");
    }
    // Lines of the PTX count where there is no source, and calls of the host where there is no thread.
    let bare = |line| {
        let mut race = race(3, 9);
        let at = race.first.at.as_mut().unwrap();
        (at.source, at.ptx_line) = (None, Some(line));
        race
    };
    assert_ne!(RaceKey::of(&bare(7)), RaceKey::of(&bare(8)));
    let copy = |offset| {
        let frame = HostFrame { function: None, module: "app".into(), offset, source: None };
        let mut race = race(3, 9);
        (race.second.at, race.second.called_at) = (None, vec![frame]);
        race
    };
    assert_ne!(RaceKey::of(&copy(1)), RaceKey::of(&copy(2)));
    assert_eq!(RaceKey::of(&copy(1)), RaceKey::of(&copy(1)));
}

#[test]
fn records_are_read_back() {
    let written = serde_json::to_string(&record(1, Some(one(vec![race(3, 9)])))).unwrap();
    let read: TrialRecord = serde_json::from_str(&written).unwrap();
    assert_eq!(read, record(1, Some(one(vec![race(3, 9)]))));
    // One of a run without detectors has none.
    let without = serde_json::to_value(record(1, None)).unwrap();
    assert!(without.get("races").is_none());
    assert_eq!(serde_json::from_value::<TrialRecord>(without).unwrap().races, None);
}

#[test]
fn a_replay_has_to_show_the_same() {
    let then = record(1, Some(one(vec![race(3, 9)])));
    assert!(then.agrees_with(&then));
    let now = |races| record(1, Some(one(races)));
    let twice = now(vec![Race { count: 2, ..race(3, 9) }]);
    let elsewhere = now(vec![Race { address: 0x7008, ..race(3, 9) }]);
    for (other, part) in [
        (twice, "1 times then, 2 times now"),
        (elsewhere, "by other threads or elsewhere"),
        (now(vec![]), "write-read race between kernel.cu:3 and kernel.cu:9: 1 times then, not now"),
        (now(vec![race(3, 9), race(4, 9)]), "kernel.cu:4 and kernel.cu:9: not then, 1 times now"),
    ] {
        assert!(!then.agrees_with(&other), "{part}");
        let lines = then.races.as_ref().unwrap().differences(other.races.as_ref().unwrap());
        assert!(lines.len() == 1 && lines[0].contains(part), "{lines:?}");
    }
    assert!(!then.agrees_with(&record(1, None)));
    // What detectors took of the host's memory is the host's.
    let mut more = then.clone();
    more.races.as_mut().unwrap().bytes = 99;
    assert!(then.agrees_with(&more));
}

/// Cheap first, then everything in turn.
#[test]
fn trials_take_turns() {
    let look = |variation: &Variation, index| Look::of(&variation.of_trial(index));
    let alone = turns(&[Detector::Ptx]);
    let seen: Vec<_> = (0..8).map(|index| look(&alone, index)).map(|l| (l.model, l.scheduler)).collect();
    let round = [
        ("none", "random"),
        ("none", "pct"),
        ("store-buffer", "random"),
        ("store-buffer", "pct"),
        ("ptx", "random"),
        ("ptx", "pct"),
    ];
    assert_eq!(seen[..6], round);
    assert_eq!(seen[6..], round[..2]);
    assert_eq!(alone.of_trial(4).pw, 0.75);
    assert_eq!((alone.of_trial(0).pw, alone.of_trial(0).pr), (0.0, 0.0));

    // BARRACUDA never sees weak memory.
    let barracuda = turns(&[Detector::Barracuda]);
    for index in 0..12 {
        let look = look(&barracuda, index);
        assert_eq!((look.model, look.scheduler), ("none", ["random", "pct"][index as usize % 2]));
    }

    // All look at one execution, where it has no weak memory.
    let all = turns(&Detector::ALL);
    for index in 0..12 {
        let expected = match index % 6 {
            0 | 1 => Detector::ALL.to_vec(),
            _ => vec![Detector::Ptx, Detector::Hirace],
        };
        assert_eq!(all.of_trial(index).race, expected);
    }
    assert_eq!(look(&all, 2).model, "store-buffer");
}

#[test]
fn what_is_named_takes_no_turns() {
    let mut named = turns(&[Detector::Ptx, Detector::Barracuda]);
    let turns = named.turns.as_mut().unwrap();
    (turns.model, turns.scheduler) = (Some(Model::Ptx), Some(Scheduler::Pct));
    for index in 0..6 {
        let look = Look::of(&named.of_trial(index));
        assert_eq!(look.scheduler, "pct");
        assert_eq!(look.model, if index < 2 { "none" } else { "ptx" });
    }
}

#[test]
fn a_run_counts_trials_and_names_the_first() {
    let variation = turns(&[Detector::Ptx]);
    let often = |trial| record(trial, Some(one(vec![Race { count: 10, ..race(5, 6) }])));
    let records = [
        record(0, Some(one(vec![]))),
        often(1),
        record(2, Some(one(vec![race(3, 9), Race { count: 2, ..race(5, 6) }]))),
        record(3, Some(one(vec![Race { proven: false, ..race(7, 8) }]))),
    ];
    let mut summary = RaceSummary::new(&variation, &records, |trial| trial.to_string());
    let told: Vec<(u32, u64, u64, u64, &str)> = summary
        .races
        .iter()
        .map(|found| {
            let line = found.race.first.at.as_ref().unwrap().source.as_ref().unwrap().line;
            (line, found.race.count, found.trials.seen, found.trials.of, found.first_trial.as_str())
        })
        .collect();
    // The most frequent first, what is inferred last.
    assert_eq!(told, [(5, 12, 2, 4, "1"), (3, 1, 1, 4, "2"), (7, 1, 1, 4, "3")]);
    assert_eq!((summary.trials(), summary.accesses), (4, 40));
    assert_eq!(summary.exits, [(Exit::Code(0), 3), (Exit::Code(1), 1)]);
    assert_eq!(summary.looked.len(), 4);

    let mut rules = Suppressions::default();
    rules.add("s.toml".as_ref(), "[[suppress]]\nline = 5\nreason = \"known\"\n").unwrap();
    summary.suppress(&rules);
    let suppressed: Vec<Option<usize>> = summary.races.iter().map(|found| found.suppressed).collect();
    assert_eq!(suppressed, [Some(0), None, None]);
    assert_eq!(summary.open().count(), 2);

    // What --until-failure stops at, and what the oracle of a search says.
    let settings = Settings { suppressions: rules, ..Settings::default() };
    let found: Vec<bool> = records.iter().map(|record| settings.finds(&variation, record)).collect();
    assert_eq!(found, [false, false, true, true]);
    let verdict = |at: usize| settings.race_verdict(Some(&variation), records[at].races.as_ref().unwrap());
    assert_eq!(verdict(1), OracleVerdict::Content);
    let said = "write-read race between kernel.cu:3 and kernel.cu:9".to_owned();
    assert_eq!(verdict(2), OracleVerdict::Discontent(said));
    assert_eq!(settings.race_verdict(None, records[2].races.as_ref().unwrap()), OracleVerdict::Content);
}

/// What limits delays limits races, too.
#[test]
fn other_kernels_and_other_memory_are_not_asked_for() {
    let records = [record(0, Some(one(vec![race(3, 9), Race { shared: true, ..race(4, 9) }])))];
    let told = |variation: Variation| {
        let summary = RaceSummary::new(&variation, &records, |trial| trial.to_string());
        (summary.races.len(), summary.outside)
    };
    let all = turns(&[Detector::Ptx]);
    assert_eq!(told(all.clone()), (2, 0));
    assert_eq!(told(Variation { space: DelayedSpace::Shared, ..all.clone() }), (1, 1));
    assert_eq!(told(Variation { space: DelayedSpace::Global, ..all.clone() }), (1, 1));
    assert_eq!(
        told(Variation { within_blocks: true, ..all.clone() }),
        (0, 2),
        "they are of different blocks"
    );
    let kernel = |pattern: &str| Variation { kernel: Some(pattern.to_owned()), ..all.clone() };
    assert_eq!(told(kernel("^_Z3sum")), (2, 0));
    assert_eq!(told(kernel("^_Z3max")), (0, 2));
}

/// What device code sees is in the order of accesses only where memory is not weak.
#[test]
fn with_handlers_no_trial_has_weak_memory() {
    let by_device = Variation { handlers: true, ..turns(&[Detector::Hirace]) };
    for index in 0..12 {
        let look = Look::of(&by_device.of_trial(index));
        assert_eq!((look.model, &look.detectors[..]), ("none", &[Detector::Hirace][..]));
    }
    let native = Variation { handlers: false, ..by_device };
    assert_eq!(Look::of(&native.of_trial(4)).model, "ptx");
}
