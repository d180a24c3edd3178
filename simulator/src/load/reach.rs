//! Which functions a kernel can reach, and what they need of shared and local memory.

use bugaroo_ptx::ast::{
    AddressBase, Function, FunctionKind, Init, Item, Linkage, Module, Operand, Statement, StatementKind,
    Variable,
};
use bugaroo_ptx::types::Space;
use rustc_hash::{FxHashMap, FxHashSet};

use super::shared::{SharedLayout, SharedUse};
use super::symbols;
use crate::decoded::LoadedFunction;

/// One entry per name: the definition, or the declaration where there is none. Order of first appearance.
pub(super) fn definitions(module: &Module) -> Vec<&Function> {
    let mut order: Vec<&Function> = Vec::new();
    let mut at: FxHashMap<&str, usize> = FxHashMap::default();
    for function in super::items(module) {
        match at.get(function.name.as_str()) {
            Some(index) if order[*index].body.is_none() => order[*index] = function,
            Some(_) => {}
            None => {
                at.insert(&function.name, order.len());
                order.push(function);
            }
        }
    }
    order
}

fn walk<'f>(statements: &'f [Statement], visit: &mut dyn FnMut(&'f StatementKind)) {
    for statement in statements {
        visit(&statement.kind);
        if let StatementKind::Block(inner) = &statement.kind {
            walk(inner, visit);
        }
    }
}

fn statements(function: &Function) -> &[Statement] {
    function.body.as_ref().map_or(&[], |body| &body.statements)
}

/// Variables in global or constant memory that a function declares.
pub(super) fn static_variables<'f>(function: &&'f Function) -> Vec<&'f Variable> {
    let mut found = Vec::new();
    walk(statements(function), &mut |kind| {
        if let StatementKind::Variable(v) = kind
            && matches!(v.space, Space::Global | Space::Const)
        {
            found.push(v);
        }
    });
    found
}

fn symbols_of<'f>(operand: &'f Operand, found: &mut FxHashSet<&'f str>) {
    match operand {
        Operand::Symbol { name, .. } => {
            found.insert(name);
        }
        Operand::Address { base: AddressBase::Symbol(name), .. } => {
            found.insert(name);
        }
        Operand::Vector(inner) | Operand::List(inner) => inner.iter().for_each(|o| symbols_of(o, found)),
        Operand::Not(inner) => symbols_of(inner, found),
        _ => {}
    }
}

/// Per function, the kernels that reach it; and the call graph.
pub(super) struct Reached {
    kernels: Vec<Vec<u32>>,
    calls: Vec<Vec<u32>>,
    uses: Vec<FxHashSet<String>>,
    /// Functions whose address stands in a variable.
    in_tables: Vec<u32>,
    dynamic: FxHashMap<u32, u32>,
}

impl Reached {
    pub fn new(module: &Module, functions: &[&Function], names: &FxHashMap<&str, u32>) -> Reached {
        // Functions whose address stands in a variable may be called by any kernel with an indirect call;
        // taking them as reached by every kernel is safe.
        let mut in_tables: Vec<u32> = symbols::variables(module)
            .flat_map(|v| &v.init)
            .filter_map(|init| match init {
                Init::Symbol { name, .. } => names.get(name.as_str()).copied(),
                Init::Bits(_) => None,
            })
            .collect();
        in_tables.sort_unstable();
        in_tables.dedup();

        let mut calls = Vec::new();
        let mut uses = Vec::new();
        for function in functions {
            let mut found = FxHashSet::default();
            walk(statements(function), &mut |kind| match kind {
                StatementKind::Instruction(i) => i.operands.iter().for_each(|o| symbols_of(o, &mut found)),
                StatementKind::Targets { targets, .. } => found.extend(targets.iter().map(String::as_str)),
                _ => {}
            });
            let mut callees: Vec<u32> = found.iter().filter_map(|name| names.get(name).copied()).collect();
            callees.sort_unstable();
            calls.push(callees);
            uses.push(found.into_iter().map(str::to_string).collect());
        }

        let mut kernels = vec![Vec::new(); functions.len()];
        for (kernel, function) in functions.iter().enumerate() {
            if function.kind != FunctionKind::Entry || function.body.is_none() {
                continue;
            }
            let mut todo = vec![kernel as u32];
            todo.extend(&in_tables);
            while let Some(next) = todo.pop() {
                let known: &mut Vec<u32> = &mut kernels[next as usize];
                if known.last() != Some(&(kernel as u32)) {
                    known.push(kernel as u32);
                    todo.extend(&calls[next as usize]);
                }
            }
        }
        let mut reached = Reached { kernels, calls, uses, in_tables, dynamic: FxHashMap::default() };
        reached.find_dynamic(module, functions);
        reached
    }

    /// Does any kernel reach this function?
    pub fn any(&self, function: u32) -> bool {
        !self.kernels[function as usize].is_empty()
    }

    /// Alignment that the dynamic shared memory of a kernel needs.
    pub fn dynamic_align(&self, kernel: u32) -> u32 {
        self.dynamic.get(&kernel).copied().unwrap_or(16)
    }

    /// The kernels that reach a function using the module variable `name`.
    fn kernels_using(&self, name: &str) -> Vec<u32> {
        let mut kernels: Vec<u32> = (0..self.uses.len())
            .filter(|f| self.uses[*f].contains(name))
            .flat_map(|f| self.kernels[f].iter().copied())
            .collect();
        kernels.sort_unstable();
        kernels.dedup();
        kernels
    }

    fn find_dynamic(&mut self, module: &Module, functions: &[&Function]) {
        let mut uses = Vec::new();
        for item in &module.items {
            if let Item::Variable(v) = item
                && is_dynamic_shared(v)
            {
                uses.push((v.align, self.kernels_using(&v.name)));
            }
        }
        for (index, function) in functions.iter().enumerate() {
            walk(statements(function), &mut |kind| {
                if let StatementKind::Variable(v) = kind
                    && is_dynamic_shared(v)
                {
                    uses.push((v.align, self.kernels[index].clone()));
                }
            });
        }
        for (align, kernels) in uses {
            for kernel in kernels {
                let known = self.dynamic.entry(kernel).or_insert(16);
                *known = (*known).max(align);
            }
        }
    }

    /// Offsets of all shared variables; None when they do not fit into 32 bits.
    pub fn shared_layout(&self, module: &Module, functions: &[&Function]) -> Option<SharedLayout> {
        let mut uses = Vec::new();
        for item in &module.items {
            if let Item::Variable(variable) = item
                && variable.space == Space::Shared
                && !is_dynamic_shared(variable)
            {
                let kernels = self.kernels_using(&variable.name);
                uses.push(SharedUse { owner: None, variable, kernels });
            }
        }
        for (index, function) in functions.iter().enumerate() {
            walk(statements(function), &mut |kind| {
                if let StatementKind::Variable(variable) = kind
                    && variable.space == Space::Shared
                    && !is_dynamic_shared(variable)
                {
                    let kernels = self.kernels[index].clone();
                    uses.push(SharedUse { owner: Some(index as u32), variable, kernels });
                }
            });
        }
        SharedLayout::new(uses)
    }

    /// Local memory on the deepest path of calls from a kernel, and whether that is no bound: a cycle
    /// counts once, and functions that are called through variables count as called by the kernel itself.
    pub fn local_bytes(&self, kernel: u32, functions: &[LoadedFunction]) -> (u32, bool) {
        let mut walk =
            Depth { calls: &self.calls, functions, known: vec![None; functions.len()], open: false };
        let mut bytes = walk.from(kernel);
        for function in &self.in_tables {
            walk.open = true;
            bytes = bytes.max(walk.from(*function));
        }
        (bytes, walk.open)
    }
}

/// A walk down the call graph.
struct Depth<'a> {
    calls: &'a [Vec<u32>],
    functions: &'a [LoadedFunction],
    /// Bytes from a function downwards; `Some(None)` while it is being walked.
    known: Vec<Option<Option<u32>>>,
    open: bool,
}

impl Depth<'_> {
    fn from(&mut self, function: u32) -> u32 {
        match self.known[function as usize] {
            Some(Some(bytes)) => return bytes,
            Some(None) => {
                self.open = true;
                return 0;
            }
            None => self.known[function as usize] = Some(None),
        }
        let calls = self.calls;
        let below = calls[function as usize].iter().map(|callee| self.from(*callee)).max();
        let bytes = self.functions[function as usize].local_bytes.saturating_add(below.unwrap_or(0));
        self.known[function as usize] = Some(Some(bytes));
        bytes
    }
}

/// `extern .shared .b8 x[];`, whose size the launch decides.
pub(super) fn is_dynamic_shared(variable: &Variable) -> bool {
    variable.space == Space::Shared && (variable.linkage == Linkage::Extern || variable.size() == 0)
}
