//! Every instruction of PTX ISA 9.0 either loads or is refused by name, and the book's page says which: it is made from what the
//! virtual GPU answers for the forms in `isa/instructions.txt`. `BUGAROO_BLESS=1` makes it anew. `ptxas` says that the forms are
//! legal, where it is there.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bugaroo_simulator::{DeviceConfig, LoadError, Memory, Program};

const INSTRUCTIONS: &str = include_str!("isa/instructions.txt");

/// The page.
const PAGE: &str = "../docs/src/instructions.md";

const HEAD: &str = "# PTX instructions

What the virtual GPU does with each instruction of PTX ISA 9.0. A kernel that can reach an instruction which does not run is refused before
it is launched, by the name of the instruction, its PTX line and its CUDA line. Other kernels of the module run.

A test makes this page from what the virtual GPU answers for one legal form of each instruction.
";

/// An instruction, with one of its forms.
struct Form {
    section: &'static str,
    name: &'static str,
    target: &'static str,
    text: &'static str,
}

fn forms() -> Vec<Form> {
    let mut section = "";
    let mut forms = Vec::new();
    for line in INSTRUCTIONS.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        } else if !line.starts_with('#') {
            let (name, rest) = line.split_once(" @ ").expect("NAME @ TARGET : TEXT");
            let (target, text) = rest.split_once(" : ").expect("NAME @ TARGET : TEXT");
            forms.push(Form { section, name, target, text });
        }
    }
    forms
}

/// Of a target that the toolkit of today does not compile for any more.
fn is_old(form: &Form) -> bool {
    matches!(form.target, "sm_13" | "sm_60")
}

/// A module with a kernel that has this instruction.
fn module(form: &Form) -> String {
    // Newer versions do not have these forms for any target.
    let version = if is_old(form) { "6.0" } else { "9.0" };
    format!(
        ".version {version}
.target {}
.address_size 64
.global .align 128 .b8 gmem[1024];
.func helper() {{ ret; }}
.visible .entry kernel() {{
    .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<10>; .reg .b64 %rd<8>;
    .reg .f32 %f<10>; .reg .f64 %fd<4>; .reg .b128 %q<2>;
    .shared .align 128 .b8 smem[1024];
    .shared .align 8 .b64 mbar;
    TARGETS: .branchtargets END;
    {}
END:
    ret;
}}
",
        form.target, form.text
    )
}

/// None where it runs, else why it is refused.
fn refusal(form: &Form) -> Option<String> {
    let text = module(form);
    let ast = bugaroo_ptx::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", form.text));
    let mut memory = Memory::new(1 << 24).expect("address space");
    let error = match Program::load(&ast, &mut memory, &DeviceConfig::default()) {
        Ok(program) => program.kernels()[0].refused.clone()?,
        Err(error) => error,
    };
    let opcode = form.text.split([' ', ';']).next().expect("a form begins with its opcode");
    let told = error.to_string();
    assert!(told.contains(opcode), "{told} does not name {opcode}");
    match error {
        LoadError::Unsupported { reason, .. } => Some(reason),
        other => panic!("{}: {other}", form.text),
    }
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    let mut section = "";
    for form in forms() {
        if form.section != section {
            section = form.section;
            // Writing to a string cannot fail.
            let _ = write!(page, "\n## {section}\n\n| instruction | on the virtual GPU |\n|---|---|\n");
        }
        let answer = refusal(&form).unwrap_or_else(|| "runs".to_owned());
        let answer = if answer == "runs" { answer } else { format!("refused: {answer}") };
        let _ = writeln!(page, "| `{}` | {answer} |", form.name);
    }
    page
}

#[test]
fn the_page_says_what_runs_and_what_is_refused() {
    let (page, path) = (page(), Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE));
    if std::env::var_os("BUGAROO_BLESS").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == page, "{}: BUGAROO_BLESS=1 makes it anew", path.display());
}

/// `ptxas`, where `apps/rebuild-ptx` installs it.
fn ptxas() -> Option<PathBuf> {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/cuda-toolchain/V/lib");
    let versions = fs::read_dir(lib).into_iter().flatten().flatten();
    let found = versions
        .map(|version| version.path().join("site-packages/nvidia/cu13/bin/ptxas"))
        .find(|at| at.is_file());
    if found.is_none() {
        let demanded = std::env::var_os("BUGAROO_REQUIRE_PTXAS").is_some_and(|value| value == "1");
        assert!(!demanded, "BUGAROO_REQUIRE_PTXAS=1, but no ptxas: run apps/rebuild-ptx --install");
        eprintln!("\n*** SKIPPED: no ptxas (apps/rebuild-ptx --install) ***\n");
    }
    found
}

#[test]
fn the_forms_are_legal() {
    let Some(ptxas) = ptxas() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("form.ptx");
    let legal = |form: &Form| {
        fs::write(&source, module(form)).expect("a file in the folder");
        let output = folder.path().join("form.cubin");
        let ran = Command::new(&ptxas)
            .arg(format!("-arch={}", form.target))
            .arg(&source)
            .arg("-o")
            .arg(&output)
            .output();
        let ran = ran.expect("ptxas can be started");
        let said = [ran.stdout, ran.stderr].concat();
        (!ran.status.success()).then(|| format!("{}: {}", form.text, String::from_utf8_lossy(&said)))
    };
    let wrong: Vec<String> = forms().iter().filter(|form| !is_old(form)).filter_map(legal).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
