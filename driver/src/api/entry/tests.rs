use std::io::Read as _;
use std::process::Command;

use super::{Status, anytime, initialise, with_gpu};
use bugaroo_device::state::Gpu;
use bugaroo_device::trial::injection::Injection;
use bugaroo_device::trial::report::ReportPipe;

/// A panic is told once, to the user and to the harness, and leaves a driver that answers as after a fault.
#[test]
fn a_panic_is_told_once_and_breaks_the_driver() {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let program = std::env::current_exe().expect("the test binary knows itself");
    let mut command = Command::new(program);
    command.args(["--exact", "api::entry::tests::panics", "--ignored", "--nocapture"]);
    // Standard output is the pipe: what is not a message is the test harness's own.
    let output = command.stdout(writer).output().expect("it runs");
    drop(command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut report = String::new();
    reader.read_to_string(&mut report).expect("a text");
    let messages: Vec<&str> = report.lines().filter(|line| line.starts_with("{\"message\"")).collect();
    assert_eq!(messages.len(), 1, "{report}");
    assert!(messages[0].contains("panicked") && messages[0].contains("in cuTest: the text 7"), "{report}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.matches("bugaroo: internal error in cuTest: the text 7").count(), 1, "{said}");
    assert_eq!(said.matches("panicked at").count(), 0, "{said}");
}

/// Run by the test above, in a process of its own.
#[test]
#[ignore = "breaks the driver of the whole process"]
fn panics() {
    println!();
    extern "C" fn nothing() {}
    let make = || {
        let injection = Injection::new(None).expect("no orders");
        Gpu::new(injection, ReportPipe::new(Some(1)))
    };
    let made = initialise(make, nothing);
    assert_eq!(made, Ok(()));
    assert_eq!(with_gpu("cuTest", |_| panic!("the text {}", 3 + 4)), Status::Unknown);
    assert_eq!(with_gpu("cuLater", |_| panic!("never reached")), Status::Unknown);
    assert_eq!(with_gpu("cuLater", |_| Ok(())), Status::Unknown);
    assert_eq!(anytime("cuName", || Ok(())), Status::Success);
}
