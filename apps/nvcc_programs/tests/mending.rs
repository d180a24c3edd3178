//! Barriers that are inserted, scopes that are widened, and what is refused, from end to end.

use std::path::PathBuf;

use crate::harness::{failures, marked, session, trials};
use crate::support::{Runtime, build, nvcc, programs};
use bugaroo_harness::{Error, Outcome, Session, Variation};
use bugaroo_protocol::{Inserted, Insertion, Model, Position, Scheduler, Side, Site, SiteId, SiteKind};

fn program() -> Option<PathBuf> {
    Some(build(&nvcc()?, "places/mending.cu", Runtime::Static))
}

fn insertion(name: &str, what: Inserted) -> Insertion {
    marked(&programs().join("places/mending.cu"), what).remove(name).expect("a mark of this name")
}

fn with(insertion: Insertion) -> Variation {
    Variation { insert: [insertion].into(), ..Variation::default() }
}

#[tokio::test]
async fn barriers_cure_what_lacks_them() {
    let Some(program) = program() else { return };
    for (name, what) in [
        ("without_barrier", Inserted::BlockBarrier),
        ("without_warp_barrier", Inserted::WarpBarrier),
        ("without_warp_barrier", Inserted::BlockBarrier),
    ] {
        let session = session(&program, name).await;
        for (model, scheduler) in [
            (Model::StoreBuffer, Scheduler::Random),
            (Model::StoreBuffer, Scheduler::Pct),
            (Model::Ptx, Scheduler::Random),
            (Model::Ptx, Scheduler::Pct),
        ] {
            let bare = Variation { model, scheduler, ..Variation::default() };
            let mended = Variation { model, scheduler, ..with(insertion(name, what)) };
            let [a, b] = [&bare, &mended].map(|variation| trials(&session, variation, 100));
            let [a, b] = [failures(&a.await.expect("trials")), failures(&b.await.expect("trials"))];
            println!("{name}: {what:?} {model:?} {scheduler:?}: {a} without, {b} with");
            assert!(a > 5, "{name}: {what:?}: {a} without");
            assert_eq!(b, 0, "{name}: {what:?}");
        }
    }
}

/// A barrier of half of the threads pairs with none of the program's.
#[tokio::test]
async fn barriers_that_not_all_pass_are_deadlocks() {
    let Some(program) = program() else { return };
    for (name, what) in [("half_a_block", Inserted::BlockBarrier), ("half_a_warp", Inserted::WarpBarrier)] {
        let session = session(&program, name).await;
        let bare = trials(&session, &Variation::default(), 20).await.expect("trials");
        assert_eq!(failures(&bare), 0, "{name}");
        for trial in trials(&session, &with(insertion(name, what)), 20).await.expect("trials") {
            assert_eq!(trial.record.outcome, Outcome::Deadlock, "{name}: {:?}", trial.record);
        }
    }
}

/// The sites of a kernel that are to be widened.
async fn narrow(session: &Session, name: &str) -> Vec<SiteId> {
    let wanted = |site: &&Site| {
        let text = &site.instruction;
        let narrow = match name {
            "narrow_flag" => text.contains(".cta."),
            "plain_flag" => text.contains("+1536") && site.kind != SiteKind::Fence,
            _ => site.scope.as_deref() == Some("cta"),
        };
        site.function.contains(name) && narrow
    };
    session.sites().await.expect("sites").iter().filter(wanted).map(|site| site.id).collect()
}

#[tokio::test]
async fn wider_scopes_cure_what_is_too_narrow() {
    let Some(program) = program() else { return };
    for (name, models) in [
        ("narrow_fence", &[Model::StoreBuffer, Model::Ptx][..]),
        ("narrow_flag", &[Model::Ptx]),
        ("narrow_atomic", &[Model::Ptx]),
        ("plain_flag", &[Model::Ptx]),
    ] {
        let session = session(&program, name).await;
        let widen = narrow(&session, name).await;
        assert!(!widen.is_empty(), "{name}");
        for model in models {
            let bare = Variation { model: *model, ..Variation::default() };
            let wide = Variation { widen: widen.iter().copied().collect(), ..bare.clone() };
            session.check(&wide).await.expect("they are narrow");
            let a = failures(&trials(&session, &bare, 300).await.expect("trials"));
            let b = failures(&trials(&session, &wide, 300).await.expect("trials"));
            println!("{name}: {model:?}: {a} without, {b} with");
            assert!(a > 5, "{name} {model:?}: {a} of 300");
            assert_eq!(b, 0, "{name} {model:?}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_done_is_an_error_before_any_trial() {
    let Some(program) = program() else { return };
    let session = session(&program, "narrow_fence").await;
    let place = insertion("half_a_block", Inserted::Fence);
    let mut nowhere = place.clone();
    nowhere.span.from = Position { line: 1, column: 1 };
    nowhere.span.to = Position { line: 2, column: 1 };
    let elsewhere = {
        let mut other = place.clone();
        other.span.file = "other.cu".to_owned();
        other
    };
    let asked =
        [nowhere.clone(), place.clone(), elsewhere, Insertion { side: Side::Before, ..place.clone() }];
    let placed = session.check_insertions(&asked).await.expect("it runs");
    let refused: Vec<bool> = placed.iter().map(|placed| placed.refused.is_some()).collect();
    assert_eq!(refused, [true, false, true, false], "{placed:?}");
    assert_eq!((placed[1].sites, placed[1].places), (1, 1));

    let refused = trials(&session, &with(nowhere), 1).await;
    assert!(matches!(refused, Err(Error::CannotInsert { .. })), "{refused:?}");
    for other in [
        Variation { model: Model::Bugaroo, ..with(place.clone()) },
        Variation { handlers: true, ..with(place) },
    ] {
        let refused = trials(&session, &other, 1).await;
        assert!(matches!(refused, Err(Error::NotSimulated)), "{refused:?}");
    }
    let wide = |site: &&Site| site.scope.as_deref() == Some("gpu") || site.kind == SiteKind::Barrier;
    let sites: Vec<SiteId> =
        session.sites().await.expect("sites").iter().filter(wide).map(|s| s.id).collect();
    assert!(sites.len() > 3);
    for site in sites {
        let variation = Variation { widen: [site].into(), ..Variation::default() };
        let refused = session.check(&variation).await;
        assert!(matches!(refused, Err(Error::NotNarrow { site: found, .. }) if found == site), "{refused:?}");
    }
}

/// A whole list takes a few runs of the program, not one for each.
#[tokio::test]
async fn many_insertions_are_checked_at_once() {
    let Some(program) = program() else { return };
    let session = session(&program, "plain_flag").await;
    let lines =
        std::fs::read_to_string(programs().join("places/mending.cu")).expect("source").lines().count();
    let place = insertion("half_a_block", Inserted::Fence);
    let all: Vec<Insertion> = (1..lines as u32)
        .flat_map(|line| [Side::Before, Side::Behind].map(|side| (line, side)))
        .map(|(line, side)| {
            let (from, to) = (Position { line, column: 1 }, Position { line: line + 1, column: 1 });
            let mut insertion = Insertion { side, ..place.clone() };
            (insertion.span.from, insertion.span.to) = (from, to);
            insertion
        })
        .collect();
    let placed = session.check_insertions(&all).await.expect("it runs");
    assert!(all.len() > 250);
    let possible = placed.iter().filter(|placed| placed.refused.is_none()).count();
    println!("{possible} of {} possible", all.len());
    assert!(possible > 40, "{possible}");
    let reasons = placed.iter().filter_map(|placed| placed.refused.as_ref());
    for reason in reasons.filter(|reason| !reason.starts_with("nothing")) {
        println!("{reason}");
    }
}
