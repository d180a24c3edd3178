//! A table over shared addresses of which only the pages in use exist.

const PAGE: usize = 1 << 12;

/// Values by index; those never asked for are the default.
#[derive(Debug)]
pub(crate) struct Pages<T> {
    pages: Vec<Option<Box<[T]>>>,
}

impl<T: Clone + Default> Pages<T> {
    pub(crate) fn new() -> Pages<T> {
        Pages { pages: Vec::new() }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: u32) -> &mut T {
        let page = index as usize / PAGE;
        if self.pages.get(page).is_none_or(Option::is_none) {
            self.add(page);
        }
        match &mut self.pages[page] {
            Some(values) => &mut values[index as usize % PAGE],
            None => unreachable!("the page was just added"),
        }
    }

    #[cold]
    fn add(&mut self, page: usize) {
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        self.pages[page] = Some(vec![T::default(); PAGE].into_boxed_slice());
    }

    /// All values of the pages in use, with their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let page = |(number, page): (usize, &'_ Option<Box<[T]>>)| page.as_ref().map(|_| number);
        let used: Vec<usize> = self.pages.iter().enumerate().filter_map(page).collect();
        used.into_iter().flat_map(move |number| {
            let values = self.pages[number].iter().flat_map(|p| p.iter());
            values.enumerate().map(move |(i, v)| ((number * PAGE + i) as u32, v))
        })
    }
}
