//! JUnit XML, read back by an XML parser.

use bugaroo_nightly::night::{Night, NightVerdict, Status};
use bugaroo_nightly::reports;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::nights;

/// A test case as it stands in the file.
#[derive(Debug, Default)]
struct Case {
    class: String,
    name: String,
    /// `failure`, `error`, `skipped`, or empty.
    verdict: String,
    message: String,
    text: String,
    properties: Vec<(String, String)>,
}

fn attribute(start: &BytesStart<'_>, name: &str) -> String {
    let found = start.try_get_attribute(name).expect("attributes are well formed");
    found.map_or_else(String::new, |it| {
        it.normalized_value(XmlVersion::Explicit1_0).expect("known entities alone").into_owned()
    })
}

/// The cases, and the numbers of tests, failures, errors and skipped ones that the root claims.
fn read(night: &Night) -> (Vec<Case>, [usize; 4]) {
    let xml = reports::junit::text(night).unwrap();
    let allowed =
        |c: char| matches!(c, '\n' | '\t' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(xml.chars().all(allowed), "characters that XML has not");
    assert!(!xml.contains('\u{7f}') && !xml.contains('\u{202e}'));
    let mut reader = Reader::from_str(&xml);
    reader.config_mut().check_end_names = true;
    reader.config_mut().expand_empty_elements = true;
    let (mut cases, mut claimed, mut path): (Vec<Case>, [usize; 4], Vec<String>) =
        (Vec::new(), [0; 4], Vec::new());
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Start(start) => {
                let name = String::from_utf8(start.name().as_ref().to_vec()).unwrap();
                match name.as_str() {
                    "testsuites" => {
                        claimed = ["tests", "failures", "errors", "skipped"]
                            .map(|it| attribute(&start, it).parse().unwrap());
                    }
                    "testcase" => {
                        let (class, name) = (attribute(&start, "classname"), attribute(&start, "name"));
                        cases.push(Case { class, name, ..Case::default() });
                    }
                    "failure" | "error" | "skipped" => {
                        let case = cases.last_mut().unwrap();
                        assert!(case.verdict.is_empty(), "two verdicts: {case:?}");
                        case.verdict.clone_from(&name);
                        case.message = attribute(&start, "message");
                    }
                    "property" if path.contains(&"testcase".to_owned()) => {
                        let property = (attribute(&start, "name"), attribute(&start, "value"));
                        cases.last_mut().unwrap().properties.push(property);
                    }
                    "testsuite" | "properties" | "property" => {}
                    other => panic!("the schema has no element {other}"),
                }
                path.push(name);
            }
            Event::End(_) => drop(path.pop()),
            Event::Text(text) if path.iter().any(|it| it == "testcase") => {
                cases.last_mut().unwrap().text += &text.decode().unwrap();
            }
            Event::GeneralRef(entity) if path.iter().any(|it| it == "testcase") => {
                let name = entity.decode().unwrap();
                cases.last_mut().unwrap().text +=
                    quick_xml::escape::resolve_predefined_entity(&name).unwrap_or("?");
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(path.is_empty());
    (cases, claimed)
}

fn case<'a>(cases: &'a [Case], class: &str, name: &str) -> &'a Case {
    cases
        .iter()
        .find(|case| case.class == class && case.name == name)
        .unwrap_or_else(|| panic!("no {class} {name}: {cases:#?}"))
}

#[test]
fn every_night_is_read_back_with_its_numbers() {
    for (name, night) in nights::all() {
        let (cases, claimed) = read(&night);
        let of = |verdict: &str| cases.iter().filter(|case| case.verdict == verdict).count();
        assert_eq!(claimed, [cases.len(), of("failure"), of("error"), of("skipped")], "{name}");
        let green = of("failure") + of("error") == 0;
        assert_eq!(green, night.verdict == NightVerdict::Green, "{name}: {cases:#?}");
        for program in &night.programs {
            let cases = program.cells.len() + program.kernels.len() + usize::from(program.error.is_some());
            assert!(claimed[0] >= cases, "{name}");
        }
    }
}

#[test]
fn a_night_that_tested_nothing_is_an_error() {
    let (cases, _) = read(&nights::empty());
    assert!(
        cases.iter().any(|case| case.verdict == "error" && case.message.contains("Nothing was tested")),
        "{cases:?}"
    );
}

#[test]
fn one_failing_trial_fails_its_cell_and_says_how_to_see_it() {
    let night = nights::mixed();
    let (cases, _) = read(&night);
    let cell = case(&cases, "threadfence-reduction", "ptx pw=0.75");
    assert_eq!(cell.verdict, "failure");
    assert!(
        cell.message.starts_with("30 of 1000 trials failed: 3\u{a0}%, 95 % interval 2.0"),
        "{}",
        cell.message
    );
    for part in [
        "wrong results",
        "Missing: release by the writer",
        "bugaroo replay reports/2026-03-02/runs/threadfence/0 17",
    ] {
        assert!(cell.text.contains(part), "{part} in {}", cell.text);
    }
    assert!(cell.properties.contains(&("model".into(), "ptx".into())));
    assert!(cell.properties.contains(&("pw".into(), "0.75".into())));
    assert_eq!(case(&cases, "threadfence-reduction", "races ptx+hirace").verdict, "failure");
    assert_eq!(case(&cases, "kmeans", "store-buffer pw=0.5").verdict, "");
}

#[test]
fn a_pass_with_a_failing_trial_is_none() {
    let mut night = nights::green();
    night.programs[0].cells[0].failures = 1;
    assert_eq!(night.programs[0].cells[0].status, Status::Pass);
    assert_eq!(case(&read(&night).0, "hotspot", "store-buffer pw=0.75").verdict, "failure");
}

#[test]
fn what_is_expected_is_skipped_and_what_says_nothing_is_an_error() {
    let (cases, _) = read(&nights::mixed());
    let known = case(&cases, "streamcluster", "store-buffer pw=0.5");
    assert_eq!(
        (known.verdict.as_str(), known.message.as_str()),
        ("skipped", "expected: upstream knows of it")
    );
    assert_eq!(case(&cases, "scan", "ptx pw=0.5").verdict, "error");
    let build = case(&cases, "octree", "program: build");
    assert_eq!((build.verdict.as_str(), build.message.as_str()), ("error", "make: *** [octree] Error 1"));
    assert!(build.text.contains("identifier \"foo\""), "{}", build.text);
    assert_eq!(
        case(&cases, "threadfence-reduction", "verify scan<unsigned int, 256>(unsigned int*)").verdict,
        "failure"
    );
    assert!(
        cases.iter().any(|case| case.class == "night" && case.message.contains("shards 3, 7")),
        "{cases:?}"
    );
}

#[test]
fn a_finding_that_no_cell_has_is_a_case_of_its_own() {
    let mut night = nights::green();
    night.verdict = NightVerdict::Red;
    night.programs[0].findings = vec![nights::race(1, &["gone pw=1"])];
    let (cases, _) = read(&night);
    assert_eq!(case(&cases, "hotspot", "race: write-read race on global memory, 1").verdict, "failure");
}

#[test]
fn a_red_night_is_red_whatever_made_it_so() {
    let night = Night { verdict: NightVerdict::Red, ..nights::green() };
    assert_eq!(case(&read(&night).0, "night", "verdict").verdict, "error");
}
