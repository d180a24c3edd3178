//! Where inline assembly stands in a compiler's text.
//!
//! LLVM writes `// begin inline asm` and `// end inline asm` around it (`MCAsmInfo::InlineAsmStart`), and before each line of it a
//! `.loc` whose line is that of the statement, counted on for each line of the assembly: lines that the source has elsewhere, or
//! not at all. LLVM itself forgets these `.loc`s at the end, and so the one before the assembly holds for all of it. Triton's loads
//! and stores are inline assembly. nvcc marks it as well, and writes no `.loc` within.
//!
//! What it can miss: a text written by hand that has such comments around code with lines of its own.

const BEGIN: &str = "// begin inline asm";
const END: &str = "// end inline asm";

/// The extents of all inline assembly of a text, in its order.
#[derive(Debug, Default)]
pub(super) struct InlineAssembly(Vec<(usize, usize)>);

impl InlineAssembly {
    /// Looks for it; what is never closed is none.
    pub(super) fn find(source: &str) -> Self {
        let begins = source.match_indices(BEGIN).map(|(at, _)| (at, true));
        let ends = source.match_indices(END).map(|(at, _)| (at, false));
        let mut marks: Vec<(usize, bool)> = begins.chain(ends).collect();
        marks.sort_unstable();
        let pairs = marks.windows(2).filter(|pair| pair[0].1 && !pair[1].1);
        Self(pairs.map(|pair| (pair[0].0, pair[1].0)).collect())
    }

    /// Whether the byte `at` lies within any.
    pub(super) fn holds(&self, at: usize) -> bool {
        let next = self.0.partition_point(|(begin, _)| *begin <= at);
        next.checked_sub(1).is_some_and(|last| at < self.0[last].1)
    }
}

#[cfg(test)]
mod tests {
    use super::InlineAssembly;

    #[test]
    fn what_lies_between_the_marks() {
        let text =
            "a // begin inline asm\nb\n// end inline asm\nc\n// begin inline asm\nd // end inline asm\ne";
        let found = InlineAssembly::find(text);
        let within = |name: char| found.holds(text.find(&format!("\n{name}")).map_or(0, |at| at + 1));
        assert_eq!("abcde".chars().map(within).collect::<Vec<_>>(), [false, true, false, true, false]);
    }

    #[test]
    fn marks_without_their_like_are_comments() {
        for text in
            ["// begin inline asm\na", "// end inline asm\na", "// end inline asm\na // begin inline asm", ""]
        {
            let found = InlineAssembly::find(text);
            assert!((0..text.len()).all(|at| !found.holds(at)), "{text}");
        }
        let twice = "// begin inline asm\na\n// begin inline asm\nb\n// end inline asm\n";
        let found = InlineAssembly::find(twice);
        assert!(!found.holds(20) && found.holds(42), "the nearest are a pair");
    }
}
