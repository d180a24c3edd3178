use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;

use tokio::sync::Notify;

use super::*;
use crate::library::DriverLibrary;
use crate::settings::Settings;
use crate::target::Target;

/// Keeps what it is told, and says when that is as much as is wanted.
struct Notes {
    told: Mutex<Vec<String>>,
    wanted: usize,
    there: Notify,
}

impl Reporter for Notes {
    fn report(&self, event: ProgressEvent<'_>) {
        let ProgressEvent::Note(text) = event else { panic!("only notes come while it runs") };
        let mut told = self.told.lock().unwrap();
        told.push(text.to_owned());
        if told.len() == self.wanted {
            self.there.notify_one();
        }
    }
}

/// What is told of a program with this help while it runs for long.
async fn told_of(help: &str, wanted: usize) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let app = folder.path().join("app");
    fs::write(&app, format!("#!/bin/sh\ncat <<'END'\n{help}END\n")).unwrap();
    fs::set_permissions(&app, fs::Permissions::from_mode(0o755)).unwrap();
    let library = DriverLibrary::at("/bin/sh".as_ref()).unwrap();
    let target = Target::resolve(app.to_str().unwrap(), Vec::new()).unwrap();
    let ground = Ground::new(target, Settings::default(), library);
    let notes = Notes { told: Mutex::default(), wanted, there: Notify::new() };
    tokio::select! {
        never = while_it_runs(&ground, Duration::from_millis(1), &notes) => match never {},
        () = notes.there.notified() => {}
    }
    notes.told.into_inner().unwrap()
}

#[tokio::test]
async fn the_first_run_is_long_and_the_user_is_told_while_it_runs() {
    let told = told_of("  --size N   elements of each\n  --help     this\n", 3).await;
    assert!(told[0].contains("without injection so far"), "{told:?}");
    assert!(told[1].contains("--help says"), "{told:?}");
    assert_eq!(told[2], "  --size N   elements of each");
    let told = told_of("nothing\n", 2).await;
    assert!(told[1].contains("a smaller input"), "{told:?}");
}

#[test]
fn what_all_will_take() {
    let of = |trials, milliseconds, at_a_time| {
        estimate(trials, Duration::from_millis(milliseconds), at_a_time).unwrap_or_default()
    };
    assert_eq!(of(1, 9, 2), "");
    assert_eq!(of(1000, 9, 2), "1000 trials, 2 at a time: less than 10 s at that pace");
    assert_eq!(
        of(1000, 80, 2),
        "1000 trials, 2 at a time: about 40 s at that pace; delaying stores may take longer"
    );
    let long = of(1000, 4000, 2);
    assert!(long.starts_with("1000 trials, 2 at a time: about 33 min at that pace; "), "{long}");
    assert!(long.contains("--trials N") && long.contains("--for 10m"), "{long}");
    // No number of trials is too large to be told.
    assert!(of(u64::MAX, 1_000_000_000, 1).contains("about"));
}

#[test]
fn a_help_tells_of_sizes() {
    let help = "Usage: app [OPTIONS] <size of nothing>\n\
                \n  -h, --help             Print help\
                \n  --size N               Elements of each vector [default: 33792]\
                \n  -i <iters>             number of iterations\
                \n      --variant V        Which fences\
                \n  the width of the screen\
                \n  --width=W              image width\n";
    assert_eq!(
        sizes(help),
        [
            "--size N               Elements of each vector [default: 33792]",
            "-i <iters>             number of iterations",
            "--width=W              image width",
        ]
    );
    assert!(sizes("").is_empty());
    assert_eq!(sizes(&"--size N\n".repeat(9)).len(), SHOWN);
    assert_eq!(sizes(&format!("--size {}", "x".repeat(900))).concat().len(), WIDTH);
}
