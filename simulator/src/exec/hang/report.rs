//! What the threads of a hung launch read, and who wrote it last.

use std::collections::BTreeMap;

use super::watch::{Read, Watched};
use super::written::Writer;
use crate::address::{SHARED_WINDOW, Window, window};
use crate::decoded::Kind;
use crate::exec::Machine;
use crate::fault::{SpinPlace, SpunOnWrite, ThreadId};

impl Machine<'_> {
    /// The instructions by which threads read again and again, those of the most threads first.
    pub(super) fn spins(&self, watched: &Watched<'_>) -> Vec<SpinPlace> {
        let mut by_instruction: BTreeMap<u32, (u32, ThreadId, usize, Read)> = BTreeMap::new();
        for ((pc, warp), read) in &watched.reads {
            let w = *warp as usize;
            let here = read.lanes & self.residents.warps[w].alive;
            if here == 0 {
                continue;
            }
            let thread = self.thread(w, read.lane);
            let entry = by_instruction.entry(*pc).or_insert((0, thread, w, *read));
            entry.0 += here.count_ones();
            let order = |thread: &ThreadId| {
                let turned = |[x, y, z]: [u32; 3]| [z, y, x];
                (turned(thread.block), turned(thread.thread))
            };
            if order(&thread) < order(&entry.1) {
                *entry = (entry.0, thread, w, *read);
            }
        }
        let mut spins: Vec<SpinPlace> = by_instruction
            .into_iter()
            .map(|(pc, (threads, thread, w, read))| {
                let (symbol, host) = self.named(w, read.address);
                let last = host.map_or(SpunOnWrite::Unknown, |host| self.last_write(w, read, host));
                SpinPlace {
                    place: self.given.program.place(pc),
                    threads,
                    thread,
                    address: read.address,
                    bytes: read.bytes,
                    value: read.value,
                    symbol,
                    last,
                }
            })
            .collect();
        // Stable: in order of the text among those of as many threads.
        spins.sort_by_key(|spin| std::cmp::Reverse(spin.threads));
        spins.truncate(SpinPlace::MOST);
        spins
    }

    /// The variable at a generic address, with the distance from where it begins, and where that lies on the host.
    fn named(&self, w: usize, address: u64) -> (Option<(String, u64)>, Option<u64>) {
        match window(address) {
            Window::Shared => {
                let offset = address - SHARED_WINDOW;
                let own = offset < u64::from(self.given.plan.shared_bytes);
                let shared = self.residents.ctas[self.residents.warps[w].cta as usize].shared as u64;
                (None, own.then(|| shared + offset))
            }
            Window::Global => {
                let region = self.memory.region(address, false);
                (
                    self.given.program.variable_at(address),
                    region.map(|region| address.wrapping_add(region.bias)),
                )
            }
            Window::Local | Window::Param => (None, None),
        }
    }

    fn last_write(&self, w: usize, read: Read, host: u64) -> SpunOnWrite {
        let (warp, lane, site) = match self.hang.written.last(host, read.bytes) {
            Writer::Nobody => return SpunOnWrite::Nobody,
            Writer::Unknown => return SpunOnWrite::Unknown,
            Writer::Lane { warp, lane, site } => (warp, lane, site),
        };
        let Some(pc) = self.given.program.code.iter().position(|inst| match inst.kind {
            Kind::Store | Kind::Load => inst.extra == site,
            Kind::Atomic => self.given.program.accesses.len() as u32 + inst.extra == site,
            _ => false,
        }) else {
            return SpunOnWrite::Unknown;
        };
        let per_block = u64::from(self.given.plan.warps_per_block);
        let block = warp / per_block;
        let [x, y, _] = self.given.plan.spec.grid.map(u64::from);
        let block = [(block % x) as u32, (block / x % y) as u32, (block / (x * y)) as u32];
        let index = &self.given.layout.tids[(warp % per_block) as usize];
        let thread = ThreadId { block, thread: [0, 1, 2].map(|d| index[d][lane as usize]) };
        let cta = self.residents.warps[w].cta;
        let held = self.model().is_some_and(|model| model.holds_back(cta, read.address, read.bytes));
        SpunOnWrite::Thread { thread, place: Box::new(self.given.program.place(pc as u32)), held }
    }
}
