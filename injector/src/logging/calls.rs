//! Who calls whom in a module.
//!
//! What it takes for called: what is called by name, and, where something is called through a pointer, every function of the module.

use std::collections::BTreeMap;

use bugaroo_ptx::ast::{Function, FunctionKind, Operand};
use bugaroo_ptx::op::Op;

/// The functions of a module that have bodies, by name.
pub(super) struct Calls<'a> {
    all: BTreeMap<&'a str, &'a Function>,
}

impl<'a> Calls<'a> {
    pub fn new(functions: impl Iterator<Item = &'a Function>) -> Calls<'a> {
        Calls { all: functions.map(|function| (function.name.as_str(), function)).collect() }
    }

    /// The names of its kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &'a str> {
        self.all.iter().filter(|(_, function)| function.kind == FunctionKind::Entry).map(|(name, _)| *name)
    }

    /// What a kernel may come to, itself first, and what is called by fewer others before what is called by more.
    pub fn reached(&self, kernel: &'a str) -> Vec<&'a str> {
        let mut reached = vec![kernel];
        let mut at = 0;
        while let Some(function) = reached.get(at).map(|name| self.all.get(name)) {
            for callee in function.map(|function| self.callees(function)).unwrap_or_default() {
                if !reached.contains(&callee) {
                    reached.push(callee);
                }
            }
            at += 1;
        }
        reached
    }

    fn callees(&self, function: &'a Function) -> Vec<&'a str> {
        let mut callees = Vec::new();
        for instruction in function.instructions() {
            if !matches!(instruction.op, Op::Call { .. }) {
                continue;
            }
            match instruction.operands.iter().find(|operand| !matches!(operand, Operand::List(_))) {
                Some(Operand::Symbol { name, .. }) => callees.push(name.as_str()),
                _ => {
                    let is_called =
                        |(_, function): &(&&str, &&Function)| function.kind != FunctionKind::Entry;
                    callees.extend(self.all.iter().filter(is_called).map(|(name, _)| *name));
                }
            }
        }
        callees
    }
}
