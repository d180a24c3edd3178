//! Lines with several places in the PTX.

use bugaroo_harness::Variation;
use bugaroo_protocol::{DelayedSpace, Site, SiteKind, SourceLine};

use super::{SitePlace, candidates, fences, lines};
use crate::model::site;

fn at(line: Option<u32>, mut site: Site) -> Site {
    site.source = line.map(|line| SourceLine { file: "k.cu".to_owned(), line });
    site
}

fn ids(place: &SitePlace) -> Vec<u32> {
    place.ids().map(|id| id.index).collect()
}

/// Two instances of a kernel, each with `a[i] += s[i];` (line 5), a store (line 6), and a fence (7).
fn instances() -> Vec<Site> {
    let mut sites = Vec::new();
    for (base, kernel) in [(0, "one"), (10, "two")] {
        sites.push(at(Some(5), site(base, SiteKind::Load, kernel, Some("shared"))));
        sites.push(at(Some(5), site(base + 1, SiteKind::Load, kernel, Some("global"))));
        sites.push(at(Some(5), site(base + 2, SiteKind::Store, kernel, Some("global"))));
        sites.push(at(Some(6), site(base + 3, SiteKind::Store, kernel, Some("shared"))));
        sites.push(at(Some(7), site(base + 4, SiteKind::Fence, kernel, None)));
    }
    sites
}

fn stores(sites: &[Site], kernels: &[&str], space: DelayedSpace) -> Vec<Vec<u32>> {
    let kernels: Vec<String> = kernels.iter().map(|&kernel| kernel.to_owned()).collect();
    let suspect = Variation { space, ..Variation::default() };
    let places = candidates(&lines(sites, &kernels), &suspect);
    let stores = |place: &&SitePlace| place.sites.iter().any(|site| site.kind == SiteKind::Store);
    places.iter().filter(stores).map(ids).collect()
}

/// The candidates in the order of the text.
fn in_order(sites: &[Site], kernels: &[String], suspect: &Variation) -> Vec<SitePlace> {
    let mut places = candidates(&lines(sites, kernels), suspect);
    places.sort_by_key(|place| place.lead().id);
    places
}

#[test]
fn a_line_is_one_place_in_all_kernels_that_are_launched() {
    let sites = instances();
    assert_eq!(stores(&sites, &["one", "two"], DelayedSpace::Both), [[2, 12], [3, 13]]);
    assert_eq!(stores(&sites, &["one"], DelayedSpace::Both), [[2], [3]]);
    assert_eq!(stores(&sites, &["one", "two"], DelayedSpace::Global), [[2, 12]]);
    assert_eq!(stores(&sites, &["two"], DelayedSpace::Shared), [[13]]);
    let kernels = ["one".to_owned(), "two".to_owned()];
    let own: Vec<_> = fences(&sites, &kernels).iter().map(ids).collect();
    assert_eq!(own, [[4, 14]]);
    assert_eq!(fences(&sites, &kernels)[0].only_kernel(), None);
    assert_eq!(fences(&sites, &kernels[..1])[0].only_kernel(), Some("one"));
}

#[test]
fn a_suspected_kernel_chooses_lines_and_the_fence_goes_into_all_of_their_copies() {
    let sites = instances();
    let kernels = ["one".to_owned(), "two".to_owned()];
    let suspect = Variation { kernel: Some("^two$".to_owned()), ..Variation::default() };
    let places = in_order(&sites, &kernels, &suspect);
    assert_eq!(places.iter().map(ids).collect::<Vec<_>>(), [[0, 10], [1, 11], [2, 12], [3, 13]]);
}

#[test]
fn sites_without_a_line_stand_alone() {
    let sites: Vec<Site> =
        (0..3).map(|index| at(None, site(index, SiteKind::Store, "one", Some("global")))).collect();
    assert_eq!(stores(&sites, &["one"], DelayedSpace::Both), [[0], [1], [2]]);
    assert_eq!(fences(&sites, &["one".to_owned()]), []);
}

#[test]
fn device_functions_belong_to_every_kernel() {
    let mut sites = instances();
    let mut called = at(Some(5), site(20, SiteKind::Store, "push", Some("global")));
    called.in_kernel = false;
    sites.push(called);
    assert_eq!(stores(&sites, &["one"], DelayedSpace::Global), [[2, 20]]);
}

#[test]
fn each_load_of_a_row_is_a_place_with_its_copies() {
    let sites: Vec<Site> = [(0, 5), (1, 5), (2, 6), (3, 5)]
        .map(|(index, line)| at(Some(line), site(index, SiteKind::Load, "one", Some("global"))))
        .to_vec();
    let places = in_order(&sites, &["one".to_owned()], &Variation::default());
    assert_eq!(places.iter().map(ids).collect::<Vec<_>>(), [vec![0], vec![1, 3], vec![2]]);
    assert!(!places[0].has_store());
}

#[test]
fn places_that_have_their_fence_are_none() {
    let sites = instances();
    let mut suspect = Variation::default();
    suspect.with_fence.insert(crate::model::id(2));
    let kernels = ["one".to_owned()];
    let places = in_order(&sites, &kernels, &suspect);
    assert_eq!(places.iter().map(ids).collect::<Vec<_>>(), [[0], [1], [3]]);
}

/// `*p += 1`, `*flag = old`, and so on: whatever a line does besides, every access is in some place.
#[test]
fn fences_at_all_places_are_fences_after_every_access() {
    use SiteKind::{Atomic, Load, Store};
    let kinds = [Load, Store, Load, Load, Atomic, Load, Store, Store, Load];
    let sites: Vec<Site> = kinds
        .iter()
        .zip(0..)
        .map(|(kind, index)| at(Some(5 + index / 5), site(index, *kind, "one", Some("global"))))
        .collect();
    let places = in_order(&sites, &["one".to_owned()], &Variation::default());
    let mut all: Vec<u32> = places.iter().flat_map(ids).collect();
    all.sort_unstable();
    assert_eq!(all, (0..9).collect::<Vec<_>>());
    assert_eq!(places.len(), 5, "{places:?}");
}
