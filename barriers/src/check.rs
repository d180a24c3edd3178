//! The whole check: run, judge, look for races, explain.

use crate::chains::Layout;
use crate::explain::{self, Recorder};
use crate::lifetime;
use crate::machine::{Machine, Nobody};
use crate::program::WarpPrograms;
use crate::races::flags::Flags;
use crate::races::pairs::{Found, Pairs, ThreadAccess};
use crate::races::shadow::Shadow;
use crate::verdict::{BarrierReport, Interval, RaceGroup, Recycling, Stats, Verdict};

/// Race groups whose barrier intervals are looked up.
const EXPLAINED: usize = 200;

/// Checks a program.
pub fn check(program: &WarpPrograms) -> BarrierReport {
    let layout = Layout::new(program);
    let shape = program.shape();
    let mut report = BarrierReport {
        verdict: Verdict::Verified,
        deadlock: None,
        misuse: None,
        recycling: Vec::new(),
        recycled_unless_flagged: false,
        races: Vec::new(),
        unordered: Vec::new(),
        guessed: Vec::new(),
        unfinished: Vec::new(),
        unwaited: Vec::new(),
        stats: Stats {
            threads: u64::from(shape.ctas) * u64::from(shape.threads),
            commands: program.thread_commands(),
            ..Stats::default()
        },
    };
    let mut machine = Machine::new(program, &layout);
    report.misuse = machine.run(&mut Nobody).err();
    report.stats.dynamic_barriers = machine.uses.completed;
    // What comes behind an open end is right.
    let ends = !program.has_open_end();
    if ends && report.misuse.is_none() && !machine.is_done() {
        report.deadlock = Some(explain::deadlock(&machine));
    }
    if ends && report.misuse.is_none() && report.deadlock.is_none() {
        report.misuse = machine.bytes_in_the_end();
    }
    report.recycling = std::mem::take(&mut machine.uses.recycling);
    report.unwaited = std::mem::take(&mut machine.uses.unwaited);
    if ends && report.misuse.is_none() {
        // After a misuse nothing goes on, so that nothing completes.
        report.unfinished = machine.unfinished();
        report.unwaited.extend(machine.never_waited());
    }
    drop(machine);
    report.verdict = match (&report.deadlock, &report.misuse, &report.recycling[..]) {
        (Some(_), ..) => Verdict::Deadlock,
        (_, Some(_), _) => Verdict::Misuse,
        (_, _, [_, ..]) => Verdict::UnsafeRecycling,
        _ => {
            find_races(program, &layout, &mut report);
            match judge(&report.races) {
                Verdict::Race => Verdict::Race,
                judged => {
                    report.misuse = lifetime::check(program, &layout);
                    if report.misuse.is_some() { Verdict::Misuse } else { judged }
                }
            }
        }
    };
    if report.verdict == Verdict::UnsafeRecycling {
        unless_flagged(program, &layout, &mut report);
    }
    let wrong = matches!(report.verdict, Verdict::Deadlock | Verdict::Misuse | Verdict::UnsafeRecycling);
    if wrong && report.guessed.is_empty() && program.has_signals() {
        // What went wrong may rest on values that flags decide.
        let shadow = shadow(program, &layout);
        report.guessed = pairs(program, &layout, &shadow, false).guessed_origins();
    }
    report
}

/// Leaves those unsafe uses of barriers again that no flag orders, if there are any.
fn unless_flagged(program: &WarpPrograms, layout: &Layout, report: &mut BarrierReport) {
    let Some(mut flags) = Flags::new(program, layout) else { return };
    let mut is_certain = |recycling: &Recycling| {
        let mut earlier = recycling.unordered.iter();
        !earlier.all(|participant| flags.may_come_before(program, &participant.place, &recycling.place))
    };
    let certain: Vec<Recycling> = report.recycling.iter().filter(|one| is_certain(one)).cloned().collect();
    match certain.is_empty() {
        true => report.recycled_unless_flagged = true,
        false => report.recycling = certain,
    }
}

fn judge(races: &[RaceGroup]) -> Verdict {
    if races.is_empty() {
        Verdict::Verified
    } else if races.iter().all(|r| r.pairs == r.benign && !r.at_least) {
        Verdict::BenignRace
    } else if races.iter().all(|r| r.possible || r.pairs == r.benign && !r.at_least) {
        Verdict::PossibleRace
    } else {
        Verdict::Race
    }
}

/// Where something races, up to where the program goes wrong, if it does.
fn shadow(program: &WarpPrograms, layout: &Layout) -> Shadow {
    let mut shadow = Shadow::new(program);
    let _ = Machine::new(program, layout).run(&mut shadow);
    shadow
}

fn pairs<'a>(program: &'a WarpPrograms, layout: &'a Layout, shadow: &Shadow, all: bool) -> Pairs<'a> {
    let flags = Flags::new(program, layout);
    let mut pairs = Pairs::new(program, layout, shadow.granule_shift(), &shadow.racy(), flags);
    pairs.all = all.then(Vec::new);
    let _ = Machine::new(program, layout).run(&mut pairs);
    pairs
}

fn find_races(program: &WarpPrograms, layout: &Layout, report: &mut BarrierReport) {
    let shadow = shadow(program, layout);
    (report.stats.shared_addresses, report.stats.race_tests) = shadow.count();
    if shadow.racy().is_empty() {
        return;
    }
    let pairs = pairs(program, layout, &shadow, false);
    drop(shadow);
    report.unordered = pairs.unordered_origins();
    report.guessed = pairs.guessed_origins();
    if pairs.found.groups.is_empty() {
        return;
    }
    let mut recorder = Recorder::default();
    let finished = Machine::new(program, layout).run(&mut recorder);
    debug_assert!(finished.is_ok());
    let mut groups: Vec<&Found> = pairs.found.groups.iter().collect();
    let origin = |m: &crate::races::pairs::Member| pairs.describe(m).place.origin;
    groups.sort_by_key(|g| (g.possible, origin(&g.first), origin(&g.second), g.kind));
    for (number, group) in groups.into_iter().enumerate() {
        let (first, second) = (pairs.describe(&group.first), pairs.describe(&group.second));
        let interval = if number < EXPLAINED {
            explain::interval(program, layout, &recorder, &group.first, &group.second)
        } else {
            Interval::default()
        };
        report.races.push(RaceGroup {
            kind: group.kind,
            address: first.address.max(second.address),
            first,
            second,
            interval,
            pairs: group.pairs,
            benign: group.benign,
            addresses: group.addresses.len() as u64,
            at_least: pairs.effort.stopped,
            possible: group.possible,
            flag: group.flag,
        });
    }
}

/// Every pair of racing accesses of a well-synchronised program, each as (warp, lane, command); sorted. For small programs:
/// [`check`] groups and counts instead.
pub fn racing_pairs(program: &WarpPrograms) -> Vec<(ThreadAccess, ThreadAccess)> {
    let layout = Layout::new(program);
    let shadow = shadow(program, &layout);
    let mut all = pairs(program, &layout, &shadow, true).all.unwrap_or_default();
    all.sort_unstable();
    all
}
