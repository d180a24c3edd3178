//! Who has observed strong writes (PTX ISA, "Observation order").

use bugaroo_semantics::event::WorkId;
use bugaroo_semantics::scope::ThreadKey;

/// A strong write: its number, and which use of that.
pub(super) type Name = (u32, u32);

/// What is kept of one strong write.
#[derive(Debug, Default)]
struct Link {
    /// Threads whose strong reads have read it, with the time by their CTA's clock.
    observers: Vec<(ThreadKey, u32)>,
    /// Whose it is, and other grids of which a thread has.
    grid: WorkId,
    beyond: Vec<WorkId>,
    /// Cells that have it.
    cells: u32,
    /// How often the number has been given.
    use_of: u32,
}

/// By number, from 1.
#[derive(Debug)]
pub(super) struct Links {
    all: Vec<Link>,
    free: Vec<u32>,
    /// Reads that wait to be told their source: nothing is freed meanwhile.
    frozen: u32,
    /// What is to be freed.
    closed: Vec<u32>,
}

impl Default for Links {
    fn default() -> Links {
        Links { all: vec![Link::default()], free: Vec::new(), frozen: 0, closed: Vec::new() }
    }
}

impl Links {
    /// A strong write of a grid in so many cells.
    pub fn open(&mut self, cells: u32, grid: WorkId) -> u32 {
        match self.free.pop() {
            Some(number) => {
                let link = &mut self.all[number as usize];
                link.cells = cells;
                link.grid = grid;
                link.observers = Vec::new();
                link.beyond = Vec::new();
                link.use_of = link.use_of.wrapping_add(1);
                number
            }
            None => {
                self.all.push(Link { cells, grid, ..Link::default() });
                (self.all.len() - 1) as u32
            }
        }
    }

    /// What tells the write that has this number now from others that had it.
    pub fn use_of(&self, number: u32) -> u32 {
        self.all[number as usize].use_of
    }

    /// Whether a number, as given then, is in the shadow still.
    #[inline]
    pub fn is_valid(&self, number: u32, use_of: u32) -> bool {
        let link = &self.all[number as usize];
        number != 0 && link.use_of == use_of && (link.cells > 0 || self.frozen > 0)
    }

    /// One cell has it no more.
    #[inline]
    pub fn close(&mut self, number: u32) {
        let link = &mut self.all[number as usize];
        link.cells = link.cells.saturating_sub(1);
        if link.cells > 0 {
            return;
        }
        if self.frozen > 0 {
            self.closed.push(number);
        } else {
            link.observers = Vec::new();
            self.free.push(number);
        }
    }

    /// A read waits to be told its source.
    pub fn freeze(&mut self) {
        self.frozen += 1;
    }

    /// So many of them do no more.
    pub fn thaw(&mut self, reads: u32) {
        self.frozen = self.frozen.saturating_sub(reads);
        if self.frozen == 0 {
            for number in self.closed.drain(..) {
                self.all[number as usize].observers = Vec::new();
                self.free.push(number);
            }
        }
    }

    /// A strong read has read it, or what comes behind it in its chain.
    pub fn observe(&mut self, (number, use_of): Name, by: ThreadKey, time: u32) {
        if !self.is_valid(number, use_of) {
            return;
        }
        let observers = &mut self.all[number as usize].observers;
        // Whoever spins reads the same again: the first time says more.
        if !observers.iter().rev().take(64).any(|observer| observer.0 == by) {
            observers.push((by, time));
        }
    }

    /// A strong read by a thread of a grid has, which may be another one than the write's, or has read what another one has handed
    /// on.
    pub fn observe_beyond(&mut self, (number, use_of): Name, grid: WorkId, by: ThreadKey, time: u32) {
        if !self.is_valid(number, use_of) {
            return;
        }
        if self.all[number as usize].grid == grid {
            self.observe((number, use_of), by, time);
        } else {
            let beyond = &mut self.all[number as usize].beyond;
            if !beyond.contains(&grid) {
                beyond.push(grid);
            }
        }
    }

    /// Other grids that have observed it.
    #[inline]
    pub fn beyond(&self, number: u32) -> &[WorkId] {
        &self.all[number as usize].beyond
    }

    /// Whether anything waits to be told its source.
    #[inline]
    pub fn is_frozen(&self) -> bool {
        self.frozen > 0
    }

    /// A strong write in one cell takes the place and the number of another, of which nothing is left. Gives the use; None
    /// where the other one is not as named, or in several cells.
    #[inline]
    pub fn renew(&mut self, (number, use_of): Name) -> Option<u32> {
        let link = &mut self.all[number as usize];
        if link.use_of != use_of || link.cells != 1 || self.frozen > 0 {
            return None;
        }
        link.observers.clear();
        link.beyond.clear();
        link.use_of = link.use_of.wrapping_add(1);
        Some(link.use_of)
    }

    /// Who has observed it.
    #[inline]
    pub fn observers(&self, number: u32) -> &[(ThreadKey, u32)] {
        &self.all[number as usize].observers
    }

    /// Bytes, about.
    pub fn held(&self) -> u64 {
        (self.all.len() * size_of::<Link>()) as u64
    }
}
