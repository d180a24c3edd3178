//! The sites of programs: each that has run has a stretch of numbers, one for each instruction. They stay when a module is
//! unloaded, as what was found may still have to be told.

use std::sync::Arc;

use bugaroo_semantics::event::SiteNumber;
use bugaroo_simulator::Program;

use super::calls;

/// The programs that have run.
#[derive(Debug, Default)]
pub struct Programs {
    /// By their first site.
    all: Vec<(SiteNumber, Arc<Program>)>,
    next: SiteNumber,
}

impl Programs {
    /// The site of a program's instruction 0, and whether it was given now. None where the numbers are used up: after some 2^31
    /// instructions, by a process that loads modules over and over.
    pub fn first(&mut self, program: &Arc<Program>) -> Option<(SiteNumber, bool)> {
        if let Some((first, _)) = self.all.iter().find(|(_, known)| Arc::ptr_eq(known, program)) {
            return Some((*first, false));
        }
        let first = self.next;
        let length = u32::try_from(program.spans().len()).ok();
        let next = length.and_then(|length| first.checked_add(length)).filter(|next| *next <= calls::FIRST);
        self.next = next?;
        self.all.push((first, Arc::clone(program)));
        Some((first, true))
    }

    /// The program of a site, and the instruction.
    pub fn at(&self, site: SiteNumber) -> Option<(&Arc<Program>, u32)> {
        let behind = self.all.partition_point(|(first, _)| *first <= site);
        let (first, program) = self.all.get(behind.checked_sub(1)?)?;
        let pc = site - first;
        ((pc as usize) < program.spans().len()).then_some((program, pc))
    }
}
