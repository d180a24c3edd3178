//! One instruction: arithmetic goes to the ALU's row functions, moves and conversions of addresses are
//! made of them where possible; memory and control have files of their own.

use bugaroo_ptx::ast::{Instruction, Operand};
use bugaroo_ptx::op::{FenceKind, Op};
use bugaroo_ptx::types::{Rounding, Space, Type};

use super::error::LoadError;
use super::function::{Builder, Current, no_operands};
use super::operand::is_special;
use super::scope::Name;
use super::symbols::is_ours;
use crate::address::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use crate::alu::{OperandShape, Width, select, source_type};
use crate::decoded::{Kind, Pack};
use crate::model::Fence;

/// Does the instruction write CC.CF, read it?
fn carries(op: &Op) -> (bool, bool) {
    match op {
        Op::Add { carry_in, carry_out, .. }
        | Op::Sub { carry_in, carry_out, .. }
        | Op::Mad { carry_in, carry_out, .. } => (*carry_out, *carry_in),
        _ => (false, false),
    }
}

/// The type of an instruction's destination, for sinks.
fn result_type(op: &Op) -> Type {
    match op {
        Op::Setp { .. } | Op::Testp { .. } => Type::Pred,
        Op::Set { dst, .. } | Op::Cvt { dst, .. } => *dst,
        Op::Popc { .. } | Op::Clz { .. } | Op::Bfind { .. } => Type::U32,
        _ => source_type(op, 0).unwrap_or(Type::B64),
    }
}

/// Instructions on textures and surfaces.
const TEXTURE: [&str; 8] = ["tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"];

/// Why an instruction that nobody decodes is refused.
fn unknown(opcode: &str, modifiers: &[String]) -> &'static str {
    let has = |word: &str| modifiers.iter().any(|m| m.starts_with(word));
    match opcode {
        "tcgen05" => "the simulator does not have the tensor cores of this architecture",
        "mma" if has("sp") => "the simulator does not multiply sparse matrices",
        "cp" | "fence" if has("tensor") => "the simulator does not have tensor maps",
        _ if TEXTURE.contains(&opcode) => "this form of a texture or surface instruction is not supported",
        "tensormap" => "the simulator does not have tensor maps",
        _ => "the simulator does not know this instruction",
    }
}

impl<'m> Builder<'m> {
    /// Translates the current instruction.
    pub fn translate(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        match &inst.op {
            Op::Mov { ty: Type::B128 } => self.mov_wide(at, inst),
            Op::Mov { ty } => self.mov(at, inst, *ty),
            Op::Cvta { to, space, ty } => self.cvta(at, inst, *to, *space, *ty),
            Op::Isspacep { space } => self.isspacep(at, inst, *space),
            Op::Prefetch | Op::Brkpt | Op::Hint => {
                self.emit(at, Kind::Nop, no_operands(), 0);
                Ok(())
            }
            Op::Fence { kind, scope } => {
                // A proxy fence is no fence between threads.
                let counted = *kind != FenceKind::Proxy && !is_ours(&at.function.name);
                let index = self.program.fences.len() as u32;
                self.program.fences.push(Fence { kind: *kind, scope: *scope });
                self.emit(at, Kind::Fence, no_operands(), index << 1 | u32::from(counted));
                Ok(())
            }
            Op::Nanosleep => {
                self.emit(at, Kind::Fence, no_operands(), u32::MAX << 1);
                Ok(())
            }
            Op::Ld { .. } | Op::Ldu { .. } | Op::St { .. } => self.load_store(at, inst),
            Op::Atom { .. } | Op::Red { .. } => self.atomic(at, inst),
            Op::Bra { .. }
            | Op::Brx { .. }
            | Op::Call { .. }
            | Op::Ret { .. }
            | Op::Exit
            | Op::Trap
            | Op::Shfl { .. }
            | Op::Vote { .. }
            | Op::Match { .. }
            | Op::Redux { .. }
            | Op::Elect
            | Op::Activemask
            | Op::Barrier { .. }
            | Op::WarpSync => self.control(at, inst),
            Op::Rare(rare) => self.rare(at, inst, rare),
            Op::Set { .. } | Op::Setp { .. } if self.packed_comparison(at, inst)? => Ok(()),
            Op::Alloca { .. } | Op::Stack { .. } => self.stack(at, inst),
            Op::Mbarrier { .. }
            | Op::CpAsync { .. }
            | Op::CpAsyncCommit { .. }
            | Op::CpAsyncWait { .. }
            | Op::CpAsyncArrive { .. }
            | Op::CpAsyncBulk { .. }
            | Op::CpAsyncTensor { .. }
            | Op::StAsync { .. }
            | Op::RedAsync { .. } => self.asynchronous(at, inst),
            Op::ClusterBarrier { .. } | Op::Mapa { .. } | Op::Getctarank { .. } => self.cluster(at, inst),
            Op::Ldmatrix { .. }
            | Op::Stmatrix { .. }
            | Op::Movmatrix
            | Op::Mma(_)
            | Op::WmmaLoad { .. }
            | Op::WmmaStore { .. } => self.matrix(at, inst),
            Op::Createpolicy => {
                let Some(policy) = inst.operands.first() else {
                    return Err(self.refuse(at, "no operands"));
                };
                self.arithmetic(at, &Op::Mov { ty: Type::B64 }, &[policy.clone(), Operand::Integer(0)])
            }
            Op::Wgmma(_) | Op::WgmmaFence | Op::WgmmaCommit | Op::WgmmaWait => self.warpgroup(at, inst),
            Op::Other => Err(self.refuse(at, unknown(&inst.opcode, &inst.modifiers))),
            Op::Texture(what) => self.texture(at, inst, *what),
            op => self.arithmetic(at, op, &inst.operands),
        }
    }

    /// An instruction that the ALU computes.
    fn arithmetic(&mut self, at: &mut Current<'m>, op: &Op, operands: &[Operand]) -> Result<(), LoadError> {
        let Some((first, sources)) = operands.split_first() else {
            return Err(self.refuse(at, "no operands"));
        };
        let (carry_out, carry_in) = carries(op);
        if sources.len() + usize::from(carry_in) > 4 {
            return Err(self.refuse(at, "more operands than the instruction has"));
        }
        let mut ops = no_operands();
        let mut shape = OperandShape { dst: Width::Pred, dst2: None, src: [None; 4], negated: [false; 4] };
        for (i, operand) in sources.iter().enumerate() {
            let ty = source_type(op, i).ok_or_else(|| self.refuse(at, "an operand that it does not have"))?;
            let source = self.source(at, operand, ty)?;
            ops.src[i] = source.slot;
            shape.src[i] = Some(source.width);
            shape.negated[i] = source.negated;
        }
        if carry_in {
            ops.src[sources.len()] = at.carry() as i32;
            shape.src[sources.len()] = Some(Width::Pred);
        }
        let dst = match first {
            Operand::Pair(p, q) => {
                let (dst2, width) = self.destination(at, q, Type::Pred)?;
                ops.dst2 = dst2;
                shape.dst2 = Some(width);
                p
            }
            other => other,
        };
        (ops.dst, shape.dst) = self.destination(at, dst, result_type(op))?;
        if carry_out {
            ops.dst2 = at.carry();
            shape.dst2 = Some(Width::Pred);
        }
        if shape.dst2.is_none() {
            // Nobody writes it. Whoever asks which rows are written gets no other row for it.
            ops.dst2 = ops.dst;
        }
        let Some(run) = select(op, &shape, self.program.isa) else {
            return Err(self.refuse(at, "the simulator has no arithmetic for these types and operands"));
        };
        self.emit_run(at, Kind::Alu, run, ops, 0);
        Ok(())
    }

    fn mov(&mut self, at: &mut Current<'m>, inst: &'m Instruction, ty: Type) -> Result<(), LoadError> {
        let [dst, src] = &inst.operands[..] else {
            return Err(self.refuse(at, "a move needs two operands"));
        };
        match (dst, src) {
            (Operand::Vector(parts), whole) => self.pack(at, ty, whole, parts, true),
            (whole, Operand::Vector(parts)) => self.pack(at, ty, whole, parts, false),
            (_, Operand::Register(name)) if self.find(at, name).is_none() && is_special(name) => {
                let (row, width) = self.destination(at, dst, ty)?;
                if self.special_move(at, name, row, width) {
                    return Ok(());
                }
                self.arithmetic_as(at, width, dst, src)
            }
            (_, Operand::Symbol { name, offset }) => {
                if let Some(Name::Local { offset: variable }) = self.find(at, name) {
                    let (row, width) = self.destination(at, dst, ty)?;
                    return self.local_address(at, variable, *offset, row, width, false);
                }
                self.arithmetic(at, &inst.op, &inst.operands)
            }
            _ => self.arithmetic(at, &inst.op, &inst.operands),
        }
    }

    /// A move of the destination's own width.
    fn arithmetic_as(
        &mut self,
        at: &mut Current<'m>,
        width: Width,
        dst: &Operand,
        src: &Operand,
    ) -> Result<(), LoadError> {
        let ty = match width {
            Width::Pred => Type::Pred,
            Width::W16 => Type::B16,
            Width::W32 => Type::B32,
            Width::W64 => Type::B64,
        };
        self.arithmetic(at, &Op::Mov { ty }, &[dst.clone(), src.clone()])
    }

    fn pack(
        &mut self,
        at: &mut Current<'m>,
        ty: Type,
        whole: &Operand,
        parts: &[Operand],
        unpack: bool,
    ) -> Result<(), LoadError> {
        let count = parts.len() as u32;
        if !matches!(count, 2 | 4 | 8) || !ty.bytes().is_multiple_of(count) {
            return Err(self.refuse(at, "a vector that does not fill the register"));
        }
        let part_bytes = ty.bytes() / count;
        let part_type = match part_bytes {
            1 => Type::B8,
            2 => Type::B16,
            4 => Type::B32,
            8 => Type::B64,
            _ => return Err(self.refuse(at, "vector elements of this size")),
        };
        let (whole, width) = if unpack {
            let source = self.source(at, whole, ty)?;
            (source.slot, source.width)
        } else {
            let (row, width) = self.destination(at, whole, ty)?;
            (row as i32, width)
        };
        let mut slots = Vec::new();
        for part in parts {
            let (slot, part_width) = match part {
                Operand::Sink => {
                    slots.push(None);
                    continue;
                }
                _ if unpack => {
                    let (row, width) = self.destination(at, part, part_type)?;
                    (row as i32, width)
                }
                _ => {
                    let source = self.source(at, part, part_type)?;
                    (source.slot, source.width)
                }
            };
            if part_width == Width::Pred || part_width.bytes() / 32 < part_bytes {
                return Err(self.refuse(at, "a vector element narrower than its place"));
            }
            slots.push(Some((slot, part_width)));
        }
        if width.bytes() / 32 != ty.bytes() {
            return Err(self.refuse(at, "a register that is not as wide as the type"));
        }
        let pack = Pack { whole, whole_bytes: ty.bytes() as u8, part_bytes: part_bytes as u8, parts: slots };
        let index = self.program.packs.len() as u32;
        self.program.packs.push(pack);
        self.emit(at, if unpack { Kind::Unpack } else { Kind::Pack }, no_operands(), index);
        Ok(())
    }

    /// Converting an address between a space and generic is adding or taking away the window's base; for
    /// global and constant memory it is a move.
    fn cvta(
        &mut self,
        at: &mut Current<'m>,
        inst: &'m Instruction,
        to: bool,
        space: Space,
        ty: Type,
    ) -> Result<(), LoadError> {
        let [dst, src] = &inst.operands[..] else {
            return Err(self.refuse(at, "needs two operands"));
        };
        let base = match space {
            Space::Shared | Space::SharedCluster => SHARED_WINDOW,
            Space::Local => LOCAL_WINDOW,
            Space::Param => PARAM_WINDOW,
            Space::Global | Space::Const | Space::Generic => 0,
        };
        if base != 0 && ty.bytes() != 8 {
            return Err(self.refuse(at, "generic addresses have 64 bits here"));
        }
        if base == 0 {
            return self.arithmetic(at, &Op::Mov { ty }, &inst.operands);
        }
        let ty = Type::U64;
        let (rnd, ftz, sat) = (Rounding::Nearest, false, false);
        let (carry_in, carry_out) = (false, false);
        let op = if to {
            Op::Sub { ty, rnd, ftz, sat, carry_in, carry_out }
        } else {
            Op::Add { ty, rnd, ftz, sat, carry_in, carry_out }
        };
        self.arithmetic(at, &op, &[dst.clone(), src.clone(), Operand::Integer(base as i64)])
    }

    fn isspacep(
        &mut self,
        at: &mut Current<'m>,
        inst: &'m Instruction,
        space: Space,
    ) -> Result<(), LoadError> {
        let [dst, src] = &inst.operands[..] else {
            return Err(self.refuse(at, "needs two operands"));
        };
        let mut ops = no_operands();
        (ops.dst, _) = self.destination(at, dst, Type::Pred)?;
        let source = self.source(at, src, Type::U64)?;
        if source.width != Width::W64 {
            return Err(self.refuse(at, "generic addresses have 64 bits here"));
        }
        ops.src[0] = source.slot;
        let window = match space {
            Space::SharedCluster => 1,
            Space::Shared => 5,
            Space::Local => 2,
            Space::Param => 3,
            Space::Global | Space::Generic => 0,
            // Constant memory is global memory here; no program can tell a constant bank from it but by this.
            Space::Const => 4,
        };
        self.emit(at, Kind::IsSpace, ops, window);
        Ok(())
    }
}
