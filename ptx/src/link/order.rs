//! The order of variables: one that is initialised with another's address comes after it.

use rustc_hash::FxHashMap;

use crate::ast::{Init, Item, Linkage, Variable};

use super::error::LinkError;
use super::resolve::{Place, Symbols, Unit};

/// The variables' declarations to be written, in order; of several variables in one declaration,
/// the first stands for all.
pub(super) fn variables(units: &[Unit<'_>], symbols: &Symbols) -> Result<Vec<Place>, LinkError> {
    let mut wanted = Vec::new();
    // Which declaration a variable belongs to.
    let mut declaration: FxHashMap<Place, Place> = FxHashMap::default();
    let mut own: Vec<FxHashMap<&str, Place>> = Vec::new();
    for (unit, parsed) in units.iter().enumerate() {
        let mut internal = FxHashMap::default();
        let mut latest: Option<(usize, Place, bool)> = None;
        for (item, node) in parsed.module.items.iter().enumerate() {
            let Item::Variable(variable) = node else { continue };
            let place = (unit, item);
            if variable.linkage == Linkage::Internal {
                internal.insert(variable.name.as_str(), place);
            }
            let keeps =
                symbols.keeps(&variable.name, variable.linkage, place) || symbols.declared.contains(&place);
            let (first, kept) = match latest {
                Some((start, first, kept)) if start == variable.span.start => (first, Some(kept)),
                _ => (place, None),
            };
            match kept {
                Some(kept) if kept != keeps => {
                    let (name, module) = (variable.name.clone(), parsed.name.to_owned());
                    return Err(LinkError::DeclaredTogether { name, module });
                }
                None if keeps => wanted.push(place),
                _ => {}
            }
            declaration.insert(place, first);
            latest = Some((variable.span.start, first, keeps));
        }
        own.push(internal);
    }
    let needs = |place: Place| needs(units, symbols, &own, &declaration, place);
    sort(units, wanted, needs)
}

fn variable<'a>(units: &'a [Unit<'_>], (unit, item): Place) -> Option<&'a Variable> {
    match &units[unit].module.items[item] {
        Item::Variable(variable) => Some(variable),
        _ => None,
    }
}

/// The declarations whose addresses a declaration is initialised with.
fn needs(
    units: &[Unit<'_>],
    symbols: &Symbols,
    own: &[FxHashMap<&str, Place>],
    declaration: &FxHashMap<Place, Place>,
    (unit, first): Place,
) -> Vec<Place> {
    let items = units[unit].module.items.len();
    let together = (first..items).take_while(|item| declaration.get(&(unit, *item)) == Some(&(unit, first)));
    let mut needed = Vec::new();
    for item in together {
        let Some(variable) = variable(units, (unit, item)) else { continue };
        for init in &variable.init {
            let Init::Symbol { name, .. } = init else { continue };
            let found = own[unit].get(name.as_str()).or_else(|| symbols.global.get(name));
            // What is no variable is a function, which is declared before.
            needed.extend(found.and_then(|place| declaration.get(place)).copied());
        }
    }
    // Within one declaration, and of its own address, a variable may speak.
    needed.retain(|place| *place != (unit, first));
    needed
}

/// The same, each after what it needs, else in the same order.
fn sort(
    units: &[Unit<'_>],
    wanted: Vec<Place>,
    needs: impl Fn(Place) -> Vec<Place>,
) -> Result<Vec<Place>, LinkError> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Begun,
        Done,
    }
    let mut states: FxHashMap<Place, State> = FxHashMap::default();
    let mut ordered = Vec::with_capacity(wanted.len());
    for root in wanted {
        // A stack of its own: a chain may be as long as there are variables.
        let mut stack = vec![root];
        while let Some(place) = stack.last().copied() {
            match states.get(&place) {
                Some(State::Done) => {
                    stack.pop();
                }
                Some(State::Begun) => {
                    states.insert(place, State::Done);
                    ordered.push(place);
                    stack.pop();
                }
                None => {
                    states.insert(place, State::Begun);
                    for needed in needs(place) {
                        match states.get(&needed) {
                            Some(State::Begun) => {
                                let name = variable(units, needed).map_or("", |variable| &variable.name);
                                let (name, module) = (name.to_owned(), units[needed.0].name.to_owned());
                                return Err(LinkError::Cycle { name, module });
                            }
                            Some(State::Done) => {}
                            None => stack.push(needed),
                        }
                    }
                }
            }
        }
    }
    Ok(ordered)
}
