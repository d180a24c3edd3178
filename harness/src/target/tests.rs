use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::{Target, TargetError};

fn resolve(app: &str) -> Result<Target, TargetError> {
    Target::resolve(app, vec![])
}

#[test]
fn what_a_shell_would_run() {
    let by_name = resolve("sh").unwrap();
    assert!(by_name.app.is_absolute() && by_name.app.ends_with("sh"), "{by_name:?}");
    assert_eq!(by_name.name(), "sh");
    by_name.check().unwrap();
    assert_eq!(resolve("/bin/sh").unwrap().app.to_str(), Some("/bin/sh"));
}

#[test]
fn what_is_no_program_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8], mode: u32| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let says = |app: &str, part: &str| {
        let message = resolve(app).unwrap_err().to_string();
        assert!(message.contains(app) && message.contains(part), "{message}");
    };
    says(folder.path().to_str().unwrap(), "directory");
    says("/nonexistent/app", "not found");
    says("/dev/null", "not a regular file");
    says(&file("empty", b"", 0o755), "empty");
    says(&file("plain", b"#!/bin/sh\n", 0o644), "not executable");
    says(&file("text", b"hello", 0o755), "neither an ELF program nor a script");
    says(&file("short", b"#", 0o755), "neither an ELF program nor a script");
    resolve(&file("script", b"#!/bin/sh\n", 0o755)).unwrap();
}

#[test]
fn a_file_beside_us_is_suggested() {
    // Tests run in the package's folder.
    let error = resolve("Cargo.toml").unwrap_err();
    assert!(matches!(error, TargetError::NotFound { here: true, .. }));
    assert!(error.to_string().contains("did you mean ./Cargo.toml"), "{error}");
    let error = resolve("no-such-program").unwrap_err();
    assert!(!error.to_string().contains("did you mean"), "{error}");
}
