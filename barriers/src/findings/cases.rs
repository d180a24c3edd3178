//! Cases: where barriers depend on predicates that are the same for all threads, each outcome is verified by itself.
//!
//! A kernel is verified if each of its cases is. What goes wrong in a case is one of the kernel's errors only if some launch is in that
//! case, which is shown by parameters with which the same goes wrong; a few small numbers are tried. A loop around barriers has a case for
//! each number of rounds. Where there are many, the kernel is verified by induction ([`Induction`]), if it can be: at barriers where all threads meet, or
//! with pauses before the rounds of the loops that were found. Where none of that will do,
//! and where there are more cases than [`MOST`] or [`MOST_BY_INDUCTION`], the kernel is not verifiable, with the parameter to give.

use super::found::VerifiedKernel;
use crate::emulate::{AssumedCase, Early, Induction, KernelOptions, Refusal};

/// Cases that are looked at.
const MOST: usize = 64;
/// The same by induction: a loop that the compiler has unrolled is two, and their numbers of rounds go together in any way.
const MOST_BY_INDUCTION: usize = 512;
/// Predicates that are assumed from the beginning.
const EARLY: usize = 4;
/// Times that loops are found in which there must be pauses, too.
const SEARCHES: u32 = 4;
/// Rounds of a loop after which induction is tried.
const MANY: u32 = 8;
/// What is tried: short periods with few rounds first.
const INDUCTIONS: [Induction; 4] = [
    Induction { exact: 2, longest: 1 },
    Induction { exact: 4, longest: 2 },
    Induction { exact: 8, longest: 4 },
    Induction { exact: 16, longest: 8 },
];
/// The same with pauses.
const PAUSES: [Induction; 5] = [
    Induction { exact: 2, longest: 1 },
    Induction { exact: 4, longest: 2 },
    Induction { exact: 8, longest: 4 },
    Induction { exact: 16, longest: 8 },
    Induction { exact: 32, longest: 16 },
];
/// Values that are tried for parameters, the same for all and each of up to two by itself.
const VALUES: [u32; 14] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 31, 32, 64, 128];

/// Verifies one case, with other options if need be.
type VerifyCase<'a> = &'a mut dyn FnMut(&KernelOptions, &mut AssumedCase) -> Result<VerifiedKernel, Refusal>;

/// What comes of all cases.
enum All {
    /// The answer.
    Told(VerifiedKernel),
    /// There are too many, a loop has too many rounds (then it is said so), or something goes wrong that need not happen: what is said if
    /// nothing else helps, the parameters that the cases depend on, and where rounds of loops begin whose number is not known: instructions.
    Open { found: VerifiedKernel, params: Vec<String>, many: Option<Many>, stations: Vec<u32> },
}

/// A loop has too many rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Many {
    /// In each of them all threads meet.
    Meets,
    /// They do not, or not in all.
    Others,
    /// Or it has not so many, and there are too many cases.
    Cases,
}

/// Verifies all cases; `verify` verifies one. Ways on which a warp exchanges values are joined first; where that leaves too little
/// known, they are cases. Answers also whether the answer is of ways that were joined.
pub(super) fn verify(
    options: &KernelOptions,
    verify: VerifyCase<'_>,
) -> Result<(VerifiedKernel, bool), Refusal> {
    let mut joined = false;
    let mut noting = |options: &KernelOptions, case: &mut AssumedCase| {
        let found = verify(options, case);
        joined |= case.seen.joined;
        found
    };
    let together = by_all_means(options, true, &mut noting)?;
    let findings = &together.findings;
    if !joined || !findings.is_open() && findings.verdict != "possible-race" {
        return Ok((together, joined));
    }
    let apart = by_all_means(options, false, verify)?;
    Ok(if apart.findings.is_open() { (together, true) } else { (apart, false) })
}

/// Verifies all cases: by following each, and by induction.
fn by_all_means(
    options: &KernelOptions,
    joins: bool,
    verify: VerifyCase<'_>,
) -> Result<VerifiedKernel, Refusal> {
    let all_cases = |induction| AssumedCase::all(induction).joining(joins);
    let mut all = follow(options, &all_cases(None), MANY, verify)?;
    if let All::Open { many: Some(many), stations, .. } = &all {
        let meets = INDUCTIONS.iter().filter(|_| *many == Many::Meets);
        for induction in meets {
            if let All::Told(found) = follow(options, &all_cases(Some(*induction)), u32::MAX, verify)? {
                return Ok(found);
            }
        }
        if let Some(found) = with_pauses(options, joins, stations.clone(), verify)? {
            return Ok(found);
        }
        if *many != Many::Cases {
            all = follow(options, &all_cases(None), u32::MAX, verify)?;
        }
    }
    match all {
        All::Told(found) => Ok(found),
        All::Open { found, params, .. } => Ok(example(options, &params, verify)?.unwrap_or(found)),
    }
}

/// Looks at loops with pauses where their rounds begin, and at more of these as they are found.
fn with_pauses(
    options: &KernelOptions,
    joins: bool,
    mut stations: Vec<u32>,
    verify: VerifyCase<'_>,
) -> Result<Option<VerifiedKernel>, Refusal> {
    let mut left = SEARCHES;
    let mut next = PAUSES.iter();
    while let (Some(induction), false) = (next.next(), stations.is_empty()) {
        let case = AssumedCase::all(Some(*induction)).joining(joins).with_pauses(&stations);
        match follow(options, &case, MANY, verify)? {
            All::Told(found) => return Ok(Some(found)),
            All::Open { stations: found, .. } => {
                let before = stations.len();
                stations.extend(found);
                stations.sort_unstable();
                stations.dedup();
                if stations.len() > before && left > 0 {
                    (left, next) = (left - 1, PAUSES.iter());
                }
            }
        }
    }
    Ok(None)
}

/// Looks at all cases, each parted where something has to be assumed; at loops of up to so many rounds.
fn follow(
    options: &KernelOptions,
    first: &AssumedCase,
    rounds: u32,
    verify: VerifyCase<'_>,
) -> Result<All, Refusal> {
    let mut waiting = vec![first.clone()];
    let most = if first.is_by_induction() { MOST_BY_INDUCTION } else { MOST };
    let mut stations = Vec::new();
    let (mut looked_at, mut ended) = (0, 0);
    let mut best: Option<VerifiedKernel> = None;
    let mut first_refused: Option<VerifiedKernel> = None;
    let mut early: Vec<Early> = Vec::new();
    while let Some(mut case) = waiting.pop() {
        looked_at += 1;
        let found = verify(options, &mut case)?;
        stations.append(&mut case.seen.found);
        if case.widening.strays {
            let assumed = if early.len() < EARLY { case.assumed_first(first, early.clone()) } else { None };
            let Some((cases, all)) = assumed else {
                let (found, params) = (first_refused.unwrap_or(found), case.params);
                return Ok(All::Open { found, params, many: None, stations });
            };
            (waiting, early, ended, best) = (cases, all, 0, None);
            continue;
        }
        let findings = &found.findings;
        if findings.is_open() {
            let params = case.params.clone();
            let is_parted = case.is_parted();
            let meets = case.seen.rounds > rounds && !case.has_pauses();
            let is_many = meets || case.seen.turns > rounds;
            match case.parted() {
                Some(parts) if !is_many && looked_at + waiting.len() < most => {
                    first_refused.get_or_insert(found);
                    waiting.extend(parts);
                    continue;
                }
                _ => {
                    // What no assumption helps with is what stands in the way, not the parameter that led there.
                    let found = if is_parted { first_refused.unwrap_or(found) } else { found };
                    let many = match (meets, is_many) {
                        (true, _) => Some(Many::Meets),
                        (_, true) => Some(Many::Others),
                        _ => is_parted.then_some(Many::Cases),
                    };
                    return Ok(All::Open { found, params, many, stations });
                }
            }
        }
        ended += 1;
        let certain = !findings.is_clean() && findings.verdict != "possible-race";
        // What is only possible may be so as much in the first rounds, which are followed as they are.
        let early = case.widening.races_early && !certain;
        if case.widening.widened && !findings.is_clean() && !early || certain && case.assumptions() > 0 {
            let (found, params) = (first_refused.unwrap_or(found), case.params);
            return Ok(All::Open { found, params, many: None, stations });
        }
        if certain {
            return Ok(All::Told(found));
        }
        // What is possible is told rather than that other cases are right; of those that are, the longest.
        let rank = |v: &VerifiedKernel| (!v.findings.is_clean(), v.findings.stats.commands);
        if best.as_ref().is_none_or(|best| rank(best) < rank(&found)) {
            best = Some(found);
        }
    }
    let mut best = best.expect("the last case that ends is kept, or was answered");
    best.findings.cases = ended;
    Ok(All::Told(best))
}

/// Parameters with which something goes wrong for certain, if some are found.
fn example(
    options: &KernelOptions,
    params: &[String],
    verify: VerifyCase<'_>,
) -> Result<Option<VerifiedKernel>, Refusal> {
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
        let mut found = match verify(&asked, &mut AssumedCase::default()) {
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
