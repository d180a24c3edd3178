//! The batch script, run by the shell that is there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;

/// Its words arrive whole, and its exit codes are those of the shard, but for findings.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// With a stand-in for `bugaroo` of this body.
    fn new(body: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("it's $HOME \"50%\" ").tempdir().expect("a folder");
        let write =
            |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it can be written");
        write("plan.toml", "[[program]]\nrun = [\"./app\"]\n[slurm]\nshards = 3\ncpus = 4\n");
        write("bugaroo", &format!("#!/bin/sh\n{body}\n"));
        let program = folder.path().join("bugaroo");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
        Self { folder }
    }

    fn command(&self) -> Command {
        let plan = Plan::read(&self.folder.path().join("plan.toml")).expect("a plan");
        let slurm = plan.slurm.as_ref().expect("a table");
        let request = SlurmRequest {
            bugaroo: self.folder.path().join("bugaroo"),
            label: "mon day's".into(),
            seed: 7,
            again: false,
            poll: Duration::from_secs(1),
        };
        let folder = Folder::make(&slurm.folder, &request.label).expect("it can be made");
        let text = script(&plan, slurm, &request, request.seed, &folder).expect("it can be written down");
        let path = folder.file(NAME);
        fs::write(&path, text).expect("it can be written");
        let mut command = Command::new("/bin/sh");
        command.arg(path).env("SLURM_ARRAY_TASK_ID", "2");
        command
    }

    fn kept(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join("shards/mon day's").join(name)).unwrap_or_default()
    }
}

#[test]
fn words_arrive_whole() {
    let place = Place::new(r#"for word; do echo "<$word>"; done"#);
    let output = place.command().output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let at = |name: &str| format!("<{}>", place.folder.path().join(name).display());
    let plan = at("plan.toml");
    let results = at("shards/mon day's/shard-2.sqlite");
    let words = ["<nightly>", &plan, "<--shard>", "<2/3>", "<--night>", "<mon day's>", "<--seed>", "<7>"];
    let words = [&words[..], &["<--results>", &results, "<--jobs>", "<4>"]].concat();
    assert_eq!(String::from_utf8_lossy(&output.stdout), words.join("\n") + "\n");
    assert_eq!(place.kept("shard-2.exit"), "0\n");
}

#[test]
fn exit_codes_are_kept_but_findings_are_none() {
    for (code, slurms) in [(0, 0), (1, 0), (2, 2), (5, 5), (127, 127), (130, 130)] {
        let place = Place::new(&format!("exit {code}"));
        let status = place.command().status().expect("it runs");
        assert_eq!(status.code(), Some(slurms), "{code}");
        assert_eq!(place.kept("shard-2.exit"), format!("{slurms}\n"));
    }
}

#[test]
fn a_signal_is_handed_on_and_the_end_waited_for() {
    // Whatever it is told, it ends in its own time.
    let place = Place::new("trap 'sleep 0.3; exit 130' TERM\necho up\nwhile :; do sleep 0.05; done");
    let mut child = place.command().stdout(Stdio::piped()).spawn().expect("it starts");
    let mut first = [0; 3];
    std::io::Read::read_exact(child.stdout.as_mut().expect("a pipe"), &mut first).expect("it says so");
    for _ in 0..2 {
        let pid = i32::try_from(child.id()).expect("process numbers fit");
        // SAFETY: a signal to our own child, which was not waited for.
        assert_eq!(unsafe { libc::kill(pid, libc::SIGTERM) }, 0);
    }
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(place.kept("shard-2.exit"), "130\n");
}

#[test]
fn labels_name_folders() {
    for label in ["monday", "2026-01-01", "night 7"] {
        check_label(label).expect("it is one");
    }
    for label in ["", ".", "..", "a/b", "a\\b", "a\nb", "--seed"] {
        assert!(check_label(label).is_err(), "{label:?}");
    }
}
