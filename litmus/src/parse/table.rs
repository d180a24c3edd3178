//! The table of instructions: a column for each thread, rows in program order.

use crate::cursor::Cursor;
use crate::error::Problem;
use crate::test::THREADS;

/// A column's head: `P0@cta 0,gpu 0`.
pub(super) struct Head {
    pub cta: u64,
    pub gpu: u64,
    pub offset: usize,
}

/// The parts of the table.
pub(super) struct Table<'a> {
    pub heads: Vec<Head>,
    /// Thread and text of what is not empty, row by row.
    pub cells: Vec<(usize, Cursor<'a>)>,
}

/// Takes the table apart, up to the condition or the end.
pub(super) fn split<'a>(cursor: &mut Cursor<'a>) -> Result<Table<'a>, Problem> {
    let at = cursor.skip_blanks();
    let Some(first) = row(cursor)? else {
        return Err(Problem::syntax(at, "the threads are wanted: P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;"));
    };
    let heads: Vec<Head> = first.into_iter().enumerate().map(head).collect::<Result<_, _>>()?;
    if heads.len() > THREADS {
        return Err(Problem::unsupported(heads[THREADS].offset, format!("more than {THREADS} threads")));
    }
    let mut cells = Vec::new();
    while let Some(row) = row(cursor)? {
        for (thread, mut cell) in row.into_iter().enumerate() {
            let at = cell.skip_blanks();
            if cell.is_at_end() {
                continue;
            }
            if thread >= heads.len() {
                let message = format!("the row has more columns than the {} threads", heads.len());
                return Err(Problem::syntax(at, message));
            }
            cells.push((thread, cell));
        }
    }
    Ok(Table { heads, cells })
}

/// The cells of the next row; None where the condition begins or the text ends.
fn row<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Vec<Cursor<'a>>>, Problem> {
    let at = cursor.skip_blanks();
    if cursor.is_at_end() || cursor.rest().starts_with('~') {
        return Ok(None);
    }
    match cursor.clone().word() {
        "exists" | "forall" | "not" => return Ok(None),
        other @ ("filter" | "locations") => {
            return Err(Problem::unsupported(at, format!("'{other}' is not supported")));
        }
        _ => {}
    }
    let rest = cursor.rest();
    let Some(end) = rest.find(';') else {
        return Err(Problem::syntax(at, "the row does not end with ';'"));
    };
    let mut cells = Vec::new();
    let mut start = 0;
    for cell in rest[..end].split('|') {
        cells.push(Cursor::within(cell, cursor.offset() + start));
        start += cell.len() + 1;
    }
    cursor.pass(end + 1);
    Ok(Some(cells))
}

fn head((index, mut cell): (usize, Cursor<'_>)) -> Result<Head, Problem> {
    let offset = cell.skip_blanks();
    if !cell.take_word(&format!("P{index}")) {
        return Err(cell.unexpected(&format!("'P{index}@cta N,gpu N'")));
    }
    cell.expect("@")?;
    let (mut cta, mut gpu) = (None, 0);
    loop {
        let at = cell.skip_blanks();
        let place = cell.name()?;
        let number = cell.number()?;
        match place {
            "cta" => cta = Some(number),
            "gpu" => gpu = number,
            // All threads are of one system.
            "sys" => {}
            other => {
                let message = format!("'{other}' is no place of a thread: cta, gpu and sys are");
                return Err(Problem::unsupported(at, message));
            }
        }
        if !cell.take(",") {
            break;
        }
    }
    cell.skip_blanks();
    if !cell.is_at_end() {
        return Err(cell.unexpected("'|' or ';'"));
    }
    let cta = cta.ok_or_else(|| Problem::syntax(offset, format!("P{index} has no CTA")))?;
    Ok(Head { cta, gpu, offset })
}
