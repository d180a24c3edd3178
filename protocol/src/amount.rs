//! Amounts of memory and of time, as options and files of settings give them.

use std::time::Duration;

/// Reads a number of bytes: 1048576, 512K, 64M, 1G, or with a B or iB behind. Units are powers of 1024.
///
/// # Errors
/// No number, an unknown unit, or more than a computer can have.
pub fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text[digits.len()..].to_ascii_uppercase();
    let shift = match unit.trim_end_matches("IB").trim_end_matches('B') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(format!("'{}' is no unit of memory: K, M, G and T are", &text[digits.len()..])),
    };
    let number: u64 = digits.trim().parse().map_err(|_| format!("'{digits}' is no whole number"))?;
    match number.checked_mul(1 << shift) {
        Some(bytes) if (1 << 20..1 << 50).contains(&bytes) => Ok(bytes),
        _ => Err("an amount between 1M and 1024T is wanted".to_owned()),
    }
}

/// Reads a time: 500ms, 60s, 2m (or 2min), 1.5h; seconds where there is no unit.
///
/// # Errors
/// No number, an unknown unit, or less than a millisecond.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("'{other}' is no unit of time: ms, s, m and h are")),
    };
    let number: f64 = digits.trim().parse().map_err(|_| format!("'{digits}' is no number"))?;
    match Duration::try_from_secs_f64(number * unit) {
        Ok(time) if time.as_millis() > 0 => Ok(time),
        _ => Err("a time of at least 1ms is wanted".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn amounts_are_read_with_their_units() {
        let read: Vec<_> = ["1048576", "2048K", "64M", "1GiB", "3gb"].map(bytes).into();
        let wanted = [1u64 << 20, 2 << 20, 64 << 20, 1 << 30, 3 << 30];
        assert_eq!(read, wanted.map(Ok));
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in ["", "M", "12Q", "-1G", "1.5G", "0", "99999999999T"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
