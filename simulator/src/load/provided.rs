//! Device functions that a program calls without defining them, because the device has them.
//!
//! Each becomes a function of two instructions, one that does the work in the callee's own frame and a return,
//! so that calls of it, direct ones and by pointer, are calls like any other.

use super::error::LoadError;
use super::frame::signature;
use super::function::{Builder, frame_bytes, no_operands};
use crate::decoded::{CopyWidth, Formal, Kind, Provided};

impl Builder<'_> {
    /// Makes function `index` of what the device has under its name; without such a thing it stays undefined.
    pub(super) fn provided(&mut self, index: u32) -> Result<(), LoadError> {
        let loaded = &self.program.functions[index as usize];
        let Some(provided) = Provided::named(&loaded.name) else { return Ok(()) };
        let words = |formals: &[Formal]| {
            let bytes = formals.iter().map(|formal| match formal.width {
                // A size that comes round to a small one is none of theirs.
                CopyWidth::Words(words) => words.saturating_mul(4),
                CopyWidth::Row(_) => 0,
            });
            bytes.collect::<Vec<_>>()
        };
        let (results, parameters) = provided.signature();
        if words(&loaded.rets) != results || words(&loaded.params) != parameters {
            return Err(LoadError::Declaration {
                name: loaded.name.clone(),
                reason: "declared with other parameters than the device's function of this name has".into(),
            });
        }
        let mut at = self.begin(index);
        // Lays results and parameters out where callers expect them.
        signature(at.function, &mut at.frame);
        let entry = self.program.code.len() as u32;
        self.emit(&at, Kind::Provided, no_operands(), provided as u32);
        self.emit(&at, Kind::Ret, no_operands(), 0);
        let loaded = &mut self.program.functions[index as usize];
        loaded.entry = entry;
        loaded.frame_bytes = frame_bytes(&at)?;
        loaded.defined = true;
        Ok(())
    }
}
