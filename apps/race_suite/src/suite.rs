//! The programs and their labels.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::label::Label;

/// Where programs are: a folder for each suite, and whether they take the number of a graph.
const FOLDERS: [(&str, &str, bool); 5] = [
    ("programs", "programs", false),
    ("rules", "rules", false),
    ("scor", "scor/micro", false),
    ("scor", "scor/apps", false),
    ("indigo", "indigo", true),
];

/// The suites, by name.
pub const SUITES: [&str; 4] = ["programs", "rules", "scor", "indigo"];

/// Graphs that a program of the suite `indigo` may be run with.
pub const GRAPHS: u32 = 6;

/// A program of a suite.
#[derive(Clone, Debug)]
pub struct LabelledProgram {
    /// Its file's name without `.cu`, with what it is built with.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// What it is.
    pub source: String,
    /// Names and values that it is built with, as in `-DNAME=VALUE`.
    pub defines: Vec<String>,
    /// It takes the number of a graph.
    pub takes_graph: bool,
    /// What is to be said about it.
    pub label: Label,
}

impl LabelledProgram {
    /// Its file's name.
    pub fn file(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// What it is to be run with, a list of arguments each.
    pub fn runs(&self) -> Vec<Vec<String>> {
        if self.takes_graph {
            (0..GRAPHS).map(|graph| vec![graph.to_string()]).collect()
        } else {
            vec![vec![]]
        }
    }

    /// Whether what its label demands need not show with these arguments.
    pub fn may_be_silent(&self, arguments: &[String]) -> bool {
        let graph = arguments.first().and_then(|graph| graph.parse::<u32>().ok());
        let shows = |graph: u32| self.label.graphs.as_ref().is_none_or(|graphs| graphs.contains(&graph));
        graph.is_some_and(|graph| !shows(graph))
    }
}

/// All programs of a suite, by name.
pub fn programs_of(suite: &str) -> Result<Vec<LabelledProgram>> {
    let mut programs = Vec::new();
    for (_, folder, takes_graph) in FOLDERS.iter().filter(|(name, ..)| *name == suite) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        paths.retain(|path| path.extension().is_some_and(|kind| kind == "cu"));
        paths.sort();
        for path in paths {
            let of = read(&path, *takes_graph).with_context(|| path.display().to_string())?;
            programs.extend(of);
        }
    }
    Ok(programs)
}

/// The programs of the suite of that name: small ones, each a whole file.
pub fn programs() -> Result<Vec<LabelledProgram>> {
    programs_of("programs")
}

/// What a file is, in all the ways in which it is built.
fn read(path: &Path, takes_graph: bool) -> Result<Vec<LabelledProgram>> {
    let source = fs::read_to_string(path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut choices = vec![Vec::new()];
    let mut labels = Vec::new();
    for line in source.lines() {
        if let Some(names) = line.strip_prefix("// variants: ") {
            choices = variants(names)?;
        } else if line.starts_with("// race") {
            labels.push(Label::parse(line)?);
        } else {
            break;
        }
    }
    ensure!(!labels.is_empty(), "the first lines say nothing of races");
    let mut programs = Vec::new();
    for choice in &choices {
        for label in &labels {
            let named =
                |define: &String| define.split_once('=').is_none_or(|(name, value)| label.is_of(name, value));
            if !choice.iter().all(named) {
                continue;
            }
            let mut name = stem.clone();
            if !choice.is_empty() {
                name += &format!("[{}]", choice.join(","));
            }
            let mut defines = choice.clone();
            if let Some(switch) = &label.switch {
                name += &format!(".{switch}");
                defines.push(switch.clone());
            }
            let (path, source, label) = (path.to_owned(), source.clone(), label.clone());
            programs.push(LabelledProgram { name, path, source, defines, takes_graph, label });
        }
    }
    Ok(programs)
}

/// All choices of one value for each name.
fn variants(names: &str) -> Result<Vec<Vec<String>>> {
    let mut choices: Vec<Vec<String>> = vec![Vec::new()];
    for field in names.split_whitespace() {
        let (name, values) = field.split_once('=').with_context(|| format!("{field} has no values"))?;
        let longer = |choice: &Vec<String>, value: &str| {
            let mut choice = choice.clone();
            choice.push(format!("{name}={value}"));
            choice
        };
        choices = choices
            .iter()
            .flat_map(|choice| values.split(',').map(|value| longer(choice, value)).collect::<Vec<_>>())
            .collect();
    }
    Ok(choices)
}
