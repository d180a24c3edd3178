//! Words of pages of which some parts keep all of theirs.
//!
//! Lanes of a warp part for a while and come together again, so that many parts keep all words for a short time only. Their pages' places
//! are used again at once, while they are still in the processor's caches.

/// Room for pages' words, `N` a page, by place.
#[derive(Debug, Default)]
pub(crate) struct Slabs<const N: usize> {
    all: Vec<Box<[u64; N]>>,
    spare: Vec<u32>,
}

impl<const N: usize> Slabs<N> {
    /// The words at a place.
    #[inline(always)]
    pub fn at(&self, place: u32) -> &[u64; N] {
        &self.all[place as usize]
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn at_mut(&mut self, place: u32) -> &mut [u64; N] {
        &mut self.all[place as usize]
    }

    /// A place that nobody has. Its words mean nothing; they are zeroes where nobody has had it before.
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
        (self.all.len() * size_of::<[u64; N]>()) as u64
    }
}
