//! Where the pages of shadow words are. They come when an element of theirs is first accessed.

use rustc_hash::FxHashMap;

use super::page::{PAGE, PAGE_SHIFT, Page};

/// The largest element, as a power of two.
const LARGEST: u32 = 3;
/// Pages that are found without looking for them.
const NEAR: usize = 64;
const NOWHERE: (u64, u32) = (u64::MAX, 0);

/// The words of one memory.
#[derive(Debug)]
pub(super) struct Elements {
    places: FxHashMap<u64, u32>,
    pages: Vec<Page>,
    near: [(u64, u32); NEAR],
}

impl Default for Elements {
    fn default() -> Elements {
        Elements { places: FxHashMap::default(), pages: Vec::new(), near: [NOWHERE; NEAR] }
    }
}

/// Room for words: what all memories may take together, and pages that nobody uses.
#[derive(Debug)]
pub(super) struct Room {
    spare: Vec<Page>,
    /// Words in use.
    used: u64,
    /// Words that may be in use.
    most: u64,
    /// Accesses of elements that got none.
    pub refused: u64,
}

impl Room {
    pub fn new(most_bytes: u64) -> Room {
        Room { spare: Vec::new(), used: 0, most: most_bytes / size_of::<u64>() as u64, refused: 0 }
    }

    /// Bytes that the words in use take at most, and those of pages that nobody uses.
    pub fn bytes(&self) -> u64 {
        let spare: u64 = self.spare.iter().map(Page::room).sum();
        (self.used + spare) * size_of::<u64>() as u64
    }

    /// A page that nobody has accessed.
    fn page(&mut self, shift: u32) -> Page {
        match self.spare.pop() {
            Some(mut page) => {
                page.renew(shift);
                page
            }
            None => Page::new(shift),
        }
    }

    fn take(&mut self, words: u64) -> bool {
        let fits = self.used + words <= self.most;
        if fits {
            self.used += words;
        } else {
            self.refused += 1;
        }
        fits
    }
}

impl Elements {
    /// The page with an address, for accesses of elements of at least so many bytes (as a power of two). None where there is no room.
    #[inline(always)]
    pub fn page(&mut self, address: u64, size: u32, room: &mut Room) -> Option<&mut Page> {
        let number = address >> PAGE_SHIFT;
        let (near, place) = self.near[number as usize % NEAR];
        if near != number || self.pages.get(place as usize).is_none_or(|page| page.shift > size) {
            return self.make(number, size, room);
        }
        self.pages.get_mut(place as usize)
    }

    /// The page of this number, which is not near, or not there, or of larger elements.
    #[cold]
    #[inline(never)]
    fn make(&mut self, number: u64, size: u32, room: &mut Room) -> Option<&mut Page> {
        let place = match self.places.get(&number) {
            Some(place) => *place,
            None => {
                let shift = size.min(LARGEST);
                if !room.take(1 << (PAGE_SHIFT - shift)) {
                    return None;
                }
                self.pages.push(room.page(shift));
                let place = (self.pages.len() - 1) as u32;
                self.places.insert(number, place);
                place
            }
        };
        self.near[number as usize % NEAR] = (number, place);
        let page = &mut self.pages[place as usize];
        if page.shift > size {
            if !room.take((1 << (PAGE_SHIFT - size)) - page.len()) {
                return None;
            }
            page.split(size);
        }
        Some(page)
    }

    /// Makes these bytes untouched.
    pub fn forget(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes);
        let mut at = address;
        while at < end {
            let next = (at | (PAGE - 1)).saturating_add(1).min(end);
            if let Some(place) = self.places.get(&(at >> PAGE_SHIFT)) {
                let page = &mut self.pages[*place as usize];
                page.forget(page.element(at), page.element(next - 1));
            }
            if next <= at {
                return;
            }
            at = next;
        }
    }

    /// Makes all of it untouched.
    pub fn clear(&mut self, room: &mut Room) {
        if self.pages.is_empty() {
            return;
        }
        self.places.clear();
        self.near = [NOWHERE; NEAR];
        for page in self.pages.drain(..) {
            room.used -= page.len();
            room.spare.push(page);
        }
    }
}
