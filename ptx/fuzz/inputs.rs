//! Inputs for the fuzz targets where no fuzzer is at hand: the files of a folder, and copies of them with changes here and
//! there, the same in every run.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What is put in: numbers at the edges of what 32 and 64 bits hold, and what texts are made of.
const WORDS: [&str; 28] = [
    "0",
    "-1",
    "7",
    "31",
    "32",
    "4294967295",
    "4294967296",
    "2147483648",
    "-2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "0x7ffffffffffffff0",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ";",
    ",",
    "%r1",
    ".v4",
    ".b128",
    "\u{fc}",
    "\n",
    "@!%p1 ",
];

/// Random numbers (Vigna's SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) % limit.max(1) as u64) as usize
    }

    /// A piece of some bytes, of up to so many.
    fn piece(&mut self, of: &[u8], most: usize) -> std::ops::Range<usize> {
        let start = self.below(of.len() + 1);
        start..(start + self.below(most)).min(of.len())
    }
}

/// Calls `check` with what `made` makes of every file of this kind below a folder, and with `changed` changed ones of those;
/// `BUGAROO_INPUTS` in the environment says another number. Threads share the inputs.
pub fn each(
    folder: &Path,
    kind: &str,
    changed: usize,
    made: impl Fn(Vec<u8>) -> Vec<u8>,
    check: impl Fn(&[u8]) + Sync,
) {
    let changed = std::env::var("BUGAROO_INPUTS").map_or(changed, |text| text.parse().expect("a number"));
    let mut files = Vec::new();
    collect(folder, kind, &mut files);
    files.sort();
    let mut texts: Vec<Vec<u8>> =
        files.iter().map(|file| made(std::fs::read(file).expect("a file"))).collect();
    assert!(!texts.is_empty(), "no {kind} in {}", folder.display());
    texts.extend(changes(&texts, changed));
    let next = AtomicUsize::new(0);
    let check_some = || {
        while let Some(text) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            check(text);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(check_some))));
}

/// So many of these with changes.
fn changes(texts: &[Vec<u8>], changed: usize) -> Vec<Vec<u8>> {
    let mut random = Random(1);
    let mut made = Vec::new();
    for _ in 0..changed {
        let mut text = texts[random.below(texts.len())].clone();
        for _ in 0..=random.below(4) {
            let at = random.piece(&text, 24);
            let new = match random.below(6) {
                0 => Vec::new(),
                1 => text[at.clone()].repeat(2),
                2 => vec![random.below(256) as u8],
                3 => {
                    let other = &texts[random.below(texts.len())];
                    other[random.piece(other, 200)].to_vec()
                }
                _ => WORDS[random.below(WORDS.len())].as_bytes().to_vec(),
            };
            text.splice(at, new);
        }
        if random.below(8) == 0 {
            text.truncate(random.below(text.len() + 1));
        }
        made.push(text);
    }
    made
}

fn collect(folder: &Path, kind: &str, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, kind, files);
        } else if path.extension().is_some_and(|extension| extension == kind) {
            files.push(path);
        }
    }
}
