//! What device code prints, until the host takes it.

use std::collections::VecDeque;

/// Where text is meant to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleStream {
    /// The host program's standard output.
    Out,
    /// Its standard error: failed assertions.
    Error,
}

/// The FIFO of device code's `printf`, and the messages of failed assertions.
///
/// As on hardware, `printf`'s oldest text is lost when more comes than fits.
#[derive(Debug)]
pub struct Console {
    waiting: VecDeque<(ConsoleStream, Vec<u8>)>,
    bytes: usize,
    limit: usize,
}

impl Default for Console {
    fn default() -> Console {
        Console { waiting: VecDeque::new(), bytes: 0, limit: Console::DEFAULT_LIMIT }
    }
}

impl Console {
    /// Bytes that it holds unless told otherwise.
    pub const DEFAULT_LIMIT: usize = 1 << 20;

    /// Sets the number of bytes that it holds.
    pub fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    /// Everything that was printed since the last time, in order.
    pub fn take(&mut self) -> Vec<(ConsoleStream, Vec<u8>)> {
        self.bytes = 0;
        self.waiting.drain(..).collect()
    }

    pub(crate) fn write(&mut self, stream: ConsoleStream, text: Vec<u8>) {
        if text.is_empty() {
            return;
        }
        self.bytes += text.len();
        self.waiting.push_back((stream, text));
        while self.bytes > self.limit && self.waiting.len() > 1 {
            let lost = self.waiting.pop_front().map_or(0, |(_, text)| text.len());
            self.bytes -= lost;
        }
    }
}
