//! A list that is mostly very short, and then needs no memory of its own.

use std::ops::Deref;

/// A list.
#[derive(Clone, Debug, Default)]
pub(super) struct Few<T> {
    count: usize,
    first: [T; 2],
    /// All, where they are more than two.
    all: Vec<T>,
}

impl<T: Copy + PartialEq> Few<T> {
    /// Adds one that is not there yet.
    pub fn add(&mut self, item: T) {
        if self.contains(&item) {
            return;
        }
        if self.count < 2 {
            self.first[self.count] = item;
        } else {
            if self.all.is_empty() {
                self.all.extend(self.first);
            }
            self.all.push(item);
        }
        self.count += 1;
    }

    /// Adds each that is not there yet.
    pub fn add_all(&mut self, items: impl IntoIterator<Item = T>) {
        items.into_iter().for_each(|item| self.add(item));
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        if self.count <= 2 { &self.first[..self.count] } else { &self.all }
    }
}
