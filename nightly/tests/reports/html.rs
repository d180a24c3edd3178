//! The page as a text.

use bugaroo_nightly::night::Night;
use bugaroo_nightly::reports;

use super::nights;

#[test]
fn nothing_of_a_program_becomes_markup() {
    let page = reports::html::text(&nights::hostile());
    for part in
        ["<script", "</script", "<img", "onerror=alert(1)>", "<!--", "\0", "\x1b", "\u{202e}", "\u{ffff}"]
    {
        assert!(!page.contains(part), "{part:?}");
    }
    assert!(page.contains("&lt;/script&gt;&lt;img src=x"));
}

#[test]
fn nothing_is_fetched_or_executed() {
    for (name, night) in nights::all() {
        let page = reports::html::text(&night);
        for part in ["<script", "<link", "@import", "url(", "http://", "https://", " src=\"", "javascript:"] {
            assert!(!page.contains(part), "{part} in {name}");
        }
        assert!(page.contains("default-src 'none'"));
    }
}

#[test]
fn all_findings_are_listed_and_the_page_stays_small() {
    let night = nights::many();
    let page = reports::html::text(&night);
    assert!(page.len() <= 5_000_000, "{} bytes", page.len());
    for (at, program) in night.programs.iter().enumerate() {
        for number in 0..program.findings.len() {
            assert_eq!(page.matches(&format!(" id=\"p{at}-{number}\"")).count(), 1, "p{at}-{number}");
        }
        let full = page.matches(&format!("<details class=\"finding\" id=\"p{at}-")).count();
        assert_eq!(full, program.findings.len().min(reports::html::MOST_IN_FULL));
    }
}

#[test]
fn long_texts_in_every_program_do_not_make_the_page_large() {
    let mut night = nights::empty();
    for program in 0..10 {
        let mut one = nights::program(&format!("program {program}"), Vec::new());
        one.findings = (0..50).map(|number| nights::race(number, &["ptx pw=1"])).collect();
        for finding in &mut one.findings {
            finding.message = "<&>\"\n".repeat(100_000);
            finding.patch = "+<&>\n".repeat(100_000);
        }
        night.programs.push(one);
    }
    let page = reports::html::text(&night);
    assert!(page.len() <= 5_000_000, "{} bytes", page.len());
    assert!(page.contains("id=\"p9-49\""), "listed though there was no room");
}

#[test]
fn what_a_night_does_not_say_stands_above_its_programs() {
    let page = reports::html::text(&nights::mixed());
    let programs = page.find("id=\"programs\"").unwrap();
    assert!(page.find("href=\"#limits\"").unwrap() < page.find("class=\"figures\"").unwrap());
    for part in [
        "The results of shards 3, 7 are missing.",
        "the disk had room for 40 of 60 run directories",
        "identifier &quot;foo&quot; is undefined (build)",
        "says nothing: ptx pw=0.5",
        "4 trials slow",
        "1 trial killed",
        "31 trials forgetful",
        "fewer trials than planned: ptx pw=0.75",
        "runs without the fork server: it has two threads",
        "has expired on 2026-02-28",
    ] {
        let at = page.find(part).unwrap_or_else(|| panic!("{part} is not told"));
        assert!(at < programs, "{part} stands below");
    }
}

#[test]
fn headings_go_down_one_by_one() {
    for (name, night) in nights::all() {
        let page = reports::html::text(&night);
        let body = &page[page.find("<body").unwrap()..];
        let levels =
            body.match_indices("<h").filter_map(|(at, _)| body[at + 2..].chars().next()?.to_digit(10));
        let levels: Vec<u32> = levels.collect();
        assert_eq!(levels.first(), Some(&1), "{name}");
        assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
        assert!(levels.windows(2).all(|two| two[1] <= two[0] + 1), "{name}: {levels:?}");
    }
}

#[test]
fn a_night_is_one_page_whatever_is_in_it() {
    let night = Night { ended: None, ..nights::empty() };
    let page = reports::html::text(&night);
    assert!(page.contains("Nothing was tested.") && page.contains("The night was killed, or still runs."));
    assert!(reports::html::text(&nights::green()).contains("Nothing to tell: all of the plan was tested."));
}
