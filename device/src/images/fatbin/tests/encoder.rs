//! Writes fat binaries as nvcc 13.0's `fatbinary` does.

use crate::images::fatbin::{Compression, HEADER_MAGIC};

/// An entry to be.
pub struct Part {
    kind: u16,
    architecture: u32,
    flags: u64,
    content: Vec<u8>,
    compression: Compression,
    options: Option<String>,
    stated: Option<u64>,
}

impl Part {
    pub fn ptx(architecture: u32, text: &str) -> Part {
        Part::of(1, architecture, text.as_bytes().to_vec())
    }

    pub fn machine_code(architecture: u32) -> Part {
        Part::of(2, architecture, b"\x7fELF and so on".to_vec())
    }

    pub fn of(kind: u16, architecture: u32, content: Vec<u8>) -> Part {
        let (flags, compression) = (0x11, Compression::None);
        Part { kind, architecture, flags, content, compression, options: None, stated: None }
    }

    pub fn packed(self, compression: Compression) -> Part {
        Part { compression, ..self }
    }

    /// For this architecture only.
    pub fn specific(self) -> Part {
        Part { flags: self.flags | 1 << 20, ..self }
    }

    /// For the architecture's family.
    pub fn family(self) -> Part {
        Part { flags: self.flags | 1 << 21, ..self }
    }

    pub fn with_options(self, options: &str) -> Part {
        Part { options: Some(options.to_owned()), ..self }
    }

    /// A lie about the unpacked size.
    pub fn stating(self, size: u64) -> Part {
        Part { stated: Some(size), ..self }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let (flag, payload) = match self.compression {
            Compression::None => (0, self.content.clone()),
            Compression::Lz4 => (1 << 13, lz4_flex::block::compress(&self.content)),
            Compression::Zstd => {
                (1 << 15, zstd::bulk::compress(&self.content, 3).expect("memory is all it needs"))
            }
        };
        let mut extra = Vec::new();
        if let Some(options) = &self.options {
            extra.extend(72_u32.to_le_bytes());
            extra.extend((options.len() as u32).to_le_bytes());
            extra.extend(options.as_bytes());
            extra.resize(extra.len().next_multiple_of(8), 0);
        }
        let packed = self.compression != Compression::None;
        let padded = payload.len().next_multiple_of(8);
        let unpacked = self.stated.unwrap_or(if packed { self.content.len() as u64 } else { 0 });
        out.extend(self.kind.to_le_bytes());
        out.extend(0x101_u16.to_le_bytes());
        out.extend((64 + extra.len() as u32).to_le_bytes());
        out.extend((padded as u64).to_le_bytes());
        out.extend((if packed { payload.len() as u32 } else { 0 }).to_le_bytes());
        out.extend((if extra.is_empty() { 0_u32 } else { 64 }).to_le_bytes());
        out.extend(0_u16.to_le_bytes());
        out.extend(9_u16.to_le_bytes());
        out.extend(self.architecture.to_le_bytes());
        out.extend([0; 8]);
        out.extend((self.flags | flag).to_le_bytes());
        out.extend([0; 8]);
        out.extend(unpacked.to_le_bytes());
        out.extend(&extra);
        out.extend(&payload);
        out.resize(out.len() + padded - payload.len(), 0);
    }
}

/// A fat binary of these entries.
pub fn encode(parts: &[Part]) -> Vec<u8> {
    let mut entries = Vec::new();
    for part in parts {
        part.encode(&mut entries);
    }
    let mut bytes = HEADER_MAGIC.to_le_bytes().to_vec();
    bytes.extend(1_u16.to_le_bytes());
    bytes.extend(16_u16.to_le_bytes());
    bytes.extend((entries.len() as u64).to_le_bytes());
    bytes.extend(entries);
    bytes
}
