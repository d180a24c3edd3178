use super::Cfg;
use crate::ast::Module;
use crate::parse;

fn module(body: &str) -> Module {
    let source = format!(
        ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n{body}\n}}\n"
    );
    parse(&source).expect("the test's PTX parses")
}

fn cfg(body: &str) -> Cfg {
    Cfg::build(module(body).function("k").expect("the only function"))
}

fn spans(cfg: &Cfg) -> Vec<(usize, usize)> {
    cfg.blocks.iter().map(|block| (block.start, block.end)).collect()
}

fn post_dominators(cfg: &Cfg) -> Vec<Option<usize>> {
    cfg.blocks.iter().map(|block| block.post_dominator).collect()
}

#[test]
fn a_diamond_meets_below() {
    let cfg = cfg("@%p1 bra B; mov.u32 %r1, 1; bra.uni C; B: mov.u32 %r1, 2; C: mov.u32 %r2, %r1; ret;");
    assert_eq!(spans(&cfg), [(0, 1), (1, 3), (3, 4), (4, 6)]);
    assert_eq!(cfg.blocks[0].successors, [1, 2]);
    assert_eq!(cfg.blocks[3].predecessors, [1, 2]);
    assert_eq!(post_dominators(&cfg), [Some(3), Some(3), Some(3), None]);
    assert!(cfg.blocks[3].leaves && !cfg.blocks[0].leaves);
    assert_eq!(cfg.reconvergence(0), Some(4));
    assert_eq!(cfg.reconvergence(5), None);
    assert_eq!(cfg.reconvergence(99), None);
    assert_eq!(cfg.targets[0], [3]);
}

#[test]
fn a_loop_meets_behind_it() {
    let cfg = cfg("mov.u32 %r1, 0; L: add.s32 %r1, %r1, 1; @%p1 bra L; ret;");
    assert_eq!(spans(&cfg), [(0, 1), (1, 3), (3, 4)]);
    assert_eq!(cfg.blocks[1].successors, [1, 2]);
    assert_eq!(post_dominators(&cfg), [Some(1), Some(2), None]);
}

#[test]
fn a_guarded_end_parts_the_threads() {
    for end in ["ret", "exit", "trap"] {
        let cfg = cfg(&format!("@%p1 {end}; mov.u32 %r1, 0; {end};"));
        assert_eq!(spans(&cfg), [(0, 1), (1, 3)]);
        assert!(cfg.blocks[0].leaves);
        assert_eq!(cfg.blocks[0].successors, [1]);
        assert_eq!(post_dominators(&cfg), [None, None]);
    }
}

#[test]
fn a_body_may_end_without_a_return() {
    let cfg = cfg("@%p1 bra END; mov.u32 %r1, 0; END:");
    assert_eq!(cfg.targets[0], [2]);
    assert!(cfg.blocks[0].leaves && cfg.blocks[1].leaves);
    assert_eq!(cfg.blocks[0].successors, [1]);
    assert_eq!(post_dominators(&cfg), [None, None]);
}

#[test]
fn labels_are_found_from_the_inside_out() {
    let cfg =
        cfg("{ bra DONE; DONE: mov.u32 %r1, 1; } { bra DONE; } mov.u32 %r1, 2; DONE: ret; { DONE: ret; }");
    assert_eq!(cfg.targets[0], [1], "the label of its own block");
    assert_eq!(cfg.targets[2], [4], "the label of the body, not of a neighbour");
    assert!(cfg.unresolved.is_empty());
}

#[test]
fn a_label_inside_of_a_block_is_not_seen_from_outside() {
    let cfg = cfg("bra IN; { IN: ret; }");
    assert_eq!(cfg.unresolved, [(0, "IN".to_owned())]);
    assert!(cfg.targets[0].is_empty());
    assert!(cfg.blocks[0].successors.is_empty());
}

#[test]
fn a_table_lists_every_target() {
    let cfg = cfg("T: .branchtargets A, B, A; @%p1 bra B; brx.idx %r1, T; A: mov.u32 %r1, 1; B: ret;");
    assert_eq!(cfg.targets[1], [2, 3, 2]);
    assert_eq!(cfg.blocks[1].successors, [2, 3]);
    assert_eq!(post_dominators(&cfg), [Some(3), Some(3), Some(3), None]);
}

#[test]
fn a_table_that_is_missing_or_lists_unknown_labels_is_told() {
    assert_eq!(cfg("brx.idx %r1, T; ret;").unresolved, [(0, "T".to_owned())]);
    let cfg = cfg("T: .branchtargets A, Q; brx.idx %r1, T; A: ret;");
    assert_eq!(cfg.unresolved, [(0, "Q".to_owned())]);
    assert_eq!(cfg.targets[0], [1]);
}

#[test]
fn threads_in_a_loop_without_exit_meet_in_it() {
    // 0: entry, 1: head, 2: one side, 3: other side, 4: tail that jumps to the head.
    let cfg = cfg("mov.u32 %r1, 0; HEAD: @%p1 bra B; mov.u32 %r1, 1; bra T; B: mov.u32 %r1, 2; T: bra HEAD;");
    assert_eq!(cfg.blocks.len(), 5);
    assert_eq!(post_dominators(&cfg), [Some(1), Some(4), Some(4), Some(4), None]);
}

#[test]
fn calls_do_not_end_a_block() {
    let cfg = cfg("call f; mov.u32 %r1, 1; ret;");
    assert_eq!(spans(&cfg), [(0, 3)]);
}

#[test]
fn no_body_no_blocks() {
    let source = ".version 9.0 .target sm_75 .address_size 64 .extern .func f; .func g() { }";
    let module = parse(source).expect("the test's PTX parses");
    for name in ["f", "g"] {
        assert_eq!(Cfg::build(module.function(name).expect("declared above")), Cfg::default());
    }
}

#[test]
fn a_thousand_blocks_are_no_burden() {
    let body: String = (0..5000).map(|i| format!("@%p1 bra L{i}; mov.u32 %r1, {i}; L{i}:\n")).collect();
    let cfg = cfg(&format!("{body} ret;"));
    assert_eq!(cfg.blocks.len(), 10_001);
    for (index, block) in cfg.blocks.iter().enumerate().take(10_000) {
        assert_eq!(block.post_dominator, Some(if index % 2 == 0 { index + 2 } else { index + 1 }));
    }
}

/// The blocks in their order.
fn ordered(cfg: &Cfg) -> Vec<usize> {
    let places = cfg.order();
    let mut blocks: Vec<usize> = (0..places.len()).collect();
    blocks.sort_by_key(|block| places[*block]);
    blocks
}

#[test]
fn where_arms_meet_comes_behind_both() {
    // The second arm stands behind the end, as compilers put what they think is rare.
    let aside = cfg("@%p1 bra B; mov.u32 %r1, 1; C: mov.u32 %r2, %r1; ret; B: mov.u32 %r1, 2; bra.uni C;");
    assert_eq!(spans(&aside), [(0, 1), (1, 2), (2, 4), (4, 6)]);
    assert_eq!(ordered(&aside), [0, 1, 3, 2]);
    let in_place = cfg("@%p1 bra B; mov.u32 %r1, 1; bra.uni C; B: mov.u32 %r1, 2; C: ret;");
    assert_eq!(ordered(&in_place), [0, 1, 2, 3]);
}

#[test]
fn what_follows_a_loop_comes_behind_it() {
    // The loop is left in its middle, and what follows stands before its second half.
    let left = cfg("L: @%p1 bra M; ret; M: mov.u32 %r1, 1; @%p2 bra L; mov.u32 %r1, 2; bra L;");
    assert_eq!(spans(&left), [(0, 1), (1, 2), (2, 4), (4, 6)]);
    assert_eq!(ordered(&left), [2, 3, 0, 1]);
    // A loop that is entered by its condition, which stands last.
    let turned = cfg("bra.uni T; L: mov.u32 %r1, 1; T: @%p1 bra L; ret;");
    assert_eq!(ordered(&turned), [0, 1, 2, 3]);
}

mod random {
    use proptest::prelude::*;

    use super::super::{Block, Cfg};

    fn graph(edges: &[Vec<usize>]) -> Cfg {
        let mut blocks: Vec<Block> = (0..edges.len())
            .map(|at| Block {
                start: at,
                end: at + 1,
                successors: edges[at].clone(),
                predecessors: Vec::new(),
                leaves: edges[at].is_empty(),
                post_dominator: None,
            })
            .collect();
        for (from, to) in
            edges.iter().enumerate().flat_map(|(from, all)| all.iter().map(move |to| (from, *to)))
        {
            blocks[to].predecessors.push(from);
        }
        Cfg { blocks, ..Cfg::default() }
    }

    /// Whether a path leads from one block to another within some.
    fn leads(cfg: &Cfg, from: usize, to: usize, within: &[usize]) -> bool {
        let (mut seen, mut left) = (vec![false; cfg.blocks.len()], vec![from]);
        while let Some(block) = left.pop() {
            for next in cfg.blocks[block].successors.iter().filter(|next| within.contains(next)) {
                if *next == to {
                    return true;
                }
                if !std::mem::replace(&mut seen[*next], true) {
                    left.push(*next);
                }
            }
        }
        false
    }

    /// Blocks in an order: what leads to another block and not back stands before it, loops stand together, and so inside of each
    /// loop without its last block.
    fn holds(cfg: &Cfg, sorted: &[usize]) -> Result<(), TestCaseError> {
        for (at, first) in sorted.iter().enumerate() {
            for second in &sorted[at + 1..] {
                let (there, back) =
                    (leads(cfg, *first, *second, sorted), leads(cfg, *second, *first, sorted));
                prop_assert!(!back || there, "{second} leads to {first}: {sorted:?}");
            }
        }
        let mut at = 0;
        while at < sorted.len() {
            let same = |other: &usize| {
                leads(cfg, sorted[at], *other, sorted) && leads(cfg, *other, sorted[at], sorted)
            };
            let together = sorted[at + 1..].iter().take_while(|other| same(other)).count();
            let all = sorted[at + 1..].iter().filter(|other| same(other)).count();
            prop_assert_eq!(together, all, "the loop of {} is torn: {:?}", sorted[at], sorted);
            holds(cfg, &sorted[at..at + together])?;
            at += 1 + together;
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn joins_come_behind_and_loops_stand_together(
            edges in proptest::collection::vec(proptest::collection::btree_set(0_usize..12, 0..3), 1..12)
        ) {
            let count = edges.len();
            let edges: Vec<Vec<usize>> =
                edges.into_iter().map(|all| all.into_iter().filter(|to| *to < count).collect()).collect();
            let cfg = graph(&edges);
            let sorted = super::ordered(&cfg);
            prop_assert_eq!(cfg.order(), {
                let mut places = vec![0; count];
                sorted.iter().enumerate().for_each(|(at, block)| places[*block] = at);
                places
            });
            holds(&cfg, &sorted)?;
        }
    }
}
