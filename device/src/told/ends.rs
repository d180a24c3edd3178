//! Tells what memory held at its end ([`crate::trial::ends`]).

use bugaroo_cuda_abi::CUmodule;
use bugaroo_protocol::{MemoryEnd, MemoryPiece, Message};

use crate::state::Gpu;

/// Ends in a message.
const PIECE: usize = 256;

impl Gpu {
    /// An allocation ends: what it holds is what it held.
    pub fn note_end(&mut self, address: u64) {
        let Some(number) = self.trial.ends.live.remove(&address) else { return };
        self.note(MemoryPiece::Allocation(number), address);
    }

    /// A module ends, and its variables with it.
    pub fn note_module_end(&mut self, module: CUmodule) {
        let Some(number) = self.trial.ends.modules.remove(&module) else { return };
        if !self.trial.injection.ends() {
            return;
        }
        let Ok(found) = self.code.modules.get(module) else { return };
        let mut places: Vec<_> =
            found.program.variables().map(|(name, (address, _))| (name.to_owned(), address)).collect();
        places.sort_unstable();
        for (name, address) in places {
            self.note(MemoryPiece::Variable(number, name), address);
        }
    }

    fn note(&mut self, piece: MemoryPiece, address: u64) {
        if !self.trial.injection.ends() {
            return;
        }
        let Some((bytes, digest)) = self.memory.digest_of(address) else { return };
        let allocated_at = match self.trial.injection.report_sites() {
            true => self.held.origins.near(address, bytes, address).allocated_at,
            false => Vec::new(),
        };
        let digest = format!("{digest:016x}");
        self.trial.ends.ended.push(MemoryEnd { piece, bytes, digest, allocated_at });
    }

    /// The program ends: tells what all of its memory held.
    pub fn tell_ends(&mut self) {
        if !self.trial.injection.ends() {
            return;
        }
        let live: Vec<u64> = self.trial.ends.live.keys().copied().collect();
        live.into_iter().for_each(|address| self.note_end(address));
        let modules: Vec<CUmodule> = self.trial.ends.modules.keys().copied().collect();
        modules.into_iter().for_each(|module| self.note_module_end(module));
        let ended = std::mem::take(&mut self.trial.ends.ended);
        // Also where there is nothing: then it is known that the program came to its end.
        let pieces = ended.chunks(PIECE).map(<[MemoryEnd]>::to_vec);
        let mut pieces: Vec<_> = if ended.is_empty() { vec![Vec::new()] } else { pieces.collect() };
        let last = pieces.len() - 1;
        for (at, ends) in pieces.drain(..).enumerate() {
            self.trial.report.send(&Message::Ends { ends, last: at == last });
        }
    }
}
