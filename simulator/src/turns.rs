//! Whose turn it is among parts of a warp in lockstep.
//!
//! A warp from before Volta waits where the arms of a branch meet. Here the part goes first whose block comes first in an
//! order of the function's blocks ([`Cfg::turns`]): arms before the place where they meet, a loop before its head, and that before
//! what follows it.

use bugaroo_ptx::ast::Function;
use bugaroo_ptx::cfg::Cfg;

use crate::decoded::Origin;

/// By instruction, the place of its block in its function. Empty where lanes are independent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    places: Vec<u32>,
}

/// Lanes are independent.
pub(crate) static NONE: Turns = Turns { places: Vec::new() };

impl Turns {
    /// Adds a function's instructions, which begin at `entry` and have these origins, in the order of the text.
    pub fn add(&mut self, function: &Function, entry: u32, origins: &[Origin]) {
        let turns = Cfg::build(function).turns();
        let instructions = function.instructions();
        // What is not here are functions that the device has of its own, and those that were given up: none branches.
        self.places.resize(entry as usize, 0);
        let mut at = 0;
        for origin in origins {
            let rest = instructions[at..].iter();
            at += rest.take_while(|instruction| instruction.span.start < origin.text.0).count();
            self.places.push(turns[at]);
        }
        // The end of the body, where all meet.
        if let Some(last) = self.places.last_mut() {
            *last = u32::MAX;
        }
    }

    /// What goes first of two instructions of a function: by blocks, then by the text.
    #[inline]
    pub fn turn(&self, pc: u32) -> (u32, u32) {
        (self.places.get(pc as usize).copied().unwrap_or(0), pc)
    }

    /// Where the block of an instruction ends, for those whose turn it is: `u32::MAX` where lanes are independent.
    pub fn end(&self, pc: u32) -> u32 {
        let rest = self.places.get(pc as usize..).unwrap_or_default();
        let end = rest.iter().position(|place| *place != rest[0]);
        end.map_or(u32::MAX, |length| pc + length as u32)
    }
}
