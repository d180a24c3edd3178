//! A test in the making.

use crate::error::Problem;
use crate::parse::table;
use crate::test::{LOCATIONS, REGISTERS, Register, Test, TestLocation, TestSpace, Thread};

/// A test in the making.
pub(super) struct Builder {
    pub(super) test: Test,
}

impl Builder {
    pub(super) const EMPTY: Test =
        Test { name: String::new(), locations: Vec::new(), threads: Vec::new(), condition: None };

    /// The location of this name, which lies in global memory if nothing was said of it.
    pub(super) fn location(&mut self, name: &str, at: usize) -> Result<usize, Problem> {
        let locations = &mut self.test.locations;
        if let Some(index) = locations.iter().position(|location| location.name == name) {
            return Ok(index);
        }
        check_name(name, at)?;
        if locations.len() == LOCATIONS {
            return Err(Problem::unsupported(at, format!("more than {LOCATIONS} locations")));
        }
        locations.push(TestLocation {
            name: name.to_owned(),
            initial: 0,
            bytes: 4,
            space: TestSpace::Global,
        });
        Ok(locations.len() - 1)
    }

    /// The register of this name.
    pub(super) fn register(&mut self, thread: usize, name: &str, at: usize) -> Result<usize, Problem> {
        let registers = &mut self.test.threads[thread].registers;
        if let Some(index) = registers.iter().position(|register| register.name == name) {
            return Ok(index);
        }
        check_name(name, at)?;
        if self.test.locations.iter().any(|location| location.name == name) {
            return Err(Problem::syntax(at, format!("{name} is a location; a register is wanted")));
        }
        if registers.len() == REGISTERS {
            return Err(Problem::unsupported(at, format!("more than {REGISTERS} registers in a thread")));
        }
        registers.push(Register { name: name.to_owned(), initial: 0, wide: false });
        Ok(registers.len() - 1)
    }

    /// Places the threads in CTAs.
    pub(super) fn threads(&mut self, heads: &[table::Head]) -> Result<(), Problem> {
        let mut ctas: Vec<u64> = Vec::new();
        for head in heads {
            if head.gpu != heads[0].gpu {
                return Err(Problem::unsupported(
                    head.offset,
                    "threads on more than one GPU are not supported",
                ));
            }
            let cta = ctas.iter().position(|cta| *cta == head.cta).unwrap_or_else(|| {
                ctas.push(head.cta);
                ctas.len() - 1
            });
            self.test.threads.push(Thread {
                cta: cta as u32,
                registers: Vec::new(),
                instructions: Vec::new(),
            });
        }
        Ok(())
    }

    /// Shared memory belongs to one CTA.
    pub(super) fn check_spaces(&self, at: usize) -> Result<(), Problem> {
        for (index, location) in self.test.locations.iter().enumerate() {
            let uses =
                |thread: &&Thread| thread.instructions.iter().any(|one| one.op.location() == Some(index));
            let mut ctas = self.test.threads.iter().filter(uses).map(|thread| thread.cta);
            let first = ctas.next();
            if location.space == TestSpace::Shared && ctas.any(|cta| Some(cta) != first) {
                let message =
                    format!("{} lies in shared memory, but threads of two CTAs use it", location.name);
                return Err(Problem::syntax(at, message));
            }
        }
        Ok(())
    }
}

fn check_name(name: &str, at: usize) -> Result<(), Problem> {
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(Problem::syntax(at, format!("'{name}' is no name")));
    }
    Ok(())
}
