//! The clocks of a warp's threads, for the lanes that run together (section 4.3.1).
//!
//! Lanes that run together differ in nothing but that each knows its own present and the others' past: `local` is the time
//! of each lane for itself, and each knows all others of the group at `local - 1`. What is left is what they know of the
//! lanes outside the group ([`Inside`]), of the block, and of everybody else.
//!
//! A thread's own time may jump when it meets others, so that all of them go on with the same one: nobody has seen the times
//! that it leaves out, so no order changes.

use std::rc::Rc;

use bugaroo_semantics::event::SiteNumber;

use super::sparse::{LaneClocks, Sparse, join};

/// What a group knows of the lanes of its warp that are not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// There are none.
    Converged,
    /// All of them at this: the warp clock.
    Diverged(u32),
    /// Each at its own.
    Nested(Box<[u32; 32]>),
}

/// The formats of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClockFormat {
    /// All lanes of the warp together.
    Converged,
    /// One clock for the lanes that are elsewhere.
    Diverged,
    /// One clock for each of them.
    NestedDiverged,
    /// A map for threads of which the hierarchy does not tell.
    SparseVc,
}

/// Where a warp is: its number in the grid, and its block's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Home {
    /// The warp.
    pub warp: u32,
    /// Its block.
    pub block: u32,
}

/// Lanes that run together, and their clocks. An entry of the warp's stack.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The lanes. Those that have exited meanwhile stay.
    pub mask: u32,
    /// Each lane's time for itself.
    pub local: u32,
    /// All threads of the block are known at this: the block clock.
    pub block: u32,
    /// The other lanes of the warp.
    pub inside: Inside,
    /// Everybody else.
    pub foreign: Option<Rc<Sparse>>,
    /// The branch at which they parted from others.
    pub parted_at: Option<SiteNumber>,
}

impl Group {
    /// A warp's lanes at the start.
    pub fn new(mask: u32) -> Group {
        let inside = Inside::Converged;
        Group { mask, local: 1, block: 0, inside, foreign: None, parted_at: None }
    }

    /// Its format.
    pub fn format(&self) -> ClockFormat {
        match (&self.foreign, &self.inside) {
            (Some(_), _) => ClockFormat::SparseVc,
            (None, Inside::Converged) => ClockFormat::Converged,
            (None, Inside::Diverged(_)) => ClockFormat::Diverged,
            (None, Inside::Nested(_)) => ClockFormat::NestedDiverged,
        }
    }

    /// What it knows of a lane of its warp; of its own lanes, what the others of them know.
    #[inline]
    pub fn lane(&self, lane: u32) -> u32 {
        if self.mask >> lane & 1 != 0 {
            return self.local - 1;
        }
        self.block.max(match &self.inside {
            Inside::Converged => 0,
            Inside::Diverged(clock) => *clock,
            Inside::Nested(each) => each[lane as usize],
        })
    }

    /// What it knows of a thread of another warp.
    #[inline]
    pub fn other(&self, own: Home, of: Home, lane: u32) -> u32 {
        let block = if own.block == of.block { self.block } else { 0 };
        block.max(self.foreign.as_ref().map_or(0, |foreign| foreign.thread(of.block, of.warp, lane)))
    }

    /// All lanes outside the group are known at this, at least.
    #[inline]
    pub fn outside(&self) -> u32 {
        match &self.inside {
            Inside::Diverged(clock) => self.block.max(*clock),
            _ => self.block,
        }
    }

    /// Some of its lanes, which go their own way from here on. `lanes`: those that the warp has.
    pub fn part(&self, mask: u32, lanes: u32) -> Group {
        let mut part = self.clone();
        part.mask = mask;
        part.set_inside(std::array::from_fn(|lane| self.lane(lane as u32)), lanes);
        part
    }

    /// Finds the smallest form for what is known of the lanes outside.
    fn set_inside(&mut self, each: [u32; 32], lanes: u32) {
        let outside = lanes & !self.mask;
        if outside == 0 {
            self.inside = Inside::Converged;
            return;
        }
        let first = each[outside.trailing_zeros() as usize];
        let same = (0..32).all(|lane| outside >> lane & 1 == 0 || each[lane] == first);
        self.inside = if same { Inside::Diverged(first) } else { Inside::Nested(Box::new(each)) };
    }

    /// These lanes go on together: they are in these groups of one warp, of which there is one at least.
    pub fn together(groups: &[Group], mask: u32, lanes: u32) -> Group {
        let mut one = Group::new(mask);
        let latest = groups.iter().map(|group| group.local).max().unwrap_or(1);
        let each = |lane| groups.iter().map(|group| group.lane(lane as u32)).max().unwrap_or(0);
        let each: [u32; 32] = std::array::from_fn(each);
        one.local = latest + 1;
        one.block = groups.iter().map(|group| group.block).max().unwrap_or(0);
        one.set_inside(each, lanes);
        for foreign in groups.iter().filter_map(|group| group.foreign.as_ref()) {
            join(&mut one.foreign, foreign);
        }
        one
    }

    /// All of them learn what `from` says.
    pub fn learn(&mut self, own: Home, from: &Rc<Sparse>, lanes: u32) {
        self.block = self.block.max(from.block(own.block));
        if let Some(warp) = from.warp(own.warp)
            && lanes & !self.mask != 0
        {
            let each = std::array::from_fn(|lane| self.lane(lane as u32).max(warp.lane(lane as u32)));
            self.set_inside(each, lanes);
        }
        join(&mut self.foreign, from);
    }

    /// What these of its lanes know, their own present included.
    pub fn knowledge(&self, own: Home, present: u32) -> Rc<Sparse> {
        let each = |lane: usize| if present >> lane & 1 != 0 { self.local } else { self.lane(lane as u32) };
        let lanes = LaneClocks::from_each(std::array::from_fn(each));
        let mine = Rc::new(Sparse::new((own.warp, lanes), (own.block, self.block)));
        match &self.foreign {
            Some(foreign) => Sparse::joined(foreign, &mine),
            None => mine,
        }
    }

    /// Bytes that its clocks take.
    pub fn bytes(&self) -> u64 {
        let nested = if matches!(self.inside, Inside::Nested(_)) { 128 } else { 0 };
        size_of::<Group>() as u64 + nested + self.foreign.as_ref().map_or(0, |foreign| foreign.bytes())
    }
}
