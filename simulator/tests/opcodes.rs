//! Every base opcode that NVIDIA's compiler was seen to emit for public CUDA code, tensor-core and texture
//! instructions aside, occurs in a file of `tests/ptx` that loads and runs. That the instruction itself is
//! reached is the matter of that file's expected results, not of this test.

use std::collections::BTreeSet;

/// In order of frequency in that code.
const SEEN: &str = "add ld mov fma mul bra st setp shr sub shl selp cvt and shfl cvta bar mad neg abs max div \
    atom ret xor or not barrier bfe membar fence rcp min rsqrt vote call sqrt rem bmsk brev clz bfi ex2 popc \
    nanosleep sin cos match bfind madc trap red activemask addc prmt subc exit copysign lg2 isspacep";

#[test]
fn every_opcode_seen_in_the_wild_is_in_a_file_that_runs() {
    let mut covered = BTreeSet::new();
    for entry in std::fs::read_dir("tests/ptx").expect("the tests' files") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|e| e != "ptx") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        // Files that are refused execute nothing.
        if text.contains("//! refuse") {
            continue;
        }
        for line in text.lines().map(str::trim) {
            let line = line.split("//").next().unwrap_or_default();
            for statement in line.split([';', '{', '}']).map(str::trim) {
                let unguarded = if statement.starts_with('@') {
                    statement.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim())
                } else {
                    statement
                };
                let opcode = unguarded.split(['.', ' ', '\t']).next().unwrap_or_default();
                covered.insert(opcode.to_string());
            }
        }
    }
    let missing: Vec<_> = SEEN.split_whitespace().filter(|op| !covered.contains(*op)).collect();
    assert!(missing.is_empty(), "no test executes {missing:?}");
}
