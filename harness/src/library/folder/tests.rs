use std::fs::{self, File};
use std::time::Duration;

use super::{OWNER, sweep};

#[test]
fn only_ours_of_dead_owners_are_swept() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = |name: &str| {
        let path = temporary.path().join(name);
        fs::create_dir_all(path.join("modules")).unwrap();
        path
    };
    let owned = |name: &str| (folder(name), File::create(folder(name).join(OWNER)).unwrap());
    let (dead, _) = owned("bugaroo-dead");
    let (alive, lock) = owned("bugaroo-alive");
    lock.lock().unwrap();
    let (foreign, _) = owned("other-dead");
    let unknown = folder("bugaroo-unknown");
    let link = temporary.path().join("bugaroo-link");
    std::os::unix::fs::symlink(&foreign, &link).unwrap();
    // Nothing that was made just now.
    sweep(temporary.path(), Duration::from_secs(60));
    assert!(dead.exists());
    sweep(temporary.path(), Duration::ZERO);
    assert!(!dead.exists());
    assert!(alive.exists() && foreign.exists() && unknown.exists() && link.exists());
    drop(lock);
    sweep(temporary.path(), Duration::ZERO);
    assert!(!alive.exists());
}
