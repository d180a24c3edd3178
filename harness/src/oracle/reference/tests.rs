use bugaroo_protocol::{HostFrame, MemoryEnd, MemoryPiece, SourceLine};

use super::*;
use crate::oracle::memory::*;

fn end(piece: MemoryPiece, digest: &str) -> MemoryEnd {
    MemoryEnd { piece, bytes: 64, digest: digest.to_owned(), allocated_at: Vec::new() }
}

/// What a process told: allocations from 1 on with these digests.
fn ends(digests: &[&str]) -> MemoryEnds {
    let mut told = MemoryEnds::default();
    let all = (1..).zip(digests).map(|(number, digest)| end(MemoryPiece::Allocation(number), digest));
    told.take(all.collect(), true);
    told
}

fn judge(memory: &ReferenceMemory, ends: &MemoryEnds) -> OracleVerdict {
    let reference = Reference { memory: Some(memory.clone()), ..Reference::default() };
    of_memory(Some(&reference), Exit::Code(0), ends)
}

fn discontent(verdict: OracleVerdict) -> String {
    match verdict {
        OracleVerdict::Discontent(why) => why,
        OracleVerdict::Content => panic!("it is content"),
    }
}

#[test]
fn what_differs_without_injection_is_not_compared() {
    let mut memory = ReferenceMemory::of(&ends(&["a", "b", "c"])).unwrap();
    memory.narrow(&ends(&["a", "x", "c"])).unwrap();
    assert_eq!(memory.differing.len(), 1);
    assert_eq!(judge(&memory, &ends(&["a", "anything", "c"])), OracleVerdict::Content);
    let why = discontent(judge(&memory, &ends(&["a", "b", "d"])));
    assert_eq!(why, "memory does not hold what it does without injection: allocation 3 (64 bytes)");
    let why = discontent(judge(&memory, &ends(&["a", "b"])));
    assert!(why.ends_with("allocation 3 (64 bytes)"), "{why}");
}

#[test]
fn more_memory_counts_unless_runs_without_injection_have_more_as_well() {
    let mut memory = ReferenceMemory::of(&ends(&["a"])).unwrap();
    memory.narrow(&ends(&["a"])).unwrap();
    let why = discontent(judge(&memory, &ends(&["a", "b"])));
    assert!(why.contains("does not ask without injection"), "{why}");
    memory.narrow(&ends(&["a", "c"])).unwrap();
    assert_eq!(judge(&memory, &ends(&["a", "b"])), OracleVerdict::Content);
}

#[test]
fn who_does_not_tell_is_not_content() {
    let memory = ReferenceMemory::of(&ends(&["a"])).unwrap();
    let mut cut = MemoryEnds::default();
    cut.take(vec![end(MemoryPiece::Allocation(1), "a")], false);
    assert!(discontent(judge(&memory, &cut)).contains("did not come to the end"));
    let mut two = ends(&["a"]);
    two.take(Vec::new(), true);
    assert!(discontent(judge(&memory, &two)).contains("several of its processes"));
    assert!(ReferenceMemory::of(&cut).is_err() && ReferenceMemory::of(&two).is_err());
}

#[test]
fn the_exit_counts_as_well() {
    let memory = ReferenceMemory::of(&ends(&["a"])).unwrap();
    let reference = Reference { memory: Some(memory), ..Reference::default() };
    let why = discontent(of_memory(Some(&reference), Exit::Code(3), &ends(&["a"])));
    assert_eq!(why, "exit code 3, but exit code 0 without injection");
}

#[test]
fn pieces_are_named_by_the_programs_own_line() {
    let frame = |file: &str| HostFrame {
        function: None,
        module: "app".to_owned(),
        offset: 0,
        source: Some(SourceLine { file: file.to_owned(), line: 7 }),
    };
    let frames =
        vec![frame("/home/u/.cargo/registry/src/cudarc/sys.rs"), frame("src/main.rs"), frame("x.rs")];
    let allocation = MemoryEnd { allocated_at: frames, ..end(MemoryPiece::Allocation(2), "a") };
    assert_eq!(Piece::from(&allocation).to_string(), "allocation 2 (64 bytes, src/main.rs:7)");
    let variable = |load| Piece::from(&end(MemoryPiece::Variable(load, "total".to_owned()), "a"));
    assert_eq!(variable(1).to_string(), "variable total (64 bytes)");
    assert_eq!(variable(2).to_string(), "variable total of module 2 (64 bytes)");
    let five = vec![variable(1); 5];
    let five: Vec<&Piece> = five.iter().collect();
    assert!(names(&five).ends_with(" and 2 more"));
}

#[test]
fn a_reference_survives_its_file() {
    let mut memory = ReferenceMemory::of(&ends(&["a", "b"])).unwrap();
    memory.narrow(&ends(&["a", "c"])).unwrap();
    let reference = Reference { memory: Some(memory), ..Reference::default() };
    let text = serde_json::to_string(&reference).unwrap();
    assert_eq!(serde_json::from_str::<Reference>(&text).unwrap(), reference);
}
