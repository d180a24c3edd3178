use std::path::Path;

use super::start::{Start, start};
use crate::capture::Keep;
use crate::process::{NO_VARIABLES, Patience, ProgramCall};
use std::time::Duration;

/// Starts a shell script as a server.
async fn shell(script: &str) -> String {
    let arguments = ["-c".into(), script.into()];
    let program = ProgramCall {
        path: "/bin/sh".into(),
        arguments: &arguments,
        directory: Path::new("/").to_owned(),
        variables: &NO_VARIABLES,
        input: None,
        patience: Patience::exactly(Duration::from_secs(600)),
        keep: Keep::default(),
    };
    match start(program, |_, _| Vec::new()).await.unwrap() {
        Start::Serves(server) => panic!("{server:?}"),
        Start::Cannot(why) => why,
        Start::Died => "it died".to_owned(),
    }
}

#[tokio::test]
async fn programs_that_never_launch_are_no_servers() {
    assert!(shell("exit 0").await.contains("ended without a launch"));
    assert!(shell("kill -SEGV $$").await.contains("ended without a launch"));
    assert_eq!(shell("kill -KILL $$").await, "it died");
}

/// It goes on to its end, which it would not if nobody read what it prints.
#[tokio::test]
async fn programs_that_print_too_much_are_no_servers() {
    assert!(shell("head -c 4000000 /dev/zero; exit 0").await.contains("prints too much"));
}
