//! Payloads, unpacked: to the size that their entry states, or not at all.

use std::borrow::Cow;

use super::parse::{Compression, FatBinaryEntry, FatError};

/// Most bytes of an unpacked payload. The biggest module of PTX that anybody loads is far smaller.
pub const MOST_UNPACKED: u64 = 256 << 20;
/// An LZ4 block grows by no more than this: one byte stands for at most 255.
const MOST_GROWTH_LZ4: u64 = 256;

impl<'a> FatBinaryEntry<'a> {
    /// The payload, unpacked.
    ///
    /// # Errors
    /// When it is damaged, or unpacks to another size than stated, or to more than [`MOST_UNPACKED`].
    pub fn unpack(&self) -> Result<Cow<'a, [u8]>, FatError> {
        let wrong =
            |reason: String| FatError::Payload { at: self.at, architecture: self.architecture, reason };
        if self.unpacked_size > MOST_UNPACKED {
            return Err(FatError::TooBig {
                what: "a payload",
                bytes: self.unpacked_size,
                most: MOST_UNPACKED,
            });
        }
        // It is at most MOST_UNPACKED.
        let size = self.unpacked_size as usize;
        let unpacked = match self.compression {
            Compression::None => return Ok(Cow::Borrowed(self.payload)),
            Compression::Lz4 => {
                if self.unpacked_size > MOST_GROWTH_LZ4 * self.payload.len() as u64 {
                    return Err(wrong(format!(
                        "{size} bytes cannot come from {} of LZ4",
                        self.payload.len()
                    )));
                }
                lz4_flex::block::decompress(self.payload, size)
                    .map_err(|error| wrong(format!("LZ4: {error}")))?
            }
            Compression::Zstd => {
                // A frame that tells its content's size is refused before anything is allocated for it.
                let told = zstd::zstd_safe::get_frame_content_size(self.payload)
                    .map_err(|error| wrong(format!("Zstandard: {error}")))?;
                if told.is_some_and(|told| told != self.unpacked_size) {
                    return Err(wrong("Zstandard: another size than its entry states".to_owned()));
                }
                zstd::bulk::decompress(self.payload, size)
                    .map_err(|error| wrong(format!("Zstandard: {error}")))?
            }
        };
        if unpacked.len() != size {
            return Err(wrong(format!("{} bytes instead of {size}", unpacked.len())));
        }
        Ok(Cow::Owned(unpacked))
    }

    /// The payload as text, up to its first NUL.
    ///
    /// # Errors
    /// As [`FatBinaryEntry::unpack`].
    pub fn text(&self) -> Result<String, FatError> {
        let unpacked = self.unpack()?;
        let end = unpacked.iter().position(|byte| *byte == 0).unwrap_or(unpacked.len());
        Ok(String::from_utf8_lossy(&unpacked[..end]).into_owned())
    }
}
