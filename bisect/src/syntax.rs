//! A source file as a tree: where a fence or a barrier can be written for an access, and what becomes of those that
//! are there.
//!
//! Source: the grammar of the crate `tree-sitter-cuda`, which recovers from what it does not know. Only the statement
//! at hand must be understood; the rest of the file may hold what no grammar has heard of.
//!
//! # What is asked for
//!
//! - [`SourceFile::statements_at`]: the statements that an access at a position can belong to, the likeliest first,
//!   each with its [`Spot`]s. [`Spot::insert`] gives the edits, [`Spot::insertions`] their effect.
//! - [`SourceFile::between`]: the spots between two accesses, or why there are none.
//! - [`SourceFile::fences_at`]: calls of fences and barriers, which can be deleted and narrowed or widened.
//! - [`SourceFile::widenings_at`]: atomics of a narrow scope, made ones of the GPU.
//!
//! Edits of one file go into [`crate::patch::Edits`] together, whatever they come from: braces that several of them
//! need are written once.
//!
//! # What positions say
//!
//! nvcc 13 writes one `.loc` for each *line* that code generation comes to, with the column of what it comes to first
//! on that line; everything else on the line has that column, too. So a column does not tell statements of a line from
//! each other. From PTX of each form (`-lineinfo`, with and without optimisation the same):
//!
//! | access in | column |
//! |---|---|
//! | a statement of any kind, a declaration, a call, `return`, `asm`, the condition of `if`, `while`, `switch`, the start and condition of `for` | that of the first word of the statement (`return`, `int`, `while`, `case`), not of the access |
//! | a statement that goes on on a further line | on that line, that of the first operand or call that stands there; the store of the whole has that of one of its lines |
//! | the last part of `for` | its own, as the body is mostly on other lines; else that of the `for` |
//! | the condition of `do … while` | its own, where the body is on other lines; else that of the `do` |
//! | further statements of a line | that of the first; behind `} else` that of `{` or of the statement |
//! | a body on the line of its function, of its lambda | that of the function's name, of the lambda's `(` |
//! | a use of a macro, however many lines and statements | that of the use, on its first line |
//! | an access that the compiler has made of those of two lines | line 0, or that of one of them |
//!
//! Columns count in the text behind the preprocessor: where a macro is expanded earlier on the line (`__device__` is
//! one), they lie to the right of where the author sees it. So a column is believed where it is the place of a word
//! and no macro stands before it; else the line alone counts. [`Spot::told`] says whether the stretch of a spot has
//! positions of its own; where it shares them, what has been tried on the PTX can have been beside its neighbour.
//!
//! # What it can miss
//!
//! Names are not looked up: a macro or a variable from a header is not seen. A stretch in branches of `#if` is taken
//! as if all of them were compiled.

mod access;
mod definitions;
mod delete;
mod fences;
mod lines;
mod macros;
mod names;
mod place;
mod refusal;
mod source;
mod spots;
mod statement;
mod take_apart;
mod tree;
mod widen;

use bugaroo_protocol::{Position, Side};

pub use access::Synchronising;
pub use fences::{FenceCall, FenceScope, SourceCall};
pub use refusal::SourceRefusal;
pub use source::SourceFile;
pub use spots::{FileSpan, Form, LocTold, MacroUse, Spot, call};
pub use statement::SourceStatement;
pub use widen::Widening;

impl SourceFile {
    /// The statements that an access at a position can belong to: the one that holds it first, then those that share
    /// its position, as they stand on the line. Column 0 is one that is not known.
    pub fn statements_at(&self, at: Position) -> Result<Vec<SourceStatement>, SourceRefusal> {
        statement::at(self, at)
    }

    /// The spots of all statements at a position; those of the likeliest statement first.
    pub fn spots_at(&self, at: Position) -> Result<Vec<Spot>, SourceRefusal> {
        Ok(self.statements_at(at)?.into_iter().flat_map(|statement| statement.spots).collect())
    }

    /// The spots within the definition of a macro of this file that another file uses: their stretch is of no use there,
    /// as it is the definition's.
    pub fn spots_in_macro(&self, name: &str, uses: usize) -> Vec<Spot> {
        macros::spots_for(self, name, uses)
    }

    /// The fences and barriers at a position: of the statement that holds it first, then of those that share it. A use
    /// of a macro or a function of this file that does nothing else counts, and so does what stands in the macro.
    pub fn fences_at(&self, at: Position) -> Result<Vec<FenceCall>, SourceRefusal> {
        fences::at(self, at)
    }

    /// The atomics at a position that have a narrower scope than the GPU, with what widens them.
    pub fn widenings_at(&self, at: Position) -> Result<Vec<Widening>, SourceRefusal> {
        widen::at(self, at)
    }

    /// Spots between two accesses, of which the first is behind the second in neither text nor time: behind what holds
    /// the first and not the second, and before what holds the second and not the first; innermost first.
    pub fn between(&self, first: Position, second: Position) -> Result<Vec<Spot>, SourceRefusal> {
        let (from, to) = (self.statements_at(first)?, self.statements_at(second)?);
        // Of statements that share a position, the access may be in any.
        let mut refused = SourceRefusal::Apart { first: first.line, second: second.line };
        let mut found: Vec<Spot> = Vec::new();
        for one in &from {
            for other in &to {
                if one.bytes == other.bytes {
                    // Between statements of one use of a macro.
                    let within = one.spots.iter().filter(|spot| spot.in_macro.is_some());
                    found.extend(within.cloned());
                    if from.len() == 1 && to.len() == 1 {
                        refused =
                            SourceRefusal::OneStatement { line: one.span.from.line, text: one.text.clone() };
                    }
                    continue;
                }
                let apart = |spot: &&Spot| {
                    if spot.in_macro.is_some() {
                        return false;
                    }
                    let holds = |statement: &SourceStatement| {
                        spot.bytes.start <= statement.bytes.start && statement.bytes.end <= spot.bytes.end
                    };
                    match spot.side {
                        Side::Behind => holds(one) && !holds(other) && spot.bytes.end <= other.bytes.start,
                        Side::Before => holds(other) && !holds(one) && one.bytes.end <= spot.bytes.start,
                    }
                };
                let mut spots: Vec<&Spot> = one.spots.iter().chain(&other.spots).filter(apart).collect();
                spots.sort_by_key(|spot| spot.depth);
                for spot in spots {
                    if !found.contains(spot) {
                        found.push(spot.clone());
                    }
                }
            }
        }
        if found.is_empty() { Err(refused) } else { Ok(found) }
    }
}

#[cfg(test)]
mod tests;
