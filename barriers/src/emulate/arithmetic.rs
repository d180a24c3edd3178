//! Arithmetic on rows of which some lanes are not known: the simulator's row functions compute all lanes, and a lane of the
//! result is known where the sources are, or where those that are decide.

use bugaroo_simulator::SHARED_WINDOW;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::Inst;

use super::registers::{Registers, Why, lanes};
use super::text::{Arithmetic, Rule};

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
    unsafe { partly(registers, inst, info, pc, [active, doubtful], known) };
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
    // SAFETY: the caller's promise.
    unsafe { registers.run(inst.run, &inst.ops, active) };
    registers.mark(inst.ops.dst, active | doubtful, known & active, why);
    if info.second {
        registers.mark(inst.ops.dst2, active | doubtful, known & active, why);
    }
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
