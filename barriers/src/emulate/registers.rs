//! The registers of a call: rows of 32 lanes, of which each lane is known or not.
//!
//! Layout and slots are those of [`bugaroo_simulator::decoded`]. Beside each row stands a mask of the lanes whose value is
//! known, and why the others are not ([`Why`]). What an unknown lane holds means nothing.

use bugaroo_simulator::alu::{Operands, RowFn, Width};
use rustc_hash::FxHashMap;

use super::symbol::Symbol;

/// 64 bytes on a 64-byte boundary: rows start at multiples of 32 bytes, and row functions want them aligned.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Chunk([u8; 64]);

/// Where an unknown value came from: the instruction that brought it in, and whether an address of shared memory may be in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Why(u32);

impl Why {
    const TAINT: u32 = 1 << 31;
    /// A register that was never written.
    pub const NEVER: Why = Why(0);
    /// Shared memory that nobody has written.
    pub const SHARED: Why = Why(Why::TAINT - 1);
    /// Local memory that nobody has written.
    pub const LOCAL: Why = Why(Why::TAINT - 2);

    /// The instruction at `pc` brought it in.
    pub fn at(pc: u32) -> Why {
        Why(pc + 1)
    }

    /// The instruction, if it is one.
    pub fn pc(self) -> Option<u32> {
        let plain = Why(self.0 & !Why::TAINT);
        if [Why::NEVER, Why::SHARED, Why::LOCAL].contains(&plain) { None } else { Some(plain.0 - 1) }
    }

    /// The same without the mark of [`Why::tainted`].
    pub fn plain(self) -> Why {
        Why(self.0 & !Why::TAINT)
    }

    /// An address of shared memory may be in the value.
    pub fn is_tainted(self) -> bool {
        self.0 & Why::TAINT != 0
    }

    /// Marks that an address of shared memory may be in the value, if `yes`.
    pub fn tainted(self, yes: bool) -> Why {
        Why(self.0 | if yes { Why::TAINT } else { 0 })
    }
}

/// Whether what is stored may be a generic address of shared memory.
pub(super) fn points_to_shared(size: usize, value: Result<u64, Why>) -> bool {
    size == 8
        && match value {
            Ok(value) => value.wrapping_sub(bugaroo_simulator::SHARED_WINDOW) < 1 << 32,
            Err(why) => why.is_tainted(),
        }
}

/// The rows of a call.
pub(super) struct Registers<'a> {
    rows: Vec<Chunk>,
    /// Lanes that are known, by a row's offset over four (predicates are four bytes apart).
    known: Vec<u32>,
    why: Vec<Why>,
    /// By row, the expressions of lanes that are not known ([`Symbol::bits`]; 0: none).
    symbols: FxHashMap<u32, Box<[u32; 32]>>,
    constants: &'a [u8],
}

/// Lanes of a mask, lowest first.
#[inline(always)]
pub(super) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros();
            mask &= mask - 1;
            lane as usize
        })
    })
}

impl<'a> Registers<'a> {
    /// Rows of `bytes` bytes, nothing of which is known.
    pub fn new(bytes: u32, constants: &'a [u8]) -> Registers<'a> {
        let bytes = bytes as usize;
        Registers {
            rows: vec![Chunk([0; 64]); bytes.div_ceil(64)],
            known: vec![0; bytes.div_ceil(4)],
            why: vec![Why::NEVER; bytes.div_ceil(4)],
            symbols: FxHashMap::default(),
            constants,
        }
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        self.known.fill(0);
        self.why.fill(Why::NEVER);
        self.symbols.clear();
    }

    fn bytes(&self) -> &[u8] {
        self.rows.as_flattened_bytes()
    }

    /// Lanes of a slot that are known: all of a constant.
    #[inline(always)]
    pub fn known(&self, slot: i32) -> u32 {
        if slot < 0 { !0 } else { self.known[slot as usize >> 2] }
    }

    /// Why lanes of a slot are not known.
    pub fn why(&self, slot: i32) -> Why {
        if slot < 0 { Why::NEVER } else { self.why[slot as usize >> 2] }
    }

    /// Of the `touched` lanes of a row, those in `known` are known from now on, the others are not.
    #[inline(always)]
    pub fn mark(&mut self, row: u32, touched: u32, known: u32, why: Why) {
        self.mark_plain(row, touched, known, why);
        if !self.symbols.is_empty() {
            self.forget_symbols(row, touched);
        }
    }

    /// The same, and leaves expressions as they are.
    #[inline(always)]
    fn mark_plain(&mut self, row: u32, touched: u32, known: u32, why: Why) {
        let at = row as usize >> 2;
        self.known[at] = self.known[at] & !touched | known & touched;
        if touched & !known != 0 {
            // Of all lanes, the one reason stands for what may be in any of them.
            let others = !(self.known[at] | touched) != 0;
            self.why[at] = why.tainted(others && self.why[at].is_tainted());
        }
    }

    #[inline(never)]
    fn forget_symbols(&mut self, row: u32, touched: u32) {
        if touched == !0 {
            self.symbols.remove(&row);
        } else if let Some(symbols) = self.symbols.get_mut(&row) {
            lanes(touched).for_each(|lane| symbols[lane] = 0);
        }
    }

    /// The expression of a lane that is not known, if there is one.
    pub fn symbol(&self, slot: i32, lane: usize) -> Option<Symbol> {
        let row = u32::try_from(slot).ok()?;
        if self.symbols.is_empty() {
            return None;
        }
        Symbol::from_bits(self.symbols.get(&row)?[lane])
    }

    /// Says what the expression of a lane is that is not known.
    pub fn set_symbol(&mut self, row: u32, lane: usize, symbol: Symbol) {
        self.symbols.entry(row).or_insert_with(|| Box::new([0; 32]))[lane] = symbol.bits();
    }

    /// The expression that all these lanes have, none of which is known.
    pub fn common_symbol(&self, slot: i32, mask: u32) -> Option<Symbol> {
        let first = self.symbol(slot, mask.trailing_zeros() as usize)?;
        let same = |lane| self.symbol(slot, lane) == Some(first);
        (self.known(slot) & mask == 0 && lanes(mask).all(same)).then_some(first)
    }

    /// Takes over the lanes of `mask` from another state of the frame.
    pub fn take(&mut self, other: &Registers<'_>, mask: u32, rows: &[(u32, Width)]) {
        if mask == 0 {
            return;
        }
        for (row, width) in rows {
            let at = *row as usize >> 2;
            if self.known[at] | other.known[at] == 0 && self.symbols.is_empty() && other.symbols.is_empty() {
                self.why[at] = other.why[at].tainted(self.why[at].is_tainted() && mask != !0);
                continue;
            }
            let known = other.known[at];
            self.copy(other, (*row, *width), mask & known);
            self.mark_plain(*row, mask, known, other.why[at]);
        }
        self.take_symbols(other, mask);
    }

    /// Takes over the expressions of lanes of all rows.
    fn take_symbols(&mut self, other: &Registers<'_>, mask: u32) {
        if mask == !0 {
            self.symbols.clear();
        }
        self.symbols.values_mut().for_each(|symbols| lanes(mask).for_each(|lane| symbols[lane] = 0));
        for (row, theirs) in &other.symbols {
            let unknown = lanes(mask & !other.known[*row as usize >> 2]);
            for (lane, symbol) in unknown.filter_map(|lane| Some((lane, Symbol::from_bits(theirs[lane])?))) {
                self.set_symbol(*row, lane, symbol);
            }
        }
    }

    /// Copies the values of lanes of a row.
    fn copy(&mut self, other: &Registers<'_>, (row, width): (u32, Width), mask: u32) {
        if mask == !0 {
            let all = row as usize..row as usize + width.bytes() as usize;
            self.rows.as_flattened_bytes_mut()[all.clone()].copy_from_slice(&other.bytes()[all]);
            return;
        }
        for lane in lanes(mask) {
            let value = other.read(row as i32, width, lane);
            self.write(row, width, lane, value);
        }
    }

    /// Of these lanes of a row, those whose values differ in another state.
    fn differing(&self, other: &Registers<'_>, (row, width): (u32, Width), mask: u32) -> u32 {
        let all = row as usize..row as usize + width.bytes() as usize;
        if mask == 0 || self.bytes()[all.clone()] == other.bytes()[all] {
            return 0;
        }
        let slot = row as i32;
        let differs = |lane: &usize| self.read(slot, width, *lane) != other.read(slot, width, *lane);
        lanes(mask).filter(differs).fold(0, |all, lane| all | 1 << lane)
    }

    /// Leaves known of the lanes of `mask` what is the same in another state of the frame; answers whether anything was forgotten.
    /// What differs is not known because of `why`.
    pub fn join(&mut self, other: &Registers<'_>, mask: u32, rows: &[(u32, Width)], why: Why) -> bool {
        let mut changed = false;
        for (row, width) in rows {
            let (at, slot) = (*row as usize >> 2, *row as i32);
            let mine = self.known[at] & mask;
            if other.known[at] & mask != mask {
                // What one way has brought may stand in the lanes that are not known here either.
                let found = if self.why[at] == Why::NEVER { other.why[at] } else { self.why[at] };
                let tainted = other.why[at].is_tainted() && !self.why[at].is_tainted();
                changed |= tainted;
                self.why[at] = found.tainted(tainted);
            }
            if mine == 0 && self.symbols.is_empty() {
                continue;
            }
            let both = mine & other.known[at];
            let mut lost = mine & !both | self.differing(other, (*row, *width), both);
            if let Some(symbols) = self.symbols.get(row).filter(|_| mask & !mine != 0) {
                let theirs = other.symbols.get(row);
                let same = |lane: usize| theirs.is_some_and(|theirs| theirs[lane] == symbols[lane]);
                let gone = lanes(mask & !mine).filter(|lane| symbols[*lane] != 0 && !same(*lane));
                lost |= gone.fold(0, |gone, lane| gone | 1 << lane);
            }
            if lost != 0 {
                let tainted = self.why(slot).is_tainted() && mine != mask
                    || other.why(slot).is_tainted() && other.known[at] & mask != mask
                    || *width == Width::W64
                        && lanes(lost).any(|lane| {
                            self.holds_shared_address(slot, lane) || other.holds_shared_address(slot, lane)
                        });
                self.mark(*row, lost, 0, why.tainted(tainted));
                changed = true;
            }
        }
        changed
    }

    /// Whether the lanes of `mask` of another state are among those that this one stands for: nothing more is known here.
    pub fn covers(&self, other: &Registers<'_>, mask: u32, rows: &[(u32, Width)]) -> bool {
        rows.iter().all(|(row, width)| {
            let at = *row as usize >> 2;
            let (mine, theirs) = (self.known[at] & mask, other.known[at] & mask);
            let symbols = || {
                self.symbols.get(row).is_none_or(|symbols| {
                    let theirs = other.symbols.get(row);
                    let same = |lane: usize| theirs.is_some_and(|theirs| theirs[lane] == symbols[lane]);
                    lanes(mask & !mine).all(|lane| symbols[lane] == 0 || same(lane))
                })
            };
            mine & !theirs == 0
                && (theirs == mask || self.why[at].is_tainted() || !other.why[at].is_tainted())
                && (mine == 0 || self.differing(other, (*row, *width), mine) == 0)
                && (self.symbols.is_empty() || symbols())
        })
    }

    fn holds_shared_address(&self, slot: i32, lane: usize) -> bool {
        let window = bugaroo_simulator::SHARED_WINDOW;
        self.known(slot) >> lane & 1 != 0 && self.read(slot, Width::W64, lane).wrapping_sub(window) < 1 << 32
    }

    /// Reads a lane.
    #[inline(always)]
    pub fn read(&self, slot: i32, width: Width, lane: usize) -> u64 {
        let (bytes, at) =
            if slot < 0 { (self.constants, !slot as usize) } else { (self.bytes(), slot as usize) };
        match width {
            Width::Pred => u64::from(word::<4>(bytes, at) as u32 >> lane & 1),
            Width::W16 => word::<2>(bytes, at + 2 * lane),
            Width::W32 => word::<4>(bytes, at + 4 * lane),
            Width::W64 => word::<8>(bytes, at + 8 * lane),
        }
    }

    /// All lanes of a predicate.
    #[inline(always)]
    pub fn predicate(&self, slot: i32) -> u32 {
        let (bytes, at) =
            if slot < 0 { (self.constants, !slot as usize) } else { (self.bytes(), slot as usize) };
        word::<4>(bytes, at) as u32
    }

    /// Writes a lane; what does not fit is cut off. Whether it is known is another matter: [`Registers::mark`].
    #[inline(always)]
    pub fn write(&mut self, row: u32, width: Width, lane: usize, value: u64) {
        let at = row as usize;
        let bytes = self.rows.as_flattened_bytes_mut();
        match width {
            Width::Pred => {
                let old = word::<4>(bytes, at) as u32;
                let new = old & !(1 << lane) | ((value & 1) as u32) << lane;
                bytes[at..at + 4].copy_from_slice(&new.to_ne_bytes());
            }
            Width::W16 => bytes[at + 2 * lane..][..2].copy_from_slice(&(value as u16).to_ne_bytes()),
            Width::W32 => bytes[at + 4 * lane..][..4].copy_from_slice(&(value as u32).to_ne_bytes()),
            Width::W64 => bytes[at + 8 * lane..][..8].copy_from_slice(&value.to_ne_bytes()),
        }
    }

    /// Lanes of a predicate are known from now on.
    pub fn set_predicate(&mut self, row: u32, mask: u32, holds: bool) {
        lanes(mask).for_each(|lane| self.write(row, Width::Pred, lane, u64::from(holds)));
        self.mark(row, mask, !0, Why::NEVER);
    }

    /// Runs a row function for the lanes of `mask`.
    ///
    /// # Safety
    /// The function and its operands are an instruction's of the function that this frame was made for.
    #[inline(always)]
    pub unsafe fn run(&mut self, run: RowFn, operands: &Operands, mask: u32) {
        let rows = self.rows.as_mut_ptr().cast();
        // SAFETY: the loader made the offsets fit frames of this function and the program's constants, and chose the row
        // function for this processor.
        unsafe { run(rows, self.constants.as_ptr(), operands, mask) };
    }

    /// Rows whose values or knowledge differ between two states of one frame. A row reaches to where the next one begins that was
    /// ever written, so that more may be named than differ, never less.
    pub fn differences(&self, other: &Registers<'_>) -> Vec<u32> {
        let used = |i: &usize| {
            let written = |r: &Registers<'_>| r.known[*i] != 0 || r.why[*i] != Why::NEVER;
            written(self) || written(other)
        };
        let starts: Vec<usize> = (0..self.known.len()).filter(used).collect();
        let end = self.bytes().len();
        let mut rows = Vec::new();
        for (n, start) in starts.iter().enumerate() {
            let next = starts.get(n + 1).map_or(end, |next| next * 4);
            let bytes = start * 4..next.min(start * 4 + 256);
            if self.known[*start] != other.known[*start]
                || self.bytes()[bytes.clone()] != other.bytes()[bytes]
            {
                rows.push(*start as u32 * 4);
            }
        }
        rows
    }
}

impl Clone for Registers<'_> {
    fn clone(&self) -> Self {
        Registers {
            rows: self.rows.clone(),
            known: self.known.clone(),
            why: self.why.clone(),
            symbols: self.symbols.clone(),
            constants: self.constants,
        }
    }
}

/// An unsigned number of `N` bytes.
#[inline(always)]
fn word<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    let mut value = [0; 8];
    value[..N].copy_from_slice(&bytes[at..at + N]);
    u64::from_le_bytes(value)
}

/// Chunks seen as bytes.
trait Flat {
    fn as_flattened_bytes(&self) -> &[u8];
    fn as_flattened_bytes_mut(&mut self) -> &mut [u8];
}

impl Flat for Vec<Chunk> {
    #[inline(always)]
    fn as_flattened_bytes(&self) -> &[u8] {
        // SAFETY: a chunk is 64 bytes without padding, and any bytes are bytes.
        unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), self.len() * 64) }
    }
    #[inline(always)]
    fn as_flattened_bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr().cast(), self.len() * 64) }
    }
}
