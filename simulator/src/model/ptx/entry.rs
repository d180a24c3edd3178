//! Release entries: what a release pattern hands to who acquires from it.

use std::rc::Rc;

use super::scope::{Scope, Strength, ThreadKey, morally_strong};
use super::view::View;

/// Entries of a message beyond which those that reach the whole device become one.
const MOST: usize = 12;

/// One release operation (or fence) at the head of a release pattern.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its thread; nobody for several that became one, which then are taken for morally strong with all.
    pub thread: ThreadKey,
    pub scope: Scope,
    /// The time of the release: its thread's messages up to then are handed over.
    pub time: u64,
    /// What its thread knew then.
    pub view: Rc<View>,
}

impl Entry {
    /// Whether an acquire of `scope` by `thread` at the end of the pattern takes this.
    pub fn reaches(&self, thread: ThreadKey, scope: Scope) -> bool {
        self.thread == ThreadKey::NOBODY
            || morally_strong((self.thread, Strength::Strong(self.scope)), (thread, Strength::Strong(scope)))
    }

    /// Whether whoever takes `self` has no need of `other`.
    fn replaces(&self, other: &Entry) -> bool {
        self.thread == other.thread && self.scope >= other.scope && self.time >= other.time
    }
}

/// The entries that a message carries: shared, since the messages of a chain carry mostly the same.
pub type Entries = Option<Rc<Vec<Entry>>>;

/// Adds an entry to a list, leaving out what it replaces. `time` orders the messages of a granule.
pub fn add(list: &mut Vec<Entry>, new: Entry) {
    if list.iter().any(|old| old.replaces(&new)) {
        return;
    }
    list.retain(|old| !new.replaces(old));
    list.push(new);
}

/// Makes one of the entries that reach the whole device, once there are many: every acquire at device scope
/// takes all of them anyway, and one at CTA scope takes more than it had to, which forbids more.
pub fn bound(list: &mut Vec<Entry>, mut later: impl FnMut(u64, u64, u64) -> u64) {
    if list.len() <= MOST {
        return;
    }
    let mut one = View::default();
    let mut time = 0;
    for entry in list.iter() {
        one.join(&entry.view, &mut later);
        if entry.thread != ThreadKey::NOBODY {
            one.advance(super::view::Writers::thread(entry.thread), entry.time);
        }
        time = time.max(entry.time);
    }
    list.clear();
    list.push(Entry { thread: ThreadKey::NOBODY, scope: Scope::Sys, time, view: Rc::new(one) });
}
