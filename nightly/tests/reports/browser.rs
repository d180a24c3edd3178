//! The page as a browser shows it: at two widths, in both colour schemes.

use std::fs;

use bugaroo_nightly::reports;
use serde_json::Value;

use super::chromium::Browser;
use super::nights;

/// What is measured in the page, with all that folds unfolded.
const MEASURE: &str = include_str!("measure.js");

#[test]
fn pages_are_drawn_whole_and_read_well_at_every_width_and_in_both_schemes() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, night) in nights::all() {
        let file = folder.path().join(format!("{name}.html"));
        let page = reports::html::text(&night);
        assert!(page.len() <= 5_000_000, "{name}: {} bytes", page.len());
        fs::write(&file, &page).unwrap();
        for (width, scheme) in [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")] {
            let at = format!("{name} at {width} px, {scheme}");
            browser.open(&file, width, scheme);
            let folded = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
            assert!(folded.as_i64().unwrap() <= 0, "{at}: {folded} px too wide");
            let found = browser.evaluate(MEASURE);
            check(&found, &at, width, scheme);
            quiet(&browser, &at);
            eprintln!("{at}: {} bytes, first paint after {} ms", page.len(), found["paint"]);
            if name != "empty" && name != "hostile" {
                assert!(found["plots"].as_u64().unwrap() >= 3, "{at}: {found}");
            }
        }
    }
}

fn check(found: &Value, at: &str, width: u32, scheme: &str) {
    assert_eq!(found["inner"], width, "{at}");
    assert_eq!(found["dark"], scheme == "dark", "{at}");
    assert!(
        found["scroll"].as_u64().unwrap() <= u64::from(width),
        "{at}: {} px wide; {}",
        found["scroll"],
        found["wide"]
    );
    for what in ["undrawn", "unlabelled", "pale", "dangling", "twice"] {
        assert_eq!(found[what], serde_json::json!([]), "{at}: {what}");
    }
}

/// Nothing went wrong, and nothing but the page was asked for.
fn quiet(browser: &Browser, at: &str) {
    for event in ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"] {
        assert_eq!(browser.named(event), Vec::<&Value>::new(), "{at}: {event}");
    }
    let asked: Vec<&Value> = browser
        .named("Network.requestWillBeSent")
        .into_iter()
        .map(|event| &event["request"]["url"])
        .collect();
    assert_eq!(asked.len(), 1, "{at}: {asked:?}");
}
