use super::PTX;
use super::encoder::{Part, encode};
use crate::images::fatbin::{FatBinary, ImageChoice, choose};

/// The architecture of the PTX that runs on a device of compute capability 9.0.
fn chosen(parts: &[Part]) -> Result<String, String> {
    let bytes = encode(parts);
    let binary = FatBinary::parse(&bytes).expect("it is whole");
    match choose(&binary, (9, 0)) {
        ImageChoice::Ptx(entry) => Ok(entry.architecture.to_string()),
        ImageChoice::Later(entry) => Ok(format!("{}, meant for later devices", entry.architecture)),
        ImageChoice::Empty => Err("empty".to_owned()),
        ImageChoice::None(chosen) => Err(chosen.advice(90)),
    }
}

#[test]
fn the_highest_that_fits_is_taken() {
    let ptx = |number| Part::ptx(number, PTX);
    assert_eq!(chosen(&[ptx(75), ptx(90), ptx(80), ptx(100)]).as_deref(), Ok("sm_90"));
    assert_eq!(chosen(&[ptx(75), Part::machine_code(90)]).as_deref(), Ok("sm_75"));
    assert_eq!(chosen(&[ptx(90).specific(), ptx(90)]).as_deref(), Ok("sm_90"));
    assert_eq!(chosen(&[ptx(80), ptx(90).specific()]).as_deref(), Ok("sm_90a"));
    assert_eq!(chosen(&[ptx(75), ptx(80).specific(), ptx(87).family()]).as_deref(), Ok("sm_75"));
}

#[test]
fn of_later_ones_the_earliest_is_taken_unless_it_is_for_that_one_alone() {
    let parts = [
        Part::ptx(120, PTX),
        Part::ptx(110, PTX),
        Part::ptx(100, PTX).specific(),
        Part::ptx(100, PTX).family(),
        Part::machine_code(90),
    ];
    assert_eq!(chosen(&parts).as_deref(), Ok("sm_110, meant for later devices"));
}

#[test]
fn where_nothing_fits_the_error_says_why_and_what_to_do() {
    let error = |parts: &[Part]| chosen(parts).expect_err("nothing fits");
    assert_eq!(error(&[]), "empty");
    let machine_code = error(&[Part::machine_code(90)]);
    assert!(machine_code.contains("machine code only (sm_90)") && machine_code.contains("nvcc"));
    let later =
        error(&[Part::ptx(120, PTX).family(), Part::ptx(100, PTX).specific(), Part::machine_code(120)]);
    assert!(later.contains("PTX is for sm_100a") && later.contains("sm_90"), "{later}");
    let link_time = error(&[Part::of(8, 90, vec![1; 100])]);
    assert!(link_time.contains("-dlto"), "{link_time}");
    assert!(error(&[Part::of(99, 90, vec![1; 100])]).contains("no PTX"));
}
