//! How long a program may run, and how it ended.

use std::time::Duration;

use crate::capture::Output;
use crate::outcome::Exit;

/// How long a program may run, in wall-clock time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// After this long it is killed, unless its report has told of device work lately.
    pub limit: Duration,
    /// After this long it is killed in any case.
    pub most: Duration,
}

/// Least time in which device work has to show.
const SHORTEST_WINDOW: Duration = Duration::from_millis(200);

impl Patience {
    /// So long, and no longer.
    pub fn exactly(limit: Duration) -> Self {
        Patience { limit, most: limit }
    }

    /// What cannot be told as a point in time is for ever.
    pub(crate) fn bounded(self) -> Self {
        let far = Duration::from_secs(u64::from(u32::MAX));
        Patience { limit: self.limit.min(far), most: self.most.min(far) }
    }

    /// Device work is going on where it has shown in a time so long.
    pub fn window(self) -> Duration {
        (self.limit / 4).max(SHORTEST_WINDOW)
    }
}

/// A program that has ended.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub exit: Exit,
    /// It was killed although device work went on.
    pub slow: bool,
    /// Standard output.
    pub stdout: Output,
    /// Standard error.
    pub stderr: Output,
    /// From start to end.
    pub duration: Duration,
}
