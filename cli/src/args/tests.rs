use std::time::Duration;

use clap::{CommandFactory, Parser};

use super::{Address, Cli, Command, RunArgs};

fn run(args: &[&str]) -> Result<RunArgs, clap::Error> {
    match Cli::try_parse_from([&["bugaroo", "run"], args].concat())?.command {
        Command::Run(run) => Ok(run),
        other => panic!("{other:?}"),
    }
}

#[test]
fn is_well_formed() {
    Cli::command().debug_assert();
}

#[test]
fn defaults_are_the_contracts() {
    let args = run(&["./app"]).unwrap();
    assert_eq!(args.pw, [0.75]);
    assert_eq!((args.trials, args.trial.buffer, args.trial.timeout), (1000, 256, None));
    assert_eq!((args.trial.seed, args.error_exitcode, args.until_failure), (None, 1, false));
    assert_eq!(args.trial.oracle.map(|oracle| oracle.to_string()), None);
}

#[test]
fn profile_has_trials_of_its_own_and_no_findings() {
    let parse = |args: &[&str]| Cli::try_parse_from([&["bugaroo", "profile"], args].concat());
    let Command::Profile(args) = parse(&["./app", "--trials", "3"]).unwrap().command else {
        panic!("profile")
    };
    assert_eq!((args.pw, args.trials, args.trial.seed), (0.75, 10, None));
    let Command::Profile(args) = parse(&["--trials", "0", "--pw", "1", "./app"]).unwrap().command else {
        panic!("profile")
    };
    assert_eq!((args.pw, args.trials), (1.0, 0));
    for (args, part) in [
        (&["--until-failure", "a"][..], "unexpected argument '--until-failure'"),
        (&["--out", "d", "a"], "unexpected argument '--out'"),
        (&["--error-exitcode", "0", "a"], "unexpected argument '--error-exitcode'"),
        (&["--pw", "0.5,1", "a"], "profile takes one --pw"),
        (&["--pw", "2", "a"], "a probability is from 0 to 1"),
        (&[], "required arguments were not provided"),
    ] {
        let error = parse(args).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{args:?}");
        assert!(error.to_string().contains(part), "{args:?}: {error}");
    }
}

/// Whatever follows the program is its own, whatever it looks like.
#[test]
fn options_after_the_program_are_its_own() {
    for rest in [&["--pw", "1", "-x", "--help"][..], &["--", "a"], &["b", "--trials=2"], &["-"]] {
        let args = run(&[&["--pw", "0.5,1", "./app"], rest].concat()).unwrap();
        let (app, given) = args.program.split();
        assert_eq!(
            (app, given),
            ("./app", rest.iter().map(|s| s.to_string()).collect::<Vec<_>>().as_slice())
        );
        assert_eq!(args.pw, [0.5, 1.0]);
    }
    assert_eq!(run(&["--", "--odd-name", "--pw"]).unwrap().program.split().0, "--odd-name");
}

#[test]
fn what_is_wrong_is_named() {
    for (args, part) in [
        (&["--pw", "1.5", "a"][..], "a probability is from 0 to 1"),
        (&["--pw", "0.5,x", "a"], "'x' for '--pw"),
        (&["--pw", "NaN", "a"], "a probability is from 0 to 1"),
        (&["--kernel", "a(", "a"], "unclosed group"),
        (&["--oracle", "stdout:[", "a"], "unclosed character class"),
        (&["--oracle", "nothing", "a"], "is no oracle"),
        (&["--without-fence", "x", "a"], "'x' is not a site"),
        (&["--timeout", "5y", "a"], "'y' is no unit of time"),
        (&["--timeout", "0s", "a"], "at least 1ms"),
        (&["--timeout=-1s", "a"], "at least 1ms"),
        (&["--buffer", "0", "a"], "0 is not in 1.."),
        (&["--trials", "0", "a"], "0 is not in 1.."),
        (&["--typo", "a"], "unexpected argument '--typo'"),
        (&["--pw", "0.5"], "required arguments were not provided"),
    ] {
        let error = run(args).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{args:?}");
        assert!(error.to_string().contains(part), "{args:?}: {error}");
    }
}

#[test]
fn times() {
    for (text, milliseconds) in
        [("500ms", 500), ("60s", 60_000), ("2m", 120_000), ("1.5h", 5_400_000), ("7", 7000)]
    {
        assert_eq!(super::duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
    }
    assert!(super::duration("é").is_err());
}

#[test]
fn addresses() {
    assert_eq!("17".parse(), Ok(Address { cell: None, trial: 17 }));
    assert_eq!("2:17".parse(), Ok(Address { cell: Some(2), trial: 17 }));
    for wrong in ["", ":", "1:", ":1", "a", "-1", "1:2:3"] {
        assert!(wrong.parse::<Address>().is_err(), "{wrong}");
    }
}
