//! Libraries that are part of the executable: programs can only load files, so they are written once.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The file that cargo builds the driver to.
pub(super) const FILE: &str = "libcuda.so";

/// The libraries as an executable carries them.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// Differs from that of other contents.
    pub name: &'static str,
    /// Names and contents of the files.
    pub files: &'static [(&'static str, &'static [u8])],
}

impl Embedded {
    /// Writes them into the user's cache, if they are not there yet. The path of the driver.
    pub(super) fn unpack(&self) -> io::Result<PathBuf> {
        let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let cache = cache.or_else(home).ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "neither XDG_CACHE_HOME nor HOME names a folder")
        })?;
        self.unpack_into(&cache.join("bugaroo"))
    }

    fn unpack_into(&self, cache: &Path) -> io::Result<PathBuf> {
        let there = cache.join(self.name);
        if !there.is_dir() {
            fs::create_dir_all(cache)?;
            // Whole or not at all: who finds the folder finds all files in it.
            let new = tempfile::Builder::new().prefix("new-").tempdir_in(cache)?;
            for (file, bytes) in self.files {
                fs::write(new.path().join(file), bytes)?;
            }
            match fs::rename(new.path(), &there) {
                Ok(()) => {}
                // Another process was faster.
                Err(_) if there.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(there.join(FILE))
    }
}

#[cfg(test)]
mod tests {
    use super::Embedded;

    const TWO: Embedded = Embedded { name: "1-ab", files: &[("libcuda.so", b"driver"), ("other", b"more")] };

    #[test]
    fn files_are_written_once() {
        let cache = tempfile::tempdir().unwrap();
        let driver = TWO.unpack_into(&cache.path().join("bugaroo")).unwrap();
        assert_eq!(std::fs::read(&driver).unwrap(), b"driver");
        assert_eq!(std::fs::read(driver.with_file_name("other")).unwrap(), b"more");
        let written = || std::fs::metadata(&driver).unwrap().modified().unwrap();
        let first = written();
        assert_eq!(TWO.unpack_into(&cache.path().join("bugaroo")).unwrap(), driver);
        assert_eq!(written(), first);
        assert_eq!(
            std::fs::read_dir(cache.path().join("bugaroo")).unwrap().count(),
            1,
            "nothing is left over"
        );
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error() {
        let cache = tempfile::tempdir().unwrap();
        let file = cache.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(TWO.unpack_into(&file).is_err());
    }
}
