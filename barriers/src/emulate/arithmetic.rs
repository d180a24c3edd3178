//! Arithmetic on rows of which some lanes are not known: the simulator's row functions compute all lanes, and a lane of the
//! result is known where the sources are, or where those that are decide.

use bugaroo_simulator::SHARED_WINDOW;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::Inst;

use super::flow::Flow;
use super::registers::{Registers, Why, lanes};
use super::residue::{Low, LowOp};
use super::symbol::{RowShape, Source, Symbols};
use super::text::{Arithmetic, Form, Rule};

/// Runs an arithmetic instruction for the lanes in `active`; whether those in `doubtful` run it is not known.
///
/// # Safety
/// The instruction is one of the function that the registers were made for.
#[inline(always)]
pub(super) unsafe fn arithmetic(
    registers: &mut Registers<'_>,
    inst: &Inst,
    info: &Arithmetic,
    pc: u32,
    active: u32,
    doubtful: u32,
    (symbols, flow): (&mut Symbols, &Flow),
) {
    let mut known = !0;
    for source in &inst.ops.src[..usize::from(info.sources)] {
        known &= registers.known(*source);
    }
    if info.rule == Rule::Never {
        known = 0;
    }
    if known & active == active && doubtful == 0 {
        registers.mark(inst.ops.dst, active, !0, Why::NEVER);
        if info.second {
            registers.mark(inst.ops.dst2, active, !0, Why::NEVER);
        }
        // SAFETY: the caller's promise.
        unsafe { registers.run(inst.run, &inst.ops, active) };
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { partly(registers, inst, info, pc, [active, doubtful], known, (symbols, flow)) };
}

/// When not all is known.
///
/// # Safety
/// As above.
#[inline(never)]
unsafe fn partly(
    registers: &mut Registers<'_>,
    inst: &Inst,
    info: &Arithmetic,
    pc: u32,
    [active, doubtful]: [u32; 2],
    mut known: u32,
    (symbols, flow): (&mut Symbols, &Flow),
) {
    let source = |i: usize| inst.ops.src[i];
    let mut why = None;
    let mut tainted = false;
    for i in 0..usize::from(info.sources) {
        let missing = active & !registers.known(source(i));
        if missing != 0 {
            let found = registers.why(source(i));
            tainted |= found.is_tainted();
            why.get_or_insert(found);
        }
        if info.wide >> i & 1 != 0 {
            tainted |= lanes(active & !missing).any(|lane| {
                let value = registers.read(source(i), Width::W64, lane);
                value.wrapping_sub(SHARED_WINDOW) < 1 << 32
            });
        }
    }
    known |= decided(registers, inst, info.rule, active);
    let why = why.unwrap_or_else(|| match info.rule {
        Rule::Never => Why::at(pc),
        _ => registers.why(inst.guard as i32),
    });
    let why = why.tainted(tainted);
    let made = expressions(registers, inst, info, active & !known, (symbols, flow));
    // SAFETY: the caller's promise.
    unsafe { registers.run(inst.run, &inst.ops, active) };
    registers.mark(inst.ops.dst, active | doubtful, known & active, why);
    if info.second {
        registers.mark(inst.ops.dst2, active | doubtful, known & active, why);
    }
    let is_predicate = flow.width(inst.ops.dst) == Some(Width::Pred);
    for (lane, made) in made {
        let value = match made {
            Source::Symbol(symbol) if is_predicate => symbols.decided(symbol).map(u64::from),
            Source::Symbol(_) => None,
            Source::Known(value) => Some(value),
        };
        match (value, made, flow.width(inst.ops.dst)) {
            (Some(value), _, Some(width)) => {
                registers.write(inst.ops.dst, width, lane, value);
                registers.mark(inst.ops.dst, 1 << lane, !0, Why::NEVER);
            }
            (_, Source::Symbol(symbol), _) => registers.set_symbol(inst.ops.dst, lane, symbol),
            _ => {}
        }
    }
}

/// The expressions of the first result in these lanes, before the instruction runs.
fn expressions(
    registers: &Registers<'_>,
    inst: &Inst,
    info: &Arithmetic,
    mask: u32,
    (symbols, flow): (&mut Symbols, &Flow),
) -> Vec<(usize, Source)> {
    let Some(dst) = flow.width(inst.ops.dst).filter(|_| info.form != Form::Opaque) else {
        return Vec::new();
    };
    let count = usize::from(info.sources);
    let widths: [Width; 4] = std::array::from_fn(|i| {
        let of_constant = if info.wide >> i & 1 != 0 { Width::W64 } else { Width::W32 };
        let row = u32::try_from(inst.ops.src[i]).ok();
        row.filter(|_| i < count).map_or(of_constant, |row| flow.width(row).unwrap_or(of_constant))
    });
    let mut made = Vec::new();
    let mut last: Option<([Option<Source>; 4], Source)> = None;
    for lane in lanes(mask) {
        let mut sources = [None; 4];
        let mut whole = true;
        for i in 0..count {
            let slot = inst.ops.src[i];
            sources[i] = match registers.known(slot) >> lane & 1 {
                0 => registers.symbol(slot, lane).map(Source::Symbol),
                // A constant is the same in all lanes, and those of 16 bits have no room for wider ones: what is too much is cut off.
                _ => Some(Source::Known(registers.read(slot, widths[i], if slot < 0 { 0 } else { lane }))),
            };
            whole &= sources[i].is_some();
        }
        if !whole {
            continue;
        }
        let result = match last {
            Some((same, result)) if same == sources => result,
            _ => {
                let Some(result) = expression(inst, info, sources, (dst, widths), symbols) else { continue };
                result
            }
        };
        last = Some((sources, result));
        made.push((lane, result));
    }
    made
}

fn expression(
    inst: &Inst,
    info: &Arithmetic,
    sources: [Option<Source>; 4],
    (dst, widths): (Width, [Width; 4]),
    symbols: &mut Symbols,
) -> Option<Source> {
    let symbol = match (info.form, sources[0], sources[1]) {
        (Form::Launch { workspace }, ..) => symbols.launch(inst.ops.src[0], dst, workspace),
        (Form::Copy, Some(Source::Symbol(symbol)), _) => symbol,
        (Form::Sum { bytes, minus: false }, Some(Source::Symbol(of)), Some(Source::Known(plus)))
        | (Form::Sum { bytes, minus: false }, Some(Source::Known(plus)), Some(Source::Symbol(of))) => {
            symbols.sum(of, plus, bytes)
        }
        (Form::Sum { bytes, minus: true }, Some(Source::Symbol(of)), Some(Source::Known(less))) => {
            symbols.sum(of, less.wrapping_neg(), bytes)
        }
        (Form::Compare { order, bytes, swap, negate }, Some(a), Some(b)) => {
            let (a, b) = if swap { (b, a) } else { (a, b) };
            match symbols.compared(order, bytes, a, b) {
                Source::Symbol(symbol) => {
                    if negate {
                        symbol.not()
                    } else {
                        symbol
                    }
                }
                Source::Known(holds) => return Some(Source::Known(holds ^ u64::from(negate))),
            }
        }
        // `and` and `or` of predicates: what does not decide says nothing.
        (_, Some(Source::Symbol(symbol)), Some(Source::Known(known)))
        | (_, Some(Source::Known(known)), Some(Source::Symbol(symbol)))
            if dst == Width::Pred
                && widths[..2] == [Width::Pred; 2]
                && (info.rule == Rule::Zero(0) && known == 1 || info.rule == Rule::Ones(0) && known == 0) =>
        {
            symbol
        }
        (Form::Opaque | Form::Copy, ..) => return None,
        _ => {
            if let Some(simpler) = info.division.and_then(|division| symbols.divided(division, sources)) {
                return Some(simpler);
            }
            let low = low_bits(info, sources, dst, symbols);
            if low.bits() == 64 {
                return Some(Source::Known(low.value()));
            }
            let symbol = symbols.row(RowShape { run: inst.run, dst, sources: widths }, false, sources);
            symbols.set_low(symbol, low);
            if let Some(division) = info.division {
                symbols.note(symbol, division, sources);
            }
            let known = sources.iter().find_map(|source| match source {
                Some(Source::Known(value)) => Some(*value),
                _ => None,
            });
            if let (Form::Row(Some(LowOp::And)), Some(most), Some(bytes)) = (info.form, known, bytes_of(dst))
            {
                symbols.set_most(symbol, bytes, most);
            }
            symbol
        }
    };
    Some(Source::Symbol(symbol))
}

/// Bytes of a number.
fn bytes_of(width: Width) -> Option<u8> {
    match width {
        Width::Pred => None,
        Width::W16 => Some(2),
        Width::W32 => Some(4),
        Width::W64 => Some(8),
    }
}

/// What is known of a result's low bits.
fn low_bits(info: &Arithmetic, sources: [Option<Source>; 4], dst: Width, symbols: &Symbols) -> Low {
    let op = match info.form {
        Form::Row(op) => op,
        Form::Sum { minus, .. } => Some(if minus { LowOp::Sub } else { LowOp::Add }),
        _ => None,
    };
    let bits = match dst {
        Width::Pred => return Low::zeros(0),
        Width::W16 => 16,
        Width::W32 => 32,
        Width::W64 => 64,
    };
    let Some(op) = op else { return Low::zeros(0) };
    let lows = sources.iter().flatten().map(|source| match source {
        Source::Known(value) => Low::all(*value),
        Source::Symbol(symbol) => symbols.low(*symbol),
    });
    let lows: Vec<Low> = lows.collect();
    op.of(&lows, bits)
}

/// Lanes in which the known sources decide the result.
fn decided(registers: &Registers<'_>, inst: &Inst, rule: Rule, active: u32) -> u32 {
    let [a, b, c, _] = inst.ops.src;
    let holding = |slot: i32, bytes: u8, value: u64| {
        let known = registers.known(slot) & active;
        match width(bytes) {
            Width::Pred => {
                known & if value == 0 { !registers.predicate(slot) } else { registers.predicate(slot) }
            }
            width => {
                let value = if bytes == 8 { value } else { value & ((1 << (8 * bytes)) - 1) };
                lanes(known)
                    .filter(|lane| registers.read(slot, width, *lane) == value)
                    .fold(0, |m, l| m | 1 << l)
            }
        }
    };
    match rule {
        Rule::All | Rule::Never => 0,
        Rule::Select => {
            let chooser = registers.predicate(c);
            registers.known(c) & (registers.known(a) & chooser | registers.known(b) & !chooser)
        }
        Rule::Zero(bytes) => holding(a, bytes, 0) | holding(b, bytes, 0),
        Rule::Ones(bytes) => holding(a, bytes, !0) | holding(b, bytes, !0),
        Rule::Combine { decides, negated } => {
            let value = registers.predicate(c) ^ if negated { !0 } else { 0 };
            registers.known(c) & if decides { value } else { !value }
        }
    }
}

fn width(bytes: u8) -> Width {
    match bytes {
        0 => Width::Pred,
        1 | 2 => Width::W16,
        4 => Width::W32,
        _ => Width::W64,
    }
}
