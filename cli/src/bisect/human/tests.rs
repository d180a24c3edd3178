//! Findings on a small source, and the patch.

use std::fs;
use std::path::Path;

use bugaroo_bisect::report::{Assurance, ByModel, CompiledIn, OwnFence, PatchHunk, VerifiedAnswer};
use bugaroo_bisect::{FenceNeed, MissingAfter, Needed, NeededScope, Redundant, ScopeAdvice, SearchReport};
use bugaroo_harness::Target;
use bugaroo_protocol::{Model, Site, SiteId, SiteKind, SourceLine};

use super::describe;

const SOURCE: &str = "\
__device__ void unlock(int *mutex) {
    __threadfence();
    if (fenced) __threadfence();  // as the book has it
    *data = 1; __threadfence(); *flag = 1;
    FENCE();
}
";

fn id(index: u32) -> SiteId {
    SiteId { module: 0, index }
}

fn line(line: u32) -> Option<SourceLine> {
    Some(SourceLine { file: "k.cu".to_owned(), line })
}

fn redundant(index: u32, at: Option<SourceLine>) -> Redundant {
    Redundant {
        site: id(index),
        sites: vec![id(index), id(index + 10)],
        ptx_line: 70,
        source: at,
        model: Model::Ptx,
        models: vec![Model::StoreBuffer, Model::Ptx],
        trials: 3451,
        function: "sum".to_owned(),
    }
}

fn advice(at: u32, needed: NeededScope) -> ScopeAdvice {
    ScopeAdvice {
        site: id(at),
        sites: vec![id(at)],
        ptx_line: 70,
        source: line(at),
        inserted: false,
        place: format!("k.cu:{at}"),
        scope: "gpu".to_owned(),
        needed,
        model: Model::StoreBuffer,
        trials: 3451,
        failures: u64::from(needed == NeededScope::Gpu),
        omitted_trials: 400,
        omitted_failures: 4,
        confirmed: 0,
        rate: 0.002,
        error: 0.01,
    }
}

fn report() -> SearchReport {
    SearchReport {
        untold: 0,
        forgetful: 0,
        diagnosis: vec![],
        notes: vec![],
        patch: String::new(),
        hunks: vec![],
        unpatched: vec![],
        missing: vec![],
        redundant: vec![],
        redundant_together: None,
        minimal_sets: vec![],
        minimal_sets_complete: true,
        scope_advice: vec![],
        needs: vec![],
        steps: vec![],
        verified: VerifiedAnswer { trials: 3451, ..VerifiedAnswer::default() },
        assurance: Assurance { rate: 0.002, error: 0.002, full: 2301, cap: 20_000 },
        trials: 7000,
        unresolved: None,
        caveats: vec!["stores only".to_owned()],
    }
}

/// The words for a report on a program that lies beside its source.
fn words(report: &SearchReport) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("k.cu"), SOURCE).expect("a file");
    let target = Target {
        app: folder.path().join("app"),
        args: vec![],
        directory: Path::new("/").into(),
        variables: Default::default(),
    };
    describe(report, &target, Model::StoreBuffer, false)
}

#[test]
fn a_redundant_fence_is_shown_with_the_models_that_say_so() {
    let text =
        words(&SearchReport { redundant: vec![redundant(1, line(2)), redundant(2, line(3))], ..report() });
    assert!(
        text.contains("redundant fence in sum: without it, no trial fails under store-buffer nor under ptx"),
        "{text}"
    );
    assert!(text.contains("2 |     __threadfence();\n"), "{text}");
    assert!(text.contains("3 |     if (fenced) __threadfence();  // as the book has it\n"), "{text}");
    assert!(text.contains("it can go (site 1, PTX line 70, 2 places in the PTX): 3451 trials"), "{text}");
    assert!(
        text.contains("1 of 500 trials or more was missed with a probability of at most 0.002"),
        "{text}"
    );
    assert!(text.contains("note (model store-buffer): stores only"), "{text}");
}

#[test]
fn the_patch_stands_with_what_each_change_rests_on() {
    let hunk = PatchHunk { file: "k.cu".to_owned(), lines: (1, 3), rests_on: vec!["because".to_owned()] };
    let text = words(&SearchReport {
        patch: "--- a/k.cu\n+++ b/k.cu\n".to_owned(),
        hunks: vec![hunk],
        unpatched: vec!["the rest".to_owned()],
        ..report()
    });
    assert!(text.contains("--- a/k.cu\n+++ b/k.cu\n\n  because\n"), "{text}");
    assert!(text.contains("not in the patch: the rest\n"), "{text}");
}

#[test]
fn what_was_verified_is_told_by_model_and_so_is_what_was_built() {
    let by = |model, failures| ByModel { model, trials: 2301, failures };
    let by_model = vec![by(Model::StoreBuffer, 0), by(Model::Ptx, 0)];
    let ran = CompiledIn {
        command: "make app".to_owned(),
        trials: 4602,
        failures: 3,
        by_model: vec![by(Model::StoreBuffer, 0), by(Model::Ptx, 3)],
    };
    let verified = VerifiedAnswer { trials: 4602, failures: 0, by_model, compiled_in: Some(ran) };
    let text = words(&SearchReport { verified, missing: vec![missing(None)], ..report() });
    assert!(
        text.contains("4602 (2301 under store-buffer, 2301 under ptx) trials passed and none failed"),
        "{text}"
    );
    assert!(
        text.contains(
            "compiled in: 3 of 4602 trials fail (0 of 2301 under store-buffer, 3 of 2301 under ptx; built by: make app)"
        ),
        "{text}"
    );
}

#[test]
fn without_a_source_words_have_to_do() {
    let text = words(&SearchReport { redundant: vec![redundant(1, None)], ..report() });
    assert!(text.contains("\n  it can go (site 1, PTX line 70"), "{text}");
    let elsewhere = Some(SourceLine { file: "other.cu".to_owned(), line: 2 });
    let text = words(&SearchReport { redundant: vec![redundant(1, elsewhere)], ..report() });
    assert!(text.contains("\n  other.cu:2: it can go"), "{text}");
}

#[test]
fn a_fence_that_is_too_wide_is_narrowed() {
    let text = words(&SearchReport {
        scope_advice: vec![advice(2, NeededScope::Cta), advice(3, NeededScope::Gpu)],
        ..report()
    });
    assert!(text.contains("__threadfence_block() may do"), "{text}");
    assert!(text.contains("model store-buffer, 3451 trials passed; store side only; without the fence 4 of 400 fail; a failure"), "{text}");
    assert!(text.contains("1 of 500 or more, was missed with a probability of at most 0.010"), "{text}");
    let confirmed = ScopeAdvice { confirmed: 2301, ..advice(2, NeededScope::Cta) };
    let more = words(&SearchReport { scope_advice: vec![confirmed], ..report() });
    assert!(more.contains("3451 trials passed, and 2301 under ptx; without the fence"), "{more}");
    assert!(text.contains("k.cu:3 needs scope gpu (observed: 1 of 3451 trials fail"), "{text}");
    let unknown = words(&SearchReport { scope_advice: vec![advice(2, NeededScope::Unknown)], ..report() });
    assert!(unknown.contains("k.cu:2 needs scope gpu is not known: none of 3451 trials fails"), "{unknown}");
    assert!(unknown.contains("without the fence 4 of 400 do"), "{unknown}");
    assert!(!unknown.contains("may do"), "{unknown}");
}

#[test]
fn minimal_sets_are_listed() {
    let own = |index| OwnFence { site: id(index), ptx_line: 70, source: line(index) };
    let sets = vec![vec![own(2)], vec![own(3)]];
    let text = words(&SearchReport { redundant_together: Some(false), minimal_sets: sets, ..report() });
    assert!(text.contains(
        "cannot all go at once; the program passes with only\n  k.cu:2 (site 2)\n  k.cu:3 (site 3)\n"
    ));
    let text = words(&SearchReport { redundant_together: Some(true), ..report() });
    assert!(text.contains("can all go at once"));
}

/// A fence that is missing after line 4, where line 2 has one.
fn missing(widen: Option<OwnFence>) -> MissingAfter {
    let access = Site {
        id: id(7),
        kind: SiteKind::Store,
        function: "sum".to_owned(),
        in_kernel: true,
        space: Some("global".to_owned()),
        scope: None,
        ptx_line: 90,
        instruction: "st.global.u32 [%rd1], 1;".to_owned(),
        source: line(4),
        inlined_at: vec![],
        columns: vec![],
    };
    MissingAfter {
        space: "global".to_owned(),
        kernel: Some("sum".to_owned()),
        site: id(7),
        sites: vec![id(7)],
        ptx_line: 90,
        source: line(4),
        call: "__threadfence()".to_owned(),
        place: "after k.cu:4".to_owned(),
        scope: "gpu".to_owned(),
        confidence: 0.99,
        trials: 40,
        access,
        before: None,
        within_line: false,
        widen,
    }
}

fn need(at: u32, inserted: bool, needed: Needed) -> FenceNeed {
    FenceNeed {
        site: id(at),
        sites: vec![id(at)],
        ptx_line: 90,
        source: line(at),
        inserted,
        place: if inserted { "after k.cu:4".to_owned() } else { format!("k.cu:{at}") },
        needed,
        trials: 2301,
        failures: u64::from(needed == Needed::Both),
    }
}

#[test]
fn what_only_loads_need_is_said() {
    let needs =
        vec![need(7, true, Needed::Ptx), need(2, false, Needed::Both), need(3, false, Needed::Neither)];
    let text = words(&SearchReport { missing: vec![missing(None)], needs, ..report() });
    assert!(
        text.contains("missing __threadfence() after k.cu:4: later loads of sum read old values"),
        "{text}"
    );
    assert!(
        text.contains("the fence at k.cu:2 is needed under store-buffer and ptx (1 of 2301 trials"),
        "{text}"
    );
    assert!(!text.contains("k.cu:3"), "what nothing needs is told as redundant");
    let text = words(&SearchReport { missing: vec![missing(None)], ..report() });
    assert!(
        text.contains("missing __threadfence() after k.cu:4: delayed global stores of sum come too late"),
        "{text}"
    );
}

#[test]
fn a_fence_that_is_too_narrow_is_widened() {
    let narrow = OwnFence { site: id(8), ptx_line: 91, source: line(2) };
    let text = words(&SearchReport { missing: vec![missing(Some(narrow))], ..report() });
    assert!(
        text.contains("scope too narrow at k.cu:2 (site 8): delayed global stores of sum come too late"),
        "{text}"
    );
    assert!(text.contains("give it GPU scope (40 trials)"), "{text}");
}
