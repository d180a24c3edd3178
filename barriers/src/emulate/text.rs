//! What the emulator takes from the text beyond the decoded program: how many sources an arithmetic instruction has, what is
//! volatile, which fences are of the asynchronous proxy.

use bugaroo_ptx::ast::{self, Instruction, Operand};
use bugaroo_ptx::op::{FenceKind, Op, Part};
use bugaroo_ptx::types::{BoolOp, Compare, Scope, Space, Type};
use bugaroo_simulator::CodeImage;
use bugaroo_simulator::alu::source_type;
use bugaroo_simulator::decoded::Kind;
use rustc_hash::{FxHashMap, FxHashSet};

use super::residue::LowOp;
use super::symbol::{Division, Order};
use super::tensor::is_tensor_copy;
use super::unread::unread;

/// When a result is known although not all sources are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Never.
    All,
    /// `selp`: the one that is chosen.
    Select,
    /// A source that is zero decides (`and`, `mul`): bytes of a lane, 0 for predicates.
    Zero(u8),
    /// A source that is all ones decides (`or`).
    Ones(u8),
    /// `setp` whose third source decides when it is false (`and`) or true (`or`); negated.
    Combine { decides: bool, negated: bool },
    /// Nothing is known: a special register that no launch fixes.
    Never,
}

/// What is known of an arithmetic instruction's meaning, for expressions ([`super::symbol`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// None can be made: it reads or writes a carry.
    Opaque,
    /// A row function of its sources, and what is known of its result's low bits by theirs.
    Row(Option<LowOp>),
    /// Its source, as it is.
    Copy,
    /// A special register that the launch fixes for all threads; a part of where the grid's workspace lies.
    Launch { workspace: bool },
    /// A sum or (`minus`) a difference of integers of so many bytes.
    Sum { bytes: u8, minus: bool },
    /// A comparison of integers of so many bytes; `swap`: second source first; `negate`: what comes out.
    Compare { order: Order, bytes: u8, swap: bool, negate: bool },
}

/// An arithmetic instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arithmetic {
    pub form: Form,
    /// What it does in a division by a constant.
    pub division: Option<Division>,
    pub sources: u8,
    /// It has a second destination.
    pub second: bool,
    /// Which sources are 64 bits wide.
    pub wide: u8,
    pub rule: Rule,
}

/// What an instruction is, beyond what its decoded form says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extra {
    pub arithmetic: Arithmetic,
    /// `fence.proxy.async`
    pub proxy_fence: bool,
    /// `fence.mbarrier_init`
    pub init_fence: bool,
    /// A fence with which what its thread did before is released to other CTAs by what it does next, even relaxed.
    pub releases: bool,
    /// A fence of memory: for which threads, and whether it does no more than acquire or release.
    pub fence: Option<(Scope, bool)>,
    /// A copy whose size a tensor map says.
    pub tensor: bool,
    /// Nobody reads its result.
    pub unread: bool,
}

impl Extra {
    /// It is a fence that asynchronous copies see.
    pub fn is_proxy_fence(&self) -> bool {
        self.proxy_fence || self.init_fence
    }
}

/// Values of a launch that may not be known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed {
    /// The grid is given.
    pub grid: bool,
    /// The size of the dynamic shared memory is given.
    pub shared: bool,
    /// The size of a cluster is given.
    pub cluster: bool,
}

const NOTHING: Arithmetic =
    Arithmetic { form: Form::Opaque, division: None, sources: 0, second: false, wide: 0, rule: Rule::Never };

/// One entry for each decoded instruction.
pub(super) fn extras(module: &ast::Module, image: &CodeImage<'_>, fixed: Fixed) -> Vec<Extra> {
    let (mut instructions, mut idle) = (FxHashMap::default(), FxHashSet::default());
    for function in module.functions() {
        instructions.extend(
            function.instructions().into_iter().map(|instruction| (instruction.span.start, instruction)),
        );
        idle.extend(unread(function));
    }
    let extra = |(inst, origin): (&bugaroo_simulator::decoded::Inst, &bugaroo_simulator::decoded::Origin)| {
        let Some(instruction) = instructions.get(&origin.text.0) else {
            return Extra {
                arithmetic: NOTHING,
                proxy_fence: false,
                init_fence: false,
                releases: false,
                fence: None,
                tensor: false,
                unread: false,
            };
        };
        let arithmetic = if inst.kind == Kind::Alu { arithmetic(instruction, fixed) } else { NOTHING };
        let proxy = matches!(instruction.op, Op::Fence { kind: FenceKind::Proxy, .. });
        let has = |test: &dyn Fn(&str) -> bool| instruction.modifiers.iter().any(|m| test(m));
        // One of global memory alone does nothing for shared memory.
        let proxy_fence = proxy
            && has(&|m| m.starts_with("proxy::async") || m == "async" || m.starts_with("async::"))
            && !has(&|m| m == "global" || m == "async::global");
        let init_fence = proxy && has(&|m| m == "mbarrier_init");
        let fence = match instruction.op {
            Op::Fence { kind: FenceKind::Sc | FenceKind::AcqRel, scope } => Some((scope, false)),
            Op::Fence { kind: FenceKind::Acquire | FenceKind::Release, scope } => Some((scope, true)),
            _ => None,
        };
        let releases = matches!(fence, Some((Scope::Cluster | Scope::Gpu | Scope::Sys, false)));
        let (tensor, unread) = (is_tensor_copy(instruction), idle.contains(&origin.text.0));
        Extra { arithmetic, proxy_fence, init_fence, releases, fence, tensor, unread }
    };
    image.code.iter().zip(image.origins).map(extra).collect()
}

fn arithmetic(instruction: &Instruction, fixed: Fixed) -> Arithmetic {
    let op = &instruction.op;
    if instruction.operands.iter().any(|operand| is_open(operand, fixed)) {
        let second = matches!(instruction.operands.first(), Some(Operand::Pair(..)));
        let is_part =
            |operand: &Operand| matches!(operand, Operand::Register(name) if name.starts_with("%envreg"));
        let workspace = instruction.operands.iter().any(is_part);
        let form = if matches!(op, Op::Mov { .. }) { Form::Launch { workspace } } else { Form::Opaque };
        return Arithmetic { second, form, ..NOTHING };
    }
    let (carry_in, carry_out) = match op {
        Op::Add { carry_in, carry_out, .. }
        | Op::Sub { carry_in, carry_out, .. }
        | Op::Mad { carry_in, carry_out, .. } => (*carry_in, *carry_out),
        _ => (false, false),
    };
    let pair = matches!(instruction.operands.first(), Some(Operand::Pair(..)));
    let operands = instruction.operands.len().saturating_sub(1);
    let sources = match op {
        Op::Mov { .. } | Op::Createpolicy => 1,
        Op::Cvta { space, .. } => {
            // Between a window and generic addresses: an addition.
            1 + usize::from(!matches!(space, Space::Global | Space::Const | Space::Generic))
        }
        _ => operands + usize::from(carry_in),
    };
    let wide = (0..operands.min(4)).filter(|i| source_type(op, *i).is_some_and(|ty| ty.bytes() == 8));
    let wide = match op {
        // The window is the second source.
        Op::Cvta { .. } => 3,
        _ => wide.fold(0, |wide, i| wide | 1 << i),
    };
    let bytes = |ty: &Type| ty.bytes() as u8;
    let rule = match op {
        Op::Selp { .. } => Rule::Select,
        Op::And { ty } => Rule::Zero(bytes(ty)),
        Op::Mul { ty, part: Some(_), .. } => Rule::Zero(bytes(ty)),
        Op::Or { ty } => Rule::Ones(bytes(ty)),
        Op::Setp { combine: Some(combine), .. } if sources == 3 => {
            let negated = matches!(instruction.operands.get(3), Some(Operand::Not(_)));
            match combine {
                BoolOp::And => Rule::Combine { decides: false, negated },
                BoolOp::Or => Rule::Combine { decides: true, negated },
                BoolOp::Xor => Rule::All,
            }
        }
        _ => Rule::All,
    };
    let second = pair || carry_out;
    let form = if carry_in || carry_out { Form::Opaque } else { form(op, second) };
    let division = division(op).filter(|_| form != Form::Opaque && !second);
    Arithmetic { form, division, sources: sources.min(4) as u8, second, wide, rule }
}

fn form(op: &Op, second: bool) -> Form {
    let signed = |ty: &Type| matches!(ty, Type::S16 | Type::S32 | Type::S64);
    match op {
        Op::Mov { .. } => Form::Copy,
        Op::Add { ty, sat: false, .. } if whole(ty) => Form::Sum { bytes: ty.bytes() as u8, minus: false },
        Op::Sub { ty, sat: false, .. } if whole(ty) => Form::Sum { bytes: ty.bytes() as u8, minus: true },
        Op::Setp { cmp, ty, combine: None, .. } if whole(ty) && !second => {
            let less = Order::Less { signed: signed(ty) };
            let (order, swap, negate) = match cmp {
                Compare::Eq => (Order::Equal, false, false),
                Compare::Ne => (Order::Equal, false, true),
                Compare::Lt => (less, false, false),
                Compare::Ge => (less, false, true),
                Compare::Gt => (less, true, false),
                Compare::Le => (less, true, true),
                _ => return Form::Row(None),
            };
            Form::Compare { order, bytes: ty.bytes() as u8, swap, negate }
        }
        _ => Form::Row(low_op(op).filter(|_| !second)),
    }
}

/// What an instruction of integers does to low bits.
fn low_op(op: &Op) -> Option<LowOp> {
    match op {
        Op::Mul { ty, part: Some(Part::Lo | Part::Wide), sat: false, .. } if whole(ty) => {
            Some(LowOp::Multiply { bits: ty.bits() })
        }
        Op::Mad { ty, part: Part::Lo | Part::Wide, sat: false, .. } if whole(ty) => {
            Some(LowOp::MultiplyAdd { bits: ty.bits() })
        }
        Op::And { ty } if whole(ty) => Some(LowOp::And),
        Op::Or { ty } if whole(ty) => Some(LowOp::Or),
        Op::Xor { ty } if whole(ty) => Some(LowOp::Xor),
        Op::Not { ty } if whole(ty) => Some(LowOp::Not),
        Op::Neg { ty, .. } if whole(ty) => Some(LowOp::Negate),
        Op::Shl { .. } => Some(LowOp::ShiftLeft),
        Op::Shr { .. } => Some(LowOp::ShiftRight),
        Op::Cvt { dst, src, sat: false, .. } if whole(dst) && whole(src) => {
            Some(LowOp::Convert { bits: src.bits() })
        }
        _ => None,
    }
}

/// What an instruction of integers of four or eight bytes does in a division by a constant.
fn division(op: &Op) -> Option<Division> {
    let large = |ty: &Type| whole(ty) && ty.bytes() >= 4;
    let unsigned = |ty: &Type| !matches!(ty, Type::S32 | Type::S64);
    Some(match op {
        Op::Div { ty, .. } if large(ty) => {
            Division::Quotient { bytes: ty.bytes() as u8, signed: !unsigned(ty) }
        }
        Op::Rem { ty } if large(ty) => Division::Remainder { bytes: ty.bytes() as u8, signed: !unsigned(ty) },
        Op::Mul { ty, part: Some(part), sat: false, .. } if large(ty) => {
            let bytes = ty.bytes() as u8;
            match part {
                Part::Lo => Division::Low { bytes },
                Part::Hi if unsigned(ty) => Division::High { bytes },
                Part::Wide if unsigned(ty) => Division::Wide { bytes },
                _ => return None,
            }
        }
        Op::Mad { ty, part: Part::Lo, sat: false, .. } if large(ty) => {
            Division::LowAdd { bytes: ty.bytes() as u8 }
        }
        Op::Shr { ty } if large(ty) && unsigned(ty) => Division::Right { bytes: ty.bytes() as u8 },
        Op::Shl { ty } if large(ty) => Division::Left { bytes: ty.bytes() as u8 },
        Op::Add { ty, sat: false, .. } if large(ty) => Division::Add { bytes: ty.bytes() as u8 },
        Op::Sub { ty, sat: false, .. } if large(ty) => Division::Sub { bytes: ty.bytes() as u8 },
        Op::Cvt { dst, src, sat: false, .. } if large(dst) && large(src) && dst.bytes() < src.bytes() => {
            Division::Narrow { from: src.bytes() as u8, to: dst.bytes() as u8 }
        }
        _ => return None,
    })
}

/// An integer of a register's size.
fn whole(ty: &Type) -> bool {
    matches!(
        ty,
        Type::S16
            | Type::U16
            | Type::S32
            | Type::U32
            | Type::S64
            | Type::U64
            | Type::B16
            | Type::B32
            | Type::B64
    )
}

/// The operands in which an instruction may write registers: the first one, and of a call all, as results and arguments look alike.
pub(super) fn results(instruction: &Instruction) -> &[Operand] {
    let all = &instruction.operands[..];
    if matches!(instruction.op, Op::Call { .. }) { all } else { &all[..all.len().min(1)] }
}

/// A special register whose value no launch, or not this one, fixes.
fn is_open(operand: &Operand, fixed: Fixed) -> bool {
    let Operand::Register(name) = operand else { return false };
    match name.as_str() {
        "%nsmid" | "%nwarpid" | "%gridid" | "%envreg1" | "%envreg2" => true,
        "%dynamic_smem_size" | "%total_smem_size" => !fixed.shared,
        name => {
            let grid = name.starts_with("%nctaid") || name.starts_with("%nclusterid");
            let cluster = name.starts_with("%cluster_n")
                || name.starts_with("%nclusterid")
                || name == "%is_explicit_cluster";
            grid && !fixed.grid || cluster && !fixed.cluster
        }
    }
}
