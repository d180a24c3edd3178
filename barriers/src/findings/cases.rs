//! Cases: where barriers depend on predicates that are the same for all threads, each outcome is verified by itself.
//!
//! A kernel is verified if each of its cases is. What goes wrong in a case is one of the kernel's errors only if some launch is in that
//! case, which is shown by parameters with which the same goes wrong; a few small numbers are tried. Where none of them will do, and where
//! there are more cases than [`MOST`] (a loop around barriers has one for each number of rounds), the kernel is not verifiable, with the
//! parameter to give.

use super::Verified;
use crate::emulate::{Case, Options, Refusal};

/// Cases that are looked at.
const MOST: usize = 64;
/// Values that are tried for parameters, the same for all and each of up to two by itself.
const VALUES: [u32; 14] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 31, 32, 64, 128];

/// Verifies all cases; `verify` verifies one, with other options if need be.
pub(super) fn verify(
    options: &Options,
    verify: &mut dyn FnMut(&Options, &mut Case) -> Result<Verified, Refusal>,
) -> Result<Verified, Refusal> {
    let mut waiting = vec![Case::default()];
    let (mut looked_at, mut ended) = (0, 0);
    let mut best: Option<Verified> = None;
    let mut first_refused: Option<Verified> = None;
    while let Some(mut case) = waiting.pop() {
        looked_at += 1;
        let found = verify(options, &mut case)?;
        let findings = &found.findings;
        if findings.is_open() {
            let params = case.params.clone();
            match case.parted() {
                Some(parts) if looked_at + waiting.len() < MOST => {
                    first_refused.get_or_insert(found);
                    waiting.extend(parts);
                    continue;
                }
                _ => return Ok(example(options, &params, verify)?.unwrap_or(first_refused.unwrap_or(found))),
            }
        }
        ended += 1;
        let certain = !findings.is_clean() && findings.verdict != "possible-race";
        if certain && case.assumptions() > 0 {
            if let Some(shown) = example(options, &case.params, verify)? {
                return Ok(shown);
            }
            return Ok(first_refused.unwrap_or(found));
        }
        if certain {
            return Ok(found);
        }
        // What is possible is told rather than that other cases are right; of those that are, the longest.
        let rank = |v: &Verified| (!v.findings.is_clean(), v.findings.stats.commands);
        if best.as_ref().is_none_or(|best| rank(best) < rank(&found)) {
            best = Some(found);
        }
    }
    let mut best = best.expect("the last case that ends is kept, or was answered");
    best.findings.cases = ended;
    Ok(best)
}

/// Parameters with which something goes wrong for certain, if some are found.
fn example(
    options: &Options,
    params: &[String],
    verify: &mut dyn FnMut(&Options, &mut Case) -> Result<Verified, Refusal>,
) -> Result<Option<Verified>, Refusal> {
    let mut names: Vec<&String> = Vec::new();
    params.iter().for_each(|name| {
        if !names.contains(&name) {
            names.push(name);
        }
    });
    let mut tried: Vec<Vec<u32>> = Vec::new();
    match names.len() {
        0 => return Ok(None),
        2 => tried.extend(VALUES.iter().flat_map(|a| VALUES[..8].iter().map(|b| vec![*a, *b]))),
        count => tried.extend(VALUES.iter().map(|value| vec![*value; count])),
    }
    for values in tried {
        let given: Vec<(String, String)> =
            names.iter().zip(&values).map(|(name, value)| ((*name).clone(), value.to_string())).collect();
        let mut asked = options.clone();
        asked.params.extend(given.clone());
        let mut found = match verify(&asked, &mut Case::default()) {
            Ok(found) => found,
            // A value that the parameter cannot have.
            Err(_) => continue,
        };
        let findings = &mut found.findings;
        if !findings.is_clean() && !findings.is_open() && findings.verdict != "possible-race" {
            findings.example = given;
            return Ok(Some(found));
        }
    }
    Ok(None)
}
