//! Variables, parameters and registers (PTX ISA 5.4 "Variables").

use crate::ast::{Init, Linkage, Param, RegisterDecl, Span, Variable};
use crate::types::{Space, Type};

use super::number::Number;
use super::{DEEPEST, Kind, Parsed, Parser};

/// The state space of a variable's declaration.
pub(super) fn space(name: &str) -> Option<Space> {
    Some(match name {
        "global" => Space::Global,
        "shared" => Space::Shared,
        "local" => Space::Local,
        "const" => Space::Const,
        "param" => Space::Param,
        _ => return None,
    })
}

/// What a declaration says before the name.
struct Shape {
    align: Option<u32>,
    vec: u8,
    ty: Type,
    managed: bool,
}

impl Shape {
    fn variable(&self, linkage: Linkage, space: Space, name: &str, dims: Vec<u64>) -> Variable {
        let natural = (self.ty.bytes() * u32::from(self.vec)).max(1);
        let align = self.align.unwrap_or(natural);
        let (ty, vec, managed) = (self.ty, self.vec, self.managed);
        Variable {
            linkage,
            space,
            align,
            ty,
            vec,
            managed,
            name: name.to_owned(),
            dims,
            init: Vec::new(),
            span: Span::default(),
        }
    }
}

impl<'s> Parser<'s> {
    /// `.space … name[dims] = init, …;` from the space on, `start` being where the declaration
    /// started. None, with the cursor anywhere, for what this crate does not model (opaque types,
    /// constant expressions).
    pub(super) fn variables(&mut self, linkage: Linkage, start: usize) -> Option<Vec<Variable>> {
        let space = self.dotted().and_then(space)?;
        self.advance();
        let shape = self.shape()?;
        let mut variables = Vec::new();
        loop {
            if self.kind() != Kind::Ident {
                return None;
            }
            let name = self.text();
            self.advance();
            let dims = self.dims()?;
            let mut variable = shape.variable(linkage, space, name, dims);
            if self.accept(Kind::Equals) {
                self.initialiser(&variable.dims, variable.ty, &mut variable.init, 0)?;
            }
            variables.push(variable);
            if self.accept(Kind::Semicolon) {
                break;
            }
            if !self.accept(Kind::Comma) {
                return None;
            }
        }
        let span = self.span_from(start);
        for variable in &mut variables {
            variable.span = span;
        }
        Some(variables)
    }

    /// `.attribute(…) .align 8 .v2 .f32`, each but the type optional, in any order.
    fn shape(&mut self) -> Option<Shape> {
        let mut align = None;
        let mut vec = 1;
        let mut managed = false;
        loop {
            let word = self.dotted()?;
            self.advance();
            match word {
                "align" => align = Some(self.alignment()?),
                "attribute" => managed |= self.is_managed()?,
                "v2" => vec = 2,
                "v4" => vec = 4,
                "v8" => vec = 8,
                // Opaque handles: 64 bits as a kernel's parameter.
                "texref" | "samplerref" | "surfref" => {
                    return Some(Shape { align, vec, ty: Type::B64, managed });
                }
                _ => return Some(Shape { align, vec, ty: Type::from_name(word)?, managed }),
            }
        }
    }

    fn alignment(&mut self) -> Option<u32> {
        match self.number()? {
            Number::Integer(bytes) => u32::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()),
            Number::F32(_) | Number::F64(_) => None,
        }
    }

    /// `(.managed)`, perhaps among others; `.unified` changes nothing on one device.
    fn is_managed(&mut self) -> Option<bool> {
        let start = self.at;
        self.skip_parentheses()?;
        Some(self.tokens[start..self.at].iter().any(|token| self.text_of(*token) == ".managed"))
    }

    pub(super) fn skip_parentheses(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.advance().kind {
                Kind::ParenOpen => depth += 1,
                Kind::ParenClose if depth > 1 => depth -= 1,
                Kind::ParenClose if depth == 1 => return Some(()),
                Kind::ParenClose | Kind::End => return None,
                _ if depth == 0 => return None,
                _ => {}
            }
        }
    }

    /// `[4][2]`; an open dimension is 0.
    fn dims(&mut self) -> Option<Vec<u64>> {
        let mut dims = Vec::new();
        while self.accept(Kind::BracketOpen) {
            if self.accept(Kind::BracketClose) {
                dims.push(0);
                continue;
            }
            match self.number()? {
                Number::Integer(length) if self.accept(Kind::BracketClose) => dims.push(length),
                _ => return None,
            }
        }
        Some(dims)
    }

    /// A value, or `{…}` of values. Inner lists must be full, except the last one of its list: the
    /// values come out flat.
    fn initialiser(&mut self, dims: &[u64], ty: Type, values: &mut Vec<Init>, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        if !self.accept(Kind::BraceOpen) {
            values.push(self.initial_value(ty)?);
            return Some(());
        }
        let inner = dims.get(1..).unwrap_or_default();
        loop {
            if self.accept(Kind::BraceClose) {
                return Some(());
            }
            let before = values.len();
            let list = self.kind() == Kind::BraceOpen;
            self.initialiser(inner, ty, values, depth + 1)?;
            if self.accept(Kind::Comma) {
                let full = inner.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim))?;
                if list && (values.len() - before) as u64 != full {
                    return None;
                }
            } else if self.kind() != Kind::BraceClose {
                return None;
            }
        }
    }

    fn initial_value(&mut self, ty: Type) -> Option<Init> {
        let word = self.text();
        if self.kind() != Kind::Ident || word == "WARP_SZ" {
            let decimal = self.kind() == Kind::Decimal || self.kind_at(1) == Kind::Decimal;
            return Some(Init::Bits(match self.number()? {
                // A decimal literal is a double that the declaration narrows.
                Number::F64(bits) if decimal && ty == Type::F32 => {
                    u64::from((f64::from_bits(bits) as f32).to_bits())
                }
                number => number.bits(),
            }));
        }
        self.advance();
        let generic = word == "generic" && self.accept(Kind::ParenOpen);
        let name = if generic {
            let name = (self.kind() == Kind::Ident).then(|| self.text())?;
            self.advance();
            if !self.accept(Kind::ParenClose) {
                return None;
            }
            name
        } else {
            word
        };
        let offset = self.offset()?;
        Some(Init::Symbol { name: name.to_owned(), offset, generic })
    }

    /// `(.param .b32 a, .reg .b64 b)` of a signature or a prototype; nothing when there is no `(`.
    pub(super) fn params(&mut self) -> Parsed<Vec<Param>> {
        let mut params = Vec::new();
        if !self.accept(Kind::ParenOpen) || self.accept(Kind::ParenClose) {
            return Ok(params);
        }
        loop {
            params.push(self.param()?);
            if self.accept(Kind::ParenClose) {
                return Ok(params);
            }
            self.expect(Kind::Comma, "`,` or `)` after a parameter")?;
        }
    }

    fn param(&mut self) -> Parsed<Param> {
        let start = self.start();
        let in_register = match self.dotted() {
            Some("param") => false,
            Some("reg") => true,
            _ => return Err(self.error("expected `.param` or `.reg`")),
        };
        self.advance();
        let Some(mut shape) = self.shape() else { return Err(self.error("expected a parameter's type")) };
        if self.accept_dotted("ptr") {
            // What a kernel's pointer points to: says nothing about the parameter itself.
            while let Some(word) = self.dotted() {
                self.advance();
                if word == "align" && self.alignment().is_none() {
                    return Err(self.error("expected an alignment"));
                }
            }
        } else if shape.align.is_none() && self.accept_dotted("align") {
            shape.align = self.alignment();
        }
        let name = self.name("a parameter's name")?;
        let Some(dims) = self.dims() else { return Err(self.error("expected an array length")) };
        if in_register {
            self.registers.declare(name, None);
        }
        let mut variable = shape.variable(Linkage::Internal, Space::Param, name, dims);
        variable.span = self.span_from(start);
        Ok(Param { variable, in_register })
    }

    /// `.reg .b32 %r<10>, x;` from `.reg` on. None as in [`Parser::variables`].
    pub(super) fn register_declarations(&mut self) -> Option<Vec<RegisterDecl>> {
        self.advance();
        let Shape { ty, vec, .. } = self.shape()?;
        let mut declarations = Vec::new();
        loop {
            if self.kind() != Kind::Ident {
                return None;
            }
            let name: &'s str = self.text();
            self.advance();
            let mut count = None;
            if self.accept(Kind::Less) {
                let Some(Number::Integer(length)) = self.number() else { return None };
                count = Some(u32::try_from(length).ok()?);
                if !self.accept(Kind::Greater) {
                    return None;
                }
            }
            self.registers.declare(name, count);
            declarations.push(RegisterDecl { ty, vec, name: name.to_owned(), count });
            if self.accept(Kind::Semicolon) {
                return Some(declarations);
            }
            if !self.accept(Kind::Comma) {
                return None;
            }
        }
    }
}
