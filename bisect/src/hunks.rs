//! The answer as a patch of the source: what was verified together, each hunk with what it rests on.
//!
//! What only one model bears out is no hunk: that a fence can go or be narrower has to hold under `store-buffer` and under
//! `ptx`. What no change of the source does is left out with the reason.

use std::path::Path;

use bugaroo_protocol::{Model, SiteKind};

use crate::own::{OwnChange, change};
use crate::patch::{EditId, EditsByFile, Patch};
use crate::places::{Put, SitePlace};
use crate::report::{FenceNeed, Needed, PatchHunk, Redundant, ScopeAdvice, SearchReport};
use crate::round::MissingFence;
use crate::search::Answer;
use crate::subject::model_name;
use crate::syntax::{FenceScope, MacroUse, call};
use crate::written::Sources;

/// A patch of the source, and what it leaves out.
#[derive(Clone, Debug, Default)]
pub struct Hunks {
    /// The patch.
    pub patch: Patch,
    /// What it consists of.
    pub hunks: Vec<PatchHunk>,
    /// What is not in it, a sentence each.
    pub left_out: Vec<String>,
}

/// Edits of a patch in the making.
struct Writer<'a> {
    sources: &'a mut Sources,
    edits: EditsByFile,
    rests_on: Vec<(EditId, String)>,
    left_out: Vec<String>,
    /// The scope of what is widened.
    wide: FenceScope,
}

/// The patch of an answer, with paths relative to `folder`.
pub fn patch(answer: &Answer, sources: &mut Sources, folder: &Path) -> Hunks {
    let report = &answer.report;
    let mut writer = Writer {
        sources,
        edits: EditsByFile::new(),
        rests_on: Vec::new(),
        left_out: Vec::new(),
        wide: answer.wide,
    };
    for fence in &answer.missing {
        writer.missing(fence, report);
    }
    let both = |models: &[Model]| models.contains(&Model::StoreBuffer) && models.contains(&Model::Ptx);
    for place in &answer.can_go {
        let Some(fence) = report.redundant.iter().find(|fence| fence.site == place.lead().id) else {
            continue;
        };
        match both(&fence.models) {
            true => writer.redundant(place, fence),
            false => writer.left_out.push(format!(
                "the fence at {} is redundant under {} alone, so the patch keeps it",
                place.name(),
                model_name(fence.model)
            )),
        }
    }
    for place in &answer.narrower {
        let own = |advice: &&ScopeAdvice| !advice.inserted && place.is_called(&advice.place, false);
        let Some(advice) = report.scope_advice.iter().find(own) else { continue };
        if advice.confirmed > 0 {
            writer.narrower(place, advice);
        }
    }
    let patch = writer.edits.patch(folder).unwrap_or_else(|overlap| {
        writer.left_out.push(format!("{overlap}; no patch is written"));
        Patch::default()
    });
    let hunks = patch
        .files
        .iter()
        .flat_map(|file| file.hunks.iter().map(move |hunk| (file, hunk)))
        .map(|(file, hunk)| PatchHunk {
            file: file.name.clone(),
            lines: (hunk.old_lines.start as u64, hunk.old_lines.len() as u64),
            rests_on: writer
                .rests_on
                .iter()
                .filter(|(id, _)| hunk.edits.contains(id))
                .map(|(_, sentence)| sentence.clone())
                .collect(),
        })
        .collect();
    let mut left_out = writer.left_out;
    let outside = patch.files.iter().filter(|file| !file.inside);
    left_out.extend(outside.map(|file| {
        format!("{} lies outside of the current folder: patch -p1 -d / applies it", file.path.display())
    }));
    Hunks { patch, hunks, left_out }
}

impl Writer<'_> {
    /// A fence or a barrier that is missing.
    fn missing(&mut self, fence: &MissingFence, report: &SearchReport) {
        let need = report.needs.iter().find(|need| need.inserted && fence.place.is_called(&need.place, true));
        let (place, why) = (&fence.place, without_it(fence, need));
        match &place.put {
            Put::Written(written) => {
                let what = written.written(fence.what());
                let name = call(what).trim_end_matches(';');
                let line = place.source.as_ref().map_or(0, |source| source.line);
                // It was read when the place was found.
                let Some(file) = self.sources.file(&written.file, line) else { return };
                let id = self.edits.add(file.path(), file.text(), written.spot.insert(what));
                let used = written.spot.in_macro.as_ref().filter(|used| used.uses > 1);
                let all = used.map_or_else(String::new, |MacroUse { name, uses }| {
                    format!(", in the definition of {name} for all of its {uses} uses")
                });
                self.rests_on.push((id, format!("{name} {}{all}: {why}", place.where_())));
            }
            Put::Widened => {
                // An atomic gets that of the GPU in any case.
                let is_fence = place.lead().kind == SiteKind::Fence;
                let scope = if is_fence && self.wide == FenceScope::System { "system" } else { "GPU" };
                let sentence = format!("{scope} scope at {}: {why}", place.name());
                self.own(place, OwnChange::Scope(self.wide), sentence);
            }
            Put::BehindSites => self.left_out.push(format!(
                "a fence {} is missing ({why}), which no change of a source that can be read does",
                place.where_()
            )),
        }
    }

    /// A fence that can go.
    fn redundant(&mut self, place: &SitePlace, fence: &Redundant) {
        let sentence = format!(
            "without the fence at {}: none of {} trials fails under store-buffer, nor under ptx",
            place.name(),
            fence.trials
        );
        self.own(place, OwnChange::Delete, sentence);
    }

    /// A fence that can be narrower.
    fn narrower(&mut self, place: &SitePlace, advice: &ScopeAdvice) {
        let sentence = format!(
            "__threadfence_block() at {}: none of {} trials fails with it under {}, nor of {} under ptx; without the \
             fence {} of {} fail, and a failure as frequent was missed with a probability of at most {:.3}",
            place.name(),
            advice.trials,
            model_name(advice.model),
            advice.confirmed,
            advice.omitted_failures,
            advice.omitted_trials,
            advice.error
        );
        self.own(place, OwnChange::Scope(FenceScope::Block), sentence);
    }

    /// A change of what is there.
    fn own(&mut self, place: &SitePlace, what: OwnChange, sentence: String) {
        match change(place, what, self.sources) {
            Ok((file, edits)) => {
                let id = self.edits.add(file.path(), file.text(), edits);
                self.rests_on.push((id, sentence));
            }
            Err(why) => self.left_out.push(format!("{sentence}; the patch does not write that: {why}")),
        }
    }
}

/// What happens without a fence, in words.
fn without_it(fence: &MissingFence, need: Option<&FenceNeed>) -> String {
    let model = model_name(fence.model);
    match need {
        Some(FenceNeed { needed: Needed::Both, trials, failures, .. }) => {
            format!("without it {failures} of {trials} trials fail under store-buffer, and so under ptx")
        }
        Some(FenceNeed { trials, .. }) => format!(
            "without it trials fail under ptx, as loads read old values; none of {trials} fails under store-buffer"
        ),
        None if fence.barrier.is_some() => "without it trials fail though no store is delayed".to_owned(),
        None => format!("without it trials fail under {model}"),
    }
}
