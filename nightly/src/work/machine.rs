//! How much this machine can do at a time.

use std::fs;
use std::mem::MaybeUninit;

/// Part of the free memory that trials may take together.
const PART: f64 = 0.7;

/// Trials that run at the same time: no more than memory is there for, by the largest process that has run so far. None: memory
/// is no limit, or nothing is known.
pub fn jobs() -> Option<usize> {
    let largest = largest_child()?;
    let fit = (available()? as f64 * PART / largest as f64) as usize;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (fit < 3 * processors).then_some(fit.clamp(1, processors))
}

/// Bytes of the largest process that we have waited for.
fn largest_child() -> Option<u64> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call writes a `rusage` at the address, which has room for one.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) } != 0;
    // SAFETY: a `rusage` of zeros is one, whatever the call wrote.
    let kibibytes = unsafe { usage.assume_init() }.ru_maxrss;
    u64::try_from(kibibytes).ok().filter(|&size| size > 0 && !failed).map(|size| size << 10)
}

/// Bytes of memory that are free, or can be made free.
fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::available;

    #[test]
    fn free_memory_is_known() {
        assert!(available().unwrap() > 1 << 20);
    }
}
