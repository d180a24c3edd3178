//! A reader who follows a page: one folder, and every file and command of the page in its order.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::compare;
use crate::nvcc;
use crate::pages::{Block, Page, Step, root, steps};

/// How many blocks a page has had run, and how many it says cannot be.
#[derive(Default)]
pub struct Count {
    pub run: usize,
    pub not_run: usize,
}

/// The reader's folder, and `nvcc` where there is one.
struct Reader {
    folder: TempDir,
    search: String,
    code: i32,
    _toolkit: Option<TempDir>,
}

/// Follows a page. Without a compiler a page that needs one is left out, loudly. What differs is added to `wrong`.
pub fn follow(page: &Page, wrong: &mut Vec<String>) -> Count {
    let mut count =
        Count { not_run: page.blocks.iter().filter(|block| block.not_run.is_some()).count(), run: 0 };
    let consoles: Vec<&Block> =
        page.blocks.iter().filter(|block| block.language == "console" && block.not_run.is_none()).collect();
    if consoles.is_empty() {
        return count;
    }
    let compiler = if consoles.iter().any(|block| block.text.contains("$ nvcc")) {
        let Some(found) = nvcc::toolkit() else { return count };
        Some(found)
    } else {
        None
    };
    let mut reader = Reader::new(compiler);
    for block in &page.blocks {
        if let Some(name) = &block.file {
            fs::write(reader.folder.path().join(name), &block.text)
                .expect("a file of the page can be written");
        }
        if block.language == "console" && block.not_run.is_none() {
            count.run += 1;
            for step in steps(&block.text) {
                reader.step(&page.name, block.repository, &step, wrong);
            }
        }
    }
    reader.nothing_untold(&page.name, wrong);
    count
}

impl Reader {
    fn new(compiler: Option<(PathBuf, TempDir)>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let tools = folder.path().join(".tools");
        fs::create_dir(&tools).expect("a folder in it");
        let (toolkit, held) = compiler.unzip();
        if let (Some(toolkit), Some(held)) = (&toolkit, &held) {
            wrapper(&tools.join("nvcc"), toolkit, held.path());
        }
        let built = Path::new(env!("CARGO_BIN_EXE_bugaroo")).parent().expect("it lies in a folder");
        assert!(
            built.join("libcuda.so").exists() && built.join("cbe_dot").exists(),
            "build the whole workspace first, in the same profile"
        );
        let search = std::env::var("PATH").unwrap_or_default();
        Self {
            search: format!("{}:{}:{search}", tools.display(), built.display()),
            folder,
            code: 0,
            _toolkit: held,
        }
    }

    fn step(&mut self, page: &str, repository: bool, step: &Step, wrong: &mut Vec<String>) {
        if !step.command.starts_with("echo $?") {
            self.nothing_untold(page, wrong);
        }
        let home = self.folder.path();
        let ended = Command::new("bash")
            .args(["-c", &format!("(exit {}); {}", self.code, step.command)])
            .current_dir(if repository { root() } else { home.to_owned() })
            .env("PATH", &self.search)
            .env("HOME", home)
            .env("COLUMNS", "100")
            .env_remove("BUGAROO_DRIVER")
            .env_remove("XDG_STATE_HOME")
            .stdin(std::process::Stdio::null())
            .output()
            .expect("bash can be started");
        self.code = ended.status.code().unwrap_or(-1);
        let printed = compare::printed(
            &String::from_utf8_lossy(&ended.stdout),
            &String::from_utf8_lossy(&ended.stderr),
        );
        let printed = compare::without_numbers(&printed.replace(home.to_str().expect("a plain path"), "~"));
        if !compare::matches(&step.output, &printed) {
            wrong.push(format!(
                "{page}: $ {}\n--- the page says\n{}--- printed\n{printed}",
                step.command, step.output
            ));
        }
    }

    /// A code other than 0 and 1 surprises a reader: the page has to show it, by `echo $?`.
    fn nothing_untold(&mut self, page: &str, wrong: &mut Vec<String>) {
        if !matches!(self.code, 0 | 1) {
            wrong.push(format!("{page}: exit code {}, and the page does not show it", self.code));
        }
        self.code = 0;
    }
}

/// An `nvcc` that finds the runtime, which the wheels keep elsewhere than a toolkit does.
fn wrapper(path: &Path, toolkit: &Path, libraries: &Path) {
    let script = format!(
        "#!/bin/sh\nexec {}/bin/nvcc -L {} -L {}/lib \"$@\"\n",
        toolkit.display(),
        libraries.display(),
        toolkit.display()
    );
    fs::write(path, script).expect("a script can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}
