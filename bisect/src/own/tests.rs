//! Fences in files of the user's and in others.

use std::fs;
use std::path::Path;

use bugaroo_protocol::{SiteKind, SourceLine};

use super::{OwnChange, change};
use crate::model::site;
use crate::patch::apply;
use crate::places::{Put, SitePlace};
use crate::syntax::FenceScope;
use crate::written::Sources;

const SOURCE: &str = "__global__ void k(int *a) {\n    a[0] = 1;\n    __threadfence();\n    a[1] = 1;\n}\n";

/// The fence of line 3 of a file, with what becomes of the file.
fn changed(name: &str, what: OwnChange) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, SOURCE).expect("a file");
    let file = path.to_str().expect("a name").to_owned();
    let mut fence = site(0, SiteKind::Fence, "k", None);
    fence.source = Some(SourceLine { file, line: 3 });
    let place = SitePlace { source: fence.source.clone(), sites: vec![fence], put: Put::BehindSites };
    let (file, edits) = change(&place, what, &mut Sources::of(Path::new("/app")))?;
    Ok(apply(file.text(), &edits).expect("edits that do not overlap"))
}

#[test]
fn a_fence_goes_or_gets_another_scope() {
    assert_eq!(changed("k.cu", OwnChange::Delete), Ok(SOURCE.replace("    __threadfence();\n", "")));
    let narrow = SOURCE.replace("__threadfence", "__threadfence_block");
    assert_eq!(changed("k.cu", OwnChange::Scope(FenceScope::Block)), Ok(narrow));
}

#[test]
fn headers_of_the_toolkit_are_left_alone() {
    let refused = changed("cu13/include/cccl/cub/scan.cuh", OwnChange::Delete);
    assert!(refused.is_err_and(|why| why.contains("CUDA toolkit")));
}
