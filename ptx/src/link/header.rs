//! One header for all: the latest version, the highest target, and one table of files.

use rustc_hash::FxHashMap;

use super::error::LinkError;
use super::resolve::Unit;

/// The header of the result.
#[derive(Debug)]
pub(super) struct Header {
    /// `.version`
    pub(super) version: (u32, u32),
    /// `.target`, with its options.
    pub(super) targets: Vec<String>,
    /// `.address_size`
    pub(super) address_size: u32,
    /// Paths of the files; the first has number 1.
    pub(super) files: Vec<String>,
    /// For each module: its number of a file, and ours.
    pub(super) numbers: Vec<FxHashMap<u32, usize>>,
}

/// 90 and `a` of `sm_90a`; None for what is no architecture.
fn architecture(target: &str) -> Option<(u32, &str)> {
    let digits = target.strip_prefix("sm_").or_else(|| target.strip_prefix("compute_"))?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    Some((digits[..end].parse().ok()?, &digits[end..]))
}

/// Puts the headers together.
pub(super) fn merge(units: &[Unit<'_>]) -> Result<Header, LinkError> {
    let first = units.first().ok_or(LinkError::Empty)?;
    let mut header = Header {
        version: first.module.version,
        targets: vec![first.target().to_owned()],
        address_size: first.module.address_size,
        files: Vec::new(),
        numbers: Vec::new(),
    };
    let mut highest = first;
    for unit in units {
        header.version = header.version.max(unit.module.version);
        if unit.module.address_size != header.address_size {
            let value = |unit: &Unit<'_>| format!("{}-bit addresses", unit.module.address_size);
            return Err(exclude((first, value(first)), (unit, value(unit))));
        }
        if rank(unit.target()) > rank(highest.target()) {
            highest = unit;
        }
    }
    header.targets[0] = highest.target().to_owned();
    for unit in units {
        // Code for one architecture alone does not run on a later one.
        let (number, suffix) = rank(unit.target());
        let fits = suffix.is_empty() || (number, suffix) == rank(highest.target());
        if !fits {
            let value = |unit: &Unit<'_>| unit.target().to_owned();
            return Err(exclude((unit, value(unit)), (highest, value(highest))));
        }
        for option in unit.module.targets.iter().skip(1) {
            // Debug information is dropped, and `debug` asks for it.
            if option != "debug" && !header.targets.contains(option) {
                header.targets.push(option.clone());
            }
        }
        header.take_files(unit);
    }
    Ok(header)
}

fn rank(target: &str) -> (u32, &str) {
    architecture(target).unwrap_or((0, ""))
}

fn exclude(first: (&Unit<'_>, String), second: (&Unit<'_>, String)) -> LinkError {
    LinkError::Header {
        first: first.0.name.to_owned(),
        first_value: first.1,
        second: second.0.name.to_owned(),
        second_value: second.1,
    }
}

impl Header {
    fn take_files(&mut self, unit: &Unit<'_>) {
        let mut numbers = FxHashMap::default();
        for (number, path) in &unit.module.files {
            let place = self.files.iter().position(|known| known == path).unwrap_or_else(|| {
                self.files.push(path.clone());
                self.files.len() - 1
            });
            // Of two files with one number the first counts, as everywhere in this crate.
            numbers.entry(*number).or_insert(place + 1);
        }
        self.numbers.push(numbers);
    }
}
