//! What tells states apart that have to come back.

use std::hash::{DefaultHasher, Hash, Hasher};

use rustc_hash::FxHashMap;

use super::state::{Cut, Row, held, may_point, rows};
use crate::emulate::flow::Flow;
use crate::emulate::registers::lanes;
use crate::emulate::symbol::{Source, Symbol};

impl Cut<'_> {
    /// A number that tells it from other states, where lanes of rows hold numbers that were `made` for it: what is assumed of these is no part
    /// of it. `known` is what is known of them beside.
    pub fn print(&self, flows: &[Flow], made: &FxHashMap<(Row, usize), Symbol>, known: impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        known.hash(&mut hasher);
        self.hash_places(&mut hasher);
        for row in rows(self, flows) {
            let registers = self.registers(&row);
            for lane in lanes(self.lanes(&row)) {
                match (made.get(&(row, lane)).copied(), held(registers, &row, lane)) {
                    (Some(symbol), _) | (None, Some(Source::Symbol(symbol))) => {
                        (1, symbol.bits()).hash(&mut hasher)
                    }
                    (None, Some(Source::Known(value))) => (2, value).hash(&mut hasher),
                    (None, None) => (3, may_point(registers, &row, lane)).hash(&mut hasher),
                }
            }
        }
        self.shared.iter().for_each(|shared| shared.hash_known(&mut hasher));
        self.warps.iter().for_each(|warp| warp.local.hash_known(&mut hasher));
        hasher.finish()
    }
}
