//! Words and numbers as the reports show them, and what makes the texts of programs harmless.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use bugaroo_protocol::Model;

use crate::night::{Cell, Change, NightPlace, Stage, Status};
use crate::plan::expect::Expected;

/// A text with what cannot be seen made visible, so that it neither breaks a format nor misleads a reader: control characters
/// become their pictures, and those that turn the direction of writing, or are no characters, their numbers.
/// Ends of lines and tabulators stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            // A carriage return before the end of a line is a part of it.
            '\r' if rest.peek() == Some(&'\n') => {}
            '\0'..='\x1f' if hidden(next) => {
                // All 32 pictures are characters.
                shown.push(char::from_u32(0x2400 + u32::from(next)).unwrap_or('\u{fffd}'));
            }
            '\x7f' => shown.push('\u{2421}'),
            _ if hidden(next) => {
                // Writing into a string cannot fail.
                let _ = write!(shown, "\u{27e8}U+{:04X}\u{27e9}", u32::from(next));
            }
            _ => shown.push(next),
        }
    }
    Cow::Owned(shown)
}

fn hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => true,
        // No characters, and not allowed in XML.
        '\u{fffe}' | '\u{ffff}' => true,
        _ => c.is_control(),
    }
}

/// The same, in one line.
pub fn line(text: &str) -> String {
    visible(text)
        .split(['\n', '\t'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The same, and no longer than that. What was cut is said.
pub fn short(text: &str, most: usize) -> String {
    let whole = line(text);
    match whole.char_indices().nth(most) {
        None => whole,
        Some((end, _)) => {
            let more = whole[end..].chars().count();
            format!("{}… ({more} characters more)", &whole[..end])
        }
    }
}

/// Several lines, and no more characters than that. What was cut is said.
pub fn bounded(text: &str, most: usize) -> String {
    let whole = visible(text);
    match whole.char_indices().nth(most) {
        None => whole.into_owned(),
        Some((end, _)) => {
            let more = whole[end..].chars().count();
            format!("{}…\n({more} characters more in {})", &whole[..end], super::files::JSON)
        }
    }
}

/// A share as a percentage with three digits that count.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    let digits = if value >= 99.95 || value <= 0.0 {
        0
    } else if value >= 10.0 {
        1
    } else if value >= 1.0 {
        2
    } else {
        // Below one, as many as it takes to see two of them: at most those that a hundred million trials can tell.
        (1 - value.log10().floor() as i64).clamp(2, 8) as usize
    };
    let text = format!("{value:.digits$}");
    let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{short}\u{a0}%")
}

/// An interval of shares.
pub fn interval([low, high]: [f64; 2]) -> String {
    format!("{} to {}", percent(low), percent(high))
}

/// A probability that chance explains something.
pub fn chance(p: f64) -> String {
    let text = match p {
        0.1.. => format!("{p:.2}"),
        0.001.. => format!("{p:.3}"),
        _ if p <= 0.0 => "0".into(),
        // A line must not end at the hyphen.
        _ => format!("{p:.0e}").replace('-', "\u{2011}"),
    };
    let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("p\u{a0}=\u{a0}{short}")
}

/// A number with its thousands apart.
pub fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// So many of these.
pub fn count(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(value), if value == 1 { one } else { many })
}

/// A time in the units that people use.
pub fn duration(ms: u64) -> String {
    let time = Duration::from_millis(ms);
    let seconds = time.as_secs();
    match seconds {
        0 => format!("{ms}\u{a0}ms"),
        1..60 => format!("{:.1}\u{a0}s", time.as_secs_f64()),
        60..3600 => format!("{}\u{a0}min\u{a0}{:02}\u{a0}s", seconds / 60, seconds % 60),
        _ => format!("{}\u{a0}h\u{a0}{:02}\u{a0}min", number(seconds / 3600), seconds % 3600 / 60),
    }
}

/// A time to the minute; what is none, as it is.
pub fn moment(time: &str) -> String {
    match time.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => line(time),
    }
}

/// Trials that passed or failed.
pub fn told(cell: &Cell) -> u64 {
    cell.outcomes.iter().filter(|(outcome, _)| outcome.tells()).map(|(_, trials)| trials).sum()
}

/// A cell's rate with its interval, as a sentence.
pub fn rate(cell: &Cell) -> String {
    let told = told(cell);
    match cell.rate {
        Some(rate) => format!(
            "{} of {} failed: {}, 95 % interval {}",
            cell.failures,
            if told == 1 { "1 trial".into() } else { format!("{told} trials") },
            percent(rate),
            interval(cell.ci95)
        ),
        None => format!("no trial told anything, of {}", cell.trials),
    }
}

/// How a rate differs from the nights before; None: nothing to say.
pub fn change(change: &Change) -> Option<String> {
    match *change {
        Change::First | Change::None => None,
        Change::New { passed } => {
            Some(format!("new: {} before, none failed", count(passed, "trial", "trials")))
        }
        Change::Changed { before, p } => Some(format!("{} before ({})", percent(before), chance(p))),
        Change::Cured { before, p } => Some(format!("cured: {} before ({})", percent(before), chance(p))),
    }
}

/// A place by file and line, or by what is known of it.
pub fn place(place: &NightPlace) -> String {
    match (&place.file, place.line, place.ptx_line) {
        (Some(file), Some(number), _) => format!("{}:{number}", line(file)),
        (Some(file), None, _) => line(file),
        (None, _, Some(ptx)) => format!("{}, PTX line {ptx}", line(&place.kernel)),
        (None, _, None) => line(&place.kernel),
    }
}

/// A kind of finding as it is written.
pub fn kind(kind: Expected) -> &'static str {
    Expected::ALL.iter().find(|(_, known)| *known == kind).map_or("failure", |(name, _)| name)
}

/// A status as it is written.
pub fn status(status: Status) -> &'static str {
    match status {
        Status::Pass => "pass",
        Status::Fail => "fail",
        Status::Expected => "expected",
        Status::Nothing => "nothing",
    }
}

/// How far a program came, as it is written.
pub fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Build => "build",
        Stage::Start => "start",
        Stage::Baseline => "baseline",
        Stage::Unsupported => "unsupported",
        Stage::Trials => "trials",
    }
}

/// A model as it is written.
pub fn model(model: Model) -> &'static str {
    match model {
        Model::Bugaroo => "bugaroo",
        Model::StoreBuffer => "store-buffer",
        Model::Ptx => "ptx",
    }
}

#[cfg(test)]
mod tests;
