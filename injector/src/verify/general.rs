//! What holds of all injected code.

use std::collections::BTreeMap;

use bugaroo_ptx::ast::{AddressBase, Instruction, Operand, Statement, StatementKind};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::{Semantics, Space, Type};

use super::view::{FunctionView, View, jump_target, owner_of, owners};
use super::violation::Violation;
use crate::access::Element;
use crate::collect_sites::{InjectionPoint, PointKind};
use crate::emit::{
    ADDRESS, AT, CTA, LABEL_PREFIX, LANES, LEADER, LOGGED, P, QUEUE, RECORD, REGISTER_PREFIX, SLOT, WORD,
    WRITE,
};

/// What injected code may do besides computing on our registers, calling, and jumping.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum May {
    /// Ask the handlers of store buffers.
    Ask,
    /// Commit records.
    Log,
}

/// `closed` says that every label has been written.
pub(super) fn check(view: &View<'_>, closed: bool, may: May) -> Result<(), Violation> {
    for function in &view.functions {
        labels(function, closed)?;
        for gap in &function.gaps {
            for (owner, statement) in owners(gap) {
                harmless(view, function, (owner, may), statement)?;
            }
        }
    }
    Ok(())
}

/// Labels of ours stand once, every jump of ours ends at one, and none leaves its place.
fn labels(function: &FunctionView<'_>, closed: bool) -> Result<(), Violation> {
    let broken = |what: String| Violation { rule: "jumps stay in their place", what };
    let mut standing: BTreeMap<&str, usize> = BTreeMap::new();
    for (gap, statements) in function.gaps.iter().enumerate() {
        for statement in statements {
            if let StatementKind::Label(name) = &statement.kind
                && standing.insert(name, gap).is_some()
            {
                return Err(broken(format!("{name} stands twice in {}", function.name)));
            }
        }
    }
    for (gap, statements) in function.gaps.iter().enumerate() {
        for statement in statements {
            let StatementKind::Instruction(instruction) = &statement.kind else { continue };
            let Some(target) = jump_target(instruction) else { continue };
            match standing.get(target) {
                None if !closed => {}
                None => return Err(broken(format!("{target} is nowhere in {}", function.name))),
                Some(at) if *at < gap || *at > gap + 1 => {
                    return Err(broken(format!("a jump to {target} leaves its place in {}", function.name)));
                }
                Some(_) => {}
            }
        }
    }
    match standing.keys().find(|label| owner_of(label).is_none() || !label.starts_with(LABEL_PREFIX)) {
        Some(label) => Err(broken(format!("{label} belongs to nothing"))),
        None => Ok(()),
    }
}

/// An injected statement computes on our registers, asks a handler, or jumps.
fn harmless(
    view: &View<'_>,
    function: &FunctionView<'_>,
    (owner, may): (Option<&str>, May),
    statement: &Statement,
) -> Result<(), Violation> {
    let StatementKind::Instruction(instruction) = &statement.kind else { return Ok(()) };
    let broken = |rule| Violation { rule, what: format!("'{}' in {}", view.text(statement), function.name) };
    if may == May::Log && commits(instruction) {
        return Ok(());
    }
    match &instruction.op {
        Op::Mov { .. }
        | Op::Add { .. }
        | Op::Mad { .. }
        | Op::And { .. }
        | Op::Or { .. }
        | Op::Shl { .. }
        | Op::Shr { .. }
        | Op::Cvt { .. }
        | Op::Cvta { to: false, .. }
        | Op::Setp { .. }
        | Op::Selp { .. }
        | Op::Ld { space: Space::Param | Space::Const, .. } => {}
        Op::Ld { space: Space::Global, .. } if reads(instruction, SLOT) || reads(instruction, CTA) => {}
        // A delayed store's touch of its address.
        Op::Ld { space: Space::Generic, sem: Semantics::Volatile, ty: Type::U8, .. }
            if reads(instruction, ADDRESS) => {}
        Op::St { space: Space::Param, .. } | Op::Bra { uni: false } | Op::Call { uni: false } => {
            return Ok(());
        }
        _ => return Err(broken("injected code only asks and computes")),
    }
    let place = owner.and_then(|owner| view.table.points.get(owner.parse::<usize>().ok()?));
    let writes =
        |name: &str| name.starts_with(REGISTER_PREFIX) || place.is_some_and(|place| loads_into(place, name));
    let all_ours = match instruction.operands.first() {
        Some(Operand::Register(name)) => writes(name),
        Some(Operand::Vector(names)) => {
            names.iter().all(|name| matches!(name, Operand::Register(name) if writes(name)))
        }
        _ => false,
    };
    if all_ours { Ok(()) } else { Err(broken("injected code leaves the program's registers alone")) }
}

/// Whether an instruction asks who is there, looks at a queue, takes a slot or a ticket, writes a record, waits for its lanes, or
/// commits it. What stands in which order is said elsewhere ([`super::logging`]).
fn commits(instruction: &Instruction) -> bool {
    let register = |at: usize, ours: &[&str]| match instruction.operands.get(at) {
        Some(Operand::Register(name) | Operand::Address { base: AddressBase::Register(name), .. }) => {
            ours.contains(&name.as_str())
        }
        _ => false,
    };
    let guarded = |by: &[&str]| match &instruction.guard {
        Some(guard) => !guard.negated && by.contains(&guard.register.as_str()),
        None => false,
    };
    let always = instruction.guard.is_none();
    let into_ours = match instruction.operands.first() {
        Some(Operand::Register(name)) => name.starts_with(REGISTER_PREFIX),
        _ => false,
    };
    match instruction.op {
        Op::Atom { space: Space::Global, .. } => {
            guarded(&[P, LEADER]) && register(0, &[AT]) && register(1, &[AT, WRITE])
        }
        Op::Ld { space: Space::Global, .. } => always && into_ours && register(1, &[QUEUE, WRITE]),
        Op::St { space: Space::Global, .. } if always => register(0, &[AT]) && register(1, &[LOGGED]),
        Op::St { space: Space::Global, .. } => guarded(&[LEADER]) && register(0, &[RECORD, QUEUE]),
        Op::WarpSync => always && register(0, &[LANES]),
        Op::Vote { sync: true, .. } | Op::Shfl { sync: true, .. } => {
            always && into_ours && among_lanes(instruction)
        }
        Op::Activemask
        | Op::Brev { .. }
        | Op::Clz { .. }
        | Op::Not { .. }
        | Op::Sub { .. }
        | Op::Mul { .. }
        | Op::Rem { .. } => always && into_ours,
        _ => false,
    }
}

/// Whether the last operand is the mask of the record's lanes, or of those that are there.
fn among_lanes(instruction: &Instruction) -> bool {
    matches!(instruction.operands.last(), Some(Operand::Register(name)) if [LANES, WORD].contains(&name.as_str()))
}

fn reads(instruction: &Instruction, address: &str) -> bool {
    instruction.operands.iter().any(|operand| match operand {
        Operand::Address { base: AddressBase::Register(name), offset: 0 } => name == address,
        _ => false,
    })
}

/// Whether a place is a load that writes this register.
fn loads_into(point: &InjectionPoint, name: &str) -> bool {
    let PointKind::Load(access) = &point.kind else { return false };
    let writes =
        |element: &Element| matches!(element, Element::Register { name: register, .. } if register == name);
    access.elements.iter().any(writes)
}
