//! `printf` for device code (CUDA C++ Programming Guide, "Formatted Output"): the host's own formatting, one
//! conversion at a time.
//!
//! Conversions `d i u o x X c s p f F e E g G a A %`, flags, widths and precisions (`*` too), lengths `hh h l
//! ll j z t L` (`long` has 64 bits, `long double` is `double`). `%n` prints nothing. What is no conversion is
//! printed as it stands.

use std::ffi::{CString, c_char, c_double, c_int, c_longlong};

/// Where arguments come from, in order.
pub(super) trait Arguments {
    /// Why one cannot be read.
    type Error;
    /// The next one, of four bytes.
    fn word(&mut self) -> Result<u32, Self::Error>;
    /// The next one, of eight bytes.
    fn long(&mut self) -> Result<u64, Self::Error>;
    /// The string at an address.
    fn string(&mut self, address: u64) -> Result<Vec<u8>, Self::Error>;
}

/// Widths and precisions are cut to this.
const WIDEST: c_int = 1 << 16;

/// A conversion, apart from its arguments.
struct Conversion {
    /// Such as `-0`.
    flags: String,
    width: c_int,
    /// Negative: none.
    precision: c_int,
    length: String,
    letter: u8,
}

/// What `%…` at the beginning of `text` says, with what follows it; None when it is no conversion.
fn conversion<'t, A: Arguments>(
    text: &'t [u8],
    arguments: &mut A,
    count: &mut i32,
) -> Result<Option<(Conversion, &'t [u8])>, A::Error> {
    let mut at = 1;
    let mut take = |allowed: &[u8]| {
        let start = at;
        while text.get(at).is_some_and(|byte| allowed.contains(byte)) {
            at += 1;
        }
        String::from_utf8_lossy(&text[start..at]).into_owned()
    };
    let flags = take(b"-+ #0");
    let mut number = |digits: &str, arguments: &mut A| -> Result<c_int, A::Error> {
        if digits.starts_with('*') {
            *count += 1;
            return Ok((arguments.word()? as c_int).clamp(-WIDEST, WIDEST));
        }
        Ok(digits.parse::<c_int>().unwrap_or(if digits.is_empty() { 0 } else { WIDEST }).min(WIDEST))
    };
    let width = take(b"*0123456789");
    let width = number(&width, arguments)?;
    let precision = if take(b".").is_empty() {
        -1
    } else {
        let digits = take(b"*0123456789");
        number(&digits, arguments)?
    };
    let length = take(b"hljztL");
    let Some(letter) = text.get(at).copied().filter(|letter| b"diuoxXcspfFeEgGaAn".contains(letter)) else {
        return Ok(None);
    };
    Ok(Some((Conversion { flags, width, precision, length, letter }, &text[at + 1..])))
}

/// What the host's `snprintf` prints.
fn printed(call: impl Fn(*mut c_char, usize) -> c_int) -> Vec<u8> {
    let Ok(length) = usize::try_from(call(std::ptr::null_mut(), 0)) else { return Vec::new() };
    let mut text = vec![0; length + 1];
    call(text.as_mut_ptr().cast(), text.len());
    text.truncate(length);
    text
}

impl Conversion {
    /// The argument, printed.
    fn show<A: Arguments>(&self, arguments: &mut A) -> Result<Vec<u8>, A::Error> {
        let (width, precision) = (self.width, self.precision);
        let letter = char::from(self.letter);
        let directive = |rest: String| CString::new(format!("%{}{rest}", self.flags)).unwrap_or_default();
        let wide = !matches!(self.length.as_str(), "" | "h" | "hh");
        Ok(match self.letter {
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => {
                let bits = if wide { arguments.long()? } else { u64::from(arguments.word()?) };
                let value = match (self.letter, self.length.as_str()) {
                    (b'd' | b'i', "hh") => c_longlong::from(bits as i8),
                    (b'd' | b'i', "h") => c_longlong::from(bits as i16),
                    (b'd' | b'i', "") => c_longlong::from(bits as i32),
                    (_, "hh") => c_longlong::from(bits as u8),
                    (_, "h") => c_longlong::from(bits as u16),
                    _ => bits as c_longlong,
                };
                let directive = directive(format!("*.*ll{letter}"));
                printed(|to, room| {
                    // SAFETY: `%*.*lld` and the like take two `int`s and a `long long`.
                    unsafe { libc::snprintf(to, room, directive.as_ptr(), width, precision, value) }
                })
            }
            b'c' => {
                let value = arguments.word()? as c_int;
                let directive = directive("*c".to_string());
                // SAFETY: `%*c` takes two `int`s.
                printed(|to, room| unsafe { libc::snprintf(to, room, directive.as_ptr(), width, value) })
            }
            b's' => {
                let address = arguments.long()?;
                let text = if address == 0 { b"(null)".to_vec() } else { arguments.string(address)? };
                // It was read up to its NUL.
                let text = CString::new(text).unwrap_or_default();
                let directive = directive("*.*s".to_string());
                printed(|to, room| {
                    // SAFETY: `%*.*s` takes two `int`s and a string, which lives.
                    unsafe { libc::snprintf(to, room, directive.as_ptr(), width, precision, text.as_ptr()) }
                })
            }
            b'p' => {
                let value = arguments.long()? as *const libc::c_void;
                let directive = directive("*p".to_string());
                // SAFETY: `%*p` takes an `int` and a pointer, which is only printed.
                printed(|to, room| unsafe { libc::snprintf(to, room, directive.as_ptr(), width, value) })
            }
            b'n' => {
                arguments.long()?;
                Vec::new()
            }
            _ => {
                let value: c_double = f64::from_bits(arguments.long()?);
                let directive = directive(format!("*.*{letter}"));
                printed(|to, room| {
                    // SAFETY: `%*.*f` and the like take two `int`s and a `double`.
                    unsafe { libc::snprintf(to, room, directive.as_ptr(), width, precision, value) }
                })
            }
        })
    }
}

/// Formats, and tells how many arguments that took.
///
/// # Errors
/// When an argument cannot be read.
pub(super) fn format<A: Arguments>(text: &[u8], arguments: &mut A) -> Result<(Vec<u8>, i32), A::Error> {
    let (mut rest, mut out, mut count) = (text, Vec::with_capacity(text.len()), 0);
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        out.extend(&rest[..at]);
        rest = &rest[at..];
        if rest.get(1) == Some(&b'%') {
            out.push(b'%');
            rest = &rest[2..];
        } else if let Some((found, after)) = conversion(rest, arguments, &mut count)? {
            count += 1;
            out.extend(found.show(arguments)?);
            rest = after;
        } else {
            out.push(b'%');
            rest = &rest[1..];
        }
    }
    out.extend(rest);
    Ok((out, count))
}

#[cfg(test)]
mod tests;
