//! The plan that `bugaroo init` writes: complete, and with a comment for each key.

use std::collections::BTreeSet;
use std::path::Path;

/// A first plan for these programs, as words of a command each. Without any, it has an example to be changed.
pub fn plan(programs: &[Vec<String>]) -> String {
    let mut text = HEAD.to_owned();
    let example = [vec!["./app".to_owned(), "argument".to_owned()]];
    let programs = if programs.is_empty() { &example[..] } else { programs };
    let names = names(programs);
    for (at, run) in programs.iter().enumerate() {
        let words: Vec<String> = run.iter().map(|word| quoted(word)).collect();
        text += "\n[[program]]\n";
        if let Some(name) = &names[at] {
            text += &format!("name = {}\n", quoted(name));
        }
        text += &format!("run = [{}]\n", words.join(", "));
        text += if at == 0 { FIRST } else { "" };
    }
    text + TAIL
}

/// Names of those programs that are not called by their files, since an earlier one is: `app-2`.
fn names(programs: &[Vec<String>]) -> Vec<Option<String>> {
    let file = |run: &Vec<String>| {
        let program = run.first().map_or("", String::as_str);
        Path::new(program).file_name().map_or(program.to_owned(), |name| name.to_string_lossy().into_owned())
    };
    let files: Vec<String> = programs.iter().map(file).collect();
    // A name that is made up is no other program's file either.
    let mut taken: BTreeSet<String> = files.iter().cloned().collect();
    let mut seen = BTreeSet::new();
    let name = |file: &String| {
        if seen.insert(file.clone()) {
            return None;
        }
        (2..).map(|number| format!("{file}-{number}")).find(|name| taken.insert(name.clone()))
    };
    files.iter().map(name).collect()
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

const HEAD: &str = "\
# What Bugaroo runs each night: bugaroo nightly nightly.toml
# Paths are relative to the folder of this file. A line with one # shows a key with what holds without it.

[night]
# How the night is called [the name of this file]
#name = \"nightly\"
# Time for all trials together. Without it, `trials` of each cell are run, however long that takes. With it, each cell gets
# a few trials first; then time goes to cells whose failures are new or rare.
budget = \"30m\"
# Seed that all trials stem from [another one each night]
#seed = 1
# Trials that run at the same time [by processors and memory]
#jobs = 4
# Results of all nights: a file, or postgres://USER@HOST/NAME for a team
#database = \"nightly.sqlite\"
# Folder of the reports, and of what is needed to run failing trials again
#reports = \"nightly-reports\"
# What all run directories may take; the oldest go first
#disk = \"2G\"
# Look for the missing fence of programs that fail for the first time
#search = true

# What holds for each program that does not say otherwise.
[defaults]
# Memory behaviours: store-buffer, ptx, bugaroo (the paper's algorithm)
models = [\"store-buffer\", \"ptx\"]
# Probabilities with which a store is delayed; each makes a cell of its own with each model
pw = [0.25, 0.75]
# Model ptx: probabilities with which a load reads an older value than it has to
#pr = [0.5]
# Entries of each thread's store buffers
#buffer = [256]
# Who runs next: random, pct
#schedulers = [\"random\"]
# Trials of each cell, or the time of each cell (\"2m\")
#trials = 1000
#budget = \"2m\"
# Choose the settings of further trials one by one, by what trials before have shown (see [explore])
#explore = false
# Race detectors: ptx, barracuda, hirace, scord; [] for none; and their trials
#detectors = [\"ptx\"]
#race-trials = 20
# Races that count for nothing: files as `bugaroo race --suppressions` takes them
#suppressions = [\"races.toml\"]
# Verify the kernels that the program launches: true, or regular expressions of their names
#verify = false
# What says whether a trial did right: exit, reference, memory, stdout:REGEX, cmd:CMD, none
#oracle = \"exit\"
# With the oracle reference: regular expressions of lines that count for nothing, and how far numbers may be apart
#ignore-lines = [\"^time\"]
#tolerance = 1e-5
# How long the step may take that builds a program (its key `build`); what takes longer is stopped, and is not built
#build-timeout = \"30m\"
# A trial may take so many times what the program takes without injection, and no less than the floor
#timeout = { factor = 50, floor = \"60s\" }
";

const FIRST: &str = "\
# How it is called [the name of its file]
#name = \"app\"
# Its working directory
#directory = \".\"
# Variables of its environment
#environment = { OMP_NUM_THREADS = \"1\" }
# A shell command that builds it, first of all
#build = \"make app\"
# A file for its standard input
#stdin = \"input.txt\"
";

const TAIL: &str = "
# A finding that is known, until a day: it does not make the night red. It belongs to the program above it.
#[[program.expect]]
#finding = \"wrong-result\"     # crash, deadlock, timeout, failure, race, kernel-error, verify, baseline
#model = \"ptx\"                # [any]
#place = \"kernel.cu:41\"       # a text that the finding's place holds [any]
#reason = \"ticket 123\"
#until = 2027-01-31

# What explorations choose among. Trials may hold threads back besides, at places where these meet.
#[explore]
#models = [\"store-buffer\", \"ptx\"]
#pw = [0.1, 0.5, 0.75, 0.95]
#pr = [0.1, 0.5, 0.9]
#buffer = [1, 8, 256]
#schedulers = [\"random\", \"pct\"]

# For `bugaroo nightly --executor slurm`: each task of the array runs a shard of the plan.
#[slurm]
#shards = 8
#partition = \"gpu\"
#gres = \"gpu:1\"
#time = \"02:00:00\"
#cpus = 4
#memory = \"8G\"
#folder = \"shards\"            # all nodes must see it
";
