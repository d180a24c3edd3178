//! Operands to slots: registers, special registers, immediates, addresses of symbols.

use bugaroo_ptx::ast::Operand;
use bugaroo_ptx::types::Type;

use super::error::LoadError;
use super::function::{Builder, Current, no_operands};
use super::scope::Name;
use crate::address::code_address;
use crate::alu::Width;
use crate::decoded::{Kind, LaunchValue, Special, SpecialValue};
use crate::launch::RESERVED_SHARED;

/// A source operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub slot: i32,
    pub width: Width,
    pub negated: bool,
}

/// A special register: fixed for the launch, or read as the program runs.
enum SpecialRegister {
    Launch(LaunchValue),
    Running(SpecialValue),
    Constant(u64),
}

fn dimension(suffix: &str) -> Option<u8> {
    match suffix {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    }
}

fn special(name: &str) -> Option<SpecialRegister> {
    use SpecialRegister::{Constant, Launch, Running};
    let name = name.strip_prefix('%')?;
    if let Some((base, suffix)) = name.split_once('.') {
        if base == "clock" && suffix == "hi" {
            return Some(Running(SpecialValue::ClockHi));
        }
        let d = dimension(suffix)?;
        return Some(match base {
            "tid" => Running(SpecialValue::Tid(d)),
            "ctaid" => Running(SpecialValue::Ctaid(d)),
            "ntid" => Launch(LaunchValue::Ntid(d)),
            "nctaid" => Launch(LaunchValue::Nctaid(d)),
            "clusterid" => Running(SpecialValue::Clusterid(d)),
            "cluster_ctaid" => Running(SpecialValue::ClusterCtaid(d)),
            "nclusterid" => Launch(LaunchValue::Nclusterid(d)),
            "cluster_nctaid" => Launch(LaunchValue::ClusterNctaid(d)),
            _ => return None,
        });
    }
    Some(match name {
        "laneid" => Running(SpecialValue::Laneid),
        "warpid" => Running(SpecialValue::Warpid),
        "smid" => Running(SpecialValue::Smid),
        "lanemask_eq" => Running(SpecialValue::LanemaskEq),
        "lanemask_lt" => Running(SpecialValue::LanemaskLt),
        "lanemask_le" => Running(SpecialValue::LanemaskLe),
        "lanemask_gt" => Running(SpecialValue::LanemaskGt),
        "lanemask_ge" => Running(SpecialValue::LanemaskGe),
        "clock" => Running(SpecialValue::Clock),
        "clock_hi" => Running(SpecialValue::ClockHi),
        "clock64" => Running(SpecialValue::Clock64),
        "globaltimer" => Running(SpecialValue::GlobalTimer),
        "globaltimer_lo" => Running(SpecialValue::GlobalTimerLow),
        "globaltimer_hi" => Running(SpecialValue::GlobalTimerHigh),
        "cluster_ctarank" => Running(SpecialValue::ClusterCtarank),
        "cluster_nctarank" => Launch(LaunchValue::ClusterNctarank),
        "is_explicit_cluster" => Launch(LaunchValue::IsExplicitCluster),
        // A graph that is current nobody knows.
        "current_graph_exec" => Constant(0),
        "nwarpid" => Launch(LaunchValue::Nwarpid),
        "nsmid" => Launch(LaunchValue::Nsmid),
        "gridid" => Launch(LaunchValue::Gridid),
        "dynamic_smem_size" => Launch(LaunchValue::DynamicSharedSize),
        "total_smem_size" | "aggr_smem_size" => Launch(LaunchValue::TotalSharedSize),
        "envreg1" => Launch(LaunchValue::WorkspaceHigh),
        "envreg2" => Launch(LaunchValue::WorkspaceLow),
        // Two parts, of which cooperative groups use the second.
        "reserved_smem_offset_begin" | "reserved_smem_offset_0" => Launch(LaunchValue::ReservedShared(0)),
        "reserved_smem_offset_1" => Launch(LaunchValue::ReservedShared(RESERVED_SHARED / 2)),
        "reserved_smem_offset_end" => Launch(LaunchValue::ReservedShared(RESERVED_SHARED)),
        "reserved_smem_offset_cap" => Constant(u64::from(RESERVED_SHARED)),
        _ if name.starts_with("envreg") || name.starts_with("pm") => Constant(0),
        _ => return None,
    })
}

/// Is this the name of a special register that the engine has?
pub(super) fn is_special(name: &str) -> bool {
    special(name).is_some()
}

/// The bits of an immediate in an instruction of type `ty`.
fn immediate(operand: &Operand, ty: Type) -> Option<u64> {
    Some(match (operand, ty) {
        (Operand::Integer(value), Type::F32) => u64::from((*value as f32).to_bits()),
        (Operand::Integer(value), Type::F64) => (*value as f64).to_bits(),
        (Operand::Integer(value), _) => *value as u64,
        (Operand::F32(bits), Type::F64) => f64::from(f32::from_bits(*bits)).to_bits(),
        (Operand::F32(bits), _) => u64::from(*bits),
        (Operand::F64(bits), Type::F32) => u64::from((f64::from_bits(*bits) as f32).to_bits()),
        (Operand::F64(bits), _) => *bits,
        (Operand::Not(inner), Type::F32) => immediate(inner, ty)? ^ 1 << 31,
        (Operand::Not(inner), Type::F64) => immediate(inner, ty)? ^ 1 << 63,
        (Operand::Not(inner), Type::Pred) => !immediate(inner, ty)?,
        (Operand::Not(inner), _) => immediate(inner, ty)?.wrapping_neg(),
        _ => return None,
    })
}

impl<'m> Builder<'m> {
    /// A source operand of an instruction that reads it as `ty`.
    pub fn source(&mut self, at: &mut Current<'m>, operand: &Operand, ty: Type) -> Result<Source, LoadError> {
        let width = Current::width(ty).ok_or_else(|| self.refuse(at, "operands of 128 bits"))?;
        if let Some(bits) = immediate(operand, ty) {
            return Ok(Source { slot: self.program.constants.slot(width, bits), width, negated: false });
        }
        match operand {
            Operand::Register(name) => self.register_source(at, name, width),
            Operand::Not(inner) => {
                let source = self.source(at, inner, ty)?;
                if source.width != Width::Pred {
                    return Err(self.refuse(at, "a negated register that is no predicate"));
                }
                Ok(Source { negated: !source.negated, ..source })
            }
            Operand::Symbol { name, offset } => {
                let slot = self.symbol(at, name, *offset, width, false)?;
                Ok(Source { slot, width, negated: false })
            }
            _ => Err(self.refuse(at, "an operand of this form")),
        }
    }

    fn register_source(
        &mut self,
        at: &mut Current<'m>,
        name: &str,
        width: Width,
    ) -> Result<Source, LoadError> {
        if let Some(Name::Register(number, ty)) = self.find(at, name) {
            let width = Current::width(ty).ok_or_else(|| self.refuse(at, "a register of 128 bits"))?;
            return Ok(Source { slot: at.row(number, width) as i32, width, negated: false });
        }
        let Some(found) = special(name) else {
            return Err(self.refuse(at, format!("`{name}` is neither declared nor a special register here")));
        };
        if (width == Width::Pred) != matches!(found, SpecialRegister::Launch(LaunchValue::IsExplicitCluster))
        {
            return Err(self.refuse(at, format!("`{name}` as a value of this type")));
        }
        let slot = match found {
            SpecialRegister::Constant(bits) => self.program.constants.slot(width, bits),
            SpecialRegister::Launch(value) => self.program.constants.launch_slot(width, value),
            SpecialRegister::Running(value) => {
                let dst = at.frame.row(width);
                let guard = at.unguarded();
                self.special(at, value, dst, width);
                at.guarded(guard);
                dst as i32
            }
        };
        Ok(Source { slot, width, negated: false })
    }

    /// `mov` of a special register that is read as the program runs, straight into its destination.
    pub fn special_move(&mut self, at: &mut Current<'m>, name: &str, dst: u32, width: Width) -> bool {
        match special(name) {
            Some(SpecialRegister::Running(value)) if width != Width::Pred => {
                self.special(at, value, dst, width);
                true
            }
            _ => false,
        }
    }

    fn special(&mut self, at: &Current<'m>, value: SpecialValue, dst: u32, width: Width) {
        let index = self.program.specials.len() as u32;
        self.program.specials.push(Special { value, dst, width });
        self.emit(at, Kind::Special, no_operands(), index);
    }

    /// The slot of a symbol's address: in its own space, or generic. Local variables get a row of the
    /// frame, written by an instruction that is put before the current one.
    pub fn symbol(
        &mut self,
        at: &mut Current<'m>,
        name: &str,
        offset: i64,
        width: Width,
        generic: bool,
    ) -> Result<i32, LoadError> {
        if name == "WARP_SZ" {
            return Ok(self.program.constants.slot(width, 32u64.wrapping_add_signed(offset)));
        }
        if !matches!(width, Width::W32 | Width::W64) {
            return Err(self.refuse(at, "an address in a register of this width"));
        }
        let window = |base: u64| if generic { base } else { 0 };
        let address = match at.scopes.find(name).or_else(|| self.module_name(name)) {
            Some(Name::Global { address }) => address,
            Some(Name::Shared { offset }) => u64::from(offset) + window(crate::address::SHARED_WINDOW),
            Some(Name::KernelParam { offset }) => u64::from(offset) + window(crate::address::PARAM_WINDOW),
            Some(Name::DynamicShared) => {
                let offset = offset as u64;
                let value = LaunchValue::DynamicShared(offset, generic);
                return Ok(self.program.constants.launch_slot(width, value));
            }
            Some(Name::Local { offset: variable }) => {
                let dst = at.frame.row(width);
                let guard = at.unguarded();
                self.local_address(at, variable, offset, dst, width, generic)?;
                at.guarded(guard);
                return Ok(dst as i32);
            }
            None => match self.names.get(name) {
                Some(function) => code_address(*function),
                None => return Err(self.refuse(at, format!("`{name}` is not defined here"))),
            },
            Some(_) => return Err(self.refuse(at, format!("`{name}` has no address here"))),
        };
        Ok(self.program.constants.slot(width, address.wrapping_add_signed(offset)))
    }

    /// The address of a local variable, plus an offset, into a row.
    pub fn local_address(
        &mut self,
        at: &Current<'m>,
        variable: u32,
        offset: i64,
        dst: u32,
        width: Width,
        generic: bool,
    ) -> Result<(), LoadError> {
        // In 32 bits, where a negative one comes round as it does in the instruction.
        let sum = i64::from(variable).checked_add(offset);
        let Some(sum) = sum.filter(|sum| sum.unsigned_abs() <= u64::from(u32::MAX)) else {
            return Err(self.refuse(at, "an offset of more than a thread's local memory can have"));
        };
        let mut ops = no_operands();
        ops.dst = dst;
        ops.src = [i32::from(width == Width::W64), i32::from(generic), 0, 0];
        self.emit(at, Kind::LocalAddress, ops, sum as u32);
        Ok(())
    }

    /// A destination: its row and width. A sink's row is scratch, of the width that `ty` asks for.
    pub fn destination(
        &mut self,
        at: &mut Current<'m>,
        operand: &Operand,
        ty: Type,
    ) -> Result<(u32, Width), LoadError> {
        match operand {
            Operand::Sink => {
                let width = Current::width(ty).ok_or_else(|| self.refuse(at, "operands of 128 bits"))?;
                Ok((at.frame.scratch(), width))
            }
            Operand::Register(name) => match self.find(at, name) {
                Some(Name::Register(number, ty)) => {
                    let width =
                        Current::width(ty).ok_or_else(|| self.refuse(at, "a register of 128 bits"))?;
                    Ok((at.row(number, width), width))
                }
                _ => Err(self.refuse(at, format!("`{name}` is not a register that can be written"))),
            },
            _ => Err(self.refuse(at, "a destination of this form")),
        }
    }
}
