//! Which kernel is being verified: a line on the terminal that goes away. Nothing where errors go elsewhere.

use std::io::{IsTerminal, Write, stderr};

/// Shows what is done now.
pub struct Progress {
    of: usize,
    begun: usize,
    is_shown: bool,
}

impl Progress {
    /// Of so many kernels.
    pub fn new(of: usize) -> Progress {
        Progress { of, begun: 0, is_shown: stderr().is_terminal() }
    }

    /// Another kernel is being verified.
    pub fn begins(&mut self, kernel: &str) {
        self.begun += 1;
        self.show(&format!("verifying {kernel} ({} of {})", self.begun, self.of));
    }

    /// Nothing is being verified: others may write.
    pub fn ends(&self) {
        self.show("");
    }

    fn show(&self, words: &str) {
        if self.is_shown {
            // A terminal that cannot be written to misses nothing.
            let _ = write!(stderr(), "\r\x1b[K{words}");
            let _ = stderr().flush();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.ends();
    }
}
