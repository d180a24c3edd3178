//! Numbers of distinct modules, in the order in which they are loaded first.

use crate::digest::Digest;

/// Numbers of modules: each distinct text gets the next one, in order of first loading, so that sites
/// keep their names in every run.
#[derive(Debug, Default)]
pub struct ModuleNumbers {
    seen: Vec<Digest>,
}

impl ModuleNumbers {
    /// The number of a text.
    pub fn of(&mut self, digest: Digest) -> u32 {
        let known = self.seen.iter().position(|seen| *seen == digest);
        let number = known.unwrap_or_else(|| {
            self.seen.push(digest);
            self.seen.len() - 1
        });
        u32::try_from(number).expect("nobody loads 2^32 modules")
    }
}
