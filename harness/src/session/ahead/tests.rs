use super::*;

#[test]
fn what_all_will_take() {
    let of = |trials, milliseconds, at_a_time| {
        estimate(trials, Duration::from_millis(milliseconds), at_a_time).unwrap_or_default()
    };
    assert_eq!(of(1, 9, 2), "");
    assert_eq!(of(1000, 9, 2), "1000 trials, 2 at a time: less than 10 s at that pace");
    assert_eq!(of(1000, 80, 2), "1000 trials, 2 at a time: about 40 s at that pace");
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
