//! A launch as it is, for who looks at the kernel without running it.
//!
//! Texts of modules and contents of variables are large, and the same for many launches: each is said once, by its
//! digest, before the first launch that names it.

use serde::{Deserialize, Serialize};

/// A kernel launch, with all that the host has fixed by the time that it starts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RecordedLaunch {
    /// Digest of the module's PTX, hexadecimal: [`crate::Message::ModuleText`] has said it.
    pub module: String,
    /// As the PTX names it.
    pub kernel: String,
    /// Grid dimensions in CTAs.
    pub grid: [u32; 3],
    /// CTA dimensions in threads.
    pub block: [u32; 3],
    /// Extent of a cluster in CTAs, where the launch or the kernel says one.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The parameter buffer.
    pub params: Hex,
    /// The module's variables in constant memory, and in global memory those that no kernel of it writes: name, and digest of what each holds, which
    /// [`crate::Message::VariableBytes`] has said.
    pub constants: Vec<(String, String)>,
    /// Initialised variables in global memory that may hold something else than their initialisers say.
    pub changed: Vec<String>,
    /// Tensor maps in the parameter buffer: the byte at which each begins, and the bytes that a copy by it moves.
    pub tensors: Vec<(u32, u32)>,
}

/// Bytes, written as hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hex(pub Vec<u8>);

impl From<Hex> for String {
    fn from(Hex(bytes): Hex) -> String {
        let digit = |value: u8| char::from_digit(u32::from(value), 16).expect("four bits are a digit");
        bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
    }
}

/// A text that is no pairs of hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not pairs of hexadecimal digits")]
pub struct NotHex;

impl TryFrom<String> for Hex {
    type Error = NotHex;

    fn try_from(text: String) -> Result<Hex, NotHex> {
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(NotHex);
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if !rest.is_empty() {
            return Err(NotHex);
        }
        let byte = |[high, low]: &[u8; 2]| Ok((digit(*high)? << 4 | digit(*low)?) as u8);
        pairs.iter().map(byte).collect::<Result<_, _>>().map(Hex)
    }
}

#[cfg(test)]
mod tests {
    use super::{Hex, NotHex};

    #[test]
    fn bytes_come_back() {
        let bytes = Hex((0..=255).collect());
        let text = String::from(bytes.clone());
        assert_eq!((text.len(), &text[..6], Hex::try_from(text.clone())), (512, "000102", Ok(bytes)));
        assert_eq!(Hex::try_from("0".to_owned()), Err(NotHex));
        assert_eq!(Hex::try_from("0g".to_owned()), Err(NotHex));
    }
}
