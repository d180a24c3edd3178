//! The kernel's parameters: unknown but for those that are given.
//!
//! A structure is an array of bytes to PTX. What is given of it is one field, at an offset: `NAME+OFFSET`, of a type that stands behind it
//! (`NAME+OFFSET:u64`), or else of the size with which the kernel loads from there (4 bytes where it does not). All other bytes stay
//! unknown.

use std::ops::Range;

use bugaroo_ptx::ast::{AddressBase, Function, Instruction, Operand, Statement, StatementKind};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::{Space, Type};
use bugaroo_simulator::KernelInfo;

use super::refusal::{Refusal, RefusalKind};

/// The parameter buffer, of which bytes are known or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Params {
    bytes: Vec<u8>,
    known: Vec<bool>,
    /// Names as they are shown, with offsets and sizes.
    names: Vec<(String, u64, u64)>,
    /// Tensor maps: where they begin, and the bytes that a copy by them moves.
    tensors: Vec<(u64, u32)>,
}

/// What is given of parameters: the first bytes of the buffer, which of them are not known all the same, and fields by name.
type Given<'a> = (Option<&'a [u8]>, &'a [Range<usize>], &'a [(String, String)]);

impl Params {
    /// The parameters of a kernel, some of them given as (name or index, value).
    pub fn new(
        function: &Function,
        info: &KernelInfo,
        (raw, open, given): Given<'_>,
        tensors: &[(String, u32)],
    ) -> Result<Params, Refusal> {
        let mut params = Params {
            bytes: vec![0; info.param_bytes as usize],
            known: vec![false; info.param_bytes as usize],
            names: Vec::new(),
            tensors: Vec::new(),
        };
        for (param, place) in function.params.iter().zip(&info.params) {
            let name = param.variable.name.clone();
            params.names.push((name, u64::from(place.offset), u64::from(place.size)));
        }
        if let Some(raw) = raw {
            let room = params.bytes.len();
            if raw.len() > room {
                let message = format!(
                    "{} bytes of parameters for kernel `{}`, which has {room}",
                    raw.len(),
                    function.name
                );
                return Err(Refusal::new(RefusalKind::Usage, message));
            }
            params.bytes[..raw.len()].copy_from_slice(raw);
            params.known[..raw.len()].fill(true);
        }
        for range in open {
            let end = range.end.min(params.known.len());
            params.known[range.start.min(end)..end].fill(false);
        }
        for (name, value) in given {
            params.give(function, name, value)?;
        }
        for (name, bytes) in tensors {
            // One of several maps in a structure by its offset.
            let Some(field) = field(function, name) else { continue };
            params.tensors.push((params.names[field.index].1 + field.offset.unwrap_or(0), *bytes));
        }
        Ok(params)
    }

    fn give(&mut self, function: &Function, name: &str, value: &str) -> Result<(), Refusal> {
        let usage = |message: String| Err(Refusal::new(RefusalKind::Usage, message));
        let Some(field) = field(function, name) else {
            let known: Vec<&str> = self.names.iter().map(|(name, ..)| name.as_str()).collect();
            let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
            return usage(format!("kernel `{}` has no parameter `{name}` (it has: {known})", function.name));
        };
        let (_, start, room) = self.names[field.index];
        let variable = &function.params[field.index].variable;
        let ty = match (field.ty, field.offset) {
            (Some(ty), _) => ty,
            (None, None) if variable.dims.is_empty() => variable.ty,
            (None, offset) => {
                let loaded = loaded(function, &variable.name, offset.unwrap_or(0)).unwrap_or(Type::B32);
                // The bits of an untyped load are written as what they look like.
                match (loaded.bytes(), value.contains(['.', 'e']) && !value.starts_with("0x")) {
                    (4, true) => Type::F32,
                    (8, true) => Type::F64,
                    _ => loaded,
                }
            }
        };
        let size = ty.bytes() as usize;
        let offset = field.offset.unwrap_or(0);
        if offset.checked_add(size as u64).is_none_or(|end| end > room) {
            return usage(format!(
                "`{name}`: {size} bytes from byte {offset} on are not in the parameter's {room} bytes"
            ));
        }
        let Some(bits) = parse(value, ty) else {
            return usage(format!("`{value}` is no value for parameter `{name}` of type .{}", ty.name()));
        };
        if size > 8 || (size < 8 && bits >> (8 * size) != 0 && !is_negative(value)) {
            return usage(format!(
                "`{value}` does not fit parameter `{name}`, of which {size} bytes are meant (NAME+OFFSET:u64=VALUE says more)"
            ));
        }
        let at = (start + offset) as usize;
        self.bytes[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
        self.known[at..at + size].fill(true);
        Ok(())
    }

    /// Reads bytes, if they are known.
    pub fn read(&self, at: usize, size: usize) -> Option<u64> {
        let known = self.known.get(at..at + size)?;
        let mut value = [0; 8];
        value[..size].copy_from_slice(&self.bytes[at..at + size]);
        known.iter().all(|known| *known).then(|| u64::from_le_bytes(value))
    }

    /// Bytes that a copy by the tensor map at this offset moves, if they are given.
    pub fn tensor_at(&self, offset: u64) -> Option<u32> {
        self.tensors.iter().find(|(at, _)| *at == offset).map(|(_, bytes)| *bytes)
    }

    /// The parameter that holds this byte, as it can be given: with the offset, where it is a structure.
    pub fn name_at(&self, function: &Function, offset: u64) -> Option<(String, String)> {
        let holds = |(_, at, size): &&(String, u64, u64)| (*at..at + size).contains(&offset);
        let index = self.names.iter().position(|name| holds(&name))?;
        let (name, at, _) = &self.names[index];
        let given = match function.params.get(index) {
            Some(param) if !param.variable.dims.is_empty() => format!("{name}+{}", offset - at),
            _ => name.clone(),
        };
        Some((name.clone(), given))
    }
}

/// What `NAME[+OFFSET][:TYPE]` names.
struct Field {
    index: usize,
    offset: Option<u64>,
    ty: Option<Type>,
}

fn field(function: &Function, text: &str) -> Option<Field> {
    let (rest, ty) = match text.rsplit_once(':') {
        Some((rest, ty)) => (rest, Some(Type::from_name(ty.trim_start_matches('.'))?)),
        None => (text, None),
    };
    let (name, offset) = match rest.rsplit_once('+') {
        Some((name, offset)) => (name, Some(number(offset)?)),
        None => (rest, None),
    };
    Some(Field { index: position(function, name)?, offset, ty })
}

/// The type with which the kernel loads from this byte of a parameter.
fn loaded(function: &Function, name: &str, offset: u64) -> Option<Type> {
    fn search(
        statements: &[Statement],
        found: &mut impl FnMut(&Instruction) -> Option<Type>,
    ) -> Option<Type> {
        statements.iter().find_map(|statement| match &statement.kind {
            StatementKind::Instruction(instruction) => found(instruction),
            StatementKind::Block(inner) => search(inner, found),
            _ => None,
        })
    }
    let body = function.body.as_ref()?;
    search(&body.statements, &mut |instruction| {
        let Op::Ld { space: Space::Param, vec, ty, .. } = instruction.op else { return None };
        let (symbol, at) = instruction.operands.iter().find_map(address)?;
        let size = u64::from(ty.bytes());
        let mut elements = (0..u64::from(vec.max(1))).map(|element| at + element * size);
        (symbol == name && elements.any(|element| element == offset)).then_some(ty)
    })
}

/// The variable and offset of an operand `[name+offset]`.
fn address(operand: &Operand) -> Option<(&str, u64)> {
    match operand {
        Operand::Address { base: AddressBase::Symbol(name), offset } => {
            Some((name, u64::try_from(*offset).ok()?))
        }
        _ => None,
    }
}

/// Whether a kernel has the parameter of `NAME[+OFFSET][:TYPE]`.
pub(super) fn has(function: &Function, text: &str) -> bool {
    field(function, text).is_some()
}

/// Which parameter has this name, this number, or a name that ends in this one.
pub(super) fn position(function: &Function, name: &str) -> Option<usize> {
    let find = |fits: &dyn Fn(&str) -> bool| function.params.iter().position(|p| fits(&p.variable.name));
    let suffix = format!("_{name}");
    find(&|known| known == name)
        .or_else(|| name.parse::<usize>().ok().filter(|index| *index < function.params.len()))
        .or_else(|| find(&|known| known.ends_with(&suffix)))
}

fn is_negative(text: &str) -> bool {
    text.starts_with('-')
}

/// A value as people write it: decimal or hexadecimal, negative, or with a fraction where the type has one.
fn parse(text: &str, ty: Type) -> Option<u64> {
    match ty {
        Type::F32 => return text.parse::<f32>().ok().map(|value| u64::from(value.to_bits())),
        Type::F64 => return text.parse::<f64>().ok().map(f64::to_bits),
        _ => {}
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let number = number(digits)?;
    Some(if negative { number.wrapping_neg() } else { number })
}

/// Decimal or hexadecimal.
fn number(digits: &str) -> Option<u64> {
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}
