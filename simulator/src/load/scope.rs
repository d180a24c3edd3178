//! Names as PTX scopes them: a block's declarations hide those around it.

use bugaroo_ptx::ast::RegisterDecl;
use bugaroo_ptx::types::Type;
use rustc_hash::FxHashMap;

/// What a name stands for inside a function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    /// A register, by its number in the function.
    Register(u32, Type),
    /// A `.param` variable of a device function or a call sequence: word rows in the frame.
    Words { offset: u32, bytes: u32 },
    /// A parameter of the kernel: its offset in the buffer.
    KernelParam { offset: u32 },
    /// A variable in local memory: its offset in the function's share.
    Local { offset: u32 },
    /// A shared variable.
    Shared { offset: u32 },
    /// Dynamic shared memory.
    DynamicShared,
    /// A variable in global or constant memory.
    Global { address: u64 },
    /// A branch target, by its number in the function.
    Label(u32),
    /// A table of branch targets, by its number in the function.
    Targets(u32),
}

#[derive(Debug, Default)]
struct Scope<'f> {
    names: FxHashMap<&'f str, Name>,
    /// `%r<10>` by prefix: first register number, count, type.
    ranges: FxHashMap<&'f str, (u32, u32, Type)>,
}

/// The scopes that are open, innermost last.
#[derive(Debug, Default)]
pub(super) struct Scopes<'f> {
    open: Vec<Scope<'f>>,
    registers: u32,
}

impl<'f> Scopes<'f> {
    pub fn push(&mut self) {
        self.open.push(Scope::default());
    }

    /// Closes the innermost scope; answers the word rows that were declared in it as (offset, bytes), in
    /// order of offset.
    pub fn pop(&mut self) -> Vec<(u32, u32)> {
        let names = self.open.pop().map(|scope| scope.names).unwrap_or_default();
        let words = names.into_values().filter_map(|name| match name {
            Name::Words { offset, bytes } => Some((offset, bytes)),
            _ => None,
        });
        let mut words: Vec<_> = words.collect();
        words.sort_unstable();
        words
    }

    fn innermost(&mut self) -> &mut Scope<'f> {
        self.open.last_mut().expect("a function's own scope is open while it is translated")
    }

    /// Declares a name in the innermost scope.
    pub fn declare(&mut self, name: &'f str, meaning: Name) {
        self.innermost().names.insert(name, meaning);
    }

    /// Declares registers in the innermost scope; None when there are more than have a number of their own.
    pub fn registers(&mut self, decl: &'f RegisterDecl) -> Option<()> {
        let first = self.registers;
        let count = decl.count.unwrap_or(1);
        self.registers = first.checked_add(count)?;
        match decl.count {
            Some(_) => {
                self.innermost().ranges.insert(&decl.name, (first, count, decl.ty));
            }
            None => self.declare(&decl.name, Name::Register(first, decl.ty)),
        }
        Some(())
    }

    /// Declares one register and answers its number; None as for [`Scopes::registers`].
    pub fn register(&mut self, name: &'f str, ty: Type) -> Option<u32> {
        let number = self.registers;
        self.registers = number.checked_add(1)?;
        self.declare(name, Name::Register(number, ty));
        Some(number)
    }

    /// What `name` means here.
    pub fn find(&self, name: &str) -> Option<Name> {
        let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let number = name[digits..].parse::<u32>().ok();
        self.open.iter().rev().find_map(|scope| {
            if let Some(found) = scope.names.get(name) {
                return Some(*found);
            }
            // `%r12` belongs to `%r<20>`; with `%r1<5>` declared too, the longer prefix's own range decides.
            let number = number?;
            if let Some((first, count, ty)) = scope.ranges.get(&name[..digits])
                && number < *count
            {
                return Some(Name::Register(first + number, *ty));
            }
            (digits + 1..name.len()).find_map(|split| {
                let (first, count, ty) = scope.ranges.get(&name[..split])?;
                let number = name[split..].parse::<u32>().ok()?;
                (number < *count).then_some(Name::Register(first + number, *ty))
            })
        })
    }
}
