//! Constant memory with initial values: the only global memory of which anything is known.
//!
//! The host may overwrite a constant before it launches the kernel (`cudaMemcpyToSymbol`); a constant that has an initial value is
//! taken to keep it, one without is not known.

use bugaroo_ptx::ast::{Item, Module, Statement, StatementKind, Variable};
use bugaroo_ptx::types::Space;
use bugaroo_simulator::{Memory, Program};

/// Initialised constants by address.
#[derive(Clone, Debug, Default)]
pub(super) struct ConstantMemory {
    ranges: Vec<(u64, Vec<u8>)>,
}

impl ConstantMemory {
    /// Those of a module that was loaded into `memory`.
    pub fn new(module: &Module, program: &Program, memory: &Memory) -> ConstantMemory {
        let mut found = ConstantMemory::default();
        for item in &module.items {
            match item {
                Item::Variable(variable) => found.add(variable, program, memory),
                Item::Function(function) => {
                    if let Some(body) = &function.body {
                        found.block(&body.statements, program, memory);
                    }
                }
                Item::Directive(_) => {}
            }
        }
        found.ranges.sort_unstable_by_key(|(address, _)| *address);
        found
    }

    fn block(&mut self, statements: &[Statement], program: &Program, memory: &Memory) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Variable(variable) => self.add(variable, program, memory),
                StatementKind::Block(inner) => self.block(inner, program, memory),
                _ => {}
            }
        }
    }

    fn add(&mut self, variable: &Variable, program: &Program, memory: &Memory) {
        if variable.space != Space::Const || variable.init.is_empty() {
            return;
        }
        let Some((address, size)) = program.variable(&variable.name) else { return };
        let mut bytes = vec![0; size as usize];
        if memory.read(address, &mut bytes).is_ok() {
            self.ranges.push((address, bytes));
        }
    }

    /// Reads bytes, if they are known.
    pub fn read(&self, address: u64, size: usize) -> Option<u64> {
        let after = self.ranges.partition_point(|(start, _)| *start <= address);
        let (start, bytes) = self.ranges.get(after.checked_sub(1)?)?;
        let offset = (address - start) as usize;
        let found = bytes.get(offset..offset.checked_add(size)?)?;
        let mut value = [0; 8];
        value[..size].copy_from_slice(found);
        Some(u64::from_le_bytes(value))
    }
}
