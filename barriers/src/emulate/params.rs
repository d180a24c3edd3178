//! The kernel's parameters: unknown but for those that are given.

use bugaroo_ptx::ast::Function;
use bugaroo_ptx::types::Type;
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

impl Params {
    /// The parameters of a kernel, some of them given as (name or index, value).
    pub fn new(
        function: &Function,
        info: &KernelInfo,
        given: &[(String, String)],
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
        for (name, value) in given {
            params.give(function, name, value)?;
        }
        for (name, bytes) in tensors {
            let Some(index) = position(function, name) else { continue };
            params.tensors.push((params.names[index].1, *bytes));
        }
        Ok(params)
    }

    fn give(&mut self, function: &Function, name: &str, value: &str) -> Result<(), Refusal> {
        let usage = |message: String| Err(Refusal::new(RefusalKind::Usage, message));
        let Some(index) = position(function, name) else {
            let known: Vec<&str> = self.names.iter().map(|(name, ..)| name.as_str()).collect();
            let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
            return usage(format!("kernel `{}` has no parameter `{name}` (it has: {known})", function.name));
        };
        let (_, offset, size) = self.names[index];
        let ty = function.params[index].variable.ty;
        let Some(bits) = parse(value, ty) else {
            return usage(format!("`{value}` is no value for parameter `{name}` of type .{}", ty.name()));
        };
        let size = size as usize;
        if size > 8 || (size < 8 && bits >> (8 * size) != 0 && !is_negative(value)) {
            return usage(format!("`{value}` does not fit parameter `{name}` of {size} bytes"));
        }
        let offset = offset as usize;
        self.bytes[offset..offset + size].copy_from_slice(&bits.to_le_bytes()[..size]);
        self.known[offset..offset + size].fill(true);
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

    /// The parameter that holds this byte.
    pub fn name_at(&self, offset: u64) -> Option<String> {
        let holds = |(_, at, size): &&(String, u64, u64)| (*at..at + size).contains(&offset);
        self.names.iter().find(holds).map(|(name, ..)| name.clone())
    }
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
    let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { number.wrapping_neg() } else { number })
}
