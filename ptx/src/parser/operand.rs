//! Operands (PTX ISA 6 "Instruction Operands").

use crate::ast::{AddressBase, Operand};

use super::number::Number;
use super::{DEEPEST, Kind, Parser};

impl Parser<'_> {
    /// The operands of an instruction up to and including its `;`, and whether all of them were
    /// understood; those that were not are [`Operand::Raw`]. None when no `;` ends the statement before
    /// its block does; the cursor is then where that became clear. Where `tensors` may be, or textures,
    /// `[map, {coordinates}]` comes as two operands; a single coordinate may do without braces.
    pub(super) fn operands(&mut self, tensors: bool) -> Option<(Vec<Operand>, bool)> {
        let mut operands = Vec::new();
        let mut understood = true;
        if self.accept(Kind::Semicolon) {
            return Some((operands, understood));
        }
        loop {
            let first = self.at;
            let operand = self.operand(0);
            if operand.is_none() && tensors {
                self.at = first;
                if let Some([map, coordinates]) = self.tensor()
                    && matches!(self.kind(), Kind::Comma | Kind::Semicolon)
                {
                    operands.extend([map, coordinates]);
                    if self.accept(Kind::Semicolon) {
                        return Some((operands, understood));
                    }
                    self.advance();
                    continue;
                }
            }
            match operand {
                Some(operand) if matches!(self.kind(), Kind::Comma | Kind::Semicolon) => {
                    operands.push(operand)
                }
                _ => {
                    understood = false;
                    self.at = first;
                    operands.push(self.raw()?);
                }
            }
            if self.accept(Kind::Semicolon) {
                return Some((operands, understood));
            }
            if !self.accept(Kind::Comma) {
                return None;
            }
        }
    }

    /// `[map, {coordinates}]`
    fn tensor(&mut self) -> Option<[Operand; 2]> {
        if !self.accept(Kind::BracketOpen) {
            return None;
        }
        let (base, offset) = self.address()?;
        if !self.accept(Kind::Comma) {
            return None;
        }
        let coordinates = match self.operand(0)? {
            Operand::Vector(coordinates) => coordinates,
            single @ Operand::Register(_) => vec![single],
            _ => return None,
        };
        self.accept(Kind::BracketClose)
            .then_some([Operand::Address { base, offset }, Operand::Vector(coordinates)])
    }

    /// Everything up to the next comma outside of brackets, or up to the `;`.
    fn raw(&mut self) -> Option<Operand> {
        let start = self.start();
        let mut depth = 0_usize;
        loop {
            match self.kind() {
                Kind::Semicolon => break,
                Kind::Comma if depth == 0 => break,
                Kind::ParenOpen | Kind::BracketOpen | Kind::BraceOpen => depth += 1,
                // A brace that closes nothing of the operand's closes the block.
                Kind::BraceClose if depth == 0 => return None,
                Kind::ParenClose | Kind::BracketClose | Kind::BraceClose => depth = depth.saturating_sub(1),
                // A dot that opens a line is a directive's: the `;` is missing.
                Kind::Dotted if depth == 0 && self.on_new_line() => return None,
                Kind::End => return None,
                _ => {}
            }
            self.advance();
        }
        let empty = self.start() == start;
        let span = if empty { crate::ast::Span { start, end: start } } else { self.span_from(start) };
        Some(Operand::Raw(span))
    }

    /// One operand; None, with the cursor anywhere, when it is not one that this crate knows.
    fn operand(&mut self, depth: usize) -> Option<Operand> {
        if depth > DEEPEST {
            return None;
        }
        let first = self.single(depth)?;
        if self.accept(Kind::Bar) {
            let second = self.single(depth)?;
            return Some(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Some(first)
    }

    fn single(&mut self, depth: usize) -> Option<Operand> {
        match self.kind() {
            Kind::Ident => self.named(),
            Kind::Bang => {
                self.advance();
                Some(Operand::Not(Box::new(self.operand(depth + 1)?)))
            }
            Kind::Minus if self.kind_at(1) == Kind::Ident && !self.next_is_warp_size() => {
                self.advance();
                Some(Operand::Not(Box::new(self.operand(depth + 1)?)))
            }
            Kind::BracketOpen => {
                self.advance();
                let (base, offset) = self.address()?;
                self.accept(Kind::BracketClose).then_some(Operand::Address { base, offset })
            }
            Kind::BraceOpen => {
                self.advance();
                self.listed(Kind::BraceClose, depth).map(Operand::Vector)
            }
            Kind::ParenOpen => {
                self.advance();
                self.listed(Kind::ParenClose, depth).map(Operand::List)
            }
            _ => self.number().map(|number| match number {
                Number::Integer(value) => Operand::Integer(value.cast_signed()),
                Number::F32(bits) => Operand::F32(bits),
                Number::F64(bits) => Operand::F64(bits),
            }),
        }
    }

    fn next_is_warp_size(&self) -> bool {
        self.tokens.get(self.at + 1).is_some_and(|token| self.text_of(*token) == "WARP_SZ")
    }

    /// A register (`%tid.x` and `%r1.b0` are one), a symbol with its offset, `_` or `WARP_SZ`.
    fn named(&mut self) -> Option<Operand> {
        let start = self.start();
        let name = self.text();
        match name {
            "_" => {
                self.advance();
                return Some(Operand::Sink);
            }
            "WARP_SZ" => {
                self.advance();
                return Some(Operand::Integer(32));
            }
            _ => {}
        }
        self.advance();
        if self.registers.contains(name) {
            if self.kind() == Kind::Dotted && self.touches() {
                self.advance();
            }
            let span = self.span_from(start);
            return Some(Operand::Register(self.source[span.start..span.end].to_owned()));
        }
        let offset = self.offset()?;
        Some(Operand::Symbol { name: name.to_owned(), offset })
    }

    /// `a, b` up to the closing token.
    fn listed(&mut self, close: Kind, depth: usize) -> Option<Vec<Operand>> {
        let mut operands = Vec::new();
        if self.accept(close) {
            return Some(operands);
        }
        loop {
            operands.push(self.operand(depth + 1)?);
            if self.accept(close) {
                return Some(operands);
            }
            if !self.accept(Kind::Comma) {
                return None;
            }
        }
    }

    /// What stands between `[` and `]`.
    fn address(&mut self) -> Option<(AddressBase, i64)> {
        if self.kind() != Kind::Ident {
            return match self.number()? {
                Number::Integer(address) => Some((AddressBase::Absolute, address.cast_signed())),
                Number::F32(_) | Number::F64(_) => None,
            };
        }
        let name = self.text();
        self.advance();
        let base = if self.registers.contains(name) {
            AddressBase::Register(name.to_owned())
        } else {
            AddressBase::Symbol(name.to_owned())
        };
        Some((base, self.offset()?))
    }

    /// `+4`, `-4`, `+-4`, or nothing.
    pub(super) fn offset(&mut self) -> Option<i64> {
        if !matches!(self.kind(), Kind::Plus | Kind::Minus) {
            return Some(0);
        }
        match self.number()? {
            Number::Integer(offset) => Some(offset.cast_signed()),
            Number::F32(_) | Number::F64(_) => None,
        }
    }
}
