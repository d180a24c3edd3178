//! All expressions of an emulation: each by its number, equal ones once.

use bugaroo_simulator::alu::Width;
use rustc_hash::{FxHashMap, FxHashSet};

use super::bounds::{Bounds, extremes, mask, signed};
use super::distance::{Distance, Pair};
use super::division::Partial;
use super::terms::{Changing, Node, Order, RowShape, Source, Symbol};
use super::tie::Tie;
use crate::emulate::residue::Low;

/// All expressions of an emulation, and what is assumed of them.
#[derive(Clone, Debug, Default)]
pub(in crate::emulate) struct Symbols {
    pub(super) table: Table,
    pub(super) choices: Choices,
    pub(super) limits: Limits,
    /// Constant rows with where the grid's workspace lies.
    pub(super) workspace: FxHashSet<i32>,
    pub(super) quotients: Quotients,
    pub(super) rounds: Changes,
    /// How many contents have been named in this emulation.
    pub(super) contents: u32,
}

/// Expressions by number, and their numbers.
#[derive(Clone, Debug, Default)]
pub(in crate::emulate) struct Table {
    pub(super) nodes: Vec<Node>,
    pub(super) numbers: FxHashMap<Node, u32>,
    pub(super) function_numbers: FxHashMap<(usize, [Width; 5]), u32>,
}

/// What is assumed of expressions, and how often something was decided by that.
#[derive(Clone, Debug, Default)]
pub(in crate::emulate) struct Choices {
    pub(super) assumed: FxHashMap<u32, bool>,
    pub(super) assumptions: u32,
    pub(super) decisions: u64,
    pub(super) decided_last: Option<Symbol>,
}

/// What is known of the numbers that expressions stand for.
#[derive(Clone, Debug, Default)]
pub(in crate::emulate) struct Limits {
    pub(super) bounds: FxHashMap<u32, Bounds>,
    /// How far numbers are from their limits, in this emulation and as noted first.
    pub(super) reach: FxHashMap<Pair, Distance>,
    pub(super) noted: FxHashMap<Symbol, Vec<(Pair, Distance)>>,
    /// By how much numbers go up.
    pub(super) steps: FxHashMap<Symbol, u64>,
    pub(super) lows: FxHashMap<u32, Low>,
}

/// How quotients and products were made.
#[derive(Clone, Debug, Default)]
pub(in crate::emulate) struct Quotients {
    /// Expressions on the way to a quotient, and multiples by small constants.
    pub(super) partials: FxHashMap<u32, Partial>,
    pub(super) products: FxHashMap<u32, (Symbol, u64)>,
}

/// Numbers that change from round to round.
#[derive(Clone, Debug, Default)]
pub(in crate::emulate) struct Changes {
    /// Numbers of rounds that go together.
    pub(super) ties: FxHashMap<Symbol, Tie>,
    pub(super) changing: FxHashMap<Changing, u32>,
}

impl Symbols {
    pub(super) fn intern(&mut self, node: Node) -> Symbol {
        let next = self.table.nodes.len();
        let index = *self.table.numbers.entry(node).or_insert(next as u32) as usize;
        if index == next {
            self.table.nodes.push(node);
        }
        Symbol::new(index)
    }

    /// An expression's node.
    pub fn node(&self, symbol: Symbol) -> Node {
        self.table.nodes[symbol.index()]
    }

    /// Bytes of a parameter.
    pub fn param(&mut self, offset: u64, size: usize, signed: bool) -> Symbol {
        self.intern(Node::Param { offset: offset as u32, size: size as u8, signed: signed && size < 8 })
    }

    /// What a constant row will hold: a part of where the grid's workspace lies, or not.
    pub fn launch(&mut self, slot: i32, width: Width, workspace: bool) -> Symbol {
        if workspace {
            self.workspace.insert(slot);
        }
        self.intern(Node::Launch { slot, width })
    }

    /// Whether where the grid's workspace lies is in an expression.
    pub fn is_of_workspace(&self, symbol: Symbol) -> bool {
        let mut found = false;
        if !self.workspace.is_empty() {
            self.walk(symbol, |node| {
                found |= matches!(node, Node::Launch { slot, .. } if self.workspace.contains(&slot));
            });
        }
        found
    }

    /// Whether anything is assumed of which block of the grid it is.
    pub fn assumes_block(&self) -> bool {
        let of_block = |index: &u32| {
            let mut found = false;
            self.walk(Symbol::new(*index as usize), |node| {
                found |= matches!(node, Node::Launch { slot, .. } if slot < i32::MIN + 3);
            });
            found
        };
        self.choices.assumed.keys().any(of_block)
    }

    /// A number that changes from round to round. It is known by all that it is, as what is assumed of it in one case has to mean
    /// the same in another, whose numbers may be found in another order.
    pub fn round(&mut self, changing: Changing, multiple: u64) -> Symbol {
        let next = self.rounds.changing.len() as u32;
        let number = *self.rounds.changing.entry(changing).or_insert(next);
        self.intern(Node::Round { number, multiple })
    }

    /// What is known of an expression's low bits.
    pub fn low(&self, symbol: Symbol) -> Low {
        match self.node(symbol) {
            Node::Round { multiple, .. } => Low::zeros(multiple.trailing_zeros()),
            Node::Quotient { of, by, .. } => Low::zeros((self.multiple(of) / by).trailing_zeros()),
            Node::Sum { of, plus, .. } => self.low(of).plus(plus),
            _ => self.limits.lows.get(&(symbol.index() as u32)).copied().unwrap_or(Low::zeros(0)),
        }
    }

    /// Says what is known of them.
    pub fn set_low(&mut self, symbol: Symbol, low: Low) {
        if low.bits() > 0 {
            self.limits.lows.insert(symbol.index() as u32, low);
        }
    }

    /// The CTA's index in a dimension, where there is one CTA, and which is not known.
    pub fn cta(&mut self, dimension: u8, width: Width) -> Symbol {
        // No row has such a slot.
        self.intern(Node::Launch { slot: i32::MIN + i32::from(dimension), width })
    }

    /// A sum of `bytes` bytes with a constant.
    pub fn sum(&mut self, of: Symbol, plus: u64, bytes: u8) -> Symbol {
        let (of, plus) = match self.node(of) {
            Node::Sum { of: inner, plus: more, bytes: same } if same == bytes => {
                (inner, plus.wrapping_add(more))
            }
            _ => (of, plus),
        };
        let plus = plus & mask(bytes);
        if plus == 0 { of } else { self.intern(Node::Sum { of, plus, bytes }) }
    }

    pub(super) fn compare(&mut self, order: Order, bytes: u8, a: Source, b: Source) -> Symbol {
        let (mut a, mut b) = (self.plain(a, bytes), self.plain(b, bytes));
        if order == Order::Equal {
            // A constant stands behind, and takes all constants.
            if let Source::Known(_) = a {
                std::mem::swap(&mut a, &mut b);
            }
            if let (Source::Symbol(x), Source::Known(y)) = (a, b)
                && let Node::Sum { of, plus, bytes: same } = self.node(x)
                && same == bytes
            {
                (a, b) = (Source::Symbol(of), Source::Known(y.wrapping_sub(plus) & mask(bytes)));
            }
            if let (Source::Symbol(x), Source::Symbol(y)) = (a, b)
                && y < x
            {
                std::mem::swap(&mut a, &mut b);
            }
        }
        self.intern(Node::Compare { order, bytes, a, b })
    }

    pub(super) fn plain(&self, source: Source, bytes: u8) -> Source {
        match source {
            Source::Known(value) => Source::Known(value & mask(bytes)),
            symbol => symbol,
        }
    }

    /// What a row function gives.
    pub fn row(&mut self, shape: RowShape, second: bool, sources: [Option<Source>; 4]) -> Symbol {
        let [a, b, c, d] = shape.sources;
        let key = (shape.run as *const () as usize, [shape.dst, a, b, c, d]);
        let next = self.table.function_numbers.len() as u32;
        let function = *self.table.function_numbers.entry(key).or_insert(next);
        self.intern(Node::Row { function, second, sources })
    }

    /// Says that a number of so many bytes is at most so much, as signed and as unsigned.
    pub fn set_most(&mut self, symbol: Symbol, bytes: u8, most: u64) {
        let most = most & mask(bytes);
        let bounds = self.bounds_mut(symbol, bytes);
        bounds.unsigned.1 = bounds.unsigned.1.min(most);
        if signed(most, bytes) >= 0 {
            bounds.signed = (bounds.signed.0.max(0), bounds.signed.1.min(most as i64));
        }
    }

    pub(super) fn bounds_mut(&mut self, symbol: Symbol, bytes: u8) -> &mut Bounds {
        let all = Bounds { bytes, signed: extremes(bytes), unsigned: (0, mask(bytes)) };
        self.limits.bounds.entry(symbol.bits()).or_insert(all)
    }

    /// Parameters in an expression: offset of each.
    pub fn params(&self, symbol: Symbol) -> Vec<u64> {
        let mut found = Vec::new();
        self.walk(symbol, |node| {
            if let Node::Param { offset, .. } = node {
                found.push(u64::from(offset));
            }
        });
        found
    }

    /// Sees all nodes of an expression.
    pub(super) fn walk(&self, symbol: Symbol, mut see: impl FnMut(Node)) {
        let mut next = vec![symbol];
        let mut seen = FxHashSet::default();
        while let Some(symbol) = next.pop() {
            if !seen.insert(symbol.index()) {
                continue;
            }
            let node = self.node(symbol);
            see(node);
            let mut source = |source: &Source| {
                if let Source::Symbol(inner) = source {
                    next.push(*inner);
                }
            };
            match node {
                Node::Param { .. } | Node::Launch { .. } | Node::Round { .. } | Node::Content { .. } => {}
                Node::Compare { a, b, .. } => [a, b].iter().for_each(&mut source),
                Node::Sum { of, .. } | Node::Quotient { of, .. } => next.push(of),
                Node::Row { sources, .. } => sources.iter().flatten().for_each(&mut source),
            }
        }
    }

    /// A value that is not known and that more than one thread gets to see. They are numbered as they come up, which is the same in all cases up to
    /// where these part.
    pub fn content(&mut self, of_warp: bool) -> Symbol {
        self.contents += 1;
        self.intern(Node::Content { number: self.contents, of_warp })
    }

    /// Whether what a warp has agreed on by itself is in an expression.
    pub fn is_of_warp(&self, symbol: Symbol) -> bool {
        let mut found = false;
        self.walk(symbol, |node| found |= matches!(node, Node::Content { of_warp: true, .. }));
        found
    }

    /// Whether a number that changes from round to round is in an expression, or a value that comes up on the way.
    pub fn is_of_rounds(&self, symbol: Symbol) -> bool {
        let mut found = false;
        self.walk(symbol, |node| found |= matches!(node, Node::Round { .. } | Node::Content { .. }));
        found
    }

    /// An emulation begins: nothing is known but what is assumed.
    pub fn begin(&mut self) {
        self.limits.reach.clear();
        self.rounds.ties.clear();
        self.contents = 0;
    }

    /// The same expressions, of which nothing is assumed.
    pub fn without_assumptions(&self) -> Symbols {
        let (bounds, noted) = Default::default();
        let limits = Limits { bounds, noted, ..self.limits.clone() };
        Symbols { choices: Choices::default(), limits, ..self.clone() }
    }

    /// How many predicates are assumed.
    pub fn assumptions(&self) -> u32 {
        self.choices.assumptions
    }

    /// How often a predicate was decided by what is assumed.
    pub fn decisions(&self) -> u64 {
        self.choices.decisions
    }

    /// The predicate that was decided last.
    pub fn decided_last(&self) -> Option<Symbol> {
        self.choices.decided_last
    }
}
