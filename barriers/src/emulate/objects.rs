//! Which shared variables an address points into, where the address itself is not known.
//!
//! Source: points-to sets as in Andersen ("Program Analysis and Specialization for the C Programming Language", 1994), of registers alone and
//! within one function: a register points into whatever one of its definitions does. Sums, masks and the like point where one of their
//! sources does; what is chosen (`selp`, several definitions) has to point into a variable on each way. What was loaded, passed or
//! returned points nowhere that is known, and neither do plain numbers.
//!
//! Where the index has bounds ([`super::span`]), the address is in a part of the variable. It is taken to stay in the variable that it was made
//! from, as C++ wants it: an index beyond its end is not looked for.

use std::collections::BTreeMap;
use std::ops::Range;

use bugaroo_ptx::ast::{
    AddressBase, Function, Instruction, Item, Module, Operand, Statement, StatementKind, Variable,
};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::Space;
use bugaroo_simulator::KernelInfo;
use rustc_hash::FxHashMap;

use super::span::{self, Span};
use super::text::results;

/// Readings of a function's instructions after which bounds that still grow are given up.
const READINGS: u32 = 8;

/// What an address points into.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Object {
    /// A variable of a size that is known; None: dynamic shared memory.
    name: Option<String>,
    /// In any CTA of the cluster.
    mapped: bool,
}

/// Where a register points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Points {
    /// No definition has been seen that says it.
    #[default]
    Open,
    /// Into one of these variables, so far behind its beginning.
    Into(BTreeMap<Object, Span>),
    /// It is a number, or may be anything.
    Number(Span),
}

impl Points {
    /// What is the one or the other.
    fn or(self, other: Points) -> Points {
        match (self, other) {
            (Points::Open, other) | (other, Points::Open) => other,
            (Points::Into(objects), Points::Into(more)) => Points::Into(united(objects, more)),
            (Points::Number(a), Points::Number(b)) => Points::Number(a.or(b)),
            _ => ANYWHERE,
        }
    }

    /// What is reckoned from both.
    fn with(self, other: Points, reckon: impl Fn(Span, Span) -> Span) -> Points {
        match (self, other) {
            (Points::Into(objects), Points::Into(more)) => {
                let all = united(objects, more).into_keys();
                Points::Into(all.map(|object| (object, Span::ALL)).collect())
            }
            (Points::Into(objects), other) | (other, Points::Into(objects)) => {
                let by = match other {
                    Points::Number(by) => by,
                    _ => Span::ALL,
                };
                let moved = objects.into_iter().map(|(object, span)| (object, reckon(span, by)));
                Points::Into(moved.collect())
            }
            (Points::Open, _) | (_, Points::Open) => Points::Open,
            _ => ANYWHERE,
        }
    }
}

impl Points {
    /// The same, however far behind the beginning of variables.
    fn without_bounds(self) -> Points {
        match self {
            Points::Open => Points::Open,
            Points::Into(objects) => {
                Points::Into(objects.into_keys().map(|object| (object, Span::ALL)).collect())
            }
            Points::Number(_) => ANYWHERE,
        }
    }
}

const ANYWHERE: Points = Points::Number(Span::ALL);

fn united(mut all: BTreeMap<Object, Span>, more: BTreeMap<Object, Span>) -> BTreeMap<Object, Span> {
    for (object, span) in more {
        all.entry(object).and_modify(|known| *known = known.or(span)).or_insert(span);
    }
    all
}

/// Part of shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub bytes: Range<u32>,
    /// Of any CTA of the cluster, and not of the own one alone.
    pub mapped: bool,
}

/// Places of CTAs that something may have been written to at an address that is not known.
pub(super) type Scattered = Vec<(u32, Range<u32>)>;

/// The registers of the functions that were looked at.
#[derive(Debug)]
pub(super) struct Objects<'a> {
    module: &'a Module,
    info: &'a KernelInfo,
    /// Bytes of shared memory that the launch has.
    size: u32,
    functions: FxHashMap<String, FxHashMap<String, Points>>,
}

impl<'a> Objects<'a> {
    pub fn new(module: &'a Module, info: &'a KernelInfo, size: u32) -> Objects<'a> {
        Objects { module, info, size, functions: FxHashMap::default() }
    }

    /// Parts of shared memory that an access of so many bytes is in; None if it may be anywhere. Its instruction is given by the function
    /// and by where its text begins.
    pub fn of(&mut self, function: &str, text: usize, bytes: u64) -> Option<Vec<Part>> {
        let found = self.module.function(function)?;
        let all = found.instructions();
        let instruction = all.iter().find(|instruction| instruction.span.start == text)?;
        let (base, offset) = instruction.operands.iter().find_map(|operand| match operand {
            Operand::Address { base: AddressBase::Register(name), offset } => Some((name, *offset)),
            _ => None,
        })?;
        if !self.functions.contains_key(function) {
            let points = self.registers(found, &all);
            self.functions.insert(function.to_owned(), points);
        }
        let Points::Into(objects) = self.functions[function].get(base)? else { return None };
        let parts = objects.iter().flat_map(|(object, span)| {
            let reached = span.plus(Span::exactly(offset));
            let ranges = self.ranges(object.name.as_deref()).into_iter();
            ranges.map(move |whole| Part { bytes: within(whole, reached, bytes), mapped: object.mapped })
        });
        Some(parts.filter(|part| !part.bytes.is_empty()).collect())
    }

    fn ranges(&self, name: Option<&str>) -> Vec<Range<u32>> {
        match name {
            Some(name) => {
                let named = self.info.shared_variables.iter().filter(|variable| variable.name == name);
                named.map(|variable| variable.offset..variable.offset + variable.size).collect()
            }
            None => std::iter::once(self.info.static_shared.min(self.size)..self.size).collect(),
        }
    }

    /// A least fixed point over the definitions.
    fn registers(&self, function: &Function, all: &[&'a Instruction]) -> FxHashMap<String, Points> {
        let mut points: FxHashMap<String, Points> = FxHashMap::default();
        let mut changed = true;
        for reading in 0.. {
            if !changed {
                break;
            }
            changed = false;
            for instruction in all {
                let Some(first) = instruction.operands.first() else { continue };
                let found = match first {
                    Operand::Register(_) => self.result(function, instruction, &points),
                    _ => ANYWHERE,
                };
                let mut write = |name: &str| {
                    let old = points.get(name).cloned().unwrap_or_default();
                    let mut new = old.clone().or(found.clone());
                    if new != old {
                        if reading > READINGS {
                            new = new.without_bounds();
                        }
                        points.insert(name.to_owned(), new);
                        changed = true;
                    }
                };
                results(instruction).iter().for_each(|operand| operand.registers(&mut write));
            }
        }
        points
    }

    /// Where the result of an instruction points.
    fn result(
        &self,
        function: &Function,
        instruction: &Instruction,
        points: &FxHashMap<String, Points>,
    ) -> Points {
        let source = |at: usize| match instruction.operands.get(at) {
            Some(Operand::Register(name)) => points.get(name).cloned().unwrap_or_else(|| {
                // A special register, or one that nobody writes.
                if name.contains('.') { ANYWHERE } else { Points::default() }
            }),
            Some(Operand::Symbol { name, offset }) => {
                self.symbol(function, name).with(Points::Number(Span::exactly(*offset)), Span::plus)
            }
            Some(Operand::Integer(number)) => Points::Number(Span::exactly(*number)),
            _ => ANYWHERE,
        };
        let number = || {
            let span = |at: usize| match source(at + 1) {
                Points::Number(span) => span,
                _ => Span::ALL,
            };
            Points::Number(span::result(&instruction.op, span))
        };
        let is_number = |at: usize| matches!(source(at), Points::Number(_));
        let all = |_: Span, _: Span| Span::ALL;
        match &instruction.op {
            // Neither source is an address.
            Op::Add { .. } | Op::Sub { .. } | Op::And { .. } | Op::Or { .. } | Op::Xor { .. }
                if is_number(1) && is_number(2) =>
            {
                number()
            }
            Op::Cvt { .. } if is_number(1) => number(),
            Op::Mad { .. } if is_number(3) => number(),
            Op::Mov { .. } | Op::Cvta { space: Space::Shared | Space::SharedCluster, .. } => source(1),
            Op::Cvt { dst, src, .. } if dst.bytes() >= 4 && src.bytes() >= 4 && !dst.is_float() => source(1),
            Op::Selp { .. } => source(1).or(source(2)),
            Op::Add { .. } => source(1).with(source(2), Span::plus),
            Op::And { .. } | Op::Or { .. } | Op::Xor { .. } => source(1).with(source(2), all),
            // What is between two addresses is a number.
            Op::Sub { .. } => match source(2) {
                Points::Into(_) => ANYWHERE,
                number => source(1).with(number, Span::minus),
            },
            Op::Mad { .. } | Op::Mad24 { .. } => ANYWHERE.with(source(3), all),
            Op::Mapa { .. } => match source(1) {
                Points::Into(objects) => {
                    let mapped = |(object, span)| (Object { mapped: true, ..object }, span);
                    Points::Into(objects.into_iter().map(mapped).collect())
                }
                other => other,
            },
            _ => number(),
        }
    }

    fn symbol(&self, function: &Function, name: &str) -> Points {
        let mut own = Vec::new();
        function.body.iter().for_each(|body| variables(&body.statements, &mut own));
        let own: Vec<&Variable> = own.into_iter().filter(|variable| variable.name == name).collect();
        let of_module = self.module.items.iter().filter_map(|item| match item {
            Item::Variable(variable) if variable.name == name => Some(variable),
            _ => None,
        });
        let meant: Vec<&Variable> = if own.is_empty() { of_module.collect() } else { own };
        if meant.is_empty() || meant.iter().any(|variable| variable.space != Space::Shared) {
            return ANYWHERE;
        }
        let is_dynamic = meant.iter().any(|variable| variable.size() == 0);
        let name = (!is_dynamic).then(|| name.to_owned());
        Points::Into(BTreeMap::from([(Object { name, mapped: false }, Span::exactly(0))]))
    }
}

/// The bytes of a variable that an access is in which begins so far behind its beginning.
fn within(whole: Range<u32>, Span(least, most): Span, bytes: u64) -> Range<u32> {
    let begin = u64::from(whole.start).saturating_add(least);
    let end = u64::from(whole.start).saturating_add(most).saturating_add(bytes);
    let inside = begin.min(whole.end.into()) as u32..end.min(whole.end.into()) as u32;
    if inside.is_empty() { whole } else { inside }
}

fn variables<'a>(statements: &'a [Statement], into: &mut Vec<&'a Variable>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Variable(variable) => into.push(variable),
            StatementKind::Block(inner) => variables(inner, into),
            _ => {}
        }
    }
}
