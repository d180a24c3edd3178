//! The lossless AST. Every node knows the bytes that it came from; the module keeps its source, so
//! that printing an unmodified module gives the same bytes.

use crate::op::Op;
use crate::types::{Space, Type};

/// A range of bytes of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A parsed module.
#[derive(Clone, Debug)]
pub struct Module {
    /// The text that was parsed, whole.
    pub source: String,
    /// `.version` as (major, minor).
    pub version: (u32, u32),
    /// Span of the `.version` directive's number.
    pub version_span: Span,
    /// `.target` operands, e.g. `["sm_75"]`.
    pub targets: Vec<String>,
    /// `.address_size` in bits (32 or 64).
    pub address_size: u32,
    /// Span of the module's header: from the start to the end of the last of the three directives.
    pub header_span: Span,
    /// Top-level items in order.
    pub items: Vec<Item>,
    /// `.file` directives, in order of appearance: (index, path).
    pub files: Vec<(u32, String)>,
}

/// A top-level item.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "functions are what there is; boxing them buys nothing")]
pub enum Item {
    /// A module-scope variable.
    Variable(Variable),
    /// `.entry` or `.func`, declared or defined.
    Function(Function),
    /// Any other directive (`.file`, `.section`, `.pragma`, `.alias`, …), kept as it stands.
    Directive(Span),
}

/// How a symbol is seen from other modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum Linkage {
    Internal,
    Visible,
    Extern,
    Weak,
    Common,
}

/// A variable in some state space: a module's, a function's, or a parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Linkage directive; `Internal` when there is none.
    pub linkage: Linkage,
    /// Where it lives (`Param` for parameters; a `.reg` parameter of a function is not one of these).
    pub space: Space,
    /// Alignment in bytes: stated, or natural.
    pub align: u32,
    /// Element type.
    pub ty: Type,
    /// `.v2`/`.v4`: elements per item; 1 otherwise.
    pub vec: u8,
    /// `.attribute(.managed)`: host and device share it.
    pub managed: bool,
    /// Name.
    pub name: String,
    /// Array dimensions, outermost first; empty for a scalar; 0 for an open one (`[]`).
    pub dims: Vec<u64>,
    /// Initial values in memory order, empty when there is none.
    pub init: Vec<Init>,
    /// The whole declaration.
    pub span: Span,
}

impl Variable {
    /// Size in bytes; 0 for an open array (its size is the dynamic shared memory or the initialiser).
    pub fn size(&self) -> u64 {
        let item = u64::from(self.ty.bytes()) * u64::from(self.vec);
        self.dims.iter().fold(item, |size, dim| size.saturating_mul(*dim))
    }
}

/// One initial value of the variable's element type.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// Bit pattern, low bits first.
    Bits(u64),
    /// Address of a symbol (generic when `generic(…)` was written) plus an offset.
    Symbol {
        /// The variable or function named.
        name: String,
        /// Bytes added.
        offset: i64,
        /// `generic(name)`
        generic: bool,
    },
}

/// A function's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// A kernel.
    Entry,
    /// A device function.
    Func,
}

/// A parameter or return value of a function.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its declaration. `space` is `Param`; a `.reg` one has `in_register` set.
    pub variable: Variable,
    /// Declared `.reg` instead of `.param`.
    pub in_register: bool,
}

/// `.entry` or `.func`.
#[derive(Clone, Debug)]
pub struct Function {
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// Linkage.
    pub linkage: Linkage,
    /// Name as in the source (mangled).
    pub name: String,
    /// Span of the name.
    pub name_span: Span,
    /// Return values (device functions).
    pub returns: Vec<Param>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Performance and other directives between the signature and the body, e.g.
    /// `("maxntid", [256, 1, 1])`, `("noreturn", [])`.
    pub directives: Vec<(String, Vec<u64>)>,
    /// None for a declaration.
    pub body: Option<Body>,
    /// The whole function.
    pub span: Span,
}

/// A function's body.
#[derive(Clone, Debug)]
pub struct Body {
    /// From `{` to `}`, both included.
    pub span: Span,
    /// Statements in order. Nested blocks are statements of their own.
    pub statements: Vec<Statement>,
}

/// One statement of a body.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Its bytes, the closing `;` or `:` included, trivia excluded.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "instructions are what there is; boxing them buys nothing")]
pub enum StatementKind {
    /// `name:`
    Label(String),
    /// An instruction.
    Instruction(Instruction),
    /// `.reg .b32 %r<10>;` or `.reg .pred p, q;`
    Registers(Vec<RegisterDecl>),
    /// `.shared`, `.local`, `.param`, `.const`, `.global` declared inside a function.
    Variable(Variable),
    /// `.loc`
    Loc(Loc),
    /// `{ … }`: a scope of its own for labels and declarations.
    Block(Vec<Statement>),
    /// `label: .callprototype …;`
    Prototype(Prototype),
    /// `label: .branchtargets a, b;` or `.calltargets`
    Targets {
        /// The label.
        name: String,
        /// What it lists.
        targets: Vec<String>,
    },
    /// Any other directive (`.pragma`, …), kept as it stands.
    Directive,
}

/// `name: .callprototype (rets) _ (params);`
#[derive(Clone, Debug)]
pub struct Prototype {
    /// The label.
    pub name: String,
    /// Return values.
    pub returns: Vec<Param>,
    /// Parameters.
    pub params: Vec<Param>,
}

/// One name of a `.reg` declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterDecl {
    /// Type of each register.
    pub ty: Type,
    /// `.v2`/`.v4` register vectors; 1 otherwise.
    pub vec: u8,
    /// `%r` for `%r<10>`; the full name otherwise.
    pub name: String,
    /// Some(10) for `%r<10>`, i.e. `%r0` to `%r9`.
    pub count: Option<u32>,
}

/// `.loc file line column[, function_name label[+off], inlined_at file line column]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loc {
    /// Index of a `.file` directive.
    pub file: u32,
    /// Line, from 1; 0 means none.
    pub line: u32,
    /// Column, from 1; 0 means none.
    pub column: u32,
    /// (file, line, column) of the call that this code was inlined at.
    pub inlined_at: Option<(u32, u32, u32)>,
}

/// `@p` or `@!p` before an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register.
    pub register: String,
    /// `@!p`
    pub negated: bool,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Guard predicate.
    pub guard: Option<Guard>,
    /// Base opcode: `ld`, `bar`, `wmma`.
    pub opcode: String,
    /// What follows it, split at the dots: `["global", "nc", "v4", "f32"]`. `::` stays inside one.
    pub modifiers: Vec<String>,
    /// Operands in order.
    pub operands: Vec<Operand>,
    /// Decoded meaning.
    pub op: Op,
    /// Guard and all, `;` included.
    pub span: Span,
    /// The opcode with its modifiers, without guard and operands.
    pub opcode_span: Span,
    /// Line in the PTX text, from 1.
    pub line: u32,
    /// Where it comes from: innermost first, then the call sites it was inlined at. Empty without `.loc`.
    pub source: Vec<LocLine>,
}

/// A CUDA source position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocLine {
    /// Index of the `.file` directive; resolve with [`Module::files`].
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 when unknown.
    pub column: u32,
}

/// An operand as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// `%r1`, `%tid.x`, or any name declared as a register.
    Register(String),
    /// A variable, function, label or parameter name that is not a register, with an optional
    /// constant offset (`name`, `name+4`).
    Symbol {
        /// The name.
        name: String,
        /// Bytes added.
        offset: i64,
    },
    /// An integer constant (two's complement in 64 bits).
    Integer(i64),
    /// `0fXXXXXXXX`: bits of an f32.
    F32(u32),
    /// `0dXXXXXXXXXXXXXXXX` or a decimal literal: bits of an f64.
    F64(u64),
    /// `[base+offset]`
    Address {
        /// What the offset is added to.
        base: AddressBase,
        /// Bytes.
        offset: i64,
    },
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `a|b`, the two destinations of `setp` and `shfl`.
    Pair(Box<Operand>, Box<Operand>),
    /// `!p` or `-x`
    Not(Box<Operand>),
    /// `(a, b)` of a call.
    List(Vec<Operand>),
    /// `_`
    Sink,
    /// Anything else, kept as it stands (only in [`Op::Other`]).
    Raw(Span),
}

impl Operand {
    /// The registers that it names as values, in their order: those of vectors, lists and pairs, too, and none that stands in an
    /// address.
    pub fn registers<'o>(&'o self, each: &mut impl FnMut(&'o str)) {
        match self {
            Operand::Register(name) => each(name),
            Operand::Vector(inner) | Operand::List(inner) => {
                inner.iter().for_each(|operand| operand.registers(each));
            }
            Operand::Pair(first, second) => {
                first.registers(each);
                second.registers(each);
            }
            Operand::Not(inner) => inner.registers(each),
            Operand::Symbol { .. }
            | Operand::Integer(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::Address { .. }
            | Operand::Sink
            | Operand::Raw(_) => {}
        }
    }
}

/// The base of an address operand.
#[derive(Clone, Debug, PartialEq)]
pub enum AddressBase {
    /// A register.
    Register(String),
    /// A variable or parameter name.
    Symbol(String),
    /// None: the offset is the address.
    Absolute,
}
