//! Sites: the places in a program's PTX that the injector knows by number.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, de};

/// Names a site for as long as the program's PTX stays the same: the module by the order in which
/// distinct modules are loaded, and the site's place in it. Printed `17` in the first module and
/// `2.17` in the third.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId {
    /// 0 for the first distinct module that the program loads.
    pub module: u32,
    /// From 0, in the order of the module's text.
    pub index: u32,
}

impl fmt::Display for SiteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.module {
            0 => write!(f, "{}", self.index),
            module => write!(f, "{module}.{}", self.index),
        }
    }
}

/// The text is not a site id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a site: a number as `bugaroo sites` prints it is wanted, such as 17 or 2.17")]
pub struct ParseSiteIdError(String);

impl FromStr for SiteId {
    type Err = ParseSiteIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseSiteIdError(text.to_owned());
        let number = |part: &str| part.parse::<u32>().map_err(|_| wrong());
        match text.split_once('.') {
            None => Ok(SiteId { module: 0, index: number(text)? }),
            Some((module, index)) => Ok(SiteId { module: number(module)?, index: number(index)? }),
        }
    }
}

impl Serialize for SiteId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SiteId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// What stands at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteKind {
    /// A load that may read a delayed store.
    Load,
    /// A store that may be delayed.
    Store,
    /// `atom` or `red`.
    Atomic,
    /// `membar` or `fence`.
    Fence,
    /// `bar`, `barrier`, `bar.warp.sync`.
    Barrier,
}

impl SiteKind {
    /// Whether memory is read or written there.
    pub fn is_access(self) -> bool {
        matches!(self, SiteKind::Load | SiteKind::Store | SiteKind::Atomic)
    }

    /// Whether a fence can be inserted after this site (`--with-fence`).
    pub fn takes_fence(self) -> bool {
        self != SiteKind::Fence
    }
}

/// A line of CUDA source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceLine {
    /// Path as the compiler wrote it.
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// One site of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// Its number.
    pub id: SiteId,
    /// What stands there.
    pub kind: SiteKind,
    /// The kernel or device function it stands in, as the PTX names it.
    pub function: String,
    /// Whether that function is a kernel.
    pub in_kernel: bool,
    /// `global`, `shared`, `generic` for accesses; the scope (`cta`, `gpu`, `sys`) for fences and
    /// atomics is in `scope`.
    pub space: Option<String>,
    /// Scope of a fence or an atomic.
    pub scope: Option<String>,
    /// Line in the module's PTX, from 1.
    pub ptx_line: u32,
    /// The instruction as it stands there.
    pub instruction: String,
    /// The user's line: the innermost one that is not in a header of the CUDA toolkit.
    pub source: Option<SourceLine>,
    /// Call sites that the line was inlined at, innermost first.
    pub inlined_at: Vec<SourceLine>,
    /// Columns, in bytes from 1, of `source` and of each line of `inlined_at`, in this order; 0 where it is not known.
    #[serde(default)]
    pub columns: Vec<u32>,
}
