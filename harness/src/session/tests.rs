use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use bugaroo_protocol::{LaunchCounts, SiteId, VERSION, Variation};

use super::{FullTrial, Session, Settings, Stop};
use crate::error::{Class, Error};
use crate::interrupt::Interrupt;
use crate::library::DriverLibrary;
use crate::oracle::{Comparison, Oracle};
use crate::outcome::Outcome;
use crate::progress::{ProgressEvent, Reporter, Silent};
use crate::record::TrialRecord;
use crate::target::Target;

/// The driver's side of the protocol, as a shell script: says hello, loads a module with a store and a
/// fence, launches its kernel; then sees to the rest.
const PRELUDE: &str = r#"
field() { value=${BUGAROO_ORDERS#*\"$1\":}; value=${value%%[,\}]*}; }
field report_fd; fd=$value; field seed; seed=$value; field injects; injects=$value
say() { echo "$1" > /dev/fd/$fd; }
site() { echo "{\"id\":\"$1\",\"kind\":\"$2\",\"function\":\"k\",\"in_kernel\":true,\"space\":null,\"scope\":null,\"ptx_line\":1,\"instruction\":\"\",\"source\":null,\"inlined_at\":[]}"; }
say '{"message":"hello","version":VERSION,"pid":1}'
say "{\"message\":\"module\",\"module\":0,\"digest\":\"\",\"kernels\":[\"k\"],\"sites\":[$(site 0 store),$(site 1 fence)]}"
say "{\"message\":\"launch\",\"ordinal\":0,\"kernel\":\"k\",\"grid\":[1,1,1],\"block\":[1,1,1],\"end\":{\"end\":\"complete\"},\"counts\":COUNTS,\"digest\":\"d$seed\"}"
"#;

/// The prelude, with this version's number and counts in it.
fn prelude() -> String {
    let counts = LaunchCounts {
        warp_instructions: 100,
        thread_instructions: 100,
        delayed_stores: 1,
        ..LaunchCounts::default()
    };
    let counts = serde_json::to_string(&counts).unwrap().replace('"', "\\\"");
    PRELUDE.replace("VERSION", &VERSION.to_string()).replace("COUNTS", &counts)
}

async fn session(script: &str, settings: Settings) -> Result<Session, Error> {
    let args = vec!["-c".to_owned(), prelude() + script];
    let target = Target::resolve("/bin/sh", args).unwrap();
    let library = DriverLibrary::at("/bin/sh".as_ref()).unwrap();
    Session::start(target, settings, library, Interrupt::never(), &Silent).await
}

/// Fails under injection where the seed is odd.
const ODD: &str = "[ $injects = false ] && exit; case $seed in *[13579]) exit 1 ;; esac";

fn key(record: &TrialRecord) -> (u64, u64, Outcome) {
    (record.trial, record.seed, record.outcome)
}

#[tokio::test]
async fn trials_come_back_in_order_whatever_the_jobs() {
    let mut all = Vec::new();
    for jobs in [1, 4] {
        let session =
            session(ODD, Settings { seed: 3, jobs: Some(jobs), ..Settings::default() }).await.unwrap();
        let indices = [5, 0, 9, 2, 11, 3];
        let records = session.trials(&Variation::default(), indices, Stop::Never, &Silent).await.unwrap();
        assert_eq!(records.iter().map(|record| record.trial).collect::<Vec<_>>(), indices);
        for record in &records {
            assert_eq!(record.seed, session.seed(record.trial));
            assert_eq!(record.outcome.is_failure(), record.seed % 2 == 1);
            assert_eq!(record.digest, Some(format!("d{}", record.seed)));
            let again = session.trial(&Variation::default(), record.trial).await.unwrap();
            assert!(record.agrees_with(&again));
        }
        all.push(records.iter().map(key).collect::<Vec<_>>());
    }
    assert_eq!(all[0], all[1]);
}

/// What a trial's kernels executed comes with the trial, through every way of running it.
#[tokio::test]
async fn full_trials_bring_their_kernels() {
    let session = session(ODD, Settings { seed: 3, jobs: Some(2), ..Settings::default() }).await.unwrap();
    let variation = Variation::default();
    let one = session.full_trial(&variation, 0).await.unwrap();
    assert_eq!((one.kernels["k"].launches, one.kernels["k"].counts.delayed_stores), (1, 1));
    let mut delayed = 0;
    let on_end = |full: &FullTrial| {
        delayed += full.kernels["k"].counts.delayed_stores;
        Ok(())
    };
    session.full_trials_with(&variation, 0..5, Stop::Never, &Silent, on_end).await.unwrap();
    assert_eq!(delayed, 5);
}

#[derive(Default)]
struct Counter {
    ended: AtomicU64,
    batches: Mutex<Vec<String>>,
}

impl Reporter for Counter {
    fn report(&self, event: ProgressEvent<'_>) {
        match event {
            ProgressEvent::TrialEnded(_) => {
                self.ended.fetch_add(1, Ordering::Relaxed);
            }
            ProgressEvent::BatchStarted { what, .. } => self.batches.lock().unwrap().push(what.to_owned()),
            _ => {}
        }
    }
}

/// Up to the first failure, included, whatever runs beside it; later trials that hang are killed.
#[tokio::test]
async fn stops_at_the_first_failure() {
    let hang = format!("{ODD}; [ $seed = $HANG ] && sleep 100000; exit 0");
    for jobs in [1, 2, 8] {
        let session = session(
            &hang.replace("$HANG", "0"),
            Settings { seed: 3, jobs: Some(jobs), ..Settings::default() },
        )
        .await
        .unwrap();
        let first = (0..).find(|&index| session.seed(index) % 2 == 1).unwrap();
        let counter = Counter::default();
        let records =
            session.trials(&Variation::default(), 0..1000, Stop::AtFirstFailure, &counter).await.unwrap();
        assert_eq!(records.len() as u64, first + 1);
        assert_eq!(records.iter().filter(|record| record.outcome.is_failure()).count(), 1);
        assert!(counter.ended.load(Ordering::Relaxed) > first);
    }
}

/// A trial after the first failure that would never end does not hold it up.
#[tokio::test]
async fn what_hangs_after_the_first_failure_is_killed() {
    let script = "[ $injects = false ] && exit; case $seed in *[13579]) exit 1 ;; esac; sleep 100000";
    let session = session(script, Settings { seed: 3, jobs: Some(2), ..Settings::default() }).await.unwrap();
    let odd = (0..).find(|&index| session.seed(index) % 2 == 1).unwrap();
    let even = (0..).find(|&index| session.seed(index) % 2 == 0).unwrap();
    let indices = [odd, even];
    let records =
        session.trials(&Variation::default(), indices, Stop::AtFirstFailure, &Silent).await.unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].trial, odd);
}

#[tokio::test]
async fn interrupted() {
    let (trigger, interrupt) = Interrupt::manual();
    let args = vec!["-c".to_owned(), prelude() + "[ $injects = false ] || sleep 100000"];
    let target = Target::resolve("/bin/sh", args).unwrap();
    let library = DriverLibrary::at("/bin/sh".as_ref()).unwrap();
    let session = Session::start(target, Settings::default(), library, interrupt, &Silent).await.unwrap();
    let variation = Variation::default();
    let run = session.trials(&variation, 0..10, Stop::Never, &Silent);
    let stop = async {
        tokio::task::yield_now().await;
        trigger.set();
    };
    let (result, ()) = tokio::join!(run, stop);
    assert!(matches!(result, Err(Error::Interrupted)));
    assert!(matches!(session.trial(&variation, 0).await, Err(Error::Interrupted)));
}

#[tokio::test]
async fn the_baseline_knows_sites_kernels_and_the_step_budget() {
    let session = session("", Settings::default()).await.unwrap();
    let baseline = session.baseline();
    assert_eq!(baseline.launched["k"].launches, 1);
    assert!(baseline.kernels.contains("k"));
    assert_eq!(session.settings().step_budget(baseline), 100 * 1000 + 50_000_000);
    assert_eq!(Settings { step_budget: Some(7), ..Settings::default() }.step_budget(baseline), 7);
    assert_eq!(session.sites().await.unwrap().len(), 2);
}

#[tokio::test]
async fn variations_are_checked() {
    let session = session("", Settings::default()).await.unwrap();
    let site = |index| SiteId { module: 0, index };
    let without = |index| Variation { without_fence: [site(index)].into(), ..Variation::default() };
    let with = |index| Variation { with_fence: [site(index)].into(), ..Variation::default() };
    session.check(&without(1)).await.unwrap();
    session.check(&with(0)).await.unwrap();
    assert!(matches!(session.check(&without(0)).await, Err(Error::NotAFence { .. })));
    assert!(matches!(session.check(&with(1)).await, Err(Error::TakesNoFence { .. })));
    assert!(matches!(session.check(&with(2)).await, Err(Error::UnknownSite { .. })));
    let kernel = Variation { kernel: Some("^x".into()), ..Variation::default() };
    assert_eq!(session.check(&kernel).await.unwrap_err().class(), Class::Usage);
}

#[tokio::test]
async fn a_failing_baseline() {
    let error = session("echo oops >&2; exit 5", Settings::default()).await.unwrap_err();
    assert_eq!(error.class(), Class::Baseline);
    let text = error.to_string();
    assert!(text.contains("exit code 5") && text.contains("  | oops"), "{text}");
}

/// A program whose output differs from run to run has no reference.
#[tokio::test]
async fn a_reference_has_to_hold_still() {
    let settings = || Settings { oracle: Oracle::Reference(Comparison::default()), ..Settings::default() };
    session("echo 42", settings()).await.unwrap();
    let error = session("echo $seed", settings()).await.unwrap_err();
    assert_eq!(error.class(), Class::Baseline);
    assert!(error.to_string().contains("standard output is not the same"), "{error}");
}

#[tokio::test]
async fn what_the_driver_cannot_do() {
    let script = r#"[ $injects = false ] || say '{"message":"unsupported","what":"wmma, PTX line 3"}'"#;
    let session = session(script, Settings::default()).await.unwrap();
    let error = session.trial(&Variation::default(), 0).await.unwrap_err();
    assert_eq!(error.class(), Class::Unsupported);
    assert!(error.to_string().contains("wmma, PTX line 3"));
}
