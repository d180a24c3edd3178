use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use bugaroo_detectors::{RaceDetector, RaceFinding, Set, Warning};
use bugaroo_semantics::event::{Access, Event, WorkId, WorkKind};
use bugaroo_semantics::{Observer, Wants};
use bugaroo_simulator::Rng;

use super::chains::Chains;
use super::looker::Looker;
use super::order::WorkOrder;
use crate::lane::{Lane, Ticket};

/// Tells pieces to chains, as the order does.
struct Pieces {
    chains: Chains,
    last: u32,
}

impl Pieces {
    fn new() -> Pieces {
        Pieces { chains: Chains::new(), last: 0 }
    }

    fn tell(&mut self, lane: Option<usize>, after: &[u32]) -> (u32, u32) {
        let chain = match lane {
            Some(lane) => self.chains.lane(Lane::Made(lane)),
            None => self.chains.nameless(after),
        };
        self.last += 1;
        self.chains.told(self.last, chain, after);
        (self.last, chain)
    }
}

#[test]
fn launches_of_a_graph_share_chains() {
    let mut pieces = Pieces::new();
    let mut widest = 0;
    let mut begin = pieces.tell(Some(1), &[]).0;
    for _ in 0..100 {
        // A fork into three, each of two pieces, and a join.
        let mut ends = Vec::new();
        for _ in 0..3 {
            let (first, chain) = pieces.tell(None, &[begin]);
            let (second, same) = pieces.tell(None, &[first]);
            assert_eq!(chain, same);
            widest = widest.max(chain);
            ends.push(second);
        }
        begin = pieces.tell(Some(1), &ends).0;
    }
    // The host's, the stream's, and three.
    assert_eq!(widest, 4);
}

#[test]
fn pieces_that_nothing_orders_are_in_different_chains() {
    let mut pieces = Pieces::new();
    let begin = pieces.tell(Some(1), &[]).0;
    let (one, first) = pieces.tell(None, &[begin]);
    let (_, second) = pieces.tell(None, &[begin]);
    assert_ne!(first, second);
    // Two go on from one: only the first may be in its chain.
    let (_, third) = pieces.tell(None, &[one]);
    let (_, fourth) = pieces.tell(None, &[one]);
    assert_eq!(third, first);
    assert_ne!(fourth, first);
}

#[test]
fn a_chain_is_free_only_for_what_comes_behind_whoever_waited_for_it() {
    let mut pieces = Pieces::new();
    let begin = pieces.tell(Some(1), &[]).0;
    let (node, chain) = pieces.tell(None, &[begin]);
    let end = pieces.tell(Some(1), &[node]).0;
    let other = pieces.tell(Some(2), &[]).0;
    assert_ne!(pieces.tell(None, &[other]).1, chain);
    assert_ne!(pieces.tell(None, &[begin]).1, chain);
    assert_eq!(pieces.tell(None, &[end]).1, chain);
}

/// Knows all that every piece comes behind, and that whatever is told comes behind all that is retired.
#[derive(Default)]
struct Retires {
    before: BTreeMap<WorkId, BTreeSet<WorkId>>,
    tips: BTreeMap<u32, WorkId>,
    retired: WorkId,
    times: Rc<RefCell<(u32, WorkId)>>,
}

impl Observer for Retires {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn access(&mut self, _: &Access<'_>) {}

    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::Work { id, chain, after, .. } => {
                let mut before: BTreeSet<WorkId> = BTreeSet::new();
                for other in after.iter().copied().chain(self.tips.insert(chain, id)) {
                    before.extend(&self.before[&other]);
                    before.insert(other);
                }
                for gone in 1..self.retired {
                    assert!(before.contains(&gone), "{id} does not come behind {gone}, which is retired");
                }
                self.before.insert(id, before);
            }
            Event::Retired { before } => {
                self.retired = before;
                let mut times = self.times.borrow_mut();
                *times = (times.0 + 1, before);
            }
            // What goes on is told of as an access.
            Event::HostAccess { work, .. } => {
                for gone in 1..self.retired {
                    assert!(self.before[&work].contains(&gone), "{work} goes on, and {gone} is retired");
                }
            }
            _ => {}
        }
    }
}

impl RaceDetector for Retires {
    fn name(&self) -> &'static str {
        "retires"
    }

    fn take_findings(&mut self) -> Vec<RaceFinding> {
        Vec::new()
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }

    fn held(&self) -> u64 {
        0
    }
}

/// Streams get work, wait for each other, and the host waits for some of it.
fn random_order(seed: u64, streams: usize) -> (u32, WorkId, WorkId) {
    let mut rng = Rng::new(seed);
    let retires = Retires::default();
    let times = Rc::clone(&retires.times);
    let mut order = WorkOrder::new(Rc::new(RefCell::new(Looker::new(Set::new(vec![Box::new(retires)])))));
    let mut tails: Vec<Vec<Ticket>> = vec![Vec::new(); streams];
    let (mut asked, mut begun): (Vec<(Ticket, Vec<Ticket>)>, Vec<Ticket>) = (Vec::new(), Vec::new());
    let (mut ticket, mut last) = (0, 0);
    for _ in 0..1500 {
        let mut below = |n: usize| (rng.next() % n as u64) as usize;
        match below(8) {
            0..=2 => {
                let (stream, other) = (below(streams), below(streams));
                let mut before = tails[stream].clone();
                if below(4) == 0 {
                    before.extend(&tails[other]);
                }
                ticket += 1;
                order.added(ticket, &before);
                order.appended(ticket, Lane::Made(stream));
                tails[stream] = vec![ticket];
                asked.push((ticket, before));
            }
            3..=4 => {
                let pending = |ticket: &Ticket| {
                    begun.contains(ticket) || asked.iter().any(|(other, _)| other == ticket)
                };
                let ready = asked.iter().position(|(_, before)| !before.iter().any(pending));
                if let Some(at) = ready {
                    let (ticket, _) = asked.remove(at);
                    last = order.begin(ticket, WorkKind::Grid);
                    begun.push(ticket);
                }
            }
            5..=6 if !begun.is_empty() => {
                let ticket = begun.remove(below(begun.len()));
                // It may have gone on until now.
                order.transfer(ticket);
                order.accessed(256, 4, true);
                order.finished(ticket);
            }
            7 => {
                let stream = below(streams);
                // Now and then it lets all be done first.
                if below(8) == 0 {
                    begun.drain(..).for_each(|ticket| order.finished(ticket));
                    for (ticket, _) in asked.drain(..) {
                        last = order.begin(ticket, WorkKind::Grid);
                        order.finished(ticket);
                    }
                }
                let pending = |ticket: &Ticket| {
                    begun.contains(ticket) || asked.iter().any(|(other, _)| other == ticket)
                };
                if !tails[stream].iter().any(pending) {
                    order.waited(&tails[stream]);
                }
            }
            _ => {}
        }
    }
    let (times, before) = *times.borrow();
    (times, before, last)
}

#[test]
fn what_is_retired_comes_before_all_that_goes_on_or_is_to_come() {
    let mut ever = 0;
    for seed in 0..30 {
        ever += random_order(seed, 3).0;
        // One stream that the host waits for: what is left is little.
        let (times, before, last) = random_order(seed, 1);
        assert!(times > 0 && before + 300 > last, "{before} of {last}");
    }
    assert!(ever > 0);
}
