//! Accesses that happen or not: what that depends on.

use super::{Command, Opcode, Packed, Program, ProgramError, WarpProgram};

/// Something that is true or false in all threads alike, by its number, and which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Literal {
    /// The emulator's number of the value.
    pub value: u32,
    /// Whether it has to be true.
    pub holds: bool,
}

/// On what it depends whether an access happens: an arm of a branch whose outcome is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The emulator's number of the branch.
    pub origin: u32,
    /// The arm, where the outcome is the same for all threads.
    pub literal: Option<Literal>,
    /// The condition of an arm around this one: an earlier answer of [`Program::condition`].
    pub outer: Option<u32>,
    /// The access is the last that its thread does, if it happens under this condition: nothing of that thread comes later, and so no
    /// later registration orders it with what others do.
    pub last: bool,
}

impl Program {
    /// Makes a condition known, and answers its number.
    pub fn condition(&mut self, condition: Condition) -> u32 {
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
    pub fn conditions(&self) -> &[Condition] {
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
