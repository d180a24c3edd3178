//! Constant memory and tables with initial values: the only global memory of which anything is known.
//!
//! The host may overwrite a constant before it launches the kernel (`cudaMemcpyToSymbol`); a constant that has an initial value is
//! taken to keep it, one without is not known. The same holds of a variable in global memory that no kernel writes ([`bugaroo_ptx::writers`])
//! and that other modules cannot name: a table. Host code of the same source file can overwrite a `static __device__` variable by its
//! name, and the text of the module does not show that; a table is taken to keep its initial value, too. Other variables are known where
//! their bytes are given, and the kernel does not write them. What is given comes before what initialisers say.

use std::ops::Range;

use bugaroo_ptx::ast::{Item, Linkage, Module, Statement, StatementKind, Variable};
use bugaroo_ptx::types::Space;
use bugaroo_ptx::writers::{Writers, variables};
use bugaroo_simulator::{Memory, Program};

use super::refusal::{Refusal, RefusalKind};

/// Initialised constants by address.
#[derive(Clone, Debug, Default)]
pub(super) struct ConstantMemory {
    ranges: Vec<(u64, Vec<u8>)>,
    /// The same, as the text says it.
    initial: Vec<(u64, Vec<u8>)>,
    /// Tables of global memory: where they are, and their names.
    tables: Vec<(Range<u64>, String)>,
    writers: Writers,
    /// Variables whose bytes were given.
    given: Vec<String>,
    /// Nothing can be given.
    is_closed: bool,
}

impl ConstantMemory {
    /// Those of a module that was loaded into `memory`.
    pub fn new(module: &Module, program: &Program, memory: &Memory) -> ConstantMemory {
        let mut found = ConstantMemory { writers: Writers::new(module), ..ConstantMemory::default() };
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
        found.initial = found.ranges.clone();
        found
    }

    fn block(&mut self, statements: &[Statement], program: &Program, memory: &Memory) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Variable(variable) if variable.space == Space::Const => {
                    self.add(variable, program, memory);
                }
                StatementKind::Block(inner) => self.block(inner, program, memory),
                _ => {}
            }
        }
    }

    fn add(&mut self, variable: &Variable, program: &Program, memory: &Memory) {
        let keeps = match variable.space {
            Space::Const => true,
            Space::Global => {
                variable.linkage == Linkage::Internal
                    && !variable.managed
                    && self.writers.never(&variable.name)
            }
            _ => false,
        };
        if !keeps || variable.init.is_empty() {
            return;
        }
        let Some((address, size)) = program.variable(&variable.name) else { return };
        let mut bytes = vec![0; size as usize];
        if memory.read(address, &mut bytes).is_ok() {
            self.ranges.push((address, bytes));
            if variable.space == Space::Global {
                self.tables.push((address..address + size, variable.name.clone()));
            }
        }
    }

    /// The number of the table at an address whose initial values are taken for what it holds.
    pub fn table(&self, address: u64) -> Option<usize> {
        let number = self.tables.iter().position(|(range, _)| range.contains(&address))?;
        (!self.given.contains(&self.tables[number].1)).then_some(number)
    }

    /// The name of a table.
    pub fn table_name(&self, number: usize) -> &str {
        &self.tables[number].1
    }

    /// Says what a variable of the module holds.
    ///
    /// # Errors
    /// [`RefusalKind::Usage`] when the module has no such variable, or it is of another size.
    pub fn give(
        &mut self,
        module: &Module,
        program: &Program,
        name: &str,
        bytes: Vec<u8>,
    ) -> Result<(), Refusal> {
        let usage = |message| Refusal::new(RefusalKind::Usage, message);
        let known = givable(module).any(|variable| variable.name == name);
        let Some((address, size)) = program.variable(name).filter(|_| known) else {
            return Err(usage(format!("no variable `{name}` in global or constant memory")));
        };
        if bytes.len() as u64 != size {
            return Err(usage(format!("`{name}` has {size} bytes, not {}", bytes.len())));
        }
        if self.is_closed {
            return Ok(());
        }
        self.ranges.retain(|(start, _)| *start != address);
        let at = self.ranges.partition_point(|(start, _)| *start < address);
        self.ranges.insert(at, (address, bytes));
        self.given.push(name.to_owned());
        Ok(())
    }

    /// Nothing is known of a variable any more.
    pub fn forget(&mut self, program: &Program, name: &str) {
        if let Some((address, _)) = program.variable(name) {
            self.ranges.retain(|(start, _)| *start != address);
        }
        self.given.retain(|given| given != name);
    }

    /// What is known is what the text says, or nothing.
    pub fn reset(&mut self, is_known: bool) {
        self.ranges.clear();
        if is_known {
            self.ranges.extend_from_slice(&self.initial);
        }
        self.is_closed = !is_known;
        self.given.clear();
    }

    /// Checks that a kernel leaves what was given as it is.
    ///
    /// # Errors
    /// [`RefusalKind::Usage`] when it may write it.
    pub fn check(&self, kernel: &str) -> Result<(), Refusal> {
        match self.given.iter().find(|name| self.writers.in_kernel(name, kernel)) {
            None => Ok(()),
            Some(name) => Err(Refusal::new(
                RefusalKind::Usage,
                format!("kernel `{kernel}` may write `{name}`: what it holds cannot be given"),
            )),
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

/// Variables whose bytes can be given.
pub(super) fn givable(module: &Module) -> impl Iterator<Item = &Variable> {
    variables(module).filter(|variable| {
        matches!(variable.space, Space::Global | Space::Const) && variable.linkage != Linkage::Extern
    })
}
