use super::chains::Chains;
use crate::queue::Lane;

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
