//! Stores of a warp's lanes that wait, as rows: what its lanes stored by one instruction is one row.
//!
//! Rows stand in the order in which they came, and each lane's stores in the order of their rows. What is to be written is marked first
//! ([`StoreRow::going`]): those that are due, and whatever has to go with them; then it is written, row by row; then it is taken out. So what
//! lanes hold alike is looked at once for all of them.

use super::spans::Spans;
use crate::alu::words;
use bugaroo_semantics::location::{GranuleSpan, Value};
use bugaroo_semantics::scope::Strength;

/// Rows of a warp. Each lane's stores are due within 128 of its accesses, but lanes that have parted may make rows of their own: with
/// as many, the first row is written before it is due.
const MOST: usize = 256;
/// Rows without stores whose memory is kept for others, of whatever warp.
const SPARE: usize = 256;

/// A store of one lane that waits. It becomes a message when it is due, in the order of the granules' stores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub span: GranuleSpan,
    pub value: Value,
    pub strength: Strength,
    pub origin: u32,
    /// What it is called by whoever looks on.
    pub name: u64,
}

/// How and by what lanes store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Manner {
    pub strength: Strength,
    pub origin: u32,
    /// Some bytes of a granule, and not all.
    pub narrow: bool,
}

/// What lanes store, word by word.
pub(super) type Planes = [[u32; 32]; 4];

/// What lanes of a warp store together: all bits of whole granules.
#[derive(Debug)]
pub(super) struct Stored<'a> {
    pub lanes: u32,
    pub spans: &'a Spans,
    pub manner: Manner,
    pub values: [&'a [u32; 32]; 4],
}

/// Stores of some lanes by one instruction, which wait.
#[derive(Clone, Debug)]
pub(super) struct StoreRow {
    /// Lanes whose stores wait.
    pub lanes: u32,
    /// Those of them that are about to be written.
    pub going: u32,
    pub spans: Spans,
    pub manner: Manner,
    /// By lane: the lower half of the count of accesses at which it is due. (That is never far from the count at hand.)
    due: [u32; 32],
    /// The first of these, or one before.
    soonest: u32,
    /// A lane has stores to the same granules in other rows, or had.
    meets: bool,
    pub values: Planes,
    /// By lane: the bits of a granule that it writes.
    masks: [u32; 32],
    names: [u64; 32],
}

impl StoreRow {
    /// A lane's store.
    pub fn store(&self, lane: usize) -> Waiting {
        let Manner { strength, origin, .. } = self.manner;
        let value = self.values.map(|plane| plane[lane]);
        Waiting { span: self.span(lane), value, strength, origin, name: self.names[lane] }
    }

    fn span(&self, lane: usize) -> GranuleSpan {
        self.spans.span(lane, self.masks[lane])
    }

    /// Which of these lanes store to the very same bytes in another row.
    fn same(&self, other: &StoreRow, lanes: u32) -> u32 {
        let same = self.spans.same(&other.spans, lanes);
        if self.manner.narrow || other.manner.narrow {
            let alike = self.masks.iter().zip(&other.masks).enumerate();
            return alike.fold(0, |all, (lane, (one, other))| all | u32::from(one == other) << lane) & same;
        }
        same
    }

    fn set_soonest(&mut self) {
        let first = self.lanes.trailing_zeros() as usize & 31;
        let base = self.due[first];
        let lefts = self.due.iter().enumerate().map(|(lane, due)| {
            let left = left(*due, base);
            if self.lanes >> lane & 1 != 0 { left } else { 0 }
        });
        self.soonest = base.wrapping_add_signed(lefts.min().unwrap_or(0));
    }

    /// Which of these lanes' stores are due.
    fn due(&self, lanes: u32, counts: &[u32; 32]) -> u32 {
        let mut due = 0;
        for (lane, (due_at, count)) in self.due.iter().zip(counts).enumerate() {
            due |= u32::from(left(*due_at, *count) <= 0) << lane;
        }
        due & lanes
    }
}

/// How many accesses after this one something is due.
#[inline(always)]
pub(super) fn left(due: u32, count: u32) -> i32 {
    due.wrapping_sub(count) as i32
}

/// Rows: they are large, and move up when others have gone.
type Rows = Vec<Box<StoreRow>>;

/// Rows without stores. Their memory serves the next ones.
#[derive(Debug, Default)]
pub(super) struct Spare(Rows);

/// The stores of a warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    rows: Rows,
    /// Lanes that have some.
    lanes: u32,
}

impl Queue {
    /// Lanes that have stores that wait.
    #[inline(always)]
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Nothing of these lanes waits any more; it is not written.
    pub fn forget(&mut self, among: u32, spare: &mut Spare) {
        self.rows.iter_mut().for_each(|row| row.going = row.lanes & among);
        self.take_out(spare);
    }

    /// As many rows wait as can.
    pub fn is_full(&self) -> bool {
        self.rows.len() >= MOST
    }

    /// One more row: what these lanes store of another, all bits of whole granules; when that is due, and how whoever looks on calls it.
    pub fn push(
        &mut self,
        lanes: u32,
        of: &Stored<'_>,
        due: &[u32; 32],
        names: Option<&[u64; 32]>,
        spare: &mut Spare,
    ) {
        let row = self.new_row(lanes, of.spans, of.manner, spare);
        for (to, from) in row.values.iter_mut().zip(of.values).take(of.spans.count.into()) {
            *to = *from;
        }
        row.due = *due;
        if let Some(names) = names {
            row.names = *names;
        }
        row.set_soonest();
        self.note_meeting(self.rows.len() - 1, lanes);
    }

    /// One more store of a lane. It joins a row that its instruction has, if it can.
    pub fn push_lane(&mut self, lane: usize, store: &Waiting, due: u32, spare: &mut Spare) {
        let Waiting { span, value, strength, origin, name } = *store;
        let manner = Manner { strength, origin, narrow: span.mask != u32::MAX };
        let behind = self.rows.iter().rposition(|row| row.lanes >> lane & 1 != 0).map_or(0, |last| last + 1);
        let alike = |row: &StoreRow| row.manner == manner && row.spans.has_form_of(span);
        let place = match self.rows[behind..].iter().rposition(|row| alike(row)) {
            Some(place) => {
                self.lanes |= 1 << lane;
                let row = &mut self.rows[behind + place];
                row.spans.add(lane, span.first);
                row.lanes |= 1 << lane;
                behind + place
            }
            None => {
                self.new_row(1 << lane, &Spans::of_lane(lane, span), manner, spare);
                self.rows.len() - 1
            }
        };
        let row = &mut self.rows[place];
        for (plane, word) in row.values.iter_mut().zip(value).take(span.count.into()) {
            plane[lane] = word;
        }
        if row.lanes.is_power_of_two() || left(due, row.soonest) < 0 {
            row.soonest = due;
        }
        (row.due[lane], row.masks[lane], row.names[lane]) = (due, span.mask, name);
        self.note_meeting(place, 1 << lane);
    }

    /// Notes which other rows have stores of these lanes of a row to the same granules.
    fn note_meeting(&mut self, place: usize, lanes: u32) {
        let mut met = false;
        for other in 0..self.rows.len() {
            let among = self.rows[other].lanes & lanes;
            if other != place && among != 0 {
                let meets = self.rows[other].spans.meeting(&self.rows[place].spans, among) != 0;
                self.rows[other].meets |= meets;
                met |= meets;
            }
        }
        self.rows[place].meets |= met;
    }

    fn new_row(&mut self, lanes: u32, spans: &Spans, manner: Manner, spare: &mut Spare) -> &mut StoreRow {
        let mut row = spare.0.pop().unwrap_or_else(|| {
            Box::new(StoreRow {
                lanes,
                going: 0,
                spans: *spans,
                manner,
                due: [0; 32],
                soonest: 0,
                meets: false,
                values: [[0; 32]; 4],
                masks: [u32::MAX; 32],
                names: [0; 32],
            })
        });
        if row.manner.narrow || manner.narrow {
            row.masks = [u32::MAX; 32];
        }
        (row.lanes, row.going, row.manner, row.meets) = (lanes, 0, manner, false);
        row.spans.clone_from(spans);
        self.lanes |= lanes;
        self.rows.push(row);
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    /// A lane's newest store that has some of these bytes.
    #[inline]
    pub fn newest(&self, lane: usize, span: GranuleSpan) -> Option<Waiting> {
        if self.lanes >> lane & 1 == 0 {
            return None;
        }
        let has = |row: &StoreRow| row.lanes >> lane & 1 != 0 && row.span(lane).overlaps(span);
        self.rows.iter().rev().find(|row| has(row)).map(|row| row.store(lane))
    }

    /// What the newest stores of these lanes hold that have a granule of what they load, one whole granule each. Answers whose holds all of
    /// it, and whose a part.
    pub fn forward(&self, lanes: u32, spans: &Spans, values: &mut [u32; 32]) -> (u32, u32) {
        let (mut left, mut whole, mut partly) = (self.lanes & lanes, 0, 0);
        for row in self.rows.iter().rev() {
            if left == 0 {
                break;
            }
            let met = row.spans.meeting(spans, row.lanes & left);
            if met == 0 {
                continue;
            }
            left &= !met;
            if row.manner.narrow || row.spans.same(spans, met) != met {
                partly |= met;
                continue;
            }
            whole |= met;
            words::copy(met, &row.values[0], values);
        }
        (whole, partly)
    }

    /// Marks a lane's stores that have some of these bytes. This and the others answer whether there are any.
    pub fn mark_overlapping(&mut self, lane: usize, span: GranuleSpan) -> bool {
        self.mark(1 << lane, |row, _| u32::from(row.span(lane).overlaps(span)) << lane)
    }

    /// Marks a lane's stores that have a granule of these.
    pub fn mark_meeting(&mut self, lane: usize, span: GranuleSpan) -> bool {
        self.mark(1 << lane, |row, _| u32::from(row.span(lane).meets(span)) << lane)
    }

    /// Marks these lanes' stores that have a granule of what they access.
    pub fn mark_met(&mut self, lanes: u32, spans: &Spans) -> bool {
        self.mark(lanes, |row, among| row.spans.meeting(spans, among))
    }

    /// Marks all of these lanes' stores.
    pub fn mark_all(&mut self, lanes: u32) -> bool {
        self.mark(lanes, |_, among| among)
    }

    /// Marks those of these lanes that are due, and others of the very same bytes. No lane's count is above `most`.
    pub fn mark_due(&mut self, lanes: u32, (counts, most): (&[u32; 32], u32)) -> bool {
        let due =
            |row: &StoreRow, among| if left(row.soonest, most) > 0 { 0 } else { row.due(among, counts) };
        let marked = self.mark(lanes, due);
        if marked {
            self.mark_same();
        }
        marked
    }

    /// Marks the strong ones of these lanes, and others of the very same bytes.
    pub fn mark_strong(&mut self, lanes: u32) -> bool {
        let strong = |row: &StoreRow, among| if row.manner.strength == Strength::Weak { 0 } else { among };
        let marked = self.mark(lanes, strong);
        if marked {
            self.mark_same();
        }
        marked
    }

    /// Marks all of the first row.
    pub fn mark_first(&mut self) {
        if let Some(row) = self.rows.first_mut() {
            row.going = row.lanes;
        }
    }

    #[inline(always)]
    fn mark(&mut self, lanes: u32, which: impl Fn(&StoreRow, u32) -> u32) -> bool {
        if self.lanes & lanes == 0 {
            return false;
        }
        let mut any = 0;
        for row in &mut self.rows {
            let among = row.lanes & lanes;
            if among != 0 {
                row.going = which(row, among);
                any |= row.going;
            }
        }
        any != 0
    }

    /// Marks stores of the very same bytes as one that is marked.
    fn mark_same(&mut self) {
        for at in 0..self.rows.len() {
            let marked = self.rows[at].going;
            if marked == 0 || !self.rows[at].meets {
                continue;
            }
            for other in 0..self.rows.len() {
                let among = self.rows[other].lanes & marked & !self.rows[other].going;
                if among != 0 {
                    self.rows[other].going |= self.rows[at].same(&self.rows[other], among);
                }
            }
        }
    }

    /// Marks the stores before marked ones of the same lane that have a granule of theirs.
    pub fn mark_earlier(&mut self) {
        for last in (0..self.rows.len()).rev() {
            let (before, row) = self.rows.split_at_mut(last);
            let row = &row[0];
            if row.going == 0 || !row.meets {
                continue;
            }
            for earlier in before {
                let among = row.going & earlier.lanes & !earlier.going;
                if among != 0 {
                    earlier.going |= row.spans.meeting(&earlier.spans, among);
                }
            }
        }
    }

    /// The rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &StoreRow> {
        self.rows.iter().map(|row| &**row)
    }

    /// Takes what is marked out.
    pub fn take_out(&mut self, spare: &mut Spare) {
        let (mut lanes, mut empty) = (0, false);
        for row in &mut self.rows {
            if row.going != 0 {
                row.lanes &= !row.going;
                row.going = 0;
                row.set_soonest();
            }
            lanes |= row.lanes;
            empty |= row.lanes == 0;
        }
        self.lanes = lanes;
        if empty {
            self.rows.extract_if(.., |row| row.lanes == 0).for_each(|row| {
                if spare.0.len() < SPARE {
                    spare.0.push(row);
                }
            });
        }
    }

    /// How many accesses after this one the first store of all lanes is due, or fewer; none, where nothing waits.
    pub fn first_due(&self, count: u32) -> Option<i32> {
        self.rows.iter().map(|row| left(row.soonest, count)).min()
    }
}
