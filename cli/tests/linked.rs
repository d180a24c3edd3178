//! Programs that nvcc built, in all ways that it links the runtime, as `bugaroo run` runs them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;
use tempfile::TempDir;

/// Where a program is built and run.
struct Site {
    folder: TempDir,
    toolkit: PathBuf,
}

impl Site {
    /// None, loudly, without nvcc where `apps/rebuild-ptx` installs it, unless `BUGAROO_REQUIRE_PTXAS=1` demands one.
    fn new() -> Option<Self> {
        let built = Path::new(env!("CARGO_BIN_EXE_bugaroo"));
        for file in ["libcuda.so", "libbugaroo_cudart.so", "libbugaroo_preload.so"] {
            let file = built.with_file_name(file);
            assert!(file.exists(), "{} is missing: build the whole workspace first", file.display());
        }
        let (toolkit, folder) = crate::common::nvcc::toolkit()?;
        Some(Site { folder, toolkit })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Builds a program of these sources.
    fn build(&self, sources: &[&str], flags: &[&str]) {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/tests/programs");
        let nvcc = Command::new(self.toolkit.join("bin/nvcc"))
            .args(["-arch=compute_75", "-L"])
            .arg(self.folder.path())
            .arg("-L")
            .arg(self.toolkit.join("lib"))
            .args(flags)
            .args(sources.iter().map(|source| programs.join(source)))
            .arg("-o")
            .arg(self.path("program"))
            .output()
            .unwrap();
        assert!(nvcc.status.success(), "{}", String::from_utf8_lossy(&nvcc.stderr));
    }

    /// `bugaroo run` of a file here.
    fn run(&self, file: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bugaroo"));
        command
            .env("XDG_STATE_HOME", self.path("state"))
            .env_remove("BUGAROO_DRIVER")
            .args(["run", "--trials", "5", "--seed", "1"])
            .arg(self.path(file));
        command
    }

    /// A shell script that runs the program.
    fn script(&self) {
        let text = format!("#!/bin/sh\necho started | cat\n{}\n", self.path("program").display());
        fs::write(self.path("script"), text).unwrap();
        fs::set_permissions(self.path("script"), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

const STATIC: &[&str] = &["-cudart", "static"];
const SHARED: &[&str] = &["-cudart", "shared"];

#[test]
fn the_shared_runtime() {
    let Some(site) = Site::new() else { return };
    site.build(&["launch.cu"], SHARED);
    site.run("program").assert().code(0);
    // The loader has nothing to say about versions of symbols, which it would on stderr.
    let libraries = TempDir::new().unwrap();
    for shim in bugaroo_shims::SHIMS {
        fs::write(libraries.path().join(shim.name), shim.bytes).unwrap();
    }
    let implementation =
        Path::new(env!("CARGO_BIN_EXE_bugaroo")).with_file_name(bugaroo_shims::IMPLEMENTATION);
    symlink(implementation, libraries.path().join(bugaroo_shims::IMPLEMENTATION)).unwrap();
    let checked = Command::new("ldd")
        .args([OsStr::new("-r"), site.path("program").as_os_str()])
        .env("LD_LIBRARY_PATH", libraries.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[checked.stdout, checked.stderr].concat()).into_owned();
    assert!(said.contains(&format!("libcudart.so.13 => {}", libraries.path().display())), "{said}");
    assert!(!said.contains("undefined") && !said.contains("version"), "{said}");
}

#[test]
fn the_static_runtime_in_a_program_that_is_relocated_and_from_a_script() {
    let Some(site) = Site::new() else { return };
    site.build(&["launch.cu"], STATIC);
    site.run("program").assert().code(0);
    site.script();
    site.run("script").assert().code(0);
    // What the user has preloaded stays so.
    let preloaded = site.run("program").env("LD_PRELOAD", "libm.so.6").assert().code(0);
    assert!(!String::from_utf8_lossy(&preloaded.get_output().stderr).contains("cannot be preloaded"));
}

#[test]
fn the_static_runtime_in_a_program_that_is_not_relocated() {
    let Some(site) = Site::new() else { return };
    site.build(&["launch.cu"], &[STATIC, &["-Xcompiler", "-no-pie", "-Xlinker", "-no-pie"]].concat());
    site.run("program").assert().code(0);
}

#[test]
fn several_files_whose_device_code_is_linked() {
    let Some(site) = Site::new() else { return };
    for runtime in [STATIC, SHARED] {
        site.build(&["parts_main.cu", "parts_other.cu"], &[runtime, &["-rdc=true"]].concat());
        site.run("program").assert().code(0);
    }
}

#[test]
fn a_stripped_program_runs_its_own_runtime_on_the_driver() {
    let Some(site) = Site::new() else { return };
    for (runtime, relocated) in [(STATIC, true), (STATIC, false), (SHARED, true)] {
        let fixed: &[&str] = if relocated { &[] } else { &["-Xcompiler", "-no-pie", "-Xlinker", "-no-pie"] };
        site.build(&["graphs.cu"], &[runtime, &["-Xlinker", "-s"], fixed].concat());
        site.script();
        for file in ["program", "script"] {
            let ended = site.run(file).assert().code(0);
            let said = String::from_utf8_lossy(&ended.get_output().stderr).into_owned();
            assert!(!said.contains("not supported") && !said.contains("asks for"), "{said}");
        }
    }
}

#[test]
fn a_library_that_has_the_runtime_whether_opened_at_the_start_or_later_and_stripped_or_not() {
    let Some(site) = Site::new() else { return };
    for stripped in [&[][..], &["-Xlinker", "-s"]] {
        site.build(&["plugin.cu"], &[STATIC, &["-shared", "-Xcompiler", "-fPIC"], stripped].concat());
        fs::rename(site.path("program"), site.path("libplugin.so")).unwrap();
        plug_in(&site);
    }
}

/// Programs that use the library, opened and linked.
fn plug_in(site: &Site) {
    let library = site.path("libplugin.so");
    let later = format!(
        "#include <dlfcn.h>\nint main(void) {{ void *library = dlopen(\"{}\", RTLD_NOW);\n\
         return library ? ((int (*)(void))dlsym(library, \"run\"))() : 2; }}\n",
        library.display()
    );
    let started = "int run(void);\nint main(void) { return run(); }\n".to_owned();
    for (source, with_library) in [(later, false), (started, true)] {
        fs::write(site.path("host.c"), source).unwrap();
        let mut compiler = Command::new("cc");
        compiler.arg(site.path("host.c")).arg("-o").arg(site.path("program"));
        if with_library {
            compiler.arg(&library).arg(format!("-Wl,-rpath,{}", site.folder.path().display()));
        }
        assert!(compiler.status().unwrap().success());
        site.run("program").assert().code(0);
    }
}

/// A library that Bugaroo's stands for has nothing to do at the end of a process; all others have.
#[test]
fn destructors_of_a_library_that_was_redirected_do_not_run() {
    let preloaded = Path::new(env!("CARGO_BIN_EXE_bugaroo")).with_file_name("libbugaroo_preload.so");
    assert!(preloaded.exists(), "{} is missing: build the whole workspace first", preloaded.display());
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let library = "#include <stdlib.h>\n#include <unistd.h>\n\
                   int cufftDestroy(int plan) { for (int i = 0; i < plan; i++) plan += i * plan; return plan; }\n\
                   int other(void) { return 0; }\n\
                   static void end(void) { _exit(9); }\n\
                   __attribute__((constructor)) static void start(void) { atexit(end); }\n";
    let program = "#include <dlfcn.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
                   static void end(void) { _exit(3); }\n\
                   int main(int count, char **arguments) { atexit(end); return dlopen(arguments[1], RTLD_NOW) ? 0 : 5; }\n";
    let build = |source: &str, name: &str, flags: &[&str]| {
        fs::write(path("source.c"), source).unwrap();
        let made = Command::new("cc").args(flags).arg(path("source.c")).arg("-o").arg(path(name)).status();
        assert!(made.unwrap().success());
    };
    build(program, "program", &[]);
    for (name, code) in [("libcufft.so.11", 3), ("libother.so", 9)] {
        build(library, name, &["-shared", "-fPIC", "-O0"]);
        let run = |preload: &Path| {
            Command::new(path("program")).arg(path(name)).env("LD_PRELOAD", preload).status().unwrap().code()
        };
        assert_eq!((run(Path::new("")), run(&preloaded)), (Some(9), Some(code)), "{name}");
    }
}
