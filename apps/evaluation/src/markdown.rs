//! Numbers and tables as Markdown shows them.

use std::fmt::Write;

/// Which side a column's text stands at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A table of columns with a title each.
#[derive(Debug)]
pub struct Table {
    columns: Vec<(String, Side)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// One without rows: columns of text, and after them columns of numbers.
    pub fn new<T: AsRef<str>>(texts: &[T], numbers: &[T]) -> Self {
        let with = |side| move |title: &T| (title.as_ref().to_owned(), side);
        Self {
            columns: texts
                .iter()
                .map(with(Side::Left))
                .chain(numbers.iter().map(with(Side::Right)))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let row: Vec<String> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// As text, with an empty line after it.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let titles: Vec<&str> = self.columns.iter().map(|(title, _)| title.as_str()).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} |", titles.join(" | "));
        let rules = self.columns.iter().map(|(_, side)| if *side == Side::Left { "---" } else { "---:" });
        let _ = writeln!(text, "|{}|", rules.collect::<Vec<_>>().join("|"));
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        text.push('\n');
        text
    }
}

/// What stands where nothing was measured.
pub const NOTHING: &str = "–";

/// A whole number with its thousands set off.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A probability: three digits, four where it is small, none of a whole one.
pub fn rate(rate: f64) -> String {
    if rate == 0.0 || rate == 1.0 {
        format!("{rate}")
    } else if rate < 0.01 {
        format!("{rate:.4}")
    } else if rate > 0.999 {
        // Not rounded up to 1, which it isn't.
        format!("{:.4}", (rate * 1e4).floor() / 1e4)
    } else {
        format!("{rate:.3}")
    }
}

/// Percent, one digit.
pub fn percent(value: f64) -> String {
    format!("{value:.1} %")
}

/// What may be missing.
pub fn or_nothing<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| NOTHING.to_owned(), show)
}

#[cfg(test)]
mod tests;
