//! Builds the libraries that programs under test load, and puts them into the executable, where `BUGAROO_EMBED` asks for it.
//!
//! `cli/.cargo/config.toml` sets it for `cargo install --path cli`, which installs an executable and nothing beside it. A build of the
//! workspace leaves the libraries in its own folder, and needs none of this.

use std::collections::hash_map::DefaultHasher;
use std::error::Error;
use std::fmt::Write as _;
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Asks for it.
const EMBED: &str = "BUGAROO_EMBED";
/// Where cargo finds itself and what it has fetched: all else that it tells a build script is about the build that runs now.
const KEPT: [&str; 3] = ["CARGO", "CARGO_HOME", "CARGO_NET_RETRY"];
/// The libraries and the packages that they are built from.
const LIBRARIES: [(&str, &str); 4] = [
    ("bugaroo-driver", "libcuda.so"),
    ("bugaroo-runtime", "libbugaroo_cudart.so"),
    ("bugaroo-libraries", "libbugaroo_libraries.so"),
    ("bugaroo-preload", "libbugaroo_preload.so"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed={EMBED}");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let text = match env::var_os(EMBED) {
        None => "const EMBEDDED: Option<Embedded> = None;\n".to_owned(),
        Some(_) => embedded(&out)?,
    };
    Ok(fs::write(out.join("embedded.rs"), text)?)
}

/// Builds the libraries, and writes the constant that holds them.
fn embedded(out: &Path) -> Result<String, Box<dyn Error>> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets CARGO_MANIFEST_DIR")?);
    let workspace = manifest.parent().ok_or("the package stands in the workspace's folder")?;
    // Which of them matter, the build itself knows best.
    for entry in fs::read_dir(workspace)? {
        let entry = entry?;
        if entry.path().join("Cargo.toml").is_file() && entry.path() != manifest {
            println!("cargo:rerun-if-changed={}", entry.path().display());
        }
    }
    let built = out.join("libraries");
    let mut cargo = Command::new(env::var_os("CARGO").ok_or("cargo sets CARGO")?);
    cargo.args(["build", "--release", "--locked", "--target-dir"]).arg(&built).current_dir(workspace);
    // Debug information would make the executable three times as large.
    cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "0").env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo");
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if (text.starts_with("CARGO") || text.starts_with("RUST"))
            && !KEPT.contains(&&*text)
            && !text.starts_with("RUSTUP")
        {
            cargo.env_remove(&name);
        }
    }
    for (package, _) in LIBRARIES {
        cargo.args(["-p", package]);
    }
    let status = cargo.status()?;
    if !status.success() {
        return Err(format!("the libraries that bugaroo needs were not built: {status}").into());
    }
    let mut content = DefaultHasher::new();
    let mut files = String::new();
    for (_, file) in LIBRARIES {
        let path = built.join("release").join(file);
        content.write(&fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?);
        writeln!(files, "        ({file:?}, include_bytes!({path:?})),")?;
    }
    let name = format!("{}-{:016x}", env::var("CARGO_PKG_VERSION")?, content.finish());
    Ok(format!(
        "const EMBEDDED: Option<Embedded> = Some(Embedded {{\n    name: {name:?},\n    files: &[\n{files}    ],\n}});\n"
    ))
}
