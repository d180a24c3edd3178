//! `bugaroo replay`.

use crate::common::{Place, wait};

#[test]
fn every_trial_goes_as_recorded() {
    let place = Place::new();
    wait(place.start(&["--trials", "10", "--pw", "0.5,1"], &["odd"])).exits(1);
    for ((cell, trial), record) in place.trials() {
        let code = i32::from(record["outcome"] != "pass");
        let ended = place.bugaroo(&["replay", "run", &format!("{cell}:{trial}")]).exits(code);
        let pw = [0.5, 1.0][cell as usize];
        ended
            .prints(&format!("trial {trial}, p_w {pw}, seed {}: ", record["seed"]))
            .prints("as recorded: outcome, exit code ")
            .prints("device memory")
            .prints(if code == 0 { "  | sum 42\n" } else { "  | wrong sum\n" });
    }
}

/// It runs where the run did, wherever we are.
#[test]
fn from_another_directory() {
    let place = Place::new();
    wait(place.start(&["--trials", "2"], &["odd"])).exits(1);
    let run = place.path("run");
    let mut command = place.command(&["replay", run.to_str().unwrap(), "0"]);
    crate::common::end(command.current_dir("/")).exits(1).prints("as recorded");
}

#[test]
fn a_trial_that_goes_another_way() {
    let place = Place::new();
    let flag = place.path("flag");
    wait(place.start(&["--trials", "1"], &["fickle", flag.to_str().unwrap()])).exits(1);
    let ended = place.bugaroo(&["replay", "run", "0"]).exits(5);
    ended
        .prints("NOT as recorded")
        .prints("outcome: wrong-result then, pass now")
        .prints("exit: exit code 1 then, exit code 0 now");
}

#[test]
fn what_cannot_be_replayed() {
    let place = Place::new();
    place.bugaroo(&["replay", "nowhere", "0"]).exits(2).says("nowhere is no run directory");
    wait(place.start(&["--trials", "2", "--pw", "0.5,1"], &["pass"])).exits(0);
    place.bugaroo(&["replay", "run", "0"]).exits(2).says("name the trial CELL:0, CELL from 0 to 1");
    place.bugaroo(&["replay", "run", "2:0"]).exits(2).says("there is no cell 2");
    place.bugaroo(&["replay", "run", "1:2"]).exits(2).says("trial 1:2 is not among those that finished");
    place.bugaroo(&["replay", "run", "x"]).exits(2).says("CELL:INDEX or INDEX");
}

#[test]
fn a_changed_program_is_told() {
    let place = Place::new();
    wait(place.start(&["--trials", "1"], &["odd"])).exits(1);
    let path = place.path("run/run.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let digest = text.split("\"app_sha256\": \"").nth(1).unwrap()[..64].to_owned();
    std::fs::write(&path, text.replace(&digest, &"0".repeat(64))).unwrap();
    place
        .bugaroo(&["replay", "run", "0"])
        .exits(1)
        .says("the program's file is not the one that the run was made with");
}
