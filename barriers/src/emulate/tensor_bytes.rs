//! How many bytes tensor copies move ([`super::tensor`]).
//!
//! What they bring is given (`--tensor NAME[+OFFSET]=BYTES`, by the parameter that holds the map), or stands in the map, where its bytes are given
//! with the parameters and it is one that our driver made, or is, for a copy that is the only one of its phase, what the phase of its mbarrier expects:
//! another number would leave the phase open for ever, which this misses. Where it turns out that it is not the only one, it is asked for.

use bugaroo_simulator::decoded::Address;

use super::machine::Machine;
use super::refusal::Refusal;

impl Machine<'_> {
    /// How many bytes a tensor copy moves, which may be all that the phase of its mbarrier still waits for.
    pub fn tensor_bytes(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        lane: usize,
        map: &Address,
        mbarrier: Option<(u32, u32)>,
    ) -> Result<u32, Refusal> {
        // The map is a parameter of the kernel, by its generic address.
        let offset =
            self.address(frame, map, lane).ok().filter(|at| at >> 32 == 3).map(|at| at & 0xffff_ffff);
        if let Some(bytes) = offset.and_then(|offset| self.set.memory.params.tensor_at(offset)) {
            return Ok(bytes);
        }
        let state = mbarrier.and_then(|(rank, at)| self.ctas[rank as usize].mbarriers.get_mut(&at));
        if let Some(state) = state
            && let Ok(bytes @ 1..) = u32::try_from(state.bytes)
        {
            state.guessed = Some(offset.unwrap_or(u64::MAX));
            return Ok(bytes);
        }
        Err(self.size_unknown(w, pc, lane, offset))
    }

    /// Refuses because only a tensor map says how many bytes a copy moves.
    pub fn size_unknown(&self, w: usize, pc: u32, lane: usize, map: Option<u64>) -> Refusal {
        let name = map.and_then(|offset| self.set.memory.params.name_at(self.set.code.function, offset));
        let name = name.map_or_else(|| "NAME".to_owned(), |(_, given)| given);
        let message = format!(
            "how many bytes a tensor copy moves stands in its tensor map (--tensor {name}=BYTES says how many)"
        );
        self.unsupported(w, pc, lane, message)
    }
}
