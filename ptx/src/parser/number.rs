//! Number literals (PTX ISA 4.5 "Constants").

use super::{Kind, Parsed, Parser};

/// An integer literal in base 2, 8, 10 or 16, `U` or not; None when it needs more than 64 bits or
/// is an octal with an 8 or 9.
fn integer(text: &str) -> Option<u64> {
    let text = text.strip_suffix('U').unwrap_or(text);
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => u64::from_str_radix(&text[2..], 16).ok(),
        [b'0', b'b' | b'B', ..] => u64::from_str_radix(&text[2..], 2).ok(),
        [b'0', _, ..] => u64::from_str_radix(&text[1..], 8).ok(),
        _ => text.parse().ok(),
    }
}

/// A literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// Two's complement.
    Integer(u64),
    /// Bits.
    F32(u32),
    /// Bits.
    F64(u64),
}

impl Number {
    /// The bit pattern in an initialiser.
    pub(super) fn bits(self) -> u64 {
        match self {
            Number::Integer(bits) | Number::F64(bits) => bits,
            Number::F32(bits) => u64::from(bits),
        }
    }

    fn negated(self) -> Number {
        match self {
            Number::Integer(value) => Number::Integer(value.wrapping_neg()),
            Number::F32(bits) => Number::F32(bits ^ 1 << 31),
            Number::F64(bits) => Number::F64(bits ^ 1 << 63),
        }
    }
}

impl Parser<'_> {
    /// A literal with any signs before it; None, with the cursor anywhere, when there is none.
    pub(super) fn number(&mut self) -> Option<Number> {
        let mut negative = false;
        loop {
            match self.kind() {
                Kind::Minus => negative = !negative,
                Kind::Plus => {}
                _ => break,
            }
            self.advance();
        }
        let text = self.text();
        let number = match self.kind() {
            Kind::Integer => Number::Integer(integer(text)?),
            Kind::F32 => Number::F32(u32::from_str_radix(&text[2..], 16).ok()?),
            Kind::F64 => Number::F64(u64::from_str_radix(&text[2..], 16).ok()?),
            Kind::Decimal => Number::F64(text.parse::<f64>().ok()?.to_bits()),
            Kind::Ident if text == "WARP_SZ" => Number::Integer(32),
            _ => return None,
        };
        self.advance();
        Some(if negative { number.negated() } else { number })
    }

    /// An unsigned integer literal.
    pub(super) fn unsigned(&mut self, what: &str) -> Parsed<u64> {
        match integer(self.text()).filter(|_| self.kind() == Kind::Integer) {
            Some(value) => {
                self.advance();
                Ok(value)
            }
            None => Err(self.error(format!("expected {what}"))),
        }
    }

    /// An unsigned integer literal below 2^32.
    pub(super) fn unsigned32(&mut self, what: &str) -> Parsed<u32> {
        let before = self.at;
        let value = self.unsigned(what)?;
        u32::try_from(value).map_err(|_| {
            self.at = before;
            self.error(format!("{what} is too large"))
        })
    }
}
