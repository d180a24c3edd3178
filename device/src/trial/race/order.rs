//! What CUDA promises of the order of host work, told to detectors piece by piece.
//!
//! The edges are those of the queue ([`crate::queue`]), which states them when work is handed over; this keeps them when the
//! queue has forgotten what is done, since a promise does not end there. A piece is told when its turn comes: then all that it
//! waits for is known, children of kernels before it among it.
//!
//! **The host** is one chain. It comes behind what a call of its has waited for: a stream, an event, a context, a copy. Threads
//! of the host are taken for one, in the order of their calls, as nobody sees how they wait for each other: what
//! they do without waiting is not found. The same goes for functions of the program that a stream calls, which may wake
//! any thread or wait for one.
//!
//! **Departures.** A synchronous copy from pageable memory counts as done when the call returns. CUDA promises only that the
//! memory may be used again, and programs rely on more. Freeing memory, and whatever else waits here for all work of a context,
//! counts as a call that waits for it.
//!
//! **Kernels that talk with the host** while they run ([`super::looker`]) are ordered both ways with all that the host does
//! from then on, as the host may know what they have done, and they what the host has.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use bugaroo_semantics::Observer;
use bugaroo_semantics::event::{Event, Range, SiteNumber, WhoseBytes, WorkId, WorkKind};

use super::calls::Calls;
use super::chains::{Chains, HOST};
use super::ends::Ends;
use super::known::Known;
use super::looker::Looker;
use crate::lane::{Lane, Ticket};

/// A piece that was handed over.
#[derive(Clone, Debug)]
struct Asked {
    /// The stream whose next piece it is.
    lane: Option<Lane>,
    before: Vec<Ticket>,
    /// How far the host was; 0 for what the device asks for.
    host: WorkId,
    /// It comes behind everything before this piece.
    upto: WorkId,
    /// The grid a thread of which has asked for it, and by which of the grid's requests.
    asked: Option<(WorkId, u32)>,
    site: SiteNumber,
}

/// A piece whose turn has come.
#[derive(Debug)]
struct Begun {
    work: WorkId,
    /// It comes behind everything before this piece.
    upto: WorkId,
    site: SiteNumber,
    /// What it has to wait for besides, before it is done.
    also: Vec<Ticket>,
    /// It calls a function of the program, or talks with the host: what the host has done by its end comes before that.
    joins_host: bool,
}

/// A plain access of the host's own.
#[derive(Clone, Copy, Debug)]
pub struct SeenAccess<'a> {
    /// The first byte.
    pub address: u64,
    /// How many.
    pub bytes: u64,
    /// Whether it writes.
    pub writes: bool,
    /// The instruction and its callers.
    pub frames: &'a [usize],
}

/// Pieces that are retired together, at least: to look for them takes time.
const AT_LEAST: WorkId = 64;

/// How far the host and the pieces have come.
#[derive(Debug)]
struct Points {
    /// The last piece.
    last: WorkId,
    /// The host's last point.
    host: WorkId,
    /// Everything before this piece comes before all that goes on or is to come, and detectors know.
    retired: WorkId,
    /// How far the host has to know all before that is looked at again.
    look_again: WorkId,
}

/// Pieces that are not done, and the last ones that are.
#[derive(Debug, Default)]
struct Pieces {
    asked: BTreeMap<Ticket, Asked>,
    begun: BTreeMap<Ticket, Begun>,
    /// The last piece of what is done.
    ends: Ends,
}

/// What goes on at this moment.
#[derive(Debug, Default)]
struct Moment {
    /// If it is something that the driver itself does.
    doing: Option<(WorkId, SiteNumber)>,
    /// The piece that is asking for others.
    parent: Option<Ticket>,
    /// By which of its requests, where it comes behind a part of the piece alone.
    request: Option<u32>,
}

/// The order of all work so far.
#[derive(Debug)]
pub struct WorkOrder {
    looker: Rc<RefCell<Looker>>,
    /// Who calls.
    pub calls: Calls,
    chains: Chains,
    known: Known,
    points: Points,
    pieces: Pieces,
    moment: Moment,
}

impl WorkOrder {
    /// Nothing was done yet.
    pub fn new(looker: Rc<RefCell<Looker>>) -> WorkOrder {
        let mut order = WorkOrder {
            looker,
            calls: Calls::default(),
            chains: Chains::new(),
            known: Known::default(),
            points: Points { last: 0, host: 0, retired: 1, look_again: AT_LEAST },
            pieces: Pieces::default(),
            moment: Moment::default(),
        };
        let site = order.calls.here();
        order.points.host = order.tell(WorkKind::Host, HOST, Vec::new(), None, site);
        order
    }

    fn event(&self, event: &Event<'_>) {
        self.looker.borrow_mut().event(event);
    }

    fn tell(
        &mut self,
        kind: WorkKind,
        chain: u32,
        mut after: Vec<WorkId>,
        asked: Option<(WorkId, u32)>,
        site: SiteNumber,
    ) -> WorkId {
        after.retain(|before| *before != 0);
        after.sort_unstable();
        after.dedup();
        let id = self.points.last.checked_add(1).expect("no program hands 2^32 pieces of work over");
        self.points.last = id;
        self.chains.told(id, chain, &after);
        self.known.told(id, chain, &after, &self.chains);
        self.event(&Event::Work { id, kind, chain, after: &after, asked, site });
        id
    }

    /// What has to be done before whatever waits for these pieces.
    fn resolve(&self, tickets: &[Ticket]) -> Vec<WorkId> {
        let mut found = Vec::new();
        let mut left: Vec<Ticket> = tickets.to_vec();
        let mut seen = std::collections::BTreeSet::new();
        while let Some(ticket) = left.pop() {
            if !seen.insert(ticket) {
                continue;
            }
            if let Some(end) = self.pieces.ends.get(ticket) {
                found.push(end);
            } else if let Some(begun) = self.pieces.begun.get(&ticket) {
                found.push(begun.work);
            } else if let Some(asked) = self.pieces.asked.get(&ticket) {
                left.extend(&asked.before);
            }
        }
        found
    }

    /// Work was handed over that waits for `before`, done or not.
    pub fn added(&mut self, ticket: Ticket, before: &[Ticket]) {
        let parent = self.moment.parent.and_then(|parent| {
            let begun = self.pieces.begun.get(&parent)?;
            Some((parent, begun.site, begun.upto, begun.work))
        });
        let mut before = before.to_vec();
        let (host, site, upto, asked) = match parent {
            Some((parent, site, upto, work)) => {
                before.push(parent);
                (0, site, upto, self.moment.request.map(|number| (work, number)))
            }
            None => {
                self.hear();
                (self.points.host, self.calls.here(), self.known.first_unknown(&self.chains), None)
            }
        };
        self.pieces.asked.insert(ticket, Asked { lane: None, before, host, upto, asked, site });
    }

    /// It is the last piece of a stream.
    pub fn appended(&mut self, ticket: Ticket, lane: Lane) {
        if let Some(asked) = self.pieces.asked.get_mut(&ticket) {
            asked.lane = Some(lane);
        }
    }

    /// What is handed over from now on, the piece asks for whose turn it is; none any more. `request`: a thread of it does, by which of
    /// its requests, and comes behind no more of it than what the thread knew then.
    pub fn under(&mut self, parent: Option<Ticket>, request: Option<u32>) {
        self.moment.parent = parent;
        self.moment.request = request;
    }

    /// A piece's turn has come, or has come again. Gives its number.
    pub fn begin(&mut self, ticket: Ticket, kind: WorkKind) -> WorkId {
        if let Some(begun) = self.pieces.begun.get_mut(&ticket) {
            // What it asked for is done; what it asks for next comes behind that.
            let also = std::mem::take(&mut begun.also);
            let (work, site) = (begun.work, begun.site);
            if also.is_empty() {
                return work;
            }
            let mut after = self.resolve(&also);
            after.push(work);
            let id = self.follow(work, after, site);
            if let Some(begun) = self.pieces.begun.get_mut(&ticket) {
                begun.work = id;
            }
            return id;
        }
        let Some(Asked { lane, before, host, upto, asked, site }) = self.pieces.asked.remove(&ticket) else {
            return 0;
        };
        let mut after = self.resolve(&before);
        after.push(host);
        let work = self.tell_in(kind, lane, after, asked, site);
        self.pieces.begun.insert(ticket, Begun { work, upto, site, also: Vec::new(), joins_host: false });
        work
    }

    /// The number and the call of a piece whose turn has come.
    pub fn work(&self, ticket: Ticket) -> (WorkId, SiteNumber) {
        self.pieces.begun.get(&ticket).map_or((0, 0), |begun| (begun.work, begun.site))
    }

    fn tell_in(
        &mut self,
        kind: WorkKind,
        lane: Option<Lane>,
        after: Vec<WorkId>,
        asked: Option<(WorkId, u32)>,
        site: SiteNumber,
    ) -> WorkId {
        let chain = match lane {
            Some(lane) => self.chains.lane(lane),
            None => self.chains.nameless(&after),
        };
        self.tell(kind, chain, after, asked, site)
    }

    /// A place right behind a piece, in its chain.
    fn follow(&mut self, work: WorkId, after: Vec<WorkId>, site: SiteNumber) -> WorkId {
        let chain = self.chains.of(work).unwrap_or(HOST);
        self.tell(WorkKind::Mark, chain, after, None, site)
    }

    /// A piece whose turn has come accesses memory by the driver's hand until it is done.
    pub fn transfer(&mut self, ticket: Ticket) {
        self.moment.doing = self.pieces.begun.get(&ticket).map(|begun| (begun.work, begun.site));
    }

    /// A piece whose turn has come goes on only when memory holds a value: whoever may have written it is before. That
    /// may be anybody.
    pub fn begin_wait(&mut self, ticket: Ticket) {
        if self.pieces.begun.contains_key(&ticket) {
            return;
        }
        let work = self.begin(ticket, WorkKind::Mark);
        let all: Vec<WorkId> = self.chains.tips().filter(|tip| *tip != work).chain([work]).collect();
        let Some(site) = self.pieces.begun.get(&ticket).map(|begun| begun.site) else { return };
        let id = self.follow(work, all, site);
        if let Some(begun) = self.pieces.begun.get_mut(&ticket) {
            begun.work = id;
        }
    }

    /// A piece whose turn has come calls a function of the program: what that does, any thread of the host may know.
    pub fn call(&mut self, ticket: Ticket) {
        self.begin(ticket, WorkKind::Mark);
        if let Some(begun) = self.pieces.begun.get_mut(&ticket) {
            begun.joins_host = true;
            let (work, site) = (begun.work, begun.site);
            self.host_behind(vec![work], site);
        }
    }

    /// A piece has to wait for others before it is done.
    pub fn waits(&mut self, ticket: Ticket, before: &[Ticket]) {
        if let Some(begun) = self.pieces.begun.get_mut(&ticket) {
            begun.joins_host |= self.looker.borrow().talks(begun.work);
            begun.also.extend(before);
        }
    }

    /// A piece is done, or given up.
    pub fn finished(&mut self, ticket: Ticket) {
        self.moment.doing = None;
        if self.pieces.asked.contains_key(&ticket) {
            self.begin(ticket, WorkKind::Mark);
        }
        let Some(Begun { work, site, also, joins_host, .. }) = self.pieces.begun.remove(&ticket) else {
            return;
        };
        let mut after = self.resolve(&also);
        if joins_host || self.looker.borrow().talks(work) {
            after.push(self.points.host);
        }
        let end = if after.is_empty() {
            work
        } else {
            after.push(work);
            self.follow(work, after, site)
        };
        self.pieces.ends.insert(ticket, end);
    }

    fn host_behind(&mut self, after: Vec<WorkId>, site: SiteNumber) {
        if !after.is_empty() {
            self.points.host = self.tell(WorkKind::Host, HOST, after, None, site);
            self.retire();
        }
    }

    /// Lets go of what everything comes behind that goes on or is to come: what the host knows now, and knew when it asked for what is
    /// not done.
    fn retire(&mut self) {
        let known = self.known.first_unknown(&self.chains);
        if known < self.points.look_again || self.moment.doing.is_some() {
            return;
        }
        let pending = self.pieces.asked.len() + self.pieces.begun.len();
        self.points.look_again = known.saturating_add(AT_LEAST).saturating_add(pending as WorkId);
        let asked = self.pieces.asked.values().map(|asked| asked.upto);
        let begun = self.pieces.begun.values().map(|begun| begun.upto);
        let before = asked.chain(begun).fold(known, WorkId::min);
        if before <= self.points.retired {
            return;
        }
        self.points.retired = before;
        let oldest = |tickets: Option<&Ticket>| tickets.copied().unwrap_or(Ticket::MAX);
        let oldest = oldest(self.pieces.asked.keys().next()).min(oldest(self.pieces.begun.keys().next()));
        self.pieces.ends.retire(before, oldest);
        self.chains.retire(before);
        self.event(&Event::Retired { before });
    }

    /// No piece before this one can be found to race any more.
    pub fn retired(&self) -> WorkId {
        self.points.retired
    }

    /// The host knows what kernels have done that talk with it.
    fn hear(&mut self) {
        let talking = self.looker.borrow_mut().heard();
        if !talking.is_empty() {
            let site = self.calls.here();
            self.host_behind(talking, site);
        }
    }

    /// The host has waited for these pieces.
    pub fn waited(&mut self, tickets: &[Ticket]) {
        let after = self.resolve(tickets);
        let site = self.calls.here();
        self.host_behind(after, site);
    }

    /// A call does a piece of a stream's work itself, now that what comes before is done. Gives the piece a name.
    pub fn begin_at_call(&mut self, ticket: Ticket, lane: Lane, before: &[Ticket]) {
        self.hear();
        let site = self.calls.here();
        let mut after = self.resolve(before);
        after.push(self.points.host);
        let work = self.tell_in(WorkKind::Transfer, Some(lane), after, None, site);
        self.moment.doing = Some((work, site));
        self.pieces.ends.insert(ticket, work);
    }

    /// It is done.
    pub fn end_at_call(&mut self) {
        self.moment.doing = None;
    }

    /// What goes on reads or writes memory that detectors know.
    pub fn accessed(&self, address: u64, bytes: u64, writes: bool) {
        let Some((work, site)) = self.moment.doing.filter(|_| bytes > 0) else { return };
        let range = Range { memory: WhoseBytes::Global, address, bytes };
        self.event(&Event::HostAccess { work, range, writes, site });
    }

    /// The host itself has accessed memory that the device reaches, since the last call.
    pub fn host_accessed(&mut self, seen: Vec<SeenAccess<'_>>) {
        self.hear();
        let mut parts: Vec<(SiteNumber, bool, u64, u64)> = Vec::with_capacity(seen.len());
        for SeenAccess { address, bytes, writes, frames } in seen {
            parts.push((self.calls.access(frames), writes, address, bytes));
        }
        parts.sort_unstable();
        let Some(first) = parts.first() else { return };
        // What was asked for before does not come behind it.
        self.points.host = self.tell(WorkKind::Host, HOST, Vec::new(), None, first.0);
        let work = self.points.host;
        for together in parts.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1) && a.2 + a.3 >= b.2) {
            let (site, writes, address, _) = together[0];
            let end = together.iter().map(|part| part.2 + part.3).max().unwrap_or(address);
            let range = Range { memory: WhoseBytes::Global, address, bytes: end - address };
            self.event(&Event::HostAccess { work, range, writes, site });
        }
    }

    /// Whether the host reaches memory that a piece of work has touched that it does not know to be done.
    pub fn is_hot(&mut self) -> bool {
        for work in self.looker.borrow_mut().take_touched() {
            self.known.touched(work, &self.chains);
        }
        self.known.any_touched()
    }

    /// Whether there is memory that the host reaches.
    pub fn shares(&self) -> bool {
        !self.looker.borrow().shared_memory().0.is_empty()
    }

    /// Such memory: first addresses and bytes.
    pub fn shared(&self) -> Vec<(u64, u64)> {
        let looker = self.looker.borrow();
        looker.shared_memory().0.iter().map(|(address, bytes)| (*address, *bytes)).collect()
    }

    /// How often that has changed.
    pub fn shared_version(&self) -> u64 {
        self.looker.borrow().shared_memory().1
    }

    /// Memory begins; `shared`: the host reaches it by plain loads and stores, too.
    pub fn allocated(&self, address: u64, bytes: u64, shared: bool) {
        let range = Range { memory: WhoseBytes::Global, address, bytes };
        if shared {
            self.looker.borrow_mut().shared(address, bytes);
        }
        self.event(&Event::Allocated(range));
    }

    /// Memory ends.
    pub fn freed(&self, address: u64, bytes: u64) {
        self.looker.borrow_mut().unshared(address);
        self.event(&Event::Freed(Range { memory: WhoseBytes::Global, address, bytes }));
    }

    /// Streams write this word, and kernels may wait for that.
    pub fn signals(&self, address: u64, bytes: u64) {
        self.looker.borrow_mut().shared(address, bytes);
    }
}
