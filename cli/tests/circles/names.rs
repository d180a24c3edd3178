//! Which types of a crate another crate can name.
//!
//! A type counts if its module and all modules around it are public, or if a `pub use` of such a module hands it on.
//!
//! **What it misses.** Types that macros make. Types of modules that have no file of their own.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Crate, Module, Reader};
use super::tokens::Token;

/// What a file declares.
#[derive(Default)]
struct Declared {
    /// Public types.
    types: BTreeSet<String>,
    /// Children, and whether they are public.
    children: BTreeMap<String, bool>,
    /// Paths that are handed on.
    exports: Vec<Vec<String>>,
}

impl Declared {
    fn of(tokens: &[Token]) -> Self {
        let mut declared = Self::default();
        let mut reader = Reader::new(tokens);
        let (mut depth, mut public) = (0_usize, false);
        while let Some(token) = reader.next() {
            match token {
                Token::Sign('{') => depth += 1,
                Token::Sign('}') => depth = depth.saturating_sub(1),
                Token::Word(word) if depth == 0 => match word.as_str() {
                    "pub" => {
                        // `pub(crate)` and its like are for the crate alone.
                        public = reader.peek() != Some(&Token::Sign('('));
                        continue;
                    }
                    "unsafe" => continue,
                    "mod" => {
                        declared.children.extend(reader.word().map(|name| (name, public)));
                    }
                    "struct" | "enum" | "trait" | "type" | "union" => {
                        declared.types.extend(reader.word().filter(|_| public));
                    }
                    "use" => {
                        let paths = reader.tree(&[]).into_iter().map(|(path, name)| match name.as_str() {
                            "*" => [path, vec![name]].concat(),
                            _ => path,
                        });
                        declared.exports.extend(paths.filter(|_| public));
                    }
                    _ => {}
                },
                _ => {}
            }
            public = false;
        }
        declared
    }
}

/// The public types of a crate.
pub fn public_types(of: &Crate) -> BTreeSet<String> {
    let files = of.files().iter();
    let declared = files.map(|(module, tokens)| (module.clone(), Declared::of(tokens))).collect();
    let mut finder = Finder { declared, seen: BTreeSet::new(), found: BTreeSet::new() };
    finder.visit(&Module::default());
    finder.found
}

struct Finder {
    declared: BTreeMap<Module, Declared>,
    seen: BTreeSet<Module>,
    found: BTreeSet<String>,
}

impl Finder {
    /// All that a public module holds.
    fn visit(&mut self, module: &Module) {
        let Some(declared) = self.declared.get(module).filter(|_| !self.seen.contains(module)) else {
            return;
        };
        self.seen.insert(module.clone());
        self.found.extend(declared.types.iter().cloned());
        let public = declared.children.iter().filter(|(_, public)| **public);
        let mut next: Vec<Module> = public.map(|(name, _)| module.child(name)).collect();
        let mut named = Vec::new();
        for path in &declared.exports {
            let path = self.absolute(module, path);
            match path.split_last() {
                Some((name, inside)) if name == "*" => next.push(Module(inside.to_vec())),
                Some((name, inside)) => named.push((Module(inside.to_vec()), name.clone())),
                None => {}
            }
        }
        for (inside, name) in named {
            let child = inside.child(&name);
            if self.declared.contains_key(&child) {
                next.push(child);
            } else {
                self.hand_on(&inside, &name, 0);
            }
        }
        for module in next {
            self.visit(&module);
        }
    }

    /// One type of a module that need not be public.
    fn hand_on(&mut self, module: &Module, name: &str, depth: usize) {
        // Nobody hands on so often; what does goes round in a circle.
        let Some(declared) = self.declared.get(module).filter(|_| depth < 16) else { return };
        if declared.types.contains(name) {
            self.found.insert(name.to_owned());
            return;
        }
        let paths = declared.exports.iter().map(|path| self.absolute(module, path));
        let insides: Vec<Module> = paths
            .filter_map(|path| {
                let (last, inside) = path.split_last()?;
                (last == name || last == "*").then(|| Module(inside.to_vec()))
            })
            .collect();
        for inside in insides {
            self.hand_on(&inside, name, depth + 1);
        }
    }

    /// A path from the crate's root, for one that a module hands on.
    fn absolute(&self, module: &Module, path: &[String]) -> Vec<String> {
        let up = path.iter().take_while(|name| *name == "super").count();
        match path.first().map(String::as_str) {
            Some("crate") => path[1..].to_vec(),
            Some("self") => [&module.0[..], &path[1..]].concat(),
            Some("super") => [&module.0[..module.0.len().saturating_sub(up)], &path[up..]].concat(),
            _ => [&module.0[..], path].concat(),
        }
    }
}
