//! Release entries: what a release pattern hands to who acquires from it.
//!
//! A release of thread T with scope s reaches an acquire of thread A with scope t where the two are morally strong: both
//! scopes take in the other thread. Within one CTA that is always so; across CTAs both have to be wider than
//! `.cta`. So many releases at the head of one pattern (of a chain of atomics, say) come down to two things: what the
//! wide ones know together, for acquires that are wide, and for each CTA what its own releases know, for
//! acquires in that CTA. Nothing is lost by keeping that in place of a list.

use std::rc::Rc;

use super::shared_map::{Joined, SharedMap};
use super::view::{View, joined};
use crate::scope::{Scope, ThreadKey};

/// CTAs that share a chunk: 16, as a power of two.
const RANGE: u32 = 4;

/// What a message hands over.
#[derive(Clone, Debug, Default)]
pub struct Release {
    /// To acquires with a scope wider than `.cta`.
    wide: Option<Rc<View>>,
    /// To acquires in a CTA, by its number.
    by_cta: SharedMap<Rc<View>>,
}

/// Most messages hand over what many others do.
pub type Entries = Option<Rc<Release>>;

impl Release {
    /// A release by `thread`, which knows `view`.
    pub fn new(thread: ThreadKey, scope: Scope, view: &Rc<View>) -> Release {
        let mut by_cta = SharedMap::default();
        let cta = u64::from(thread.cta());
        by_cta.change::<RANGE>(cta, |_| vec![(cta, Rc::clone(view))]);
        Release { wide: (scope != Scope::Cta).then(|| Rc::clone(view)), by_cta }
    }

    /// What an acquire of this scope by `thread` takes: up to two views.
    pub fn reaching(&self, thread: ThreadKey, scope: Scope) -> [Option<&Rc<View>>; 2] {
        let own = self.by_cta.get::<RANGE>(u64::from(thread.cta()));
        let wide = self.wide.as_ref().filter(|_| scope != Scope::Cta);
        [wide, own]
    }

    /// Whether who takes this has no need of the other, as far as that can be told at a glance.
    fn includes(&self, other: &Release) -> bool {
        let covers = |one: Option<&Rc<View>>, other: &Rc<View>| {
            one.is_some_and(|one| Rc::ptr_eq(one, other) || one.covers(other))
        };
        other.wide.as_ref().is_none_or(|wide| covers(self.wide.as_ref(), wide))
            && other.by_cta.is_small()
            && other.by_cta.iter().all(|(cta, view)| covers(self.by_cta.get::<RANGE>(*cta), view))
    }

    /// Whether any release of it knows a message: one that reaches other CTAs, and one of whatever scope.
    pub fn knows(&self, writer: ThreadKey, time: u64) -> (bool, bool) {
        let wide = self.wide.as_ref().is_some_and(|view| view.knows(writer, time));
        (wide, wide || self.by_cta.iter().any(|(_, view)| view.knows(writer, time)))
    }
}

fn join_views(one: Option<&Rc<View>>, other: Option<&Rc<View>>) -> Option<Rc<View>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(joined(one, other)),
        (one, other) => one.or(other).cloned(),
    }
}

fn same(one: Option<&Rc<View>>, other: Option<&Rc<View>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Rc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Whether two are one and the same.
pub fn is_same(one: &Entries, other: &Entries) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Rc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// The releases of both.
pub fn both(one: &Entries, other: &Entries) -> Entries {
    let (Some(a), Some(b)) = (one, other) else { return one.clone().or_else(|| other.clone()) };
    if Rc::ptr_eq(a, b) || a.includes(b) {
        return one.clone();
    }
    if b.includes(a) {
        return other.clone();
    }
    let wide = join_views(a.wide.as_ref(), b.wide.as_ref());
    let by_cta = a.by_cta.join(&b.by_cta, merged, Rc::ptr_eq);
    let (of_a, of_b) = (same(wide.as_ref(), a.wide.as_ref()), same(wide.as_ref(), b.wide.as_ref()));
    let by_cta = match by_cta {
        Joined::First if of_a => return one.clone(),
        Joined::Second if of_b => return other.clone(),
        Joined::First => a.by_cta.clone(),
        Joined::Second => b.by_cta.clone(),
        Joined::New(by_cta) => by_cta,
    };
    Some(Rc::new(Release { wide, by_cta }))
}

/// Two sorted lists by CTA as one.
fn merged(a: &[(u64, Rc<View>)], b: &[(u64, Rc<View>)]) -> Vec<(u64, Rc<View>)> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let order = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => x.0.cmp(&y.0),
            (Some(_), None) => std::cmp::Ordering::Less,
            _ => std::cmp::Ordering::Greater,
        };
        match order {
            std::cmp::Ordering::Less => all.push(a[i].clone()),
            std::cmp::Ordering::Greater => all.push(b[j].clone()),
            std::cmp::Ordering::Equal => all.push((a[i].0, joined(&a[i].1, &b[j].1))),
        }
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
    }
    all
}
