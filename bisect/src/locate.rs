//! Which location: the smallest set of inserted fences that cures a failure, by halving.
//!
//! After the paper, III.D, step 3: a fence after each access cures the failure; half of them omitted
//! at a time tells which one is needed. It departs from the paper in what it does when the halves
//! need each other: the paper's halving assumes that one fence is enough, this search does not. It
//! looks for the shortest prefix of the candidates (in text order) that cures together with the
//! fences already found; the prefix's last element is needed. It is kept, and the search goes on
//! among those before it until the kept ones cure by themselves. With `m` fences needed among `n`
//! that costs about `m * log2 n` questions. The result is minimal (no element can go), not
//! necessarily the smallest of all.
//!
//! It relies on monotony: a fence more never makes a program fail that passed.

use std::future::Future;

/// The minimal subset of `candidates` (in their order) for which `cures` holds; None when even all of
/// them together don't.
///
/// `cures` is asked about subsets, in the order of `candidates`.
///
/// # Errors
/// Whatever `cures` gives.
pub async fn minimal_cure<T, E, F>(
    candidates: &[T],
    mut cures: impl FnMut(Vec<T>) -> F,
) -> Result<Option<Vec<T>>, E>
where
    T: Clone,
    F: Future<Output = Result<bool, E>>,
{
    if !cures(candidates.to_vec()).await? {
        return Ok(None);
    }
    let mut kept: Vec<T> = Vec::new();
    // Invariant: candidates[..end] together with `kept` cure; nothing at all does not.
    let mut end = candidates.len();
    while end > 0 && (kept.is_empty() || !cures(kept.clone()).await?) {
        // candidates[..low] with `kept` does not cure; candidates[..high] with `kept` does.
        let (mut low, mut high) = (0, end);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let half = candidates[..middle].iter().chain(&kept).cloned().collect();
            if cures(half).await? {
                high = middle;
            } else {
                low = middle;
            }
        }
        kept.insert(0, candidates[high - 1].clone());
        end = high - 1;
    }
    Ok(Some(kept))
}

#[cfg(test)]
mod tests;
