use std::path::{Path, PathBuf};

use bugaroo_protocol::{Detector, Race};

use super::{Suppressions, glob};
use crate::race::tests::race;

fn rules(text: &str) -> Result<Suppressions, String> {
    let mut rules = Suppressions::default();
    rules.add(Path::new("known.toml"), text).map(|()| rules).map_err(|error| error.to_string())
}

/// Whether a rule with this in it suppresses the race between lines 3 and 9 of `/src/app/kernel.cu`.
fn suppresses(rule: &str) -> bool {
    let text = format!("[[suppress]]\nreason = \"it is known\"\n{rule}\n");
    rules(&text).unwrap().of(&race(3, 9)) == Some(0)
}

#[test]
fn each_condition() {
    for (rule, fits) in [
        ("kernel = '^_Z3sum'", true),
        ("kernel = '^sum\\(int'", true),
        ("kernel = '^total'", false),
        ("file = 'kernel.cu'", true),
        ("file = './app/kernel.cu'", true),
        ("file = '/src/app/kernel.cu'", true),
        ("file = 'app/*.cu'", true),
        ("file = 'src/**/kernel.cu'", true),
        ("file = 'src/**'", true),
        ("file = 'src/*.cu'", false),
        ("file = 'nel.cu'", false),
        ("file = 'kernel.c?'", true),
        ("line = 3", true),
        ("line = 9", true),
        ("line = 4", false),
        ("symbol = 'total'", true),
        ("symbol = 'tot'", false),
        ("detector = 'ptx'", true),
        ("detector = 'barracuda'", false),
    ] {
        assert_eq!(suppresses(rule), fits, "{rule}");
    }
}

#[test]
fn all_conditions_have_to_hold() {
    assert!(suppresses("file = 'kernel.cu'\nline = 9\nsymbol = 'total'\ndetector = 'ptx'\nkernel = 'sum'"));
    assert!(!suppresses("file = 'kernel.cu'\nline = 9\nsymbol = 'other'"));
    assert!(!suppresses("file = 'other.cu'\nline = 9"));
}

/// File and line are those of one access, and not one of each.
#[test]
fn places_are_of_one_access() {
    let mut race = race(3, 9);
    race.second.at.as_mut().unwrap().source.as_mut().unwrap().file = "b.cu".into();
    let text = "[[suppress]]\nfile = 'b.cu'\nline = 3\nreason = 'x'\n[[suppress]]\nfile = 'b.cu'\nline = 9\nreason = 'y'";
    assert_eq!(rules(text).unwrap().of(&race), Some(1));
}

#[test]
fn memory_without_a_name_has_no_symbol() {
    let rules = rules("[[suppress]]\nsymbol = 'total'\nreason = 'x'").unwrap();
    assert_eq!(rules.of(&Race { allocation: None, ..race(3, 9) }), None);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let at = |line: u32, what: &str| (format!("known.toml:{line}: "), what.to_owned());
    for (text, (place, what)) in [
        ("[[suppress]]\nline = 3\n", at(1, "missing field `reason`")),
        ("[[suppress]]\nline = 3\nreason = ' '\n", at(3, "reason that says something")),
        ("\n[[suppress]]\nreason = 'x'\n", at(2, "needs one of kernel, file, line, symbol and detector")),
        ("[[suppress]]\nreason = 'x'\nfiel = 'a.cu'\n", at(3, "unknown field `fiel`, expected one of")),
        ("[[supress]]\nreason = 'x'\n", at(1, "unknown field `supress`")),
        ("[[suppress]]\nkernel = 'a('\nreason = 'x'\n", at(2, "unclosed group")),
        ("[[suppress]]\nreason = 'x'\ndetector = 'tsan'\n", at(3, "'tsan' is no detector: ptx, barracuda")),
        ("[[suppress]]\nreason = 'x'\nline = 'three'\n", at(3, "invalid type")),
        ("[[suppress]]\nreason = 'x'\nline = -1\n", at(3, "")),
        ("[[suppress]\n", at(1, "")),
    ] {
        let error = rules(text).unwrap_err();
        assert!(error.starts_with(&place) && error.contains(&what), "{text:?}: {error}");
    }
}

#[test]
fn files_are_read_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name)
    };
    let one = write("a.toml", "# nothing yet\n");
    let two =
        write("b.toml", "[[suppress]]\nline = 1\nreason = 'b'\n\n[[suppress]]\nline = 9\nreason = 'c'\n");
    let rules = Suppressions::read(&[one, two]).unwrap();
    assert_eq!(rules.of(&race(3, 9)), Some(1));
    let text = rules.texts().nth(1).unwrap();
    assert!(text.at.ends_with("b.toml:5"), "{}", text.at);
    assert_eq!((text.reason.as_str(), text.detector), ("c", None::<Detector>));
    let error = Suppressions::read(&[PathBuf::from("/nonexistent/a.toml")]).unwrap_err().to_string();
    assert!(error.starts_with("--suppressions /nonexistent/a.toml: "), "{error}");
}

#[test]
fn globs_take_nothing_literally_but_letters() {
    assert_eq!(glob("a.cu"), r"(?:^|/)a\.cu$");
    assert_eq!(glob("a/**/b+.cu"), r"(?:^|/)a/(?:.*/)?b\+\.cu$");
}
