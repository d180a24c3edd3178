//! Pools of threads that libraries start when they are loaded, kept to one thread, so that the program can be forked.
//!
//! OpenBLAS, which numpy loads, starts a thread for each further processor at once, whether there is work or not (`blas_server.c`).
//! A fork would lack them. How many there are depends on the machine, so that no program may count on it; with one, all is
//! done by the thread that asks. OpenMP's threads start with the first parallel region, and Python's executors with the first
//! task: these have had work, and are left alone.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::environment::is_said;

/// What OpenBLAS asks for the number of its threads, in this order. What the user says with any of them stands.
const OPENBLAS: [&str; 3] = ["OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"];

/// The variables for it.
pub(super) fn environment(own: &BTreeMap<String, String>) -> Option<(&'static str, OsString)> {
    let said = OPENBLAS.iter().any(|name| is_said(name, own));
    (!said).then(|| (OPENBLAS[0], "1".into()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::environment;

    #[test]
    fn what_the_user_says_stands() {
        let own = |name: &str| BTreeMap::from([(name.to_owned(), "4".to_owned())]);
        assert_eq!(environment(&own("OTHER")), Some(("OPENBLAS_NUM_THREADS", "1".into())));
        assert_eq!(environment(&own("OPENBLAS_NUM_THREADS")), None);
        assert_eq!(environment(&own("OMP_NUM_THREADS")), None);
    }
}
