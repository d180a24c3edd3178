//! Accesses that happen or not: they are kept with the number of their condition.

use super::command::Command;
use super::condition::AccessCondition;
use super::error::ProgramError;
use super::packed::{Opcode, Packed};
use super::programs::{WarpProgram, WarpPrograms};

impl WarpPrograms {
    /// Makes a condition known, and answers its number.
    pub fn condition(&mut self, condition: AccessCondition) -> u32 {
        // Those of one branch come one after the other.
        let recent = self.conditions.iter().rev().take(64).position(|known| *known == condition);
        let index = match recent {
            Some(back) => self.conditions.len() - 1 - back,
            None => {
                self.conditions.push(condition);
                self.conditions.len() - 1
            }
        };
        index as u32
    }

    /// The conditions, by number.
    pub fn conditions(&self) -> &[AccessCondition] {
        &self.conditions
    }

    /// Whether two accesses with these conditions cannot both happen.
    pub(crate) fn excludes(&self, a: Option<u32>, b: Option<u32>) -> bool {
        let literals = |from: Option<u32>| {
            std::iter::successors(from, |at| self.conditions[*at as usize].outer)
                .filter_map(|at| self.conditions[at as usize].literal)
        };
        literals(a).any(|x| literals(b).any(|y| x.value == y.value && x.holds != y.holds))
    }

    /// Whether an access is the last of its thread.
    pub(crate) fn is_last(&self, condition: u32) -> bool {
        self.conditions[condition as usize].last
    }

    /// Whether any access is the last of its thread.
    pub(crate) fn has_last(&self) -> bool {
        self.conditions.iter().any(|condition| condition.last)
    }
}

impl WarpProgram {
    /// Appends an access that happens or not. What it writes is not kept.
    ///
    /// # Errors
    /// As [`WarpProgram::push`].
    pub fn push_possible(&mut self, command: &Command<'_>, condition: u32) -> Result<(), ProgramError> {
        let before = self.commands.len();
        self.push(command)?;
        if let Some(packed) = self.commands.get_mut(before)
            && packed.opcode() == Opcode::Access
        {
            packed.make_possible(condition);
        }
        Ok(())
    }

    /// The condition of an access, if it has one.
    pub(crate) fn condition_of(&self, packed: &Packed) -> Option<u32> {
        packed.condition()
    }
}
