//! The delayed stores of a warp to one space: what its lanes have stored by one instruction together is one row.
//!
//! A row says which lanes it has entries of, where they go ([`Targets`]: a base and a step, or 32 addresses) and what they
//! write, plane by plane of 32 words. Rows stand in the order in which they came; what lanes store anew at the places of the last row joins
//! it. An entry is taken out by clearing the
//! lane in its row; rows without lanes go when they are the last, or when more than half are such. Each lane has its own order: its
//! newest entry is in the last row that has the lane.
//!
//! Where a warp's entries are to certain bytes is found by [`super::lookup`].

use super::buffers::Entry;
use super::table::Table;
use crate::alu::words;
use crate::model::fetch::{LINE, fetch};
use crate::model::targets::Targets;

/// Rows without lanes that are left where they are.
const HOLES: usize = 64;
/// Planes for which there is room at once.
const FEW_PLANES: usize = 3;

/// Entries of some lanes that came together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The address of lane 0, where there is a step.
    pub base: u64,
    /// From one lane to the next, if `stepped`.
    pub step: u64,
    stepped: bool,
    /// The lanes' addresses, and their links in the table, are among the words, from here on. 0: base and step say them.
    pub scattered: u32,
    at: InWords,
    /// Lanes whose store is strong.
    pub strong: u32,
    pub bucket: InBucket,
    pub bytes: u8,
}

/// Where among the words of a warp a row's are.
#[derive(Clone, Copy, Debug)]
struct InWords {
    /// Where they begin, and its values.
    first: u32,
    values: u32,
    /// Where the numbers are by which whoever looks on calls them; 0 for none.
    numbers: u32,
    /// 31 where each plane has a word for each lane, 0 where it has one for all (then it has one lane).
    wide: u32,
}

/// Where a row is in the table by addresses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InBucket {
    /// The next older row of the same bucket, plus one, and what lanes it is in the table for.
    pub next: u32,
    pub linked: u32,
}

/// What lanes store.
pub(super) type Planes<'a> = [&'a [u32; 32]; 4];

/// The rows of a warp and a space.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// Lanes that have an entry in each row.
    pub masks: Vec<u32>,
    pub rows: Vec<Row>,
    /// What belongs to rows and is not in them. The first is no row's.
    words: Vec<u32>,
    /// Rows from here on have no entry of the lane, unless it is among the raised ones.
    top: [u32; 32],
    /// Lanes that have stored since their newest entry was asked for: it may be in any row.
    raised: u32,
    /// Lanes that have no entry in any row from such a one on: the lanes, and the row.
    drained: (u32, u32),
    /// Rows with lanes.
    live: u32,
    /// A row has lost its last lane.
    untidy: bool,
    pub table: Table,
}

impl Rows {
    /// A row is about to be pushed, or the last one looked at.
    pub fn fetch(&self) {
        let Some(last) = self.rows.len().checked_sub(1) else { return };
        fetch(self.masks.as_ptr().wrapping_add(last));
        fetch(self.rows.as_ptr().wrapping_add(last));
        fetch(self.rows.as_ptr().wrapping_add(last + 1));
        let end = self.words.as_ptr().wrapping_add(self.words.len());
        (0..3).for_each(|line| fetch(end.wrapping_byte_add(line * LINE)));
    }

    /// Keeps what these lanes store at these targets. `numbers`: what whoever looks on calls the entries.
    #[inline(always)]
    pub fn push(
        &mut self,
        targets: &Targets,
        bytes: u32,
        (lanes, strong): (u32, bool),
        values: &Planes<'_>,
        numbers: Option<&[u32; 32]>,
    ) {
        if self.words.is_empty() {
            // At once for a few rows: most warps of a short kernel have no more.
            self.words.reserve(1 + 32 * FEW_PLANES);
            self.words.push(0);
        }
        if self.joins(targets, bytes) {
            self.join(lanes, strong, (values, numbers));
            return;
        }
        let step = targets.step.filter(|step| self.table.knows(*step));
        let single = lanes & (lanes - 1) == 0 && step.is_some();
        let wide = if single { 0 } else { 31 };
        let words = self.words.len() as u32;
        let scattered = if step.is_some() {
            0
        } else {
            let each: [u64; 32] = std::array::from_fn(|lane| targets.address(lane));
            self.words.extend(each.iter().map(|address| *address as u32));
            self.words.extend(each.iter().map(|address| (*address >> 32) as u32));
            self.words.extend([0; 32]);
            words
        };
        let lane = lanes.trailing_zeros() as usize & 31;
        let at = self.words.len() as u32;
        for plane in &values[..bytes.div_ceil(4) as usize] {
            if single { self.words.push(plane[lane]) } else { self.words.extend_from_slice(&plane[..]) }
        }
        let mut row = Row {
            base: targets.base,
            step: targets.step.unwrap_or(0),
            stepped: targets.step.is_some(),
            scattered,
            at: InWords { first: words, values: at, numbers: 0, wide },
            strong: if strong { lanes } else { 0 },
            bucket: InBucket::default(),
            bytes: bytes as u8,
        };
        if let Some(numbers) = numbers {
            row.at.numbers = self.words.len() as u32;
            if single { self.words.push(numbers[lane]) } else { self.words.extend_from_slice(numbers) }
        }
        self.masks.push(lanes);
        self.rows.push(row);
        self.live += 1;
        let hull = targets.hull(lanes, bytes);
        self.table.note(step, hull);
        self.raise(lanes);
    }

    /// The last row has these lanes.
    #[inline(always)]
    fn raise(&mut self, lanes: u32) {
        self.raised |= lanes;
        self.drained.0 &= !lanes;
    }

    /// Whether what is stored at these targets belongs to the last row: it has as many bytes at the same places. A lane whose store is
    /// new there is not in that row.
    fn joins(&self, targets: &Targets, bytes: u32) -> bool {
        let same = |last: &Row| {
            last.stepped
                && (targets.step, targets.base) == (Some(last.step), last.base)
                && u32::from(last.bytes) == bytes
        };
        self.rows.last().is_some_and(same)
    }

    /// Adds lanes to the last row, at the addresses that it has for them.
    #[inline(never)]
    fn join(&mut self, lanes: u32, strong: bool, (values, numbers): (&Planes<'_>, Option<&[u32; 32]>)) {
        let row = self.rows.len() - 1;
        if self.rows[row].at.wide == 0 {
            self.widen();
        }
        let scattered = self.rows[row].scattered != 0;
        if scattered {
            // They are to get links of their own.
            self.delist();
        }
        self.masks[row] |= lanes;
        // They may have been in it before.
        self.rows[row].strong &= !lanes;
        let hull = self.targets(row).hull(lanes, self.rows[row].bytes.into());
        self.table.note((!scattered).then_some(self.rows[row].step), hull);
        self.replace(row, lanes, strong, (values, numbers));
        self.raise(lanes);
    }

    /// Gives the last row, whose planes have a word for its one lane, planes for all lanes.
    fn widen(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        let planes = u32::from(row.bytes).div_ceil(4);
        let words = self.words.split_off(row.at.first as usize);
        words.iter().for_each(|word| self.words.extend([*word; 32]));
        row.at.wide = 31;
        if row.at.numbers != 0 {
            row.at.numbers = row.at.values + 32 * planes;
        }
    }

    /// Gives entries of a row other values.
    #[inline(always)]
    pub fn replace(
        &mut self,
        row: usize,
        lanes: u32,
        strong: bool,
        (values, numbers): (&Planes<'_>, Option<&[u32; 32]>),
    ) {
        let row = &mut self.rows[row];
        row.strong |= if strong { lanes } else { 0 };
        let numbers = numbers.filter(|_| row.at.numbers != 0).map(|numbers| (row.at.numbers, numbers));
        let planes = (0..).step_by(row.at.wide as usize + 1).map(|at| row.at.values + at);
        let planes = planes.zip(values.iter().copied()).take(usize::from(row.bytes).div_ceil(4));
        for (at, plane) in planes.chain(numbers) {
            if row.at.wide == 0 {
                self.words[at as usize] = plane[lanes.trailing_zeros() as usize & 31];
                continue;
            }
            if let Some(to) = self.words[at as usize..].first_chunk_mut() {
                words::copy(lanes, plane, to);
            }
        }
    }

    /// Where a row's lanes store.
    pub fn targets(&self, row: usize) -> Targets {
        let row = &self.rows[row];
        if row.scattered == 0 {
            return Targets::stepped(row.base, row.step);
        }
        let each = std::array::from_fn(|lane| self.scattered_address(row, lane));
        Targets { base: 0, step: None, each }
    }

    #[inline(always)]
    fn scattered_address(&self, row: &Row, lane: usize) -> u64 {
        let at = row.scattered as usize + lane;
        u64::from(self.words[at]) | u64::from(self.words[at + 32]) << 32
    }

    /// Where a lane of a row stores.
    #[inline(always)]
    pub fn address(&self, row: usize, lane: usize) -> u64 {
        let row = &self.rows[row];
        if row.scattered != 0 {
            return self.scattered_address(row, lane);
        }
        row.base.wrapping_add(row.step.wrapping_mul(lane as u64))
    }

    /// A lane's link in the table, of a row without a step.
    pub fn link(&mut self, row: usize, lane: usize) -> &mut u32 {
        &mut self.words[self.rows[row].scattered as usize + 64 + lane]
    }

    /// As [`Self::link`], to be read.
    pub fn linked(&self, row: usize, lane: usize) -> u32 {
        self.words[self.rows[row].scattered as usize + 64 + lane]
    }

    /// A word of a lane's value.
    #[inline(always)]
    pub fn word(&self, row: usize, lane: usize, plane: u32) -> u32 {
        let row = &self.rows[row];
        self.words[(row.at.values + plane * (row.at.wide + 1)) as usize + (lane & row.at.wide as usize)]
    }

    /// A word of each lane's value, where the row has them for all.
    #[inline(always)]
    pub fn plane(&self, row: usize, plane: u32) -> Option<&[u32; 32]> {
        let row = &self.rows[row];
        let at = (row.at.values + 32 * plane) as usize;
        if row.at.wide == 0 { None } else { self.words[at..at + 32].try_into().ok() }
    }

    /// The entry of a lane in a row.
    #[inline(always)]
    pub fn entry(&self, at: usize, lane: usize) -> Entry {
        let row = &self.rows[at];
        let low = u64::from(self.word(at, lane, 0));
        let value = match row.bytes {
            0..=4 => [low, 0],
            bytes => {
                let word = |plane| u64::from(self.word(at, lane, plane));
                let high = if bytes <= 8 { 0 } else { word(2) | word(3) << 32 };
                [low | word(1) << 32, high]
            }
        };
        let number = match row.at.numbers {
            0 => 0,
            numbers => self.words[numbers as usize + (lane & row.at.wide as usize)],
        };
        let strong = row.strong >> lane & 1 != 0;
        Entry { address: self.address(at, lane), value, bytes: row.bytes, strong, number }
    }

    /// The row of a lane's newest entry.
    #[inline(always)]
    pub fn newest(&mut self, lane: usize) -> Option<usize> {
        let len = self.masks.len();
        let end = if self.raised >> lane & 1 != 0 { len } else { len.min(self.top[lane] as usize) };
        self.raised &= !(1 << lane);
        let row = self.masks[..end].iter().rposition(|mask| mask >> lane & 1 != 0);
        self.top[lane] = row.map_or(0, |row| row as u32 + 1);
        row
    }

    /// The row of a lane's oldest strong entry.
    pub fn oldest_strong(&self, lane: usize) -> Option<usize> {
        let strong = |(mask, row): (&u32, &Row)| mask & row.strong & 1 << lane != 0;
        self.masks.iter().zip(&self.rows).position(strong)
    }

    /// Takes a lane's entry out of a row; [`Self::tidy`] is to come before anything is pushed.
    #[inline(always)]
    pub fn take(&mut self, row: usize, lane: usize) -> Entry {
        let entry = self.entry(row, lane);
        self.clear(row, 1 << lane);
        entry
    }

    /// These lanes have no entry in the row any more.
    #[inline(always)]
    pub fn clear(&mut self, row: usize, lanes: u32) {
        self.masks[row] &= !lanes;
        if self.masks[row] == 0 {
            self.live -= 1;
            self.untidy = true;
        }
    }

    /// The last row before this one that has some of these lanes, and which.
    #[inline(always)]
    pub fn newest_of(&self, among: u32, end: usize) -> Option<(usize, u32)> {
        let end = end.min(self.masks.len());
        let end = if among & !self.drained.0 == 0 { end.min(self.drained.1 as usize) } else { end };
        let row = self.masks[..end].iter().rposition(|mask| mask & among != 0)?;
        Some((row, self.masks[row] & among))
    }

    /// These lanes have no entry in any row from this one on.
    #[inline(always)]
    pub fn lower(&mut self, lanes: u32, row: usize) {
        self.drained = (lanes, row as u32);
    }

    /// Takes rows without lanes away. Afterwards rows may have other numbers.
    #[inline(always)]
    pub fn tidy(&mut self) {
        if self.untidy {
            self.untidy = false;
            self.take_away();
        }
    }

    #[inline(never)]
    fn take_away(&mut self) {
        if self.live == 0 {
            self.masks.clear();
            self.rows.clear();
            self.words.truncate(1);
            self.table.clear();
            return;
        }
        while self.masks.last() == Some(&0) {
            self.delist();
            let row = self.rows.pop();
            self.masks.pop();
            self.words.truncate(row.map_or(1, |row| row.at.first as usize));
        }
        if self.rows.len() > HOLES && self.rows.len() > 2 * self.live as usize {
            self.compact();
        }
    }

    /// Closes the holes.
    fn compact(&mut self) {
        let (masks, rows) = (std::mem::take(&mut self.masks), std::mem::take(&mut self.rows));
        let words = std::mem::replace(&mut self.words, vec![0]);
        self.table.clear();
        let ends = rows.iter().skip(1).map(|row| row.at.first).chain([words.len() as u32]);
        for ((mask, mut row), end) in masks.iter().zip(rows.iter().copied()).zip(ends) {
            if *mask == 0 {
                continue;
            }
            let to = self.words.len() as u32;
            self.words.extend_from_slice(&words[row.at.first as usize..end as usize]);
            let moved = |at: u32| if at == 0 { 0 } else { at - row.at.first + to };
            let (scattered, values, numbers) =
                (moved(row.scattered), moved(row.at.values), moved(row.at.numbers));
            let at = InWords { first: to, values, numbers, ..row.at };
            row = Row { at, scattered, bucket: InBucket::default(), ..row };
            self.masks.push(*mask);
            self.rows.push(row);
            let hull = self.targets(self.rows.len() - 1).hull(*mask, row.bytes.into());
            self.table.note((scattered == 0).then_some(row.step), hull);
        }
        (self.raised, self.drained) = (!0, (0, 0));
    }

    /// Bytes of the host's memory.
    pub fn bytes(&self) -> u64 {
        let rows = self.masks.capacity() * 4 + self.rows.capacity() * size_of::<Row>();
        (rows + self.words.capacity() * 4) as u64 + self.table.bytes()
    }
}
