//! No circle of files inside a crate: a file that imports another one, directly or on the way, is not imported by that.
//!
//! Where the files of a crate import each other in a circle, none can be read, tested or moved without all the others. Crates that
//! are free of circles stay so. For the others [`IN_CIRCLES`] says how many files stand in one, and that number may only fall.
//!
//! What counts is said in [`imports`]; tests, which may import anything, do not.
//!
//! No two crates have a public type of one name either ([`names`]): a word is one thing. And no struct of shared state has more fields than
//! can be thought of together ([`fields`]), and no file more lines than can be read at once.

mod fields;
mod imports;
mod names;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use imports::{Crate, Module};

/// Crates with circles, and how many of their files stand in one. Whoever takes files out of a circle writes the smaller number.
const IN_CIRCLES: &[(&str, usize)] = &[("simulator", 93)];

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is a folder of the workspace")
}

/// The folders of the workspace's crates, as `Cargo.toml` lists them.
fn members() -> Vec<String> {
    let manifest = fs::read_to_string(workspace().join("Cargo.toml")).expect("the workspace's manifest");
    let (_, list) = manifest.split_once("members = [").expect("a list of crates");
    let (list, _) = list.split_once(']').expect("the list's end");
    let names = list.split(',').map(|name| name.trim().trim_matches('"'));
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The files under a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The source of a crate.
fn read(member: &str) -> Crate {
    let source = workspace().join(member).join("src");
    let mut found = Vec::new();
    files(&source, &mut found);
    let texts = found.iter().map(|path| {
        let name =
            path.strip_prefix(&source).expect("found under the folder").to_str().expect("a name in UTF-8");
        (name.to_owned(), fs::read_to_string(path).expect("a source file"))
    });
    Crate::new(texts)
}

/// What a file imports on the way, too.
fn reached<'a>(from: &'a Module, imports: &'a BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        next.extend(imports.get(module).into_iter().flatten().filter(|import| reached.insert(*import)));
    }
    reached
}

/// The circles among files, the largest first, each with its files in order.
fn circles(imports: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Vec<Module>> {
    let reached: BTreeMap<_, _> = imports.keys().map(|module| (module, reached(module, imports))).collect();
    let mut circles: Vec<Vec<Module>> = Vec::new();
    for (module, to) in reached.iter().filter(|(module, to)| to.contains(*module)) {
        if circles.iter().any(|circle| circle.contains(*module)) {
            continue;
        }
        let back = |other: &&&Module| reached.get(**other).is_some_and(|back| back.contains(*module));
        circles.push(to.iter().filter(back).map(|other| (*other).clone()).collect());
    }
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

#[test]
fn no_circle_of_files_comes_in() {
    let mut wrong = String::new();
    for member in members() {
        let imports = read(&member).imports();
        let found = circles(&imports);
        let count = found.iter().map(Vec::len).sum::<usize>();
        let allowed = IN_CIRCLES.iter().find(|(name, _)| *name == member).map_or(0, |(_, count)| *count);
        if count == allowed {
            continue;
        }
        wrong += &format!("{member}: {count} files stand in circles, and {allowed} may (IN_CIRCLES)\n");
        if count < allowed {
            wrong += "  write the smaller number, so that it stays\n";
            continue;
        }
        for circle in found {
            for file in &circle {
                let inside = imports[file].iter().filter(|import| circle.contains(import));
                let inside: Vec<_> = inside.map(Module::to_string).collect();
                wrong += &format!("  {file} imports {}\n", inside.join(", "));
            }
            wrong += "\n";
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let unknown: Vec<_> =
        IN_CIRCLES.iter().filter(|(name, _)| !members().contains(&(*name).to_owned())).collect();
    assert!(unknown.is_empty(), "no crates of the workspace: {unknown:?}");
}

#[test]
fn a_public_type_of_one_name_is_in_one_crate() {
    let mut crates: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for member in members() {
        for name in names::public_types(&read(&member)) {
            crates.entry(name).or_default().push(member.clone());
        }
    }
    assert!(crates.len() > 500, "types are found at all: {}", crates.len());
    crates.retain(|_, members| members.len() > 1);
    let lines: Vec<_> =
        crates.iter().map(|(name, members)| format!("{name}: {}", members.join(", "))).collect();
    assert!(lines.is_empty(), "public types of one name:\n{}", lines.join("\n"));
}

/// The public types of a crate that is written down here.
fn types_of(files: &[(&str, &str)]) -> Vec<String> {
    let texts = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    names::public_types(&Crate::new(texts)).into_iter().collect()
}

#[test]
fn public_types_are_those_that_another_crate_can_name() {
    let found = types_of(&[
        (
            "lib.rs",
            "pub mod a; mod b; mod c; pub use b::{Given, inner as i}; pub use c::*; pub(crate) use b::Kept;",
        ),
        (
            "a.rs",
            "pub struct A(pub u32); struct Own; pub(crate) enum E {} pub fn f() -> Own { Own } pub unsafe trait T {}",
        ),
        ("b.rs", "mod inner; pub struct Given; pub struct Kept; pub use self::inner::Deep;"),
        ("b/inner.rs", "pub type Deep = u32; pub union Inner { a: u32 }"),
        ("c.rs", "pub enum C { } impl C { pub fn g() { struct Local; } } pub use super::b::Deep; mod d;"),
        ("c/d.rs", "pub struct Unseen;"),
    ]);
    assert_eq!(found, ["A", "C", "Deep", "Given", "Inner", "T"]);
}

#[test]
fn no_file_is_too_long_to_read() {
    let mut all = Vec::new();
    members().iter().for_each(|member| files(&workspace().join(member), &mut all));
    let lines = |path: &PathBuf| fs::read_to_string(path).expect("a source").lines().count();
    let mut lengths: Vec<(usize, PathBuf)> = all.into_iter().map(|path| (lines(&path), path)).collect();
    lengths.sort();
    let long: Vec<_> = lengths.iter().filter(|(lines, _)| *lines > 500).collect();
    assert!(long.is_empty(), "more than 500 lines: {long:?}");
    let median = lengths[lengths.len() / 2].0;
    assert!((1..=200).contains(&median), "the median is {median}");
}

#[test]
fn shared_state_is_in_parts() {
    let mut wrong = Vec::new();
    let mut unknown: Vec<_> =
        fields::NO_STATE.iter().map(|(member, file, name, _)| (*member, *file, *name)).collect();
    let mut large = 0;
    for member in members() {
        for ((module, name), count) in fields::large_structs(&read(&member)) {
            let module = module.to_string();
            let this = (member.as_str(), module.as_str(), name.as_str());
            let is_state = unknown.iter().all(|other| *other != this);
            unknown.retain(|other| *other != this);
            large += 1;
            if is_state {
                wrong.push(format!("{member}: {module}::{name} has {count} fields"));
            }
        }
    }
    assert!(large > 10, "structs are found at all: {large}");
    assert!(
        wrong.is_empty(),
        "shared state with more than {} fields: part it, or say why it is none (fields.rs)\n{}",
        fields::MOST,
        wrong.join("\n"),
    );
    assert!(unknown.is_empty(), "no structs with so many fields, and no words needed: {unknown:?}");
}

#[test]
fn fields_are_counted() {
    let members = |text: &str| {
        let of = Crate::new(std::iter::once(("lib.rs".to_owned(), text.to_owned())));
        fields::large_structs(&of).into_values().collect::<Vec<_>>()
    };
    let many = (0..11)
        .map(|at| format!("/// Some: {at}.\n pub f{at}: Map<(a::B, C), [u8; 4]>,"))
        .collect::<String>();
    assert_eq!(
        members(&format!(
            "#[derive(Debug)] pub(in crate::a) struct S<'a, T: Copy> where T: Fn(u8) -> u8 {{ {many} }}"
        )),
        [11]
    );
    assert_eq!(
        members(&format!("struct S {{ {many} last: fn(u8) -> Vec<u8>, }} struct Other {{ one: u8 }}")),
        [12]
    );
    assert_eq!(members(&format!("fn f() {{ struct Local {{ {many} }} }}")), [11]);
    let ten = &many[..many.rfind("///").expect("the last field's comment")];
    let harmless = [
        format!("struct S {{ {ten} }}"),
        format!("struct S; struct T(u8, u16); fn f() {{ let a = A {{ {many} }}; }}"),
        format!("#[derive(Debug, Serialize)] #[serde(deny_unknown_fields)] pub struct S {{ {many} }}"),
        format!("#[derive(clap::Args)] pub(crate) struct S {{ {many} }}"),
        format!("#[repr(C)] #[derive(Debug)] struct S {{ {many} }}"),
        format!("enum E {{ A {{ {many} }} }}"),
        format!("#[cfg(test)] struct S {{ {many} }}"),
    ];
    for text in &harmless {
        assert!(members(text).is_empty(), "{text}");
    }
    assert_eq!(members(&format!("#[repr(C, align(64))] struct S {{ {many} }}")), [11]);
}

/// The circles of a crate that is written down here.
fn of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let texts = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let found = circles(&Crate::new(texts).imports());
    found.iter().map(|circle| circle.iter().map(Module::to_string).collect()).collect()
}

#[test]
fn imports_of_every_form_are_seen() {
    let uses = ["use crate::b::B;", "use super::b;", "use crate::{b::{self, B}};", "use super::{c, b as d};"];
    let paths = [
        "fn f() { crate::b::g() }",
        "fn f(b: super::b::B) {}",
        "macro_rules! m { () => { $crate::b::g() } }",
    ];
    for text in uses.into_iter().chain(paths) {
        let found = of(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", text),
            ("b.rs", "use crate::a;"),
            ("c.rs", ""),
        ]);
        assert_eq!(found, [["a", "b"]], "{text}");
    }
    let through = of(&[
        ("lib.rs", ""),
        ("a.rs", "use crate::b; fn f() { b::c::g() }"),
        ("b/mod.rs", "mod c;"),
        ("b/c.rs", "use crate::a::f;"),
    ]);
    assert_eq!(through, [["a", "b::c"]]);
    let up = of(&[
        ("lib.rs", ""),
        ("a/mod.rs", "mod b; use b::B; pub struct A;"),
        ("a/b.rs", "use super::A; pub struct B;"),
    ]);
    assert_eq!(up, [["a", "a::b"]]);
}

#[test]
fn what_is_no_import_is_not_seen() {
    let harmless = [
        "// use crate::a;",
        "/* use crate::a; /* nested */ use crate::a; */",
        r##"const TEXT: &str = "use crate::a;"; const RAW: &str = r#"crate::a::f()" crate::a::f()"#;"##,
        "#[cfg(test)] mod tests { use crate::a; }",
        "#[cfg(test)] use crate::a;",
        "mod inner { fn g() { super::h() } } fn h<'a>(c: char) -> bool { c == '\"' || c == 'a' }",
        "pub(in crate::b) fn h() {}",
        "fn f(a: other::a::B) { a::g(); other::crate_a::a() }",
    ];
    for text in harmless {
        let found = of(&[("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b;"), ("b.rs", text)]);
        assert!(found.is_empty(), "{text}: {found:?}");
    }
    let tests = of(&[
        ("lib.rs", ""),
        ("a.rs", "#[cfg(test)] mod tests; #[cfg(test)] mod support; use crate::b;"),
        ("a/tests.rs", "use super::support;"),
        ("a/support.rs", "use super::tests; use super::*;"),
        ("b.rs", ""),
    ]);
    assert!(tests.is_empty(), "{tests:?}");
}
