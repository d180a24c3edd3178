//! Results in PostgreSQL, a real server: the same schema, the same answers as in SQLite.
//!
//! The server comes from the system's packages. Where it is not there the test says loudly that it was skipped, and fails when
//! `BUGAROO_REQUIRE_POSTGRES=1` is set.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bugaroo_harness::findings::Share;
use bugaroo_harness::{Outcome, Variation};
use bugaroo_nightly::history::rows::CellFacts;
use bugaroo_nightly::history::store::JournalMode;
use bugaroo_nightly::history::{
    Batch, Example, Key, NightRow, ProgramFacts, Sighting, Store, Tally, TrialRow,
};
use bugaroo_nightly::night::{Night, NightFinding};
use bugaroo_nightly::plan::CellKind;
use bugaroo_nightly::plan::expect::Expected;
use tempfile::TempDir;

/// A server of our own, which listens in its folder alone.
struct Server {
    bin: PathBuf,
    folder: TempDir,
}

/// A command as a user that the server runs as: it refuses to be root.
fn as_postgres(program: &Path) -> Command {
    // SAFETY: the call touches no memory.
    if unsafe { libc::geteuid() } != 0 {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

impl Server {
    fn start() -> Option<Self> {
        let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
        let mut bins: Vec<PathBuf> = versions
            .map(|entry| entry.path().join("bin"))
            .filter(|bin| bin.join("initdb").exists())
            .collect();
        bins.sort();
        let bin = bins.pop()?;
        let folder = tempfile::tempdir().unwrap();
        let server = Self { bin, folder };
        // SAFETY: as above.
        if unsafe { libc::geteuid() } == 0 {
            let path = server.folder.path();
            assert!(Command::new("chown").arg("postgres").arg(path).status().unwrap().success());
        }
        server.run("initdb", &["-D", &server.data(), "-A", "trust", "-U", "bugaroo"]);
        let options = format!("-k {} -c listen_addresses= -c fsync=off", server.folder.path().display());
        server.run("pg_ctl", &["-D", &server.data(), "-o", &options, "-w", "-l", &server.log(), "start"]);
        Some(server)
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    fn log(&self) -> String {
        self.folder.path().join("log").display().to_string()
    }

    fn run(&self, tool: &str, args: &[&str]) {
        let mut command = as_postgres(&self.bin.join(tool));
        let ended = command.args(args).current_dir("/").stdout(std::process::Stdio::null()).status().unwrap();
        assert!(ended.success(), "{tool} {args:?}: {}", fs::read_to_string(self.log()).unwrap_or_default());
    }

    fn url(&self) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://bugaroo@{folder}/postgres")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut command = as_postgres(&self.bin.join("pg_ctl"));
        let data = self.data();
        // A server that is left running has no folder any more.
        let _ = command.args(["-D", &data, "-m", "immediate", "stop"]).current_dir("/").output();
    }
}

fn key(label: &str) -> Key {
    Key { plan: "p".to_owned(), label: label.to_owned() }
}

fn finding() -> NightFinding {
    NightFinding {
        fingerprint: "wrong-result".to_owned(),
        kind: Expected::WrongResult,
        title: "wrong-result".to_owned(),
        message: "é \"quoted\" \u{1f41b}".to_owned(),
        places: Vec::new(),
        cells: Vec::new(),
        trials: Share::default(),
        replay: String::new(),
        patch: String::new(),
        patch_note: String::new(),
        new: false,
        expected: None,
    }
}

/// A batch of ten trials, of which the fourth fails.
fn batch(first: u64) -> Batch {
    let mut tally = Tally { delayed_stores: 1000, ..Tally::default() };
    tally.outcomes[Outcome::Pass as usize] = 9;
    tally.outcomes[Outcome::WrongResult as usize] = 1;
    let trial = first + 3;
    let example = Some(Example { trial, finding: finding() });
    let row =
        TrialRow { trial, seed: u64::MAX, outcome: Outcome::WrongResult, variation: None, record: None };
    Batch {
        program: "app".to_owned(),
        cell: "c".to_owned(),
        first,
        step: 1,
        tally,
        trials: vec![row],
        sightings: BTreeMap::from([("wrong-result".to_owned(), Sighting { trials: 1, example })]),
        unseen: BTreeSet::from(["textures are not looked at".to_owned()]),
        hides: None,
        milliseconds: 5,
    }
}

/// Two nights; in the second, some batches do not follow on what is there: one comes twice, one too early, one overlaps.
async fn filled(store: &Store) -> Night {
    for (label, began, batches) in
        [("one", 1_000, vec![0, 10]), ("two", 90_000_000, vec![20, 0, 0, 5, 10, 20])]
    {
        let row = NightRow {
            key: key(label),
            plan_sha256: "sha".to_owned(),
            seed: u64::MAX,
            began,
            ended: None,
            complete: false,
            shards: 1,
            bugaroo: "0".to_owned(),
            notes: Vec::new(),
        };
        store.begin(&row).await.unwrap();
        let facts = ProgramFacts { run: vec!["app".to_owned()], ..ProgramFacts::default() };
        store.tell_program(&key(label), 1, "app", &facts).await.unwrap();
        let cell =
            CellFacts { place: 0, kind: CellKind::Trials, variation: Variation::default(), planned: None };
        store.tell_cells(&key(label), "app", &[("c".to_owned(), cell)]).await.unwrap();
        let mut there = 0;
        for first in batches {
            assert_eq!(
                store.count(&key(label), &batch(first)).await.unwrap(),
                first == there,
                "{label} {first}"
            );
            there += if first == there { 10 } else { 0 };
        }
        // Two who write the same at once: one of them counts.
        if label == "two" {
            let (night, next) = (key(label), batch(there));
            let (a, b) = tokio::join!(store.count(&night, &next), store.count(&night, &next));
            assert_ne!(a.unwrap(), b.unwrap());
        }
        store.tell_study(&key(label), "app", ("profile", &BTreeMap::<String, u64>::new()), 1).await.unwrap();
        store.end(&key(label), 1, true, began + 1, &["a note".to_owned()]).await.unwrap();
    }
    store.night(&key("two"), Path::new("/r")).await.unwrap().unwrap()
}

#[tokio::test]
async fn sqlite_and_postgresql_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Store::file(&folder.path().join("a.sqlite"), JournalMode::WriteAhead).await.unwrap();
    let wanted = filled(&sqlite).await;
    let app = &wanted.programs[0];
    assert_eq!(
        (app.cells[0].trials, app.cells[0].failures, app.cells[0].first_failing_trial),
        (40, 4, Some(3))
    );
    assert_eq!((app.findings[0].trials.seen, app.findings[0].new), (4, false));
    assert_eq!(app.notes, ["the race detectors could not look at everything: textures are not looked at"]);
    assert!(app.findings[0].replay.ends_with(" 3") && wanted.complete && wanted.seed == u64::MAX);
    assert_eq!(app.cells[0].before.len(), 1);
    // The same rows taken over once more change nothing.
    let other = Store::file(&folder.path().join("b.sqlite"), JournalMode::Rollback).await.unwrap();
    let copied = filled(&other).await;
    other.take_from(&sqlite, &key("two")).await.unwrap();
    assert_eq!(copied, wanted);
    assert_eq!(other.night(&key("two"), Path::new("/r")).await.unwrap().unwrap(), wanted);
    let Some(server) = Server::start() else {
        assert!(
            std::env::var_os("BUGAROO_REQUIRE_POSTGRES").is_none(),
            "PostgreSQL's server is not installed (apt-get install postgresql)"
        );
        eprintln!("SKIPPED: PostgreSQL's server is not installed");
        return;
    };
    let postgres = Store::open(&server.url()).await.unwrap();
    assert_eq!(filled(&postgres).await, wanted);
    postgres.take_from(&sqlite, &key("two")).await.unwrap();
    assert_eq!(postgres.night(&key("two"), Path::new("/r")).await.unwrap().unwrap(), wanted);
    assert_eq!(postgres.paces("p").await.unwrap(), sqlite.paces("p").await.unwrap());
    // A second connection, as another machine has one.
    let again = Store::open(&server.url()).await.unwrap();
    assert_eq!(again.nights(Some("p")).await.unwrap().len(), 2);
    again.close().await;
    postgres.close().await;
}
