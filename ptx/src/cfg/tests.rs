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
