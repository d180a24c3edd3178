//! The links of the README, of CONTRIBUTING.md and of the book: files and headings that they name are there, and the summary names
//! every page once. Links to other sites are not followed. `mdbook build` checks less: it takes any link.

#[path = "book/pages.rs"]
#[allow(dead_code, reason = "the blocks are the other test's")]
mod pages;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What a page links to, and the anchors of its headings.
#[derive(Default)]
struct Links {
    to: Vec<String>,
    anchors: BTreeSet<String>,
}

fn links(text: &str) -> Links {
    let mut found = Links::default();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                found.to.push(dest_url.to_string())
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => found.anchors.extend(heading.take().map(|text| anchor(&text))),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            _ => {}
        }
    }
    found
}

/// The anchor of a heading, as mdBook and code hosts make it.
fn anchor(heading: &str) -> String {
    let kept = heading
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .collect::<String>();
    kept.trim().replace(' ', "-")
}

/// The text of a page, with the files in it that mdBook includes.
fn read(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().map(|line| {
        let file = line.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
        file.map_or_else(|| line.to_owned(), |file| read(&path.with_file_name(file)))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    let mut followed = 0;
    let root = pages::root();
    let names = pages::all().into_iter().map(|page| page.name).chain(["CONTRIBUTING.md".to_owned()]);
    for name in names {
        let page = root.join(&name);
        for link in links(&read(&page)).to {
            if link.contains("://") {
                continue;
            }
            followed += 1;
            let (file, at) =
                link.split_once('#').map_or((link.as_str(), None), |(file, at)| (file, Some(at)));
            let target = if file.is_empty() {
                page.clone()
            } else {
                page.parent().expect("a page lies in a folder").join(file)
            };
            let outside =
                name.starts_with("docs/") && !resolved(&target).starts_with(resolved(&root.join("docs/src")));
            let missing =
                !target.is_file() || at.is_some_and(|at| !links(&read(&target)).anchors.contains(at));
            if missing || outside {
                wrong.push(format!("{name}: {link}"));
            }
        }
    }
    assert!(wrong.is_empty(), "links that lead nowhere, or out of the book:\n{}", wrong.join("\n"));
    assert!(followed > 50, "{followed}");
}

fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[test]
fn the_summary_names_every_page_once() {
    let root = pages::root();
    let mut named = links(&read(&root.join("docs/src/SUMMARY.md"))).to;
    named.sort();
    let all =
        pages::all().into_iter().filter_map(|page| page.name.strip_prefix("docs/src/").map(str::to_owned));
    let mut there: Vec<String> = all.filter(|name| name != "SUMMARY.md").collect();
    there.sort();
    assert_eq!(named, there);
}

#[test]
fn the_readme_stays_short() {
    let length = fs::metadata(pages::root().join("README.md")).unwrap().len();
    assert!(length < 6_000, "{length} bytes: what is more belongs into the book");
}

#[test]
fn anchors_are_made_as_elsewhere() {
    assert_eq!(anchor("What counts as a failure"), "what-counts-as-a-failure");
    assert_eq!(anchor("nightly, init, history"), "nightly-init-history");
    assert_eq!(anchor("`own-fence` (HiRace reports)"), "own-fence-hirace-reports");
}
