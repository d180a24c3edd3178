//! Names in scope at an instruction: how wide a register is, and which space a variable lives in.
//!
//! PTX scopes nest with `{ }`, inside functions too (inline assembly brings its own), and an inner
//! declaration hides an outer one.

use std::collections::BTreeMap;

use bugaroo_ptx::ast::{Function, Item, Module, Param, RegisterDecl, Variable};
use bugaroo_ptx::types::Space;

/// The scopes around a place in a function, outermost first.
pub(crate) struct Scopes<'m> {
    module: &'m BTreeMap<String, Space>,
    parameters: &'m [Param],
    returns: &'m [Param],
    stack: Vec<Scope<'m>>,
}

#[derive(Default)]
struct Scope<'m> {
    registers: Vec<&'m RegisterDecl>,
    variables: Vec<&'m Variable>,
}

/// The spaces of a module's own variables.
pub(crate) fn module_variables(module: &Module) -> BTreeMap<String, Space> {
    let variables = module.items.iter().filter_map(|item| match item {
        Item::Variable(variable) => Some((variable.name.clone(), variable.space)),
        Item::Function(_) | Item::Directive(_) => None,
    });
    variables.collect()
}

impl<'m> Scopes<'m> {
    /// The scopes at a function's signature.
    pub(crate) fn new(module: &'m BTreeMap<String, Space>, function: &'m Function) -> Self {
        Scopes { module, parameters: &function.params, returns: &function.returns, stack: Vec::new() }
    }

    fn signature(&self) -> impl Iterator<Item = &'m Param> {
        self.parameters.iter().chain(self.returns)
    }

    /// Enters `{`.
    pub(crate) fn enter(&mut self) {
        self.stack.push(Scope::default());
    }

    /// Leaves at `}`.
    pub(crate) fn leave(&mut self) {
        self.stack.pop();
    }

    /// Sees a `.reg`.
    pub(crate) fn declare_registers(&mut self, declarations: &'m [RegisterDecl]) {
        if let Some(scope) = self.stack.last_mut() {
            scope.registers.extend(declarations);
        }
    }

    /// Sees a variable.
    pub(crate) fn declare_variable(&mut self, variable: &'m Variable) {
        if let Some(scope) = self.stack.last_mut() {
            scope.variables.push(variable);
        }
    }

    /// Bits of a declared register; None for a special register, a register vector, or no register.
    pub(crate) fn register_bits(&self, name: &str) -> Option<u32> {
        let declarations = self.stack.iter().rev().flat_map(|scope| scope.registers.iter().rev());
        let mut found = declarations.filter(|declaration| declares(declaration, name));
        let Some(declaration) = found.next() else {
            let mut signature = self.signature().filter(|param| param.in_register);
            let param = signature.find(|param| param.variable.name == name)?;
            return Some(param.variable.ty.bits());
        };
        (declaration.vec == 1).then(|| declaration.ty.bits())
    }

    /// The space of a variable or parameter.
    pub(crate) fn variable_space(&self, name: &str) -> Option<Space> {
        let inner = self.stack.iter().rev().flat_map(|scope| scope.variables.iter().rev());
        let mut found = inner.filter(|variable| variable.name == name).map(|variable| variable.space);
        let parameter = || {
            let mut memory = self.signature().filter(|param| !param.in_register);
            memory.any(|param| param.variable.name == name).then_some(Space::Param)
        };
        found.next().or_else(parameter).or_else(|| self.module.get(name).copied())
    }
}

/// Whether a declaration (`%r<10>` or `%total`) declares this name.
fn declares(declaration: &RegisterDecl, name: &str) -> bool {
    match declaration.count {
        None => declaration.name == name,
        Some(count) => name.strip_prefix(declaration.name.as_str()).is_some_and(|index| {
            let canonical = index == "0" || !index.starts_with('0');
            canonical
                && index.bytes().all(|byte| byte.is_ascii_digit())
                && index.parse::<u32>().is_ok_and(|i| i < count)
        }),
    }
}
