//! Random executions: accesses by whole warps, and atomics of a block that follow each other.

use bugaroo_ptx::types::Scope;
use bugaroo_semantics::event::{AccessKind, Addresses, WhoseBytes};

use crate::generate::{Generator, SCOPES};
use crate::world::{How, LOAD, RMW, STORE, Thread, strong};

impl Generator {
    /// All 32 lanes, also those that nobody else speaks of: in a row, at one address, some bytes apart, or by halves.
    pub fn whole(&mut self, thread: Thread, memory: WhoseBytes, at: u64, how: How) {
        let bytes = u64::from(how.size * how.elements);
        let first = at & !(bytes * 32 - 1);
        let each = |step: u64, part: u64| std::array::from_fn(|lane| at + lane as u64 % part * step);
        let all: [u64; 32] = match self.random.below(8) {
            0 | 1 if how.kind != AccessKind::Store => {
                self.world.access(thread, u32::MAX, memory, Addresses::Same(at), how);
                return;
            }
            0..=3 => {
                self.world.access(thread, u32::MAX, memory, Addresses::Consecutive(first), how);
                return;
            }
            4 => each(2 * bytes, 32),
            5 => each(4 * bytes, 32),
            6 => each(bytes, 16),
            // Not in their order.
            _ => std::array::from_fn(|lane| at + (lane as u64 * 5 % 16) * bytes),
        };
        self.world.access(thread, u32::MAX, memory, Addresses::Each(&all), how);
    }

    /// Relaxed atomics of a block at one place, one after another, with something else in between now and then: strong stores,
    /// too, by which older accesses leave the shadow one behind the other.
    pub fn burst(&mut self, thread: Thread) {
        let (mut memory, mut at) = self.memory(thread);
        if self.fenced {
            (memory, at) = (WhoseBytes::Global, self.bases[0]);
        } else if self.several && memory == WhoseBytes::Global {
            at += 0x4000 * u64::from(thread.0);
        }
        at += 4 * self.random.below(2);
        let threads: Vec<Thread> = self
            .actors
            .iter()
            .filter(|actor| !actor.exited && actor.held.is_empty())
            .map(|actor| actor.thread)
            .filter(|other| (other.0, other.1) == (thread.0, thread.1) && !self.busy(*other))
            .collect();
        if threads.is_empty() {
            return;
        }
        let wide = self.random.chance(60);
        for _ in 0..2 + self.random.below(5) {
            let who = self.random.of(&threads);
            let scope = if wide || self.fenced { Scope::Gpu } else { self.random.of(&SCOPES) };
            let how = match self.random.below(if self.fenced { 18 } else { 24 }) {
                0 => How { acquire: true, ..strong(RMW, scope) },
                1 => How { release: true, ..strong(RMW, scope) },
                2 => strong(LOAD, scope),
                18 => LOAD,
                19 => STORE,
                20 => How { size: 2, ..strong(LOAD, scope) },
                21 => How { wrote: false, ..strong(RMW, scope) },
                22 => How { size: 8, ..strong(RMW, scope) },
                23 => strong(STORE, scope),
                _ => strong(RMW, scope),
            };
            let place = at & !u64::from(how.size - 1);
            let mut mask = 1 << (who.2 & 31);
            let beside = threads.iter().filter(|other| other.2 / 32 == who.2 / 32);
            if how.kind == RMW.kind && self.random.chance(40) {
                mask |= beside.fold(0, |mask, other| mask | 1 << (other.2 & 31));
            }
            self.world.access(who, mask, memory, Addresses::Same(place), how);
        }
    }
}
