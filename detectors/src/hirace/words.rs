//! Words of pages of which some groups keep all of theirs.
//!
//! Lanes of a warp part for a while and come together again, so that many groups keep all words for a short time only. Their pages' places
//! are used again at once, while they are still in the processor's caches.

use super::page::ELEMENTS;

/// Room for pages' words, by place.
#[derive(Debug, Default)]
pub(super) struct Words {
    all: Vec<Box<[u64; ELEMENTS]>>,
    spare: Vec<u32>,
}

impl Words {
    /// The words at a place.
    #[inline(always)]
    pub fn at(&self, place: u32) -> &[u64; ELEMENTS] {
        &self.all[place as usize]
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn at_mut(&mut self, place: u32) -> &mut [u64; ELEMENTS] {
        &mut self.all[place as usize]
    }

    /// A place that nobody has. Its words mean nothing.
    pub fn take(&mut self) -> u32 {
        self.spare.pop().unwrap_or_else(|| {
            self.all.push(bytemuck::zeroed_box());
            self.all.len() as u32 - 1
        })
    }

    /// Nobody has this place any more.
    #[inline]
    pub fn give_back(&mut self, place: u32) {
        self.spare.push(place);
    }

    /// Bytes of all places that there are.
    pub fn bytes(&self) -> u64 {
        (self.all.len() * size_of::<[u64; ELEMENTS]>()) as u64
    }
}
