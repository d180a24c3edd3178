//! What releases hand over, by how far they reach: within a CTA, a cluster, or the device. Beyond the device: [`super::beyond`].
//!
//! As [`bugaroo_semantics::clocks::release`], with clusters told apart. A release by a thread with some reach gets to
//! an acquire where both reach the other's thread: in one CTA always, in one cluster if both reach beyond their CTA, else if both
//! reach the device.

use std::cmp::Ordering;
use std::rc::Rc;

use bugaroo_ptx::types::Scope;
use bugaroo_semantics::clocks::shared_map::{Joined, SharedMap};
use bugaroo_semantics::clocks::{View, joined};

const RANGE: u32 = 4;
const WIDE: u64 = 0;
const CLUSTER: u64 = 1 << 40;
const CTA: u64 = 2 << 40;

/// How far an operation reaches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub(super) enum Reach {
    Cta,
    Cluster,
    Device,
    /// Of accesses, where there are several devices. To all else system scope reaches the device.
    System,
}

impl Reach {
    /// Of a scope, in a grid with clusters of so many CTAs.
    #[inline]
    pub fn of(scope: Scope, cluster: u32) -> Reach {
        match scope {
            Scope::Cta => Reach::Cta,
            Scope::Cluster if cluster <= 1 => Reach::Cta,
            Scope::Cluster => Reach::Cluster,
            Scope::Gpu | Scope::Sys => Reach::Device,
        }
    }

    /// How far apart two CTAs of a grid are.
    #[inline]
    pub fn between(a: u32, b: u32, cluster: u32) -> Reach {
        if a == b {
            Reach::Cta
        } else if cluster > 1 && a / cluster == b / cluster {
            Reach::Cluster
        } else {
            Reach::Device
        }
    }
}

/// What one write hands over to who acquires from it.
#[derive(Debug, Clone, Default)]
pub(super) struct Release(SharedMap<Rc<View>>);

/// Most hand over nothing.
pub(super) type Entries = Option<Rc<Release>>;

impl Release {
    /// A release by a thread of a CTA that knows `view`.
    pub fn new(cta: u32, cluster: u32, reach: Reach, view: &Rc<View>) -> Release {
        let mut map = SharedMap::default();
        keys(cta, cluster, reach).for_each(|key| map.set::<RANGE>(key, Rc::clone(view)));
        Release(map)
    }

    /// A release that knows all that an acquire of the same reach takes: it stands for that.
    pub fn replace(&mut self, cta: u32, cluster: u32, reach: Reach, view: &Rc<View>) {
        keys(cta, cluster, reach).for_each(|key| self.0.set::<RANGE>(key, Rc::clone(view)));
    }

    /// What releases as wide as the device hand over.
    pub fn wide(&self) -> Option<&Rc<View>> {
        self.0.get::<RANGE>(WIDE)
    }

    /// The views that an acquire in this CTA takes.
    pub fn reaching(&self, cta: u32, cluster: u32, reach: Reach) -> impl Iterator<Item = &Rc<View>> {
        keys(cta, cluster, reach).filter_map(|key| self.0.get::<RANGE>(key))
    }

    /// What all threads of a CTA's cluster may take of it.
    pub fn in_cluster(&self, cta: u32, cluster: u32) -> Option<&Rc<View>> {
        keys(cta, cluster, Reach::Cluster).next().and_then(|widest| self.0.get::<RANGE>(widest))
    }
}

/// Where a release in this CTA goes, and an acquire there takes from; the widest first.
fn keys(cta: u32, cluster: u32, reach: Reach) -> impl Iterator<Item = u64> {
    let wide = (reach == Reach::Device).then_some(WIDE);
    let near = (reach >= Reach::Cluster && cluster > 1).then(|| CLUSTER | u64::from(cta / cluster));
    [wide, near, Some(CTA | u64::from(cta))].into_iter().flatten()
}

/// What both hand over.
pub(super) fn both(one: &Entries, other: &Entries) -> Entries {
    let (Some(a), Some(b)) = (one, other) else { return one.clone().or_else(|| other.clone()) };
    if Rc::ptr_eq(a, b) {
        return one.clone();
    }
    match a.0.join(&b.0, merged, Rc::ptr_eq) {
        Joined::First => one.clone(),
        Joined::Second => other.clone(),
        Joined::New(map) => Some(Rc::new(Release(map))),
    }
}

fn merged(a: &[(u64, Rc<View>)], b: &[(u64, Rc<View>)]) -> Vec<(u64, Rc<View>)> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let order = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => x.0.cmp(&y.0),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        all.push(match order {
            Ordering::Less => a[i].clone(),
            Ordering::Greater => b[j].clone(),
            Ordering::Equal => (a[i].0, joined(&a[i].1, &b[j].1)),
        });
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
    }
    all
}
