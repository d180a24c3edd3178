//! The table of a warp's rows: by step and base, or lane by lane (see [`super::lookup`]).

/// Different steps that are kept apart; rows of further ones count as those without.
const STEPS: usize = 6;
/// Buckets of a new table.
pub(super) const FEW: usize = 64;

/// Between which addresses something lies: the first byte, and the last.
pub(super) type Hull = (u64, u64);
pub(super) const NOWHERE: Hull = (u64::MAX, 0);

pub(super) fn apart(a: Hull, b: Hull) -> bool {
    a.1 < b.0 || b.1 < a.0
}

fn around(a: Hull, b: Hull) -> Hull {
    (a.0.min(b.0), a.1.max(b.1))
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Steps of the rows, and where these lie.
    pub steps: [(u64, Hull); STEPS],
    pub used: usize,
    /// Where rows without a step lie.
    pub loose: Hull,
    /// By bucket: the newest row, or lane of one; 0 for none.
    pub heads: Vec<u32>,
    pub nodes: usize,
    /// So many rows, the first ones, are in it.
    pub listed: usize,
    /// Bytes of a line, as a power of two.
    pub line: u32,
}

/// What most entries have, as a power of two.
const WORD: u32 = 2;

impl Default for Table {
    fn default() -> Table {
        Table {
            steps: [(0, NOWHERE); STEPS],
            used: 0,
            loose: NOWHERE,
            heads: Vec::new(),
            nodes: 0,
            listed: 0,
            line: WORD,
        }
    }
}

impl Table {
    /// Whether rows of this step are kept together.
    pub fn knows(&self, step: u64) -> bool {
        self.used < STEPS || self.steps.iter().any(|(known, _)| *known == step)
    }

    /// There is a row of this step (or none) between these addresses.
    pub fn note(&mut self, step: Option<u64>, hull: Hull) {
        let Some(step) = step else {
            self.loose = around(self.loose, hull);
            return;
        };
        let known = self.steps[..self.used].iter_mut().find(|(known, _)| *known == step);
        if let Some((_, known)) = known {
            *known = around(*known, hull);
        } else {
            self.steps[self.used] = (step, hull);
            self.used += 1;
        }
    }

    pub fn clear(&mut self) {
        self.used = 0;
        self.loose = NOWHERE;
        self.heads.clear();
        (self.nodes, self.listed) = (0, 0);
        self.line = WORD;
    }

    /// Steps of which there are rows between these addresses.
    pub fn near(&self, hull: Hull) -> impl Iterator<Item = u64> + '_ {
        let near = move |(_, known): &&(u64, Hull)| !apart(*known, hull);
        self.steps[..self.used].iter().filter(near).map(|(step, _)| *step)
    }

    pub fn is_far(&self, hull: Hull) -> bool {
        apart(self.loose, hull) && self.near(hull).next().is_none()
    }

    /// The line that an entry lies in.
    #[inline(always)]
    pub fn line(&self, address: u64) -> u64 {
        address >> self.line
    }

    /// The lines that bytes lie in.
    #[inline(always)]
    pub fn lines(&self, address: u64, bytes: u32) -> impl Iterator<Item = u64> + use<> {
        let (first, last) = (self.line(address), u64::MAX >> self.line);
        let within = address & ((1 << self.line) - 1);
        let more = (within + u64::from(bytes.max(1)) - 1) >> self.line;
        (0..=more).map(move |more| first.wrapping_add(more) & last)
    }

    /// Whether an entry of so many bytes lies in one line.
    pub fn has_room(&self, bytes: u8) -> bool {
        u32::from(bytes) <= 1 << self.line
    }

    /// The bucket of what has this number (a step, or what stands for a lane) and lies in this line.
    #[inline(always)]
    pub fn bucket(&self, of: u64, line: u64) -> usize {
        let mixed = (line ^ of.wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(32))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.heads.len() - 1)
    }

    pub fn bytes(&self) -> u64 {
        self.heads.capacity() as u64 * 4
    }
}

/// What stands for a lane in the place of a step.
pub(super) fn of_lane(lane: usize) -> u64 {
    !(lane as u64)
}
