//! Which files of a crate a file imports.
//!
//! An import is a path that begins with `crate`, `self`, `super` or the name of a child or of something that was imported, in a
//! `use`, in code or in a macro's text. It leads to the file of the longest module that it names. The declaration of a child
//! (`mod child;`) is none.
//!
//! **What it misses.** A method is called without a path: where it stands in another file than its type, nobody sees that that file
//! is needed. An item that a file re-exports counts as that file's. Paths that a macro puts together, and names
//! that a glob import brings along, are not followed. A `#[path]` is not looked at; sources have none.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::tokens::{Token, tokens};

/// A module that has a file of its own: the names on the way to it from the crate's root, which has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Module(pub Vec<String>);

impl Module {
    /// One of its children.
    pub fn child(&self, name: &str) -> Self {
        Self([&self.0[..], &[name.to_owned()]].concat())
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&if self.0.is_empty() { "the root".to_owned() } else { self.0.join("::") })
    }
}

/// A crate's files, but for tests.
pub struct Crate(BTreeMap<Module, Vec<Token>>);

impl Crate {
    /// From files with their names below `src`.
    pub fn new(files: impl Iterator<Item = (String, String)>) -> Self {
        let mut modules = BTreeMap::new();
        for (name, text) in files {
            let mut names: Vec<_> = name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            if matches!(names.last().map(String::as_str), Some("mod" | "lib")) {
                names.pop();
            }
            modules.insert(Module(names), tokens(&text));
        }
        let mut tests = BTreeSet::new();
        for (module, tokens) in &mut modules {
            *tokens = without_tests(tokens, |child| tests.insert(Module([&module.0[..], &[child]].concat())));
        }
        let is_test = |module: &Module| tests.iter().any(|test| module.0.starts_with(&test.0));
        modules.retain(|module, _| !is_test(module));
        Crate(modules)
    }

    /// The tokens of each file.
    pub fn files(&self) -> &BTreeMap<Module, Vec<Token>> {
        &self.0
    }

    /// What each file imports, itself left out.
    pub fn imports(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        self.0.iter().map(|(module, tokens)| (module.clone(), self.of_file(module, tokens))).collect()
    }

    fn of_file(&self, module: &Module, tokens: &[Token]) -> BTreeSet<Module> {
        let mut reader = Reader::new(tokens);
        let (mut paths, mut inner, mut depth) = (Vec::new(), Vec::new(), 0_usize);
        // Names that a `use` brought in, with the whole path.
        let mut known = BTreeMap::new();
        while let Some(token) = reader.next() {
            match token {
                Token::Sign('{') => depth += 1,
                Token::Sign('}') => {
                    depth = depth.saturating_sub(1);
                    inner.pop_if(|(_, outside)| *outside == depth);
                }
                Token::Word(word) if word == "mod" => {
                    if let Some(name) = reader.word()
                        && reader.peek() == Some(&Token::Sign('{'))
                    {
                        inner.push((name, depth));
                    }
                }
                Token::Word(word) if word == "in" && reader.is_visibility() => reader.skip_path(),
                Token::Word(word) => {
                    let place: Vec<_> =
                        module.0.iter().chain(inner.iter().map(|(name, _)| name)).cloned().collect();
                    if word == "use" {
                        for (path, name) in reader.tree(&[]) {
                            if let Some(path) = self.absolute(&place, &path, &known) {
                                known.insert(name, path.clone());
                                paths.push(path);
                            }
                        }
                    } else if reader.peek() == Some(&Token::Separator) {
                        let path = reader.path(word.clone());
                        // A macro that is exported stands at the root, wherever it is written down; and a macro's text may
                        // leave the rest of a path open.
                        let is_macro =
                            reader.peek() == Some(&Token::Sign('!')) && path.len() == 2 && path[0] == "crate";
                        if is_macro || path.len() == 1 {
                            continue;
                        }
                        paths.extend(self.absolute(&place, &path, &known));
                    }
                }
                Token::Separator => reader.skip_path(),
                Token::Sign(_) => {}
            }
        }
        let mut found: BTreeSet<_> = paths.iter().map(|path| self.longest(path)).collect();
        found.remove(module);
        found
    }

    /// A path from the crate's root, for one that is written at `place`; None where it leads out of the crate.
    fn absolute(
        &self,
        place: &[String],
        path: &[String],
        known: &BTreeMap<String, Vec<String>>,
    ) -> Option<Vec<String>> {
        let first = path.first()?;
        let up = path.iter().take_while(|name| *name == "super").count();
        match first.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([place, &path[1..]].concat()),
            "super" => Some([&place[..place.len().saturating_sub(up)], &path[up..]].concat()),
            _ => {
                let child = [place, &path[..1]].concat();
                let is_child = self.0.contains_key(&Module(child));
                match known.get(first) {
                    Some(whole) => Some([whole, &path[1..]].concat()),
                    None => is_child.then(|| [place, path].concat()),
                }
            }
        }
    }

    /// The file that a path from the root leads to.
    fn longest(&self, path: &[String]) -> Module {
        let lengths = (0..=path.len()).rev();
        let mut modules = lengths.map(|length| Module(path[..length].to_vec()));
        modules.find(|module| self.0.contains_key(module)).unwrap_or_default()
    }
}

/// The tokens of what is compiled without tests. `child` is told the tests' modules that have files of their own.
fn without_tests(tokens: &[Token], mut child: impl FnMut(String) -> bool) -> Vec<Token> {
    let mark = super::tokens::tokens("#[cfg(test)]");
    let (mut kept, mut index) = (Vec::new(), 0);
    while index < tokens.len() {
        if !tokens[index..].starts_with(&mark) {
            kept.push(tokens[index].clone());
            index += 1;
            continue;
        }
        let item = index + mark.len();
        let (mut depth, mut end) = (0, item);
        // To the end of the item: its semicolon, or the brace that closes the first one.
        for token in &tokens[item..] {
            end += 1;
            match token {
                Token::Sign('{' | '(' | '[') => depth += 1,
                Token::Sign('}' | ')' | ']') => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(token, Token::Sign('}' | ';')) {
                break;
            }
        }
        if let [.., Token::Word(word), Token::Word(name), Token::Sign(';')] = &tokens[item..end]
            && word == "mod"
        {
            child(name.clone());
        }
        index = end;
    }
    kept
}

/// Goes through a file's tokens.
pub struct Reader<'a> {
    tokens: &'a [Token],
    index: usize,
}

impl<'a> Reader<'a> {
    /// From the first one on.
    pub fn new(tokens: &'a [Token]) -> Self {
        Self { tokens, index: 0 }
    }

    /// The next one, which is passed.
    pub fn next(&mut self) -> Option<&'a Token> {
        self.index += 1;
        self.tokens.get(self.index - 1)
    }

    /// The next one.
    pub fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.index)
    }

    /// The next one, if it is a word, which is passed then.
    pub fn word(&mut self) -> Option<String> {
        let Some(Token::Word(word)) = self.peek() else { return None };
        self.index += 1;
        Some(word.clone())
    }

    /// Whether the `in` that was read last is that of `pub(in path)`.
    fn is_visibility(&self) -> bool {
        let before = self.index.checked_sub(3).map(|from| &self.tokens[from..self.index - 1]);
        matches!(before, Some([Token::Word(word), Token::Sign('(')]) if word == "pub")
    }

    /// Passes a path by that begins outside of the crate, or that is no import.
    fn skip_path(&mut self) {
        while matches!(self.peek(), Some(Token::Word(_) | Token::Separator)) {
            self.index += 1;
        }
    }

    /// The rest of a path in code.
    fn path(&mut self, first: String) -> Vec<String> {
        let mut path = vec![first];
        while self.peek() == Some(&Token::Separator) {
            self.index += 1;
            match self.word() {
                Some(word) => path.push(word),
                // Generic arguments: what is behind them is no module.
                None => break,
            }
        }
        path
    }

    /// What a `use` imports: each path, with the name that it has here.
    pub fn tree(&mut self, before: &[String]) -> Vec<(Vec<String>, String)> {
        if self.peek() == Some(&Token::Separator) {
            self.skip_path();
            return Vec::new();
        }
        let mut path = before.to_vec();
        loop {
            match self.next() {
                Some(Token::Word(word)) if word == "as" => {
                    let name = self.word().unwrap_or_default();
                    return vec![(path, name)];
                }
                // `{self}` is what stands before the brace.
                Some(Token::Word(word)) if word == "self" && !path.is_empty() => {}
                Some(Token::Word(word)) => path.push(word.clone()),
                Some(Token::Separator) => {}
                Some(Token::Sign('*')) => return vec![(path, "*".to_owned())],
                Some(Token::Sign('{')) => {
                    let mut all = Vec::new();
                    while let Some(token) = self.peek() {
                        match token {
                            Token::Sign('}') => {
                                self.index += 1;
                                break;
                            }
                            Token::Sign(',') => self.index += 1,
                            _ => all.extend(self.tree(&path)),
                        }
                    }
                    return all;
                }
                _ => {
                    // The sign that ends this part belongs to what is around it.
                    self.index -= 1;
                    let name = path.last().cloned().unwrap_or_default();
                    return vec![(path, name)];
                }
            }
        }
    }
}
