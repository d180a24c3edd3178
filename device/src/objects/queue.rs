//! Work that was submitted and is not done: a graph of it, in which every piece knows what comes after it.
//!
//! The order that CUDA promises (CUDA C++ Programming Guide, "Streams", "Implicit Synchronization",
//! "Default Stream", "Events"): within a stream, as submitted; work of the legacy default stream after
//! everything that blocking streams of the context hold by then, and before everything that they get later;
//! and what events and graphs say. Whatever is not ordered by that may run in any order or overlap:
//! [`crate::pump`] picks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use bugaroo_cuda_abi::{CUcontext, CUfunction};
use bugaroo_simulator::conflicts::ConflictObserver;
use bugaroo_simulator::{Grid, Rng};

use crate::lane::{Lane, Ticket};
use crate::objects::stream::Stream;
use crate::objects::work::Work;
use crate::trial::coverage::Coverage;
use crate::trial::feeds::Feed;
use crate::trial::injection::Armed;
use crate::trial::race::order::WorkOrder;

/// A kernel that runs.
#[derive(Debug)]
pub struct Flight {
    pub(crate) grid: Grid,
    pub(crate) function: CUfunction,
    pub(crate) name: String,
    pub(crate) shape: ([u32; 3], [u32; 3]),
    pub(crate) ordinal: u64,
    pub(crate) armed: Option<Armed>,
    pub(crate) workspace: Option<u64>,
    /// What feeds detectors, where device code does.
    pub(crate) feed: Option<Feed>,
    pub(crate) shown: Shown,
    /// Work that it had done when that was last looked at.
    pub(crate) worked: u64,
}

/// What a kernel shows, where the orders ask for it.
#[derive(Debug)]
pub(crate) struct Shown {
    /// Its conflicts, where the orders ask for them.
    pub(crate) conflicts: Option<Rc<RefCell<ConflictObserver>>>,
    /// What of its threads' communication it shows, where the orders ask for it.
    pub(crate) coverage: Option<Rc<RefCell<Coverage>>>,
}

/// How far a piece of work is.
#[derive(Debug)]
pub enum WorkProgress {
    /// So many others have to be done first.
    Waiting(usize),
    /// It could run.
    Ready,
    /// A kernel that runs.
    Flying(Box<Flight>),
    /// A function of the program, which is being called.
    Called,
}

/// A piece of work.
#[derive(Debug)]
pub struct QueueItem {
    /// Whose it is: a fault of the context drops it.
    pub context: CUcontext,
    /// What to do.
    pub work: Work,
    /// How far it is.
    pub progress: WorkProgress,
    /// What waits for it.
    after: Vec<Ticket>,
}

/// The last work of a stream.
#[derive(Clone, Debug)]
struct Tail {
    ticket: Ticket,
    /// What the stream has been told to wait for since, and was done by then.
    also: Vec<Ticket>,
    context: CUcontext,
    /// Whether the legacy default stream waits for it.
    blocking: bool,
}

impl Tail {
    fn all(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.also.iter().copied().chain([self.ticket])
    }
}

/// All work that is not done.
#[derive(Debug)]
pub struct Queue {
    items: BTreeMap<Ticket, QueueItem>,
    /// Those that could go on, ascending.
    ready: Vec<Ticket>,
    /// How many of the program's functions are being called.
    called: usize,
    tails: BTreeMap<Lane, Tail>,
    next: Ticket,
    /// What picks among the ready.
    pub rng: Rng,
    /// Where race detectors are told of it.
    pub order: Option<Box<WorkOrder>>,
}

impl Queue {
    /// Nothing to do; picks are those of this seed.
    pub fn new(seed: u64) -> Self {
        Queue {
            items: BTreeMap::new(),
            ready: Vec::new(),
            called: 0,
            tails: BTreeMap::new(),
            next: 1,
            rng: Rng::new(seed),
            order: None,
        }
    }

    /// How much there is to do.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether a piece of work is not done.
    pub fn is_pending(&self, ticket: Ticket) -> bool {
        self.items.contains_key(&ticket)
    }

    /// Whether a kernel that may wait for the host is not done.
    pub fn may_wait_for_host(&self) -> bool {
        self.items.values().any(|item| matches!(&item.work, Work::Kernel(request, _) if request.watched))
    }

    /// The oldest work that is not done.
    pub fn oldest(&self) -> Option<Ticket> {
        self.items.keys().next().copied()
    }

    /// The last work that was submitted, done or not.
    pub fn last(&self) -> Ticket {
        self.next - 1
    }

    /// Whether a context has work up to this one that is not done.
    pub fn busy(&self, context: CUcontext, last: Ticket) -> bool {
        self.items.range(..=last).any(|(_, item)| item.context == context)
    }

    /// What all work so far ends with.
    pub fn all_ends(&self) -> Vec<Ticket> {
        self.tails.values().flat_map(Tail::all).collect()
    }

    /// Tells race detectors something, if there are any.
    pub fn tell(&mut self, what: impl FnOnce(&mut WorkOrder)) {
        if let Some(order) = &mut self.order {
            what(order);
        }
    }

    /// What the next work of a stream has to wait for; also what is done of it, where race detectors look on.
    pub fn before(&self, stream: &Stream) -> Vec<Ticket> {
        let concerns = |(lane, tail): &(&Lane, &Tail)| {
            let joins = tail.context == stream.context
                && match stream.lane {
                    Lane::Legacy(_) => tail.blocking,
                    _ => stream.blocking() && matches!(lane, Lane::Legacy(_)),
                };
            **lane == stream.lane || joins
        };
        self.tails.iter().filter(concerns).flat_map(|(_, tail)| tail.all()).collect()
    }

    /// What a context's work so far ends with.
    pub fn ends(&self, context: CUcontext) -> Vec<Ticket> {
        self.tails.values().filter(|tail| tail.context == context).flat_map(Tail::all).collect()
    }

    /// Takes work in that waits for `before` (those of it that are not done).
    pub fn insert(&mut self, context: CUcontext, work: Work, before: &[Ticket]) -> Ticket {
        let ticket = self.next;
        self.next += 1;
        self.tell(|order| order.added(ticket, before));
        let mut missing = 0;
        for before in before {
            if let Some(item) = self.items.get_mut(before)
                && item.after.last() != Some(&ticket)
            {
                item.after.push(ticket);
                missing += 1;
            }
        }
        let progress = if missing == 0 { WorkProgress::Ready } else { WorkProgress::Waiting(missing) };
        if missing == 0 {
            self.ready.push(ticket);
        }
        self.items.insert(ticket, QueueItem { context, work, progress, after: Vec::new() });
        ticket
    }

    /// Lets a piece of work that could go on wait for others first (those of them that are not done).
    pub fn wait_again(&mut self, ticket: Ticket, before: &[Ticket]) {
        self.tell(|order| order.waits(ticket, before));
        let mut missing = 0;
        for before in before {
            if let Some(item) = self.items.get_mut(before) {
                item.after.push(ticket);
                missing += 1;
            }
        }
        if let Some(item) = self.items.get_mut(&ticket).filter(|_| missing > 0) {
            item.progress = WorkProgress::Waiting(missing);
            self.not_ready(ticket);
        }
    }

    fn not_ready(&mut self, ticket: Ticket) {
        if let Ok(at) = self.ready.binary_search(&ticket) {
            self.ready.remove(at);
        }
    }

    /// Makes a piece of work the last of a stream.
    pub fn append(&mut self, stream: &Stream, ticket: Ticket) {
        let tail = Tail { ticket, also: Vec::new(), context: stream.context, blocking: stream.blocking() };
        self.tails.insert(stream.lane, tail);
        self.tell(|order| order.appended(ticket, stream.lane));
    }

    /// Lets a stream's later work wait for what is done already: nothing to do, but race detectors are to know.
    pub fn behind_done(&mut self, stream: &Stream, done: Ticket) {
        if self.order.is_none() {
            return;
        }
        let (context, blocking) = (stream.context, stream.blocking());
        // No work has number 0.
        let nothing = Tail { ticket: 0, also: Vec::new(), context, blocking };
        let tail = self.tails.entry(stream.lane).or_insert(nothing);
        if !tail.also.contains(&done) {
            tail.also.push(done);
        }
    }

    /// A call does a piece of a stream's work itself, now that what comes before is done; race detectors are told of what it
    /// accesses until [`WorkOrder::end_at_call`].
    pub fn begin_at_call(&mut self, stream: &Stream) -> Ticket {
        if self.order.is_none() {
            return 0;
        }
        let before = self.before(stream);
        let ticket = self.next;
        self.next += 1;
        self.tell(|order| order.begin_at_call(ticket, stream.lane, &before));
        self.behind_done(stream, ticket);
        if let Some(tail) = self.tails.get_mut(&stream.lane) {
            // It comes behind all of them.
            tail.also = vec![ticket];
        }
        ticket
    }

    /// Something has a place in a stream's order, and needs nothing that comes before to be done; race detectors are told of what it
    /// accesses until [`WorkOrder::end_at_call`].
    pub fn place_in(&mut self, stream: &Stream) {
        if self.order.is_none() {
            return;
        }
        let before = self.before(stream);
        let ticket = self.next;
        self.next += 1;
        self.tell(|order| order.begin_at_call(ticket, stream.lane, &before));
        self.behind_done(stream, ticket);
        let pending = |ticket: &Ticket| self.items.contains_key(ticket);
        if !before.iter().any(pending)
            && let Some(tail) = self.tails.get_mut(&stream.lane)
        {
            // It comes behind all of them.
            tail.also = vec![ticket];
        }
    }

    /// Takes work in at the end of a stream.
    pub fn push(&mut self, stream: &Stream, work: Work) -> Ticket {
        let before = self.before(stream);
        let ticket = self.insert(stream.context, work, &before);
        self.append(stream, ticket);
        ticket
    }

    /// Those that could go on, ascending; functions that are being called are not among them.
    pub fn ready(&self) -> &[Ticket] {
        &self.ready
    }

    /// Whether a function of the program is being called.
    pub fn calls(&self) -> bool {
        self.called > 0
    }

    /// A piece of work that is not done.
    pub fn item(&mut self, ticket: Ticket) -> Option<&mut QueueItem> {
        self.items.get_mut(&ticket)
    }

    /// Work that is not done.
    pub fn items(&mut self) -> impl Iterator<Item = &mut QueueItem> {
        self.items.values_mut()
    }

    /// A function of the program is about to be called.
    pub fn call(&mut self, ticket: Ticket) {
        self.not_ready(ticket);
        if let Some(item) = self.items.get_mut(&ticket) {
            item.progress = WorkProgress::Called;
            self.called += 1;
        }
    }

    /// A piece of work is done: what waited for it alone is ready.
    pub fn finish(&mut self, ticket: Ticket) {
        let Some(item) = self.items.remove(&ticket) else { return };
        self.called -= usize::from(matches!(item.progress, WorkProgress::Called));
        self.not_ready(ticket);
        match &mut self.order {
            Some(order) => order.finished(ticket),
            None => self.tails.retain(|_, tail| tail.ticket != ticket),
        }
        for after in item.after {
            let Some(item) = self.items.get_mut(&after) else { continue };
            if let WorkProgress::Waiting(missing) = &mut item.progress {
                *missing -= 1;
                if *missing == 0 {
                    item.progress = WorkProgress::Ready;
                    let at = self.ready.partition_point(|ready| *ready < after);
                    self.ready.insert(at, after);
                }
            }
        }
    }

    /// All work of a context, as at its destruction.
    pub fn of(&self, context: CUcontext) -> Vec<Ticket> {
        let items = self.items.iter().filter(|(_, item)| item.context == context);
        items.map(|(ticket, _)| *ticket).collect()
    }
}
