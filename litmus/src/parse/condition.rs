//! Reads conditions.

use crate::condition::{Condition, Expression, Quantifier};
use crate::cursor::Cursor;
use crate::error::Problem;
use crate::key::OutcomeKey;
use crate::test::Test;

/// Parentheses and negations within each other: deeper is no test that somebody wrote.
const DEPTH: u32 = 64;

/// Reads a condition, to the end of the text.
pub(super) fn parse(cursor: &mut Cursor<'_>, test: &Test) -> Result<Condition, Problem> {
    let start = cursor.skip_blanks();
    let negated = cursor.take("~") || cursor.take_word("not");
    let quantifier = match (cursor.word(), negated) {
        ("exists", false) => Quantifier::Exists,
        ("exists", true) => Quantifier::NotExists,
        ("forall", false) => Quantifier::Forall,
        (other, _) => {
            return Err(Problem::syntax(
                start,
                format!("exists, ~exists or forall is wanted, not '{other}'"),
            ));
        }
    };
    let expression = or(cursor, test, 0)?;
    let end = cursor.skip_blanks();
    // The end may be marked.
    cursor.take(";");
    cursor.skip_blanks();
    if !cursor.is_at_end() {
        return Err(Problem::syntax(end, "the test goes on behind its condition"));
    }
    Ok(Condition { quantifier, expression })
}

fn or(cursor: &mut Cursor<'_>, test: &Test, depth: u32) -> Result<Expression, Problem> {
    let mut parts = vec![and(cursor, test, depth)?];
    while cursor.take("\\/") || cursor.take("||") || cursor.take_word("or") {
        parts.push(and(cursor, test, depth)?);
    }
    Ok(only(parts, Expression::Or))
}

fn and(cursor: &mut Cursor<'_>, test: &Test, depth: u32) -> Result<Expression, Problem> {
    let mut parts = vec![not(cursor, test, depth)?];
    while cursor.take("/\\") || cursor.take("&&") || cursor.take_word("and") {
        parts.push(not(cursor, test, depth)?);
    }
    Ok(only(parts, Expression::And))
}

fn only(mut parts: Vec<Expression>, of: fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.len() {
        1 => parts.remove(0),
        _ => of(parts),
    }
}

fn not(cursor: &mut Cursor<'_>, test: &Test, depth: u32) -> Result<Expression, Problem> {
    let at = cursor.skip_blanks();
    if depth > DEPTH {
        return Err(Problem::syntax(at, "the condition is nested too deeply"));
    }
    if cursor.take("~") || cursor.take("!") || cursor.take_word("not") {
        return Ok(Expression::Not(Box::new(not(cursor, test, depth + 1)?)));
    }
    if cursor.take("(") {
        let inner = or(cursor, test, depth + 1)?;
        cursor.expect(")")?;
        return Ok(inner);
    }
    if cursor.take_word("true") {
        return Ok(Expression::Constant(true));
    }
    if cursor.take_word("false") {
        return Ok(Expression::Constant(false));
    }
    let key = OutcomeKey::parse(cursor, test)?;
    let unequal = cursor.take("!=");
    if !unequal && !cursor.take("==") {
        cursor.expect("=")?;
    }
    let value = cursor.number()? & key.mask(test);
    let equal = Expression::Equal(key, value);
    Ok(if unequal { Expression::Not(Box::new(equal)) } else { equal })
}
