//! Lines with several statements, and the sites that they became.

use bugaroo_protocol::{Site, SiteKind};

use super::{Word, point, words};
use crate::model::site;

fn sites(kinds: &[SiteKind]) -> Vec<Site> {
    kinds.iter().zip(0..).map(|(kind, index)| site(index, *kind, "k", Some("global"))).collect()
}

/// Where a fence before `rest` goes in a copy of these kinds of a line.
fn before(text: &str, rest: &str, sites: &[Site]) -> Option<Vec<usize>> {
    let at = text.find(rest).expect("a part of the text");
    point(&sites.iter().collect::<Vec<_>>(), &words(text, 0), at, &text[..at])
}

#[test]
fn words_say_what_is_an_access() {
    let all = |text: &str| words(text, 0).into_iter().map(|(_, word)| word).collect::<Vec<_>>();
    assert_eq!(all("atomicCAS(&m, 0, 1); // atomicAdd(x) ="), [Word::Atomic]);
    assert_eq!(all("d[0] = 6; *f = 1; x += 2;"), [Word::Store, Word::Store, Word::Assignment]);
    assert_eq!(all("if (a == b && c <= d) __threadfence_block();"), [Word::Fence]);
    assert_eq!(all("__syncthreads(); p->n++; s = \"a=b\";"), [Word::Barrier, Word::Store, Word::Assignment]);
    assert_eq!(all("flag.exchange(1); a.b = 2"), [Word::Atomic, Word::Store]);
}

#[test]
fn a_lock_on_one_line_has_a_place_behind_each_statement() {
    use SiteKind::{Atomic, Fence, Load, Store};
    let text = "while (atomicCAS(&busy, 0, 1)) {} total += by; __threadfence(); atomicExch(&busy, 0);";
    let copy = sites(&[Atomic, Load, Store, Fence, Atomic]);
    assert_eq!(before(text, "total", &copy), Some(vec![0]));
    assert_eq!(before(text, "__threadfence", &copy), Some(vec![2]));
    assert_eq!(before(text, "atomicExch", &copy), Some(vec![3]));
    // A loop that was unrolled: the same twice.
    let twice = sites(&[Atomic, Load, Store, Fence, Atomic, Atomic, Load, Store, Fence, Atomic]);
    assert_eq!(before(text, "total", &twice), Some(vec![0, 5]));
}

#[test]
fn stores_are_counted() {
    let copy = sites(&[SiteKind::Store, SiteKind::Store]);
    assert_eq!(before("d[0] = 6; *f = 1;", "*f", &copy), Some(vec![0]));
    assert_eq!(before("int i = 2; d[i] = 6; *f = 1;", "*f", &copy), Some(vec![0]));
    let one = sites(&[SiteKind::Store]);
    assert_eq!(before("d[0] = 6; *f = 1;", "*f", &one), None, "one of them is gone");
}

#[test]
fn loads_that_wait_come_before() {
    let mut copy = sites(&[SiteKind::Load, SiteKind::Load, SiteKind::Store]);
    copy[0].instruction = "ld.volatile.global.u32 %r1, [%rd1];".to_owned();
    assert_eq!(before("while (!*f) {} out[0] = d[0];", "out", &copy), Some(vec![0]));
    copy[0].instruction.clear();
    assert_eq!(
        before("while (!*f) {} out[0] = d[0];", "out", &copy),
        None,
        "which loads are the first one's?"
    );
}

#[test]
fn what_the_text_does_not_say_has_no_place() {
    let copy = sites(&[SiteKind::Atomic, SiteKind::Store]);
    assert_eq!(before("lock(m); d[0] = 1;", "d[0]", &copy), None, "a call hides the atomic");
}
