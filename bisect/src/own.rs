//! Changes of what stands in the source already: a fence goes, or gets another scope; an atomic gets that of the GPU.

use std::sync::Arc;

use bugaroo_protocol::{Position, Site, SiteKind};

use crate::patch::Edit;
use crate::places::{Put, SitePlace, group, reachable};
use crate::syntax::{FenceScope, MacroUse, SourceCall, SourceFile};
use crate::written::Sources;

/// What becomes of a fence or an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnChange {
    /// It goes.
    Delete,
    /// It gets this scope.
    Scope(FenceScope),
}

/// The edits of a file that change what stands at a place: all of its sites are of one line.
///
/// # Errors
/// Why no edit of the source does that, as a sentence.
pub fn change(
    place: &SitePlace,
    change: OwnChange,
    sources: &mut Sources,
) -> Result<(Arc<SourceFile>, Vec<Edit>), String> {
    let lead = place.lead();
    let line = place.source.as_ref().ok_or("the PTX does not say which line it is of")?;
    let file = sources
        .file(&line.file, line.line)
        .ok_or("its source cannot be read, or is a header of the CUDA toolkit")?;
    let at = Position { line: line.line, column: lead.columns.first().copied().unwrap_or(0) };
    let mut edits: Vec<Edit> = Vec::new();
    let mut refused = None;
    if lead.kind == SiteKind::Fence {
        let scopes: Vec<FenceScope> = place.sites.iter().map(scope_of).collect();
        let calls = file.fences_at(at).map_err(|refused| refused.to_string())?;
        for call in calls {
            let SourceCall::Fence(scope) = call.kind else { continue };
            if !scopes.contains(&scope) {
                continue;
            }
            let edited = shared(call.in_macro.as_ref(), &call.text).and_then(|()| match change {
                OwnChange::Delete => call.delete.clone().map_err(|refused| refused.to_string()),
                OwnChange::Scope(scope) => call.with_scope(scope).map_err(|refused| refused.to_string()),
            });
            match edited {
                Ok(more) => {
                    edits.extend(more.into_iter().filter(|edit| !edits.contains(edit)).collect::<Vec<_>>())
                }
                Err(why) => refused = Some(why),
            }
        }
    } else {
        let widenings = file.widenings_at(at).map_err(|refused| refused.to_string())?;
        for widening in widenings {
            match shared(widening.in_macro.as_ref(), &widening.text) {
                Ok(()) => edits.extend(widening.edits),
                Err(why) => refused = Some(why),
            }
        }
    }
    match refused {
        Some(why) => Err(why),
        None if edits.is_empty() => Err("no such call stands there".to_owned()),
        None => Ok((file, edits)),
    }
}

/// Fences and atomics of the program whose scope is that of their block, and which an edit of the source would give that of
/// the GPU: by line. Where fences have to have a wider one, those of the GPU's, too, and that one.
pub fn narrow(sites: &[Site], kernels: &[String], sources: &mut Sources, wide: FenceScope) -> Vec<SitePlace> {
    let narrow = |site: &&Site| {
        let scope = site.scope.as_deref();
        let is_narrow = match site.kind {
            SiteKind::Fence => scope == Some("cta") || (wide == FenceScope::System && scope == Some("gpu")),
            SiteKind::Atomic => scope == Some("cta"),
            _ => false,
        };
        is_narrow && reachable(site, kernels)
    };
    let mut places = group(sites.iter().filter(narrow));
    places.retain(|place| change(place, OwnChange::Scope(wide), sources).is_ok());
    places.iter_mut().for_each(|place| place.put = Put::Widened);
    places
}

/// What is tried is tried at one line: a macro that is used at others, too, is not changed for it.
fn shared(in_macro: Option<&MacroUse>, text: &str) -> Result<(), String> {
    match in_macro {
        Some(MacroUse { name, uses }) if *uses > 1 => Err(format!(
            "{text} stands in the definition of {name}, which is used {uses} times, and was tried at one of them"
        )),
        _ => Ok(()),
    }
}

/// A site's scope.
fn scope_of(site: &Site) -> FenceScope {
    match site.scope.as_deref() {
        Some("cta") => FenceScope::Block,
        Some("sys") => FenceScope::System,
        _ => FenceScope::Gpu,
    }
}

#[cfg(test)]
mod tests;
