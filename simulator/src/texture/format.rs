//! Formats of texels, from bytes to values (CUDA Driver API, `CUarray_format`; CUDA Programming Guide, "Texture Object
//! API" for the reading of integers as floats).

use crate::alu::half::F16;

/// Four components as a lookup gives them: 32 bits each, integers or floats. Those that a format lacks are 0.
pub type Texel = [u32; 4];

/// Type of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as types are")]
pub enum Channel {
    U8,
    U16,
    U32,
    S8,
    S16,
    S32,
    F16,
    F32,
}

impl Channel {
    /// Bytes of a channel.
    pub fn bytes(self) -> u64 {
        match self {
            Channel::U8 | Channel::S8 => 1,
            Channel::U16 | Channel::S16 | Channel::F16 => 2,
            Channel::U32 | Channel::S32 | Channel::F32 => 4,
        }
    }

    /// Whether it holds floats.
    pub fn is_float(self) -> bool {
        matches!(self, Channel::F16 | Channel::F32)
    }

    /// Whether it can be read as a float from 0 or -1 to 1: integers of 32 bits are not promoted.
    pub fn is_promoted(self) -> bool {
        matches!(self, Channel::U8 | Channel::U16 | Channel::S8 | Channel::S16)
    }
}

/// What a texel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexelFormat {
    /// Type of each channel.
    pub channel: Channel,
    /// Channels: 1, 2 or 4.
    pub count: u8,
}

impl TexelFormat {
    /// Bytes of a texel, 16 at most.
    pub fn bytes(self) -> u64 {
        self.channel.bytes() * u64::from(self.count)
    }

    /// A texel's channels as they are: integers extended to 32 bits, floats as 32-bit floats.
    pub fn raw(self, bytes: &[u8; 16]) -> Texel {
        let mut texel = [0; 4];
        for (at, value) in texel.iter_mut().enumerate().take(self.count.into()) {
            let two = || [bytes[2 * at], bytes[2 * at + 1]];
            let four = || [bytes[4 * at], bytes[4 * at + 1], bytes[4 * at + 2], bytes[4 * at + 3]];
            *value = match self.channel {
                Channel::U8 => bytes[at].into(),
                Channel::S8 => i32::from(bytes[at].cast_signed()).cast_unsigned(),
                Channel::U16 => u16::from_le_bytes(two()).into(),
                Channel::S16 => i32::from(i16::from_le_bytes(two())).cast_unsigned(),
                Channel::F16 => F16(u16::from_le_bytes(two())).to_f32().to_bits(),
                Channel::U32 | Channel::S32 | Channel::F32 => u32::from_le_bytes(four()),
            };
        }
        texel
    }

    /// A raw texel's channels as floats, from 0 or -1 to 1 where they are integers.
    pub fn floats(self, raw: Texel, srgb: bool) -> [f64; 4] {
        let signed = |bits: u32, largest: f64| (f64::from(bits.cast_signed()) / largest).max(-1.0);
        let mut values = [0.0; 4];
        for (at, value) in values.iter_mut().enumerate().take(self.count.into()) {
            let bits = raw[at];
            *value = match self.channel {
                Channel::U8 if srgb && at < 3 => linear(f64::from(bits) / 255.0),
                Channel::U8 => f64::from(bits) / 255.0,
                Channel::U16 => f64::from(bits) / 65535.0,
                Channel::S8 => signed(bits, 127.0),
                Channel::S16 => signed(bits, 32767.0),
                Channel::F16 | Channel::F32 => f32::from_bits(bits).into(),
                // Nobody asks: they are not promoted.
                Channel::U32 => bits.into(),
                Channel::S32 => bits.cast_signed().into(),
            };
        }
        values
    }
}

/// From sRGB to a linear value (IEC 61966-2-1).
fn linear(value: f64) -> f64 {
    if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}
