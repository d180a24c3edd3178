//! Which definition each name stands for.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Function, FunctionKind, Item, Linkage, Module, Param, Span, Variable};
use crate::lexer::{Kind, Token, lex};
use crate::types::Space;

use super::error::LinkError;
use super::input::LinkInput;

/// A parsed module.
#[derive(Debug)]
pub(super) struct Unit<'a> {
    pub(super) name: &'a str,
    pub(super) module: Module,
    pub(super) tokens: Vec<Token>,
}

impl<'a> Unit<'a> {
    pub(super) fn parse(input: &LinkInput<'a>) -> Result<Self, LinkError> {
        let wrong = |error| LinkError::Parse { module: input.name.to_owned(), error };
        let module = crate::parse(input.text).map_err(wrong)?;
        let tokens = lex(input.text).map_err(wrong)?;
        Ok(Unit { name: input.name, module, tokens })
    }

    /// The first operand of `.target`.
    pub(super) fn target(&self) -> &str {
        self.module.targets.first().map_or("", String::as_str)
    }

    pub(super) fn token_text(&self, token: Token) -> &str {
        &self.module.source[token.start as usize..token.end as usize]
    }

    /// The tokens of a node.
    pub(super) fn tokens_of(&self, span: Span) -> &[Token] {
        let from = self.tokens.partition_point(|token| (token.start as usize) < span.start);
        let to =
            self.tokens.partition_point(|token| (token.end as usize) <= span.end && token.kind != Kind::End);
        &self.tokens[from..to.max(from)]
    }

    /// Names that a debug section defines, to which `.loc` refers.
    fn debug_labels(&self) -> impl Iterator<Item = &str> {
        let sections = self.module.items.iter().filter_map(|item| match item {
            Item::Directive(span) if self.is_strings(*span) => Some(self.tokens_of(*span)),
            _ => None,
        });
        sections.flat_map(|tokens| {
            let labels =
                tokens.windows(2).filter(|pair| pair[0].kind == Kind::Ident && pair[1].kind == Kind::Colon);
            labels.map(|pair| self.token_text(pair[0]))
        })
    }

    /// Whether a directive is the section that holds the names of inlined functions.
    pub(super) fn is_strings(&self, span: Span) -> bool {
        let mut words = self.module.text(span).split_ascii_whitespace();
        words.next() == Some(".section") && words.next().is_some_and(|name| name.starts_with(".debug_str"))
    }
}

/// An item of a module: which module, and which of its items.
pub(super) type Place = (usize, usize);

/// What the names mean.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// The definition of each name that all modules see.
    pub(super) global: FxHashMap<String, Place>,
    /// Declarations that stay, as nobody defines them: dynamic shared memory, and functions of the system.
    pub(super) declared: Vec<Place>,
    /// For each module: its own names that are renamed.
    pub(super) renamed: Vec<FxHashMap<String, String>>,
}

impl Symbols {
    /// Whether the item is the definition of its name, rather than one that another stands for.
    pub(super) fn keeps(&self, name: &str, linkage: Linkage, place: Place) -> bool {
        linkage == Linkage::Internal || self.global.get(name) == Some(&place)
    }
}

/// An item that has a name.
#[derive(Clone, Copy)]
enum Named<'a> {
    Function(&'a Function),
    Variable(&'a Variable),
}

impl<'a> Named<'a> {
    fn of(item: &'a Item) -> Option<Self> {
        match item {
            Item::Function(function) => Some(Named::Function(function)),
            Item::Variable(variable) => Some(Named::Variable(variable)),
            Item::Directive(_) => None,
        }
    }

    fn name(&self) -> &'a str {
        match self {
            Named::Function(function) => &function.name,
            Named::Variable(variable) => &variable.name,
        }
    }

    /// Kernels are found by name whatever they say.
    fn linkage(&self) -> Linkage {
        match self {
            Named::Function(function) => linkage_of(function),
            Named::Variable(variable) => variable.linkage,
        }
    }

    fn defines(&self) -> bool {
        match self {
            Named::Function(function) => function.body.is_some(),
            Named::Variable(variable) => variable.linkage != Linkage::Extern,
        }
    }

    /// What it is, as far as declaration and definition have to agree.
    fn kind(&self) -> String {
        match self {
            Named::Function(function) if function.kind == FunctionKind::Entry => "a kernel".to_owned(),
            Named::Function(function) => {
                let sizes = |params: &[Param]| {
                    let sizes: Vec<String> =
                        params.iter().map(|param| param.variable.size().to_string()).collect();
                    sizes.join(", ")
                };
                format!(
                    "a function of ({}) bytes giving ({})",
                    sizes(&function.params),
                    sizes(&function.returns)
                )
            }
            Named::Variable(variable) => {
                format!("a .{} variable", format!("{:?}", variable.space).to_lowercase())
            }
        }
    }
}

/// A function's linkage; kernels are found by name whatever they say.
pub(super) fn linkage_of(function: &Function) -> Linkage {
    match (function.kind, function.linkage) {
        (FunctionKind::Entry, Linkage::Internal) => Linkage::Visible,
        (_, linkage) => linkage,
    }
}

/// `.extern .shared x[]`: the launch gives its size.
pub(super) fn is_dynamic_shared(variable: &Variable) -> bool {
    variable.linkage == Linkage::Extern && variable.space == Space::Shared && variable.size() == 0
}

/// Resolves all names.
pub(super) fn resolve(units: &[Unit<'_>], external: &dyn Fn(&str) -> bool) -> Result<Symbols, LinkError> {
    let mut symbols = Symbols::default();
    for (place, named) in all(units) {
        if named.defines() && named.linkage() != Linkage::Internal {
            define(units, &mut symbols, place, named)?;
        }
    }
    declare(units, &mut symbols, external)?;
    rename(units, &mut symbols);
    Ok(symbols)
}

fn all<'a>(units: &'a [Unit<'_>]) -> impl Iterator<Item = (Place, Named<'a>)> {
    units.iter().enumerate().flat_map(|(unit, parsed)| {
        let items = parsed.module.items.iter().enumerate();
        items.filter_map(move |(item, node)| Some(((unit, item), Named::of(node)?)))
    })
}

fn named<'a>(units: &'a [Unit<'_>], (unit, item): Place) -> Named<'a> {
    // Only places of named items are kept.
    Named::of(&units[unit].module.items[item]).expect("the place of an item with a name")
}

fn mismatch(units: &[Unit<'_>], first: Place, second: Place) -> Result<(), LinkError> {
    let (one, other) = (named(units, first), named(units, second));
    let (first_kind, second_kind) = (one.kind(), other.kind());
    if first_kind == second_kind {
        return Ok(());
    }
    let module = |place: Place| units[place.0].name.to_owned();
    Err(LinkError::Mismatch {
        name: one.name().to_owned(),
        first: module(first),
        first_kind,
        second: module(second),
        second_kind,
    })
}

/// Takes in a definition.
fn define(
    units: &[Unit<'_>],
    symbols: &mut Symbols,
    place: Place,
    named_here: Named<'_>,
) -> Result<(), LinkError> {
    let name = named_here.name();
    let Some(known) = symbols.global.get(name).copied() else {
        symbols.global.insert(name.to_owned(), place);
        return Ok(());
    };
    mismatch(units, known, place)?;
    let other = named(units, known);
    let wins = match (other.linkage(), named_here.linkage()) {
        (Linkage::Common, Linkage::Common) => size(named_here) > size(other),
        (Linkage::Weak | Linkage::Common, Linkage::Weak | Linkage::Common) => false,
        (Linkage::Weak | Linkage::Common, _) => true,
        (_, Linkage::Weak | Linkage::Common) => false,
        _ => {
            let module = |place: Place| units[place.0].name.to_owned();
            let (first, second) = (module(known), module(place));
            return Err(LinkError::DefinedTwice { name: name.to_owned(), first, second });
        }
    };
    if wins {
        symbols.global.insert(name.to_owned(), place);
    }
    Ok(())
}

fn size(named: Named<'_>) -> u64 {
    match named {
        Named::Variable(variable) => variable.size(),
        Named::Function(_) => 0,
    }
}

/// Looks up what is declared and not defined by its own module.
fn declare(
    units: &[Unit<'_>],
    symbols: &mut Symbols,
    external: &dyn Fn(&str) -> bool,
) -> Result<(), LinkError> {
    let mut kept: FxHashMap<&str, Place> = FxHashMap::default();
    let mut undefined: Vec<(String, String)> = Vec::new();
    for (place, here) in all(units) {
        if here.defines() || here.linkage() == Linkage::Internal {
            continue;
        }
        let name = here.name();
        if let Some(definition) = symbols.global.get(name) {
            mismatch(units, *definition, place)?;
            continue;
        }
        let stays = match here {
            Named::Variable(variable) => is_dynamic_shared(variable),
            Named::Function(_) => external(name),
        };
        if let Some(known) = kept.get(name).copied() {
            mismatch(units, known, place)?;
            // All dynamic shared memory is one: the strictest alignment holds.
            if let (Named::Variable(one), Named::Variable(other)) = (here, named(units, known))
                && one.align > other.align
            {
                kept.insert(name, place);
            }
        } else if stays {
            kept.insert(name, place);
        } else if !undefined.iter().any(|(known, _)| known == name) {
            undefined.push((name.to_owned(), units[place.0].name.to_owned()));
        }
    }
    if !undefined.is_empty() {
        return Err(LinkError::Undefined { symbols: undefined });
    }
    symbols.declared = kept.into_values().collect();
    symbols.declared.sort_unstable();
    Ok(())
}

/// Gives another name to what only its module sees, where the name is taken.
fn rename(units: &[Unit<'_>], symbols: &mut Symbols) {
    let identifiers: FxHashSet<&str> = units
        .iter()
        .flat_map(|unit| {
            let names = unit.tokens.iter().filter(|token| token.kind == Kind::Ident);
            names.map(|token| unit.token_text(*token))
        })
        .collect();
    let mut taken: FxHashSet<String> = symbols.global.keys().cloned().collect();
    taken.extend(symbols.declared.iter().map(|place| named(units, *place).name().to_owned()));
    for (index, unit) in units.iter().enumerate() {
        let items = unit.module.items.iter().filter_map(Named::of);
        let internal = items.filter(|named| named.linkage() == Linkage::Internal);
        let names: Vec<String> = internal
            .map(|named| named.name().to_owned())
            .chain(unit.debug_labels().map(str::to_owned))
            .collect();
        let mut own: FxHashMap<String, String> = FxHashMap::default();
        let mut seen: FxHashSet<String> = FxHashSet::default();
        for name in names {
            // A forward declaration and its definition are one.
            if !seen.insert(name.clone()) || taken.insert(name.clone()) {
                continue;
            }
            let free = (index + 1..)
                .map(|number| format!("{name}__{number}"))
                .find(|free| !taken.contains(free) && !identifiers.contains(free.as_str()))
                .expect("there are more numbers than names");
            taken.insert(free.clone());
            own.insert(name, free);
        }
        symbols.renamed.push(own);
    }
}
