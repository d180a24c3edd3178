//! Which functions a kernel can reach, and what they need of shared and local memory.

use bugaroo_ptx::ast::{
    AddressBase, Function, FunctionKind, Init, Instruction, Item, Module, Operand, Statement, StatementKind,
    Variable,
};
use bugaroo_ptx::op::Op;
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

/// All variables in global or constant memory that a module defines, or a function of these, in the order in which they are placed.
pub(super) fn all_variables<'m>(
    module: &'m Module,
    functions: &[&'m Function],
) -> impl Iterator<Item = &'m Variable> {
    super::symbols::variables(module).chain(functions.iter().flat_map(|function| static_variables(function)))
}

/// Variables in global or constant memory that a function declares.
fn static_variables(function: &Function) -> Vec<&Variable> {
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

/// The callee of a call, by its name, or whatever else it is.
fn callee(instruction: &Instruction) -> Option<&Operand> {
    instruction.operands.iter().find(|operand| !matches!(operand, Operand::List(_)))
}

/// How the names of the special registers begin that say where reserved shared memory is.
const RESERVED: &str = "%reserved_smem_";

/// Symbols that an operand names, and those special registers.
fn symbols_of<'f>(operand: &'f Operand, found: &mut FxHashSet<&'f str>) {
    match operand {
        Operand::Symbol { name, .. } => {
            found.insert(name);
        }
        Operand::Register(name) if name.starts_with(RESERVED) => {
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
    /// Device functions whose address is taken, by code or by a variable's initialiser: what an indirect call
    /// may reach.
    taken: Vec<u32>,
    /// Kernels that reach an indirect call.
    indirect: FxHashSet<u32>,
    dynamic: FxHashMap<u32, u32>,
}

impl Reached {
    pub fn new(module: &Module, functions: &[&Function], names: &FxHashMap<&str, u32>) -> Reached {
        let numbers = |found: FxHashSet<&str>| {
            let mut numbers: Vec<u32> = found.iter().filter_map(|name| names.get(name).copied()).collect();
            numbers.sort_unstable();
            numbers
        };
        let initialisers = symbols::variables(module).flat_map(|v| &v.init).filter_map(|init| match init {
            Init::Symbol { name, .. } => Some(name.as_str()),
            Init::Bits(_) => None,
        });
        let mut taken: FxHashSet<&str> = initialisers.collect();
        let mut calls = Vec::new();
        let mut uses = Vec::new();
        let mut calls_indirectly = Vec::new();
        for function in functions {
            let mut used = FxHashSet::default();
            let mut called = FxHashSet::default();
            let mut indirectly = false;
            walk(statements(function), &mut |kind| match kind {
                StatementKind::Instruction(i) => {
                    let mut found = FxHashSet::default();
                    i.operands.iter().for_each(|o| symbols_of(o, &mut found));
                    if matches!(i.op, Op::Call { .. } | Op::Other) {
                        called.extend(found.iter().copied());
                    } else {
                        taken.extend(found.iter().copied());
                    }
                    indirectly |=
                        matches!(i.op, Op::Call { .. }) && !matches!(callee(i), Some(Operand::Symbol { .. }));
                    used.extend(found);
                }
                StatementKind::Targets { targets, .. } => called.extend(targets.iter().map(String::as_str)),
                _ => {}
            });
            calls.push(numbers(called));
            calls_indirectly.push(indirectly);
            uses.push(used.into_iter().map(str::to_string).collect());
        }
        let mut taken = numbers(taken);
        taken.retain(|function| functions[*function as usize].kind == FunctionKind::Func);

        let mut kernels = vec![Vec::new(); functions.len()];
        let mut indirect = FxHashSet::default();
        for (kernel, function) in functions.iter().enumerate() {
            if function.kind != FunctionKind::Entry || function.body.is_none() {
                continue;
            }
            let kernel = kernel as u32;
            let mut todo = vec![kernel];
            while let Some(next) = todo.pop() {
                let known: &mut Vec<u32> = &mut kernels[next as usize];
                if known.last() != Some(&kernel) {
                    known.push(kernel);
                    todo.extend(&calls[next as usize]);
                    // Who calls through a pointer may call whatever has one.
                    if calls_indirectly[next as usize] && indirect.insert(kernel) {
                        todo.extend(&taken);
                    }
                }
            }
        }
        let mut reached = Reached { kernels, calls, uses, taken, indirect, dynamic: FxHashMap::default() };
        reached.find_dynamic(module, functions);
        reached
    }

    /// Does any kernel reach this function?
    pub fn any(&self, function: u32) -> bool {
        !self.kernels[function as usize].is_empty()
    }

    /// Does this kernel reach this function?
    pub fn by(&self, kernel: u32, function: u32) -> bool {
        self.kernels[function as usize].binary_search(&kernel).is_ok()
    }

    /// Is the function's address taken anywhere?
    pub fn is_taken(&self, function: u32) -> bool {
        self.taken.binary_search(&function).is_ok()
    }

    /// Alignment that the dynamic shared memory of a kernel needs.
    pub fn dynamic_align(&self, kernel: u32) -> u32 {
        self.dynamic.get(&kernel).copied().unwrap_or(16)
    }

    /// Does a kernel reach a function that asks where reserved shared memory is?
    pub fn reserved_shared(&self, kernel: u32) -> bool {
        let mut reached = (0..self.uses.len()).filter(|f| self.kernels[*f].binary_search(&kernel).is_ok());
        reached.any(|f| self.uses[f].iter().any(|name| name.starts_with(RESERVED)))
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
    /// counts once, and functions that are called through pointers count as called by the kernel itself.
    pub fn local_bytes(&self, kernel: u32, functions: &[LoadedFunction]) -> (u32, bool) {
        let mut walk =
            Depth { calls: &self.calls, functions, known: vec![None; functions.len()], open: false };
        let mut bytes = walk.from(kernel);
        if self.indirect.contains(&kernel) {
            walk.open = true;
            for function in &self.taken {
                bytes = bytes.max(walk.from(*function));
            }
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

/// A function on the path that is being walked.
struct Visit {
    function: u32,
    /// Calls of it that have been looked at.
    seen: usize,
    /// Bytes below it, as far as is known.
    below: u32,
}

impl Depth<'_> {
    /// Bytes from a function downwards. The path lies on the heap: chains of calls are as long as a module likes.
    fn from(&mut self, function: u32) -> u32 {
        let (calls, functions) = (self.calls, self.functions);
        let mut path = Vec::new();
        let mut answer = self.enter(function, &mut path);
        loop {
            let Some(top) = path.last_mut() else { return answer.unwrap_or(0) };
            top.below = top.below.max(answer.take().unwrap_or(0));
            if let Some(callee) = calls[top.function as usize].get(top.seen) {
                top.seen += 1;
                answer = self.enter(*callee, &mut path);
                continue;
            }
            let own = &functions[top.function as usize];
            let bytes = own.local_bytes.saturating_add(top.below);
            self.open |= own.grows;
            self.known[top.function as usize] = Some(Some(bytes));
            answer = Some(bytes);
            path.pop();
        }
    }

    /// What is known of a function, or None when it has just been put on the path.
    fn enter(&mut self, function: u32, path: &mut Vec<Visit>) -> Option<u32> {
        let known = &mut self.known[function as usize];
        if let Some(known) = known {
            self.open |= known.is_none();
            return Some(known.unwrap_or(0));
        }
        *known = Some(None);
        path.push(Visit { function, seen: 0, below: 0 });
        None
    }
}

/// `extern .shared .b8 x[];`, whose size the launch decides. (One that states a size is memory of that size, as `ptxas` has it
/// for a module that is not linked with another.)
pub(super) fn is_dynamic_shared(variable: &Variable) -> bool {
    variable.space == Space::Shared && variable.size() == 0
}
