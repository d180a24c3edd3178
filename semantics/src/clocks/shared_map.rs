//! A sorted map in parts that copies of it share.
//!
//! What a thread knows goes from hand to hand with every release and acquire, mostly unchanged but for a few
//! entries. So a map is a list of chunks behind reference counts: a copy shares them all, a change copies one, and
//! where two maps are joined, chunks that are the same need no look.

use std::cell::Cell;
use std::rc::Rc;

thread_local! {
    /// Bytes of all chunks of this host thread's launches.
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// Bytes that all maps of this host thread hold together, shared parts once.
pub fn held() -> usize {
    HELD.get()
}

/// Entries of one range of keys.
#[derive(Debug)]
struct Chunk<T> {
    items: Vec<(u64, T)>,
}

impl<T> Chunk<T> {
    fn new(mut items: Vec<(u64, T)>) -> Chunk<T> {
        items.shrink_to_fit();
        HELD.set(HELD.get() + Self::bytes(&items));
        Chunk { items }
    }

    fn bytes(items: &[(u64, T)]) -> usize {
        size_of::<Chunk<T>>() + 2 * size_of::<usize>() + size_of_val(items)
    }
}

impl<T> Drop for Chunk<T> {
    fn drop(&mut self) {
        // Saturating: a launch may be ended by another host thread than the one that began it.
        HELD.set(HELD.get().saturating_sub(Self::bytes(&self.items)));
    }
}

/// A map from numbers to small values.
#[derive(Debug)]
pub struct SharedMap<T> {
    /// By range of keys, sorted; none is empty.
    chunks: Vec<(u64, Rc<Chunk<T>>)>,
}

impl<T> Clone for SharedMap<T> {
    fn clone(&self) -> SharedMap<T> {
        SharedMap { chunks: self.chunks.clone() }
    }
}

impl<T> Default for SharedMap<T> {
    fn default() -> SharedMap<T> {
        SharedMap { chunks: Vec::new() }
    }
}

/// What a join has come to.
#[derive(Debug)]
pub enum Joined<T> {
    /// The first map says it all.
    First,
    /// The second does.
    Second,
    /// Neither.
    New(SharedMap<T>),
}

/// What becomes of one chunk in a join.
struct Merged<T> {
    items: Vec<(u64, T)>,
    is_first: bool,
    is_second: bool,
}

impl<T: Clone> SharedMap<T> {
    /// Whether nothing is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Whether it is one chunk at most.
    #[inline]
    pub fn is_small(&self) -> bool {
        self.chunks.len() <= 1
    }

    /// The entries of a range of keys, sorted. `RANGE`: how many bits of a key are within one range.
    #[inline]
    pub fn range<const RANGE: u32>(&self, key: u64) -> &[(u64, T)] {
        let wanted = key >> RANGE;
        // Most maps have one chunk, or few.
        let found = if self.chunks.len() <= 8 {
            self.chunks.iter().position(|chunk| chunk.0 == wanted)
        } else {
            self.chunks.binary_search_by_key(&wanted, |chunk| chunk.0).ok()
        };
        found.map_or(&[], |index| &self.chunks[index].1.items)
    }

    /// One entry.
    pub fn get<const RANGE: u32>(&self, key: u64) -> Option<&T> {
        let items = self.range::<RANGE>(key);
        items.binary_search_by_key(&key, |item| item.0).ok().map(|index| &items[index].1)
    }

    /// Replaces the entries of a key's range by what `change` makes of them.
    pub fn change<const RANGE: u32>(&mut self, key: u64, change: impl FnOnce(&[(u64, T)]) -> Vec<(u64, T)>) {
        let wanted = key >> RANGE;
        match self.chunks.binary_search_by_key(&wanted, |chunk| chunk.0) {
            Ok(index) => {
                let items = change(&self.chunks[index].1.items);
                if items.is_empty() {
                    self.chunks.remove(index);
                } else {
                    self.chunks[index].1 = Rc::new(Chunk::new(items));
                }
            }
            Err(index) => {
                let items = change(&[]);
                if !items.is_empty() {
                    self.chunks.insert(index, (wanted, Rc::new(Chunk::new(items))));
                }
            }
        }
    }

    /// Puts one entry in.
    pub fn set<const RANGE: u32>(&mut self, key: u64, value: T) {
        let wanted = key >> RANGE;
        // Where nobody shares its chunk it is replaced in place.
        if let Ok(index) = self.chunks.binary_search_by_key(&wanted, |chunk| chunk.0)
            && let Some(chunk) = Rc::get_mut(&mut self.chunks[index].1)
            && let Ok(at) = chunk.items.binary_search_by_key(&key, |item| item.0)
        {
            chunk.items[at].1 = value;
            return;
        }
        self.change::<RANGE>(key, |old| {
            let at = old.partition_point(|item| item.0 < key);
            let behind = &old[at + usize::from(old.get(at).is_some_and(|item| item.0 == key))..];
            let mut items = Vec::with_capacity(old.len() + 1);
            items.extend_from_slice(&old[..at]);
            items.push((key, value));
            items.extend_from_slice(behind);
            items
        });
    }

    /// All entries, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &(u64, T)> {
        self.chunks.iter().flat_map(|chunk| chunk.1.items.iter())
    }

    /// Whether each entry of another map has one here that is above it.
    pub fn covers(&self, other: &SharedMap<T>, above: impl Fn(&T, &T) -> bool) -> bool {
        let mut at = 0;
        other.chunks.iter().all(|(key, chunk)| {
            while self.chunks.get(at).is_some_and(|own| own.0 < *key) {
                at += 1;
            }
            let Some(own) = self.chunks.get(at).filter(|own| own.0 == *key) else { return false };
            if Rc::ptr_eq(&own.1, chunk) {
                return true;
            }
            let mut own = own.1.items.iter();
            chunk.items.iter().all(|(key, value)| {
                own.find(|own| own.0 >= *key).is_some_and(|own| own.0 == *key && above(&own.1, value))
            })
        })
    }

    /// The entries of both. `merge` makes one list of two of the same range: what it gives for two entries of one key
    /// is up to it, and it may leave out what another entry says already. `same` tells whether an entry of the result
    /// is that of one of the two.
    pub fn join(
        &self,
        other: &SharedMap<T>,
        mut merge: impl FnMut(&[(u64, T)], &[(u64, T)]) -> Vec<(u64, T)>,
        same: impl Fn(&T, &T) -> bool,
    ) -> Joined<T> {
        let mut chunks = Vec::with_capacity(self.chunks.len().max(other.chunks.len()));
        let (mut first, mut second) = (true, true);
        let (mut i, mut j) = (0, 0);
        loop {
            let (a, b) = (self.chunks.get(i), other.chunks.get(j));
            let (a_first, b_first) = match (a, b) {
                (None, None) => break,
                (Some(a), Some(b)) => (a.0 <= b.0, b.0 <= a.0),
                (a, b) => (a.is_some(), b.is_some()),
            };
            i += usize::from(a_first);
            j += usize::from(b_first);
            match (a.filter(|_| a_first), b.filter(|_| b_first)) {
                (Some(a), Some(b)) if Rc::ptr_eq(&a.1, &b.1) => chunks.push(a.clone()),
                (Some(a), Some(b)) => {
                    let items = merge(&a.1.items, &b.1.items);
                    let equal = |to: &[(u64, T)]| {
                        items.len() == to.len()
                            && items.iter().zip(to).all(|(x, y)| x.0 == y.0 && same(&x.1, &y.1))
                    };
                    let merged = Merged { is_first: equal(&a.1.items), is_second: equal(&b.1.items), items };
                    first &= merged.is_first;
                    second &= merged.is_second;
                    chunks.push(match merged {
                        Merged { is_first: true, .. } => a.clone(),
                        Merged { is_second: true, .. } => b.clone(),
                        Merged { items, .. } => (a.0, Rc::new(Chunk::new(items))),
                    });
                }
                (Some(a), None) => {
                    second = false;
                    chunks.push(a.clone());
                }
                (None, Some(b)) => {
                    first = false;
                    chunks.push(b.clone());
                }
                (None, None) => unreachable!("one of the two comes first"),
            }
        }
        match (first, second) {
            (true, _) => Joined::First,
            (_, true) => Joined::Second,
            _ => Joined::New(SharedMap { chunks }),
        }
    }

    /// Drops the entries that `keep` doesn't want; a chunk that keeps all is shared still.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.chunks.retain_mut(|(_, chunk)| {
            let kept: Vec<bool> = chunk.items.iter().map(|item| keep(&item.1)).collect();
            if kept.iter().all(|kept| *kept) {
                return true;
            }
            let mut kept_iter = kept.iter();
            let items: Vec<(u64, T)> =
                chunk.items.iter().filter(|_| kept_iter.next() == Some(&true)).cloned().collect();
            if items.is_empty() {
                return false;
            }
            *chunk = Rc::new(Chunk::new(items));
            true
        });
    }
}
