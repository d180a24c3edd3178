//! The text format: head, initial values, a table with a column for each thread, a condition.
//!
//! The format is that of the PTX litmus tests of herd7's family, as Dat3M reads it
//! (<https://github.com/hernanponcedeleon/Dat3M>); `tests/README.md` says what it looks like. Beyond that: CRLF,
//! `(* *)` and `//`, initial values of registers, `.shared` locations. Not taken, and refused by name: proxies
//! and aliases, branches, several GPUs.

mod builder;
mod condition;
mod instruction;
mod table;
#[cfg(test)]
mod tests;

use crate::cursor::Cursor;
use crate::error::{Problem, TestParseError};
use crate::keys::thread_number;
use crate::test::{Test, TestSpace};
use builder::Builder;

/// The largest text that is read.
const BYTES: usize = 1 << 20;

/// Reads a test.
///
/// # Errors
/// With the place, when the text is no test, or one that has something this version does not.
pub fn parse(text: &str) -> Result<Test, TestParseError> {
    read(text).map_err(|problem| problem.at(text))
}

fn read(text: &str) -> Result<Test, Problem> {
    if text.len() > BYTES {
        return Err(Problem::syntax(0, format!("the text is longer than {BYTES} bytes")));
    }
    let text = &without_comments(text)?;
    let mut cursor = Cursor::new(text);
    let mut builder = Builder { test: Test { name: name(&mut cursor)?, ..Builder::EMPTY } };
    let registers = initial(&mut cursor, &mut builder)?;
    let table = table::split(&mut cursor)?;
    builder.threads(&table.heads)?;
    for (thread, name, value, at) in registers {
        let count = builder.test.threads.len();
        if thread >= count {
            return Err(Problem::syntax(at, format!("there is no thread P{thread}: the test has {count}")));
        }
        let register = builder.register(thread, name, at)?;
        let register = &mut builder.test.threads[thread].registers[register];
        register.initial = value;
        register.wide = u32::try_from(value).is_err();
    }
    // Widths first, so that a register is as wide wherever it is used.
    for (thread, cell) in &table.cells {
        let instruction = instruction::parse(cell.clone(), *thread, text, &mut builder)?;
        builder.test.threads[*thread].instructions.push(instruction);
    }
    builder.check_spaces(table.heads.first().map_or(0, |head| head.offset))?;
    for location in &mut builder.test.locations {
        location.initial &= if location.bytes == 8 { u64::MAX } else { u64::from(u32::MAX) };
    }
    cursor.skip_blanks();
    if !cursor.is_at_end() {
        builder.test.condition = Some(condition::parse(&mut cursor, &builder.test)?);
    }
    Ok(builder.test)
}

/// The text with blanks in place of comments, so that places stay.
fn without_comments(text: &str) -> Result<String, Problem> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let blank = |out: &mut String, part: &str| {
        out.extend(part.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { byte as char } else { ' ' }));
    };
    loop {
        let Some(start) = ["(*", "//"].iter().filter_map(|opening| rest.find(opening)).min() else {
            out.push_str(rest);
            return Ok(out);
        };
        let (before, comment) = rest.split_at(start);
        out.push_str(before);
        let end = if let Some(inside) = comment.strip_prefix("(*") {
            let end = inside.find("*)").map(|end| end + 4);
            end.ok_or_else(|| Problem::syntax(text.len() - comment.len(), "the comment does not end"))?
        } else {
            comment.find('\n').unwrap_or(comment.len())
        };
        blank(&mut out, &comment[..end]);
        rest = &comment[end..];
    }
}

/// The head: `PTX name`, perhaps with quoted lines of explanation behind it.
fn name(cursor: &mut Cursor<'_>) -> Result<String, Problem> {
    let at = cursor.skip_blanks();
    if cursor.is_at_end() {
        return Err(Problem::syntax(at, "the file is empty"));
    }
    if !cursor.take_word("PTX") {
        return Err(cursor.unexpected("'PTX' and the test's name"));
    }
    let line = cursor.rest().lines().next().unwrap_or_default();
    let name = line.split(['"', '{']).next().unwrap_or_default().trim();
    if name.is_empty() {
        return Err(Problem::syntax(cursor.offset(), "the test has no name"));
    }
    if let Some(control) = name.chars().find(|c| c.is_control() || c.is_whitespace()) {
        let found = control.escape_default();
        return Err(Problem::syntax(cursor.offset(), format!("'{found}' cannot stand in a test's name")));
    }
    cursor.take(name);
    while cursor.take("\"") {
        let Some(end) = cursor.rest().find('"') else {
            return Err(Problem::syntax(cursor.offset(), "the quotation does not end"));
        };
        cursor.pass(end + 1);
    }
    Ok(name.to_owned())
}

/// A register's initial value: thread, name, value and place.
type Initial<'a> = (usize, &'a str, u64, usize);

/// The initial values, in braces; answers those of registers.
fn initial<'a>(cursor: &mut Cursor<'a>, builder: &mut Builder) -> Result<Vec<Initial<'a>>, Problem> {
    let mut registers = Vec::new();
    cursor.expect("{")?;
    while !cursor.take("}") {
        if cursor.take(";") {
            continue;
        }
        let mut space = TestSpace::Global;
        while cursor.take(".") {
            let at = cursor.offset();
            match cursor.word() {
                "shared" => space = TestSpace::Shared,
                "global" => {}
                other => {
                    let message =
                        format!("'.{other}' is nothing that a location can be: .global and .shared are");
                    return Err(Problem::unsupported(at, message));
                }
            }
        }
        let at = cursor.skip_blanks();
        let bracket = cursor.take("[");
        let name = cursor.name()?;
        if bracket {
            cursor.expect("]")?;
        }
        let register = if cursor.take(":") { Some(cursor.name()?) } else { None };
        if cursor.take("@") || cursor.take("->") {
            return Err(Problem::unsupported(at, "aliases and proxies are not supported"));
        }
        let value = if cursor.take("=") { cursor.number()? } else { 0 };
        if !cursor.rest().trim_start().starts_with('}') {
            cursor.expect(";")?;
        }
        match register {
            Some(register) => {
                let thread = thread_number(name)
                    .ok_or_else(|| Problem::syntax(at, format!("'{name}' is no thread: P0, P1, … are")))?;
                registers.push((thread, register, value, at));
            }
            None => {
                if builder.test.locations.iter().any(|location| location.name == name) {
                    return Err(Problem::syntax(at, format!("{name} is given twice")));
                }
                let index = builder.location(name, at)?;
                let location = &mut builder.test.locations[index];
                (location.initial, location.space) = (value, space);
                location.bytes = if u32::try_from(value).is_ok() || (value as i64) < 0 { 4 } else { 8 };
            }
        }
    }
    Ok(registers)
}
