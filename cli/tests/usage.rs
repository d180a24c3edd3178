//! Command lines that will not do, the smaller commands, and manners.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::common::{Place, app, end};

#[test]
fn programs_that_are_none() {
    let place = Place::new();
    let file = |name: &str, content: &str, mode| {
        fs::write(place.path(name), content).unwrap();
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    file("prog", "#!/bin/sh\n", 0o755);
    file("plain", "#!/bin/sh\n", 0o644);
    file("empty", "", 0o755);
    file("text", "no program", 0o755);
    file("lost", "#!/nonexistent/interpreter\n", 0o755);
    for (app, part) in [
        ("prog", "program not found: prog (did you mean ./prog ?)"),
        ("./nothing", "program not found: ./nothing"),
        (".", "program not found: ."),
        ("./", "./ is a directory"),
        ("./plain", "./plain is not executable (chmod +x ./plain ?)"),
        ("./empty", "./empty is empty"),
        ("./text", "./text is neither an ELF program nor a script"),
        ("./lost", "is its interpreter missing?"),
    ] {
        for command in ["run", "sites", "profile"] {
            place.bugaroo(&[command, app]).exits(2).says(part);
        }
    }
}

#[test]
fn typos_are_met_with_suggestions() {
    let place = Place::new();
    place.bugaroo(&["rum", "a"]).exits(2).says("'run'");
    place.bugaroo(&["run", "--trails", "3", "a"]).exits(2).says("'--trials'");
    place.bugaroo(&["run", "--space", "globl", "a"]).exits(2).says("'global'");
    for start in ["bugaroo run ./app", "bugaroo bisect ./app", "bugaroo race ./app"] {
        place.bugaroo(&[]).exits(2).says("Usage").says(start);
        place.bugaroo(&["--help"]).exits(0).prints("Exit codes").prints(start);
    }
    place.bugaroo(&["--version"]).exits(0).prints("bugaroo ");
}

#[test]
fn what_this_version_lacks_says_so() {
    let place = Place::new();
    let app = app();
    place.bugaroo(&["race", "--detector", "nothing", &app]).exits(2);
    place.bugaroo(&["litmus"]).exits(2);
    for command in ["run", "bisect", "race"] {
        let of_pct = "--pct-depth is the depth of --scheduler pct";
        place.bugaroo(&[command, "--scheduler", "random", "--pct-depth", "2", &app]).exits(2).says(of_pct);
        place.bugaroo(&[command, "--pct-depth", "2", &app]).exits(2).says("--scheduler");
        place.bugaroo(&[command, "--scheduler", "pct", "--pct-depth", "0", &app]).exits(2).says("1..=64");
    }
}

#[test]
fn options_after_the_program_are_its_own() {
    let place = Place::new();
    let ended =
        place.run(&["--trials", "1", "--oracle", "stdout:^--pw$"], &["echo", "--", "--pw", "7", "--help"]);
    ended.exits(0);
}

#[test]
fn sites() {
    let place = Place::new();
    let ended = place.bugaroo(&["sites", &app(), "pass"]).exits(0);
    let lines: Vec<&str> = ended.stdout.lines().map(str::trim).collect();
    assert_eq!(lines.len(), 4, "{ended:#?}");
    assert!(lines[0].starts_with("id  kind"));
    let words: Vec<&str> = lines[2].split_whitespace().collect();
    assert_eq!(words, ["1", "fence", "dot", "global", "gpu", "12", "kernel.cu:5", "membar.gl;"]);

    let json = place.bugaroo(&["sites", "--format", "json", &app(), "pass"]).exits(0).json();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["sites"][2]["kind"], "barrier");
    assert_eq!(json["sites"][2]["source"]["line"], 6);

    // What a failing program came to load is listed all the same.
    place
        .bugaroo(&["sites", &app(), "fails"])
        .exits(0)
        .prints("membar.gl")
        .says("the program failed (exit code 7)");
    place.bugaroo(&["sites", &app(), "silent"]).exits(4);
    place.bugaroo(&["sites", &app(), "silent", "1"]).exits(3);
}

const PTX: &str = "\
.version 8.0
.target sm_75
.address_size 64

.visible .entry set(.param .u64 out)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, 1;
	st.global.u32 [%rd1], %r1;
	ret;
}
";

#[test]
fn instrument() {
    let place = Place::new();
    fs::write(place.path("set.ptx"), PTX).unwrap();
    let printed = place.bugaroo(&["instrument", "set.ptx"]).exits(0).stdout;
    assert!(printed.contains("__bugaroo_") && printed.contains("st.global.u32 [%rd1], %r1;"), "{printed}");
    place.bugaroo(&["instrument", "set.ptx", "-o", "out.ptx"]).exits(0);
    assert_eq!(fs::read_to_string(place.path("out.ptx")).unwrap(), printed);

    place.bugaroo(&["instrument", "no.ptx"]).exits(2).says("no.ptx: ");
    fs::write(place.path("cut.ptx"), &PTX[..PTX.len() / 2]).unwrap();
    place.bugaroo(&["instrument", "cut.ptx"]).exits(2).says("cut.ptx: ");
    fs::write(place.path("noise.ptx"), b"\x00\xff\x7f").unwrap();
    place.bugaroo(&["instrument", "noise.ptx"]).exits(2).says("noise.ptx: ");
}

#[test]
fn a_missing_driver_is_told() {
    let place = Place::new();
    let ended = end(place.run_command(&[], &["pass"]).env("BUGAROO_DRIVER", "/nonexistent/libcuda.so"));
    ended.exits(5).says("driver library libcuda.so is missing; looked at /nonexistent/libcuda.so");
}

/// Nobody reads what we print: no panic, no complaint.
#[test]
fn readers_that_leave() {
    let place = Place::new();
    for args in [
        &["sites", &app(), "pass"][..],
        &["run", "--trials", "2", &app(), "pass"],
        &["profile", &app(), "pass"],
        &["--help"],
    ] {
        let mut child = place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{stderr}");
        assert!(!stderr.contains("panic") && !stderr.contains("ipe"), "{stderr}");

        let mut child = place.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

/// Where nobody looks, there is neither bar nor colour.
#[test]
fn no_escape_sequences_in_pipes() {
    let place = Place::new();
    let ended = place.run(&["--trials", "20"], &["odd"]);
    assert!(!ended.stdout.contains('\x1b') && !ended.stderr.contains('\x1b'), "{ended:#?}");
}

#[test]
fn every_command_has_a_manual_page_and_completions() {
    let place = Place::new();
    let help = place.bugaroo(&["--help"]).exits(0).stdout;
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    // Names stand two columns in; what a text goes on with stands further right.
    let names = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names.map(|line| line.split_whitespace().next().unwrap()).collect();
    let names: Vec<&str> = names.into_iter().filter(|&name| name != "help").collect();
    assert!(names.len() > 10, "{names:?}");
    place.bugaroo(&["man", "--out", "pages"]).exits(0);
    let whole = fs::read_to_string(place.path("pages/bugaroo.1")).unwrap();
    assert!(whole.contains("Exit codes"), "{whole}");
    for name in &names {
        let page = fs::read_to_string(place.path(&format!("pages/bugaroo-{name}.1"))).unwrap();
        assert!(page.starts_with(".ie") && page.contains(&format!("bugaroo\\-{name}")), "{page}");
        assert_eq!(place.bugaroo(&["man", name]).exits(0).stdout, page);
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = place.bugaroo(&["completions", shell]).exits(0).stdout;
        for word in names.iter().copied().chain(["until-failure", "error-exitcode"]) {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
    place.bugaroo(&["man", "nothing"]).exits(2).says("bugaroo has no command nothing");
    place.bugaroo(&["completions", "csh"]).exits(2).says("possible values: bash");
}
