//! How many bytes an instruction accesses that has met a kept page: the moves that compilers make of plain loads and stores.
//!
//! The processor tells the first byte of the access that lies in the page, and whether it was a write (Intel SDM volume 3,
//! "Page-Fault Exceptions"). The width is in the instruction (volume 2, "Instruction Format"). Where the instruction is another,
//! or does not seem to begin where the page was met, one byte is taken: that much is certain.

/// Registers, by their numbers in instructions.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// `rax`, `rcx`, `rdx`, `rbx`, `rsp`, `rbp`, `rsi`, `rdi`, `r8` to `r15`.
    pub general: [u64; 16],
    /// Where the instruction stands.
    pub pc: u64,
}

/// Longest instruction.
pub const LONGEST: usize = 15;

struct Reader<'a> {
    code: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.code.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn displacement(&mut self, bytes: usize) -> Option<i64> {
        let mut value = 0_u64;
        for at in 0..bytes {
            value |= u64::from(self.byte()?) << (8 * at);
        }
        let unused = 64 - 8 * bytes as u32;
        Some((value << unused).cast_signed() >> unused)
    }
}

#[derive(Default)]
struct Prefixes {
    wide: bool,
    narrow: bool,
    repeated: u8,
    /// The bits `R`, `X`, `B` of REX or VEX, as 4, 2, 1.
    rex: u8,
}

/// The address and width of the memory operand, and the bytes of an immediate behind it.
fn width(map: u8, opcode: u8, prefixes: &Prefixes, vector: usize) -> Option<(usize, usize)> {
    let whole = match (prefixes.wide, prefixes.narrow) {
        (true, _) => 8,
        (false, true) => 2,
        (false, false) => 4,
    };
    let immediate = if whole == 2 { 2 } else { 4 };
    Some(match (map, opcode) {
        // mov; add, or, adc, sbb, and, sub, xor, cmp, test, xchg with a register
        (0, 0x88 | 0x8a | 0x84 | 0x86) => (1, 0),
        (0, 0x89 | 0x8b | 0x85 | 0x87) => (whole, 0),
        (0, op @ 0x00..=0x3f) if op & 7 < 4 => (if op & 1 == 0 { 1 } else { whole }, 0),
        // the same with an immediate
        (0, 0xc6 | 0x80) => (1, 1),
        (0, 0xc7 | 0x81) => (whole, immediate),
        (0, 0x83) => (whole, 1),
        // inc, dec
        (0, 0xfe) => (1, 0),
        // movsxd
        (0, 0x63) => (4, 0),
        // movzx, movsx
        (1, 0xb6 | 0xbe) => (1, 0),
        (1, 0xb7 | 0xbf) => (2, 0),
        // movups, movss, movupd, movsd
        (1, 0x10 | 0x11) => match prefixes.repeated {
            0xf3 => (4, 0),
            0xf2 => (8, 0),
            _ => (vector, 0),
        },
        // movaps, movapd
        (1, 0x28 | 0x29) => (vector, 0),
        // movdqa, movdqu
        (1, 0x6f | 0x7f) if prefixes.narrow || prefixes.repeated == 0xf3 => (vector, 0),
        // movd, movq
        (1, 0x6e) if prefixes.narrow => (if prefixes.wide { 8 } else { 4 }, 0),
        (1, 0x7e) if prefixes.repeated == 0xf3 => (8, 0),
        (1, 0x7e) if prefixes.narrow => (if prefixes.wide { 8 } else { 4 }, 0),
        (1, 0xd6) if prefixes.narrow => (8, 0),
        // arithmetic on a number: add, mul, sub, min, div, max, sqrt; conversions; comparisons
        (1, 0x51 | 0x58 | 0x59 | 0x5c..=0x5f) => match prefixes.repeated {
            0xf3 => (4, 0),
            0xf2 => (8, 0),
            _ => return None,
        },
        _ => return None,
    })
}

/// The bytes from `fault` on that the instruction accesses for certain. None where a mask says which elements are accessed at
/// all, so that even the first byte told may be of another.
pub fn bytes(code: &[u8], registers: &Registers, fault: u64) -> Option<usize> {
    if is_masked(code) {
        return None;
    }
    let known = operand(code, registers).and_then(|(address, width)| {
        let before = fault.checked_sub(address)?;
        (before < width as u64).then(|| width - before as usize)
    });
    Some(known.unwrap_or(1))
}

/// Moves of chosen elements, and gathers and scatters.
fn is_masked(code: &[u8]) -> bool {
    match *code {
        [0x62, _, _, last, ..] => last & 7 != 0,
        [0xc4, first, _, opcode, ..] => {
            first & 31 == 2 && matches!(opcode, 0x2c..=0x2f | 0x8c | 0x8e | 0x90..=0x93)
        }
        _ => false,
    }
}

fn operand(code: &[u8], registers: &Registers) -> Option<(u64, usize)> {
    let mut reader = Reader { code, at: 0 };
    let mut prefixes = Prefixes::default();
    let mut byte = reader.byte()?;
    loop {
        match byte {
            0x66 => prefixes.narrow = true,
            0xf2 | 0xf3 => prefixes.repeated = byte,
            // lock
            0xf0 => {}
            _ => break,
        }
        byte = reader.byte()?;
    }
    let mut vector = 16;
    let (map, opcode) = match byte {
        0xc5 | 0xc4 => {
            let first = reader.byte()?;
            let mut map = 1;
            let last = if byte == 0xc4 {
                prefixes.rex = !first >> 5;
                map = first & 31;
                let last = reader.byte()?;
                prefixes.wide = last & 0x80 != 0;
                last
            } else {
                prefixes.rex = (!first >> 5) & 4;
                first
            };
            vector = if last & 4 != 0 { 32 } else { 16 };
            match last & 3 {
                1 => prefixes.narrow = true,
                2 => prefixes.repeated = 0xf3,
                3 => prefixes.repeated = 0xf2,
                _ => {}
            }
            (if map == 1 { 1 } else { return None }, reader.byte()?)
        }
        _ => {
            if byte & 0xf0 == 0x40 {
                prefixes.wide = byte & 8 != 0;
                prefixes.rex = byte & 7;
                byte = reader.byte()?;
            }
            if byte == 0x0f { (1, reader.byte()?) } else { (0, byte) }
        }
    };
    let (width, immediate) = width(map, opcode, &prefixes, vector)?;
    let address = address(&mut reader, registers, &prefixes, immediate)?;
    Some((address, width))
}

fn address(
    reader: &mut Reader<'_>,
    registers: &Registers,
    prefixes: &Prefixes,
    immediate: usize,
) -> Option<u64> {
    let modrm = reader.byte()?;
    let (mode, low) = (modrm >> 6, modrm & 7);
    let (index_bit, base_bit) = ((prefixes.rex & 2) << 2, (prefixes.rex & 1) << 3);
    if mode == 3 {
        return None;
    }
    let of = |number: u8| registers.general[usize::from(number)];
    let mut address = 0_u64;
    let mut displacement = [0, 1, 4][usize::from(mode)];
    if low == 4 {
        let sib = reader.byte()?;
        let (scale, index, base) = (sib >> 6, (sib >> 3 & 7) | index_bit, sib & 7);
        if index != 4 {
            address = of(index) << scale;
        }
        if base == 5 && mode == 0 {
            displacement = 4;
        } else {
            address = address.wrapping_add(of(base | base_bit));
        }
    } else if low == 5 && mode == 0 {
        let offset = reader.displacement(4)?;
        let end = registers.pc + (reader.at + immediate) as u64;
        return Some(end.wrapping_add_signed(offset));
    } else {
        address = of(low | base_bit);
    }
    let offset = if displacement == 0 { 0 } else { reader.displacement(displacement)? };
    Some(address.wrapping_add_signed(offset))
}

#[cfg(test)]
mod tests;
