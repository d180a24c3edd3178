//! One instruction of a test: an opcode of PTX with its modifiers in any order, and operands.

use super::builder::Builder;
use crate::cursor::Cursor;
use crate::error::{Problem, place};
use crate::test::{
    Arithmetic, Rmw, Scope, TestFence, TestInstruction, TestOp, TestOrder, TestSpace, TestType, TestValue,
};

/// Barriers that a CTA has.
const BARRIERS: u64 = 16;

/// Reads an instruction of a thread.
pub(super) fn parse(
    mut cell: Cursor<'_>,
    thread: usize,
    text: &str,
    builder: &mut Builder,
) -> Result<TestInstruction, Problem> {
    let offset = cell.skip_blanks();
    let rest = cell.rest();
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let opcode = &rest[..end];
    cell.pass(end);
    let mut reader = Reader { opcode, offset, modifiers: Modifiers::default(), cell, thread, builder };
    let op = reader.op()?;
    let left = reader.cell.skip_blanks();
    if !reader.cell.is_at_end() {
        return Err(Problem::syntax(left, format!("`{opcode}` takes no more operands")));
    }
    let (line, column) = place(text, offset);
    Ok(TestInstruction { op, line, column })
}

#[derive(Clone, Copy, Default)]
struct Modifiers {
    order: Option<&'static str>,
    scope: Option<Scope>,
    ty: Option<TestType>,
    rmw: Option<Rmw>,
    /// `.global` is said.
    global: bool,
}

struct Reader<'a, 'b> {
    opcode: &'a str,
    offset: usize,
    modifiers: Modifiers,
    cell: Cursor<'a>,
    thread: usize,
    builder: &'b mut Builder,
}

impl Reader<'_, '_> {
    fn op(&mut self) -> Result<TestOp, Problem> {
        let opcode = self.opcode;
        let (stem, modifiers) = opcode.split_once('.').unwrap_or((opcode, ""));
        match stem {
            "ld" | "st" | "atom" | "red" => {
                self.read_modifiers(modifiers, matches!(stem, "atom" | "red"))?;
                match stem {
                    "ld" => self.load(),
                    "st" => self.store(),
                    _ => self.atomic(stem == "atom"),
                }
            }
            "fence" => self.fence(modifiers),
            "membar" => match modifiers {
                "cta" => Ok(TestOp::Membar(Scope::Cta)),
                "gl" => Ok(TestOp::Membar(Scope::Gpu)),
                "sys" => Ok(TestOp::Membar(Scope::Sys)),
                _ => Err(self.unknown()),
            },
            "bar" | "barrier" => self.barrier(modifiers),
            "mov" => {
                let wide = self.plain_type(modifiers)?;
                let register = self.register(wide)?;
                Ok(TestOp::Move(register, self.next_value(wide)?))
            }
            "add" | "sub" | "and" | "or" | "xor" => {
                let wide = self.plain_type(modifiers)?;
                let operation = match stem {
                    "add" => Arithmetic::Add,
                    "sub" => Arithmetic::Sub,
                    "and" => Arithmetic::And,
                    "or" => Arithmetic::Or,
                    _ => Arithmetic::Xor,
                };
                let register = self.register(wide)?;
                let (a, b) = (self.next_value(wide)?, self.next_value(wide)?);
                Ok(TestOp::Arithmetic(operation, register, a, b))
            }
            _ => Err(self.unknown()),
        }
    }

    fn load(&mut self) -> Result<TestOp, Problem> {
        let order = self.order(TestOrder::Weak, &["weak", "volatile", "relaxed", "acquire"])?;
        let ty = self.ty(TestType { bytes: 4, signed: false });
        let register = self.register(ty.bytes == 8)?;
        self.cell.expect(",")?;
        let location = self.location(ty)?;
        Ok(TestOp::Load { order, ty, register, location })
    }

    fn store(&mut self) -> Result<TestOp, Problem> {
        let order = self.order(TestOrder::Weak, &["weak", "volatile", "relaxed", "release"])?;
        let ty = self.ty(TestType { bytes: 4, signed: false });
        let location = self.location(ty)?;
        let value = self.next_value(ty.bytes == 8)?;
        Ok(TestOp::Store { order, ty, location, value })
    }

    fn atomic(&mut self, answers: bool) -> Result<TestOp, Problem> {
        let relaxed = TestOrder::Relaxed(self.modifiers.scope.unwrap_or(Scope::Gpu));
        let orders: &[_] =
            if answers { &["relaxed", "acquire", "release", "acq_rel"] } else { &["relaxed", "release"] };
        let order = self.order(relaxed, orders)?;
        let Some(rmw) = self.modifiers.rmw else {
            let message = format!("`{}` does not say what it does: add, exch, cas, …", self.opcode);
            return Err(Problem::syntax(self.offset, message));
        };
        let ty = self.ty(TestType { bytes: 4, signed: false });
        let fits = match rmw {
            Rmw::Inc | Rmw::Dec => ty.bytes == 4 && !ty.signed,
            Rmw::Add => matches!((ty.bytes, ty.signed), (4, _) | (8, false)),
            _ => ty.bytes >= 4,
        };
        if !fits || (!answers && matches!(rmw, Rmw::Exch | Rmw::Cas)) {
            return Err(self.unknown());
        }
        let wide = ty.bytes == 8;
        let register = if answers {
            let register = self.register(wide)?;
            self.cell.expect(",")?;
            Some(register)
        } else {
            None
        };
        let location = self.location(ty)?;
        let value = self.next_value(wide)?;
        let swap = if rmw == Rmw::Cas { Some(self.next_value(wide)?) } else { None };
        Ok(TestOp::Atomic { order, ty, rmw, register, location, value, swap })
    }

    fn fence(&mut self, modifiers: &str) -> Result<TestOp, Problem> {
        let (kind, scope) = modifiers.split_once('.').unwrap_or(("acq_rel", modifiers));
        let kind = match kind {
            "sc" => TestFence::Sc,
            "acq_rel" => TestFence::AcqRel,
            "acquire" => TestFence::Acquire,
            "release" => TestFence::Release,
            _ => return Err(self.unknown()),
        };
        scope_of(scope).map(|scope| TestOp::Fence(kind, scope)).ok_or_else(|| self.unknown())
    }

    fn barrier(&mut self, modifiers: &str) -> Result<TestOp, Problem> {
        if self.opcode == "bar.warp.sync" {
            let at = self.cell.skip_blanks();
            if !self.cell.is_at_end() && self.cell.number()? & 0xffff_ffff != 0xffff_ffff {
                return Err(Problem::unsupported(at, "bar.warp.sync of a part of a warp is not supported"));
            }
            return Ok(TestOp::WarpBarrier);
        }
        if !matches!(modifiers, "sync" | "cta.sync" | "sync.aligned" | "cta.sync.aligned") {
            return Err(self.unknown());
        }
        let at = self.cell.skip_blanks();
        match self.cell.number()? {
            number if number < BARRIERS => Ok(TestOp::Barrier(number as u32)),
            number => Err(Problem::syntax(at, format!("there is no barrier {number}: a CTA has {BARRIERS}"))),
        }
    }

    fn read_modifiers(&mut self, modifiers: &str, atomic: bool) -> Result<(), Problem> {
        for modifier in modifiers.split('.').filter(|_| !modifiers.is_empty()) {
            let old = self.modifiers;
            let new = &mut self.modifiers;
            let first = match modifier {
                "mmio" => {
                    let message = format!("`{}`: .mmio is not supported", self.opcode);
                    return Err(Problem::unsupported(self.offset, message));
                }
                "weak" => new.order.replace("weak").is_none(),
                "volatile" => new.order.replace("volatile").is_none(),
                "relaxed" => new.order.replace("relaxed").is_none(),
                "acquire" => new.order.replace("acquire").is_none(),
                "release" => new.order.replace("release").is_none(),
                "acq_rel" => new.order.replace("acq_rel").is_none(),
                "cta" | "gpu" | "sys" => {
                    new.scope = scope_of(modifier);
                    old.scope.is_none()
                }
                "global" => !std::mem::replace(&mut new.global, true),
                _ if type_of(modifier).is_some() => {
                    new.ty = type_of(modifier);
                    old.ty.is_none()
                }
                _ if atomic && rmw_of(modifier).is_some() => {
                    new.rmw = rmw_of(modifier);
                    old.rmw.is_none()
                }
                _ => return Err(self.unknown()),
            };
            if !first {
                let message = format!("`{}`: .{modifier} comes too late or twice", self.opcode);
                return Err(Problem::syntax(self.offset, message));
            }
        }
        Ok(())
    }

    /// The order that the modifiers tell, if it is one of these.
    fn order(&self, none: TestOrder, of: &[&str]) -> Result<TestOrder, Problem> {
        let Some(order) = self.modifiers.order else {
            if self.modifiers.scope.is_some() && none == TestOrder::Weak {
                let message = format!("`{}` has a scope, but no order: relaxed, acquire, …", self.opcode);
                return Err(Problem::syntax(self.offset, message));
            }
            return Ok(none);
        };
        if !of.contains(&order) {
            let message = format!("`{}` is no instruction: .{order} does not go with it", self.opcode);
            return Err(Problem::syntax(self.offset, message));
        }
        let strong = match (order, self.modifiers.scope) {
            ("weak", None) => return Ok(TestOrder::Weak),
            ("volatile", None) => return Ok(TestOrder::Volatile),
            ("relaxed", Some(scope)) => TestOrder::Relaxed(scope),
            ("acquire", Some(scope)) => TestOrder::Acquire(scope),
            ("release", Some(scope)) => TestOrder::Release(scope),
            ("acq_rel", Some(scope)) => TestOrder::AcqRel(scope),
            ("weak" | "volatile", Some(_)) => {
                let message = format!("`{}`: .{order} has no scope", self.opcode);
                return Err(Problem::syntax(self.offset, message));
            }
            _ => {
                let message = format!("`{}`: .{order} wants a scope: cta, gpu or sys", self.opcode);
                return Err(Problem::syntax(self.offset, message));
            }
        };
        Ok(strong)
    }

    fn ty(&self, default: TestType) -> TestType {
        self.modifiers.ty.unwrap_or(default)
    }

    /// The width that an arithmetic instruction's type says.
    fn plain_type(&self, modifiers: &str) -> Result<bool, Problem> {
        match modifiers {
            "" | "u32" | "s32" | "b32" => Ok(false),
            "u64" | "s64" | "b64" => Ok(true),
            _ => Err(self.unknown()),
        }
    }

    /// The location that comes next, which is made as wide as its access.
    fn location(&mut self, ty: TestType) -> Result<usize, Problem> {
        let bracket = self.cell.take("[");
        let at = self.cell.skip_blanks();
        let name = self.cell.name()?;
        if self.builder.test.threads[self.thread].registers.iter().any(|register| register.name == name) {
            let message = format!("{name} is a register: addresses in registers are not supported");
            return Err(Problem::unsupported(at, message));
        }
        if bracket {
            self.cell.expect("]")?;
        }
        let index = self.builder.location(name, at)?;
        let location = &mut self.builder.test.locations[index];
        if self.modifiers.global && location.space != TestSpace::Global {
            return Err(Problem::syntax(at, format!("{name} does not lie in global memory")));
        }
        location.bytes = location.bytes.max(ty.bytes);
        Ok(index)
    }

    /// The register that comes next.
    fn register(&mut self, wide: bool) -> Result<usize, Problem> {
        let at = self.cell.skip_blanks();
        let name = self.cell.name()?;
        self.use_register(name, at, wide)
    }

    fn use_register(&mut self, name: &str, at: usize, wide: bool) -> Result<usize, Problem> {
        let thread = &self.builder.test.threads[self.thread];
        let known = thread.registers.iter().any(|register| register.name == name);
        let used = known && thread.instructions.iter().any(|instruction| instruction.op.uses(name, thread));
        let index = self.builder.register(self.thread, name, at)?;
        let register = &mut self.builder.test.threads[self.thread].registers[index];
        if used && register.wide != wide {
            return Err(Problem::unsupported(at, format!("{name} is used with 32 and with 64 bits")));
        }
        if known && !used && register.wide && !wide {
            return Err(Problem::syntax(
                at,
                format!("the initial value of {name} does not fit into 32 bits"),
            ));
        }
        register.wide = wide;
        Ok(index)
    }

    /// The value that comes next, behind a comma.
    fn next_value(&mut self, wide: bool) -> Result<TestValue, Problem> {
        self.cell.expect(",")?;
        let at = self.cell.skip_blanks();
        if self.cell.rest().starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            let value = self.cell.number()?;
            return Ok(TestValue::Constant(if wide { value } else { value & u64::from(u32::MAX) }));
        }
        let name = self.cell.name()?;
        self.use_register(name, at, wide).map(TestValue::Register)
    }

    fn unknown(&self) -> Problem {
        Problem::unsupported(self.offset, format!("instruction `{}` is not supported", self.opcode))
    }
}

impl TestOp {
    /// Whether a register of this name stands in it.
    fn uses(&self, name: &str, thread: &crate::test::Thread) -> bool {
        let is = |index: usize| thread.registers[index].name == name;
        let value = |value: &TestValue| matches!(value, TestValue::Register(index) if is(*index));
        match self {
            TestOp::Load { register, .. } => is(*register),
            TestOp::Store { value: stored, .. } => value(stored),
            TestOp::Atomic { register, value: with, swap, .. } => {
                register.is_some_and(is) || value(with) || swap.as_ref().is_some_and(value)
            }
            TestOp::Move(register, from) => is(*register) || value(from),
            TestOp::Arithmetic(_, register, a, b) => is(*register) || value(a) || value(b),
            TestOp::Fence(..) | TestOp::Membar(_) | TestOp::Barrier(_) | TestOp::WarpBarrier => false,
        }
    }
}

fn scope_of(text: &str) -> Option<Scope> {
    match text {
        "cta" => Some(Scope::Cta),
        "gpu" => Some(Scope::Gpu),
        "sys" => Some(Scope::Sys),
        _ => None,
    }
}

fn type_of(text: &str) -> Option<TestType> {
    let signed = text.starts_with('s');
    let bytes = match text.strip_prefix(['u', 's', 'b'])? {
        "8" => 1,
        "16" => 2,
        "32" => 4,
        "64" => 8,
        _ => return None,
    };
    Some(TestType { bytes, signed })
}

fn rmw_of(text: &str) -> Option<Rmw> {
    Some(match text {
        "add" => Rmw::Add,
        "exch" => Rmw::Exch,
        "cas" => Rmw::Cas,
        "inc" => Rmw::Inc,
        "dec" => Rmw::Dec,
        "min" => Rmw::Min,
        "max" => Rmw::Max,
        "and" => Rmw::And,
        "or" => Rmw::Or,
        "xor" => Rmw::Xor,
        _ => return None,
    })
}
