//! `@p ret;` is `@p bra END;` with `END: ret;` behind the function's last instruction. As branches they are treated like all others.

use bugaroo_ptx::ast::{FunctionKind, Instruction, Item, Module, Operand, Span, Statement, StatementKind};
use bugaroo_ptx::op::Op;

/// No name that PTX allows.
const END: &str = "<end of the function>";

/// Turns the guarded returns and exits of a module into branches. Exits of functions stay, as they do not return.
pub(super) fn rewrite(module: &mut Module) {
    for item in &mut module.items {
        if let Item::Function(function) = item
            && let Some(body) = &mut function.body
        {
            let mut last = None;
            block(&mut body.statements, function.kind == FunctionKind::Entry, &mut last);
            let Some((span, mut instruction)) = last else { continue };
            instruction.guard = None;
            let kinds = [StatementKind::Label(END.to_owned()), StatementKind::Instruction(instruction)];
            body.statements.extend(kinds.map(|kind| Statement { kind, span }));
        }
    }
}

fn block(statements: &mut [Statement], entry: bool, last: &mut Option<(Span, Instruction)>) {
    for statement in statements {
        let span = statement.span;
        match &mut statement.kind {
            StatementKind::Instruction(instruction)
                if instruction.guard.is_some()
                    && (matches!(instruction.op, Op::Ret { .. })
                        || entry && matches!(instruction.op, Op::Exit)) =>
            {
                *last = Some((span, instruction.clone()));
                instruction.op = Op::Bra { uni: false };
                instruction.operands = vec![Operand::Symbol { name: END.to_owned(), offset: 0 }];
            }
            StatementKind::Block(inner) => block(inner, entry, last),
            _ => {}
        }
    }
}
