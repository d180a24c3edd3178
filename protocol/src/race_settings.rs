//! What the user's file of settings says to HiRace and ScoRD: what they look at, and how much they keep of it.
//!
//! ```toml
//! [watch]                     # nothing here: everything
//! kernels = ["^sort"]         # regular expressions, on names as they are in C++ or in the PTX
//! space = "global"            # or "shared"
//! variables = ["table"]       # as they are in C++ or in the PTX
//! addresses = ["0x200..0x400"]        # of global memory
//! shared_addresses = ["0..1024"]      # bytes of a block's shared memory
//! blocks = ["0..16", "40"]    # by number in the grid
//! warps = ["0"]               # by number in the block
//! one_block_in = 4            # of these blocks one in so many, others in each trial
//!
//! [limits]
//! races = 100                 # different ones that a trial keeps, of each detector
//! shadow = "512M"             # memory for shadow words, of each detector
//!
//! [hirace]                    # bits of the fields of its word
//! block_clock = 12
//! warp_clock = 10
//! site = 0
//!
//! [scord]
//! layout = "paper"            # or "fit", or fields and their bits: { block = 9, warp = 5, … }
//! cache = 4                   # bits of the tag of its cache; without this there is no cache
//! independent_threads = true
//! ```

use std::fmt;
use std::ops::Range;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::amount::bytes;
use crate::choices::DelayedSpace;

/// See the head of this file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RaceSettings {
    /// What they look at.
    pub watch: WatchSettings,
    /// How much they keep.
    pub limits: LimitSettings,
    /// HiRace's word.
    pub hirace: HiraceSettings,
    /// ScoRD's word, and how it looks.
    pub scord: ScordSettings,
}

impl RaceSettings {
    /// Whether they say nothing.
    pub fn is_default(&self) -> bool {
        *self == RaceSettings::default()
    }
}

/// What is looked at: all that each part allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WatchSettings {
    /// Kernels, by regular expressions; none: all of them.
    pub kernels: Vec<String>,
    /// Which memory.
    pub space: DelayedSpace,
    /// Variables; with none of these and no addresses, all of the memory.
    pub variables: Vec<String>,
    /// Bytes of global memory.
    pub addresses: Vec<NumberSpan>,
    /// Bytes of a block's shared memory.
    pub shared_addresses: Vec<NumberSpan>,
    /// Blocks, by linear index in the grid; none: all of them.
    pub blocks: Vec<NumberSpan>,
    /// Warps, by index in the block; none: all of them.
    pub warps: Vec<NumberSpan>,
    /// Of these blocks one in so many.
    #[serde(deserialize_with = "one_in", skip_serializing_if = "Option::is_none")]
    pub one_block_in: Option<u64>,
}

impl Default for WatchSettings {
    fn default() -> WatchSettings {
        WatchSettings {
            kernels: Vec::new(),
            space: DelayedSpace::Both,
            variables: Vec::new(),
            addresses: Vec::new(),
            shared_addresses: Vec::new(),
            blocks: Vec::new(),
            warps: Vec::new(),
            one_block_in: None,
        }
    }
}

/// Something that is watched by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Named {
    /// Kernels whose names match a regular expression.
    Kernels(String),
    /// A variable.
    Variable(String),
}

/// What is wrong where nothing is called so.
impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Named::Kernels(pattern) => write!(f, "no kernel was launched whose name matches '{pattern}'"),
            Named::Variable(name) => write!(f, "no kernel that was looked at has a variable '{name}'"),
        }
    }
}

impl WatchSettings {
    /// All that is watched by its name.
    pub fn named(&self) -> impl Iterator<Item = Named> {
        let kernels = self.kernels.iter().cloned().map(Named::Kernels);
        kernels.chain(self.variables.iter().cloned().map(Named::Variable))
    }
}

/// How much is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Different races of a trial, of each detector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub races: Option<u64>,
    /// Bytes that shadow words may take, of each detector.
    #[serde(deserialize_with = "amount", skip_serializing_if = "Option::is_none")]
    pub shadow: Option<u64>,
}

/// Bits of the fields of HiRace's word; None: as many as the launch leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HiraceSettings {
    /// Barriers of the block.
    #[serde(deserialize_with = "clock_bits", skip_serializing_if = "Option::is_none")]
    pub block_clock: Option<u32>,
    /// Barriers of the warp.
    #[serde(deserialize_with = "clock_bits", skip_serializing_if = "Option::is_none")]
    pub warp_clock: Option<u32>,
    /// Instruction that accessed last; 0: reports do not name it.
    #[serde(deserialize_with = "site_bits", skip_serializing_if = "Option::is_none")]
    pub site: Option<u32>,
}

/// How ScoRD looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScordSettings {
    /// Where the fields of its word lie.
    pub layout: ScordLayout,
    /// Metadata is a direct-mapped cache with so many bits of a tag; None: each word has metadata of its own.
    #[serde(deserialize_with = "tag_bits", skip_serializing_if = "Option::is_none")]
    pub cache: Option<u32>,
    /// Threads of a warp are told apart.
    pub independent_threads: bool,
}

/// Where the fields of ScoRD's word lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScordLayout {
    /// What suits each launch best.
    #[default]
    Fit,
    /// Figure 7 of the paper.
    Paper,
    /// Fields of so many bits, from the low end.
    #[serde(untagged)]
    Given(ScordWidths),
}

/// Bits of the fields of ScoRD's word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScordWidths {
    /// Tag of the cache.
    pub tag: u32,
    /// Block.
    pub block: u32,
    /// Warp in the block.
    pub warp: u32,
    /// Lane in the warp.
    pub thread: u32,
    /// How often the warp's lanes have come together.
    pub epoch: u32,
    /// Device fences of the warp.
    pub dev_fence: u32,
    /// Block fences of the warp.
    pub blk_fence: u32,
    /// Barriers of the block.
    pub barrier: u32,
    /// Summary of the locks: 0, 8 or 16.
    pub bloom: u32,
    /// Instruction.
    pub site: u32,
}

impl ScordWidths {
    /// Bits of all fields with the flags: seven, and one more where threads are told apart.
    pub fn bits(&self) -> u64 {
        let ScordWidths { tag, block, warp, thread, epoch, dev_fence, blk_fence, barrier, bloom, site } =
            *self;
        let fields = [tag, block, warp, thread, epoch, dev_fence, blk_fence, barrier, bloom, site];
        let flags = if thread > 0 || epoch > 0 { 8 } else { 7 };
        flags + fields.into_iter().map(u64::from).sum::<u64>()
    }

    /// What is wrong with them, if anything.
    fn wrong(&self) -> Option<String> {
        if !matches!(self.bloom, 0 | 8 | 16) {
            return Some(format!("bloom = {}: 0, 8 or 16 bits are wanted", self.bloom));
        }
        if self.block == 0 {
            return Some("block = 0: blocks have to be told apart".to_owned());
        }
        let bits = self.bits();
        (bits > 64).then(|| format!("these fields and the flags take {bits} bits, and a word has 64"))
    }
}

impl<'de> Deserialize<'de> for ScordLayout {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ScordLayout, D::Error> {
        /// A name or a table.
        struct Wanted;

        impl<'de> serde::de::Visitor<'de> for Wanted {
            type Value = ScordLayout;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"fit\", \"paper\", or a table of fields and their bits")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<ScordLayout, E> {
                match name {
                    "fit" => Ok(ScordLayout::Fit),
                    "paper" => Ok(ScordLayout::Paper),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(name), &self)),
                }
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<ScordLayout, A::Error> {
                let widths = ScordWidths::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                match widths.wrong() {
                    Some(what) => Err(A::Error::custom(what)),
                    None => Ok(ScordLayout::Given(widths)),
                }
            }
        }

        from.deserialize_any(Wanted)
    }
}

/// Numbers in a row: `16` or `16..32`, which ends before 32; decimal or, with `0x`, hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberSpan(pub Range<u64>);

impl NumberSpan {
    fn read(text: &str) -> Option<NumberSpan> {
        let number = |text: &str| {
            let text = text.trim();
            match text.strip_prefix("0x") {
                // from_str_radix takes a sign.
                Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
                Some(_) => None,
                None if text.starts_with('+') => None,
                None => text.parse().ok(),
            }
        };
        let range = match text.split_once("..") {
            Some((first, end)) => number(first)?..number(end)?,
            None => {
                let one = number(text)?;
                one..one.checked_add(1)?
            }
        };
        (!range.is_empty()).then_some(NumberSpan(range))
    }
}

impl Serialize for NumberSpan {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{}..{}", self.0.start, self.0.end))
    }
}

impl<'de> Deserialize<'de> for NumberSpan {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<NumberSpan, D::Error> {
        let text = String::deserialize(from)?;
        let wanted = "a number or two with .. between them is wanted, the first one less than the second";
        NumberSpan::read(&text).ok_or_else(|| D::Error::custom(format!("'{text}': {wanted}")))
    }
}

/// A number within bounds.
fn within<'de, D: Deserializer<'de>>(
    from: D,
    allowed: Range<u32>,
    what: &str,
) -> Result<Option<u32>, D::Error> {
    let bits = u32::deserialize(from)?;
    if allowed.contains(&bits) {
        return Ok(Some(bits));
    }
    Err(D::Error::custom(format!("{what} takes {} to {} bits", allowed.start, allowed.end - 1)))
}

fn clock_bits<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    within(from, 1..25, "a clock")
}

fn site_bits<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    within(from, 0..33, "an instruction")
}

fn tag_bits<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    within(from, 1..9, "a tag")
}

fn one_in<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    match u64::deserialize(from)? {
        0 => Err(D::Error::custom("one block in 0 is none: 1 is all of them")),
        count => Ok(Some(count)),
    }
}

fn amount<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Amount {
        Bytes(u64),
        Text(String),
    }
    let text = match Amount::deserialize(from)? {
        Amount::Bytes(count) => count.to_string(),
        Amount::Text(text) => text,
    };
    bytes(&text).map(Some).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests;
