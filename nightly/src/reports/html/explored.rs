//! What the explorations of a program have come to.

use maud::{Markup, html};

use crate::night::{Exploration, ExploredArm, NightProgram};
use crate::reports::text::{self, count, number};

/// Arms that are shown, those with most trials first.
const MOST: usize = 100;

pub fn all(program: &NightProgram) -> Markup {
    html! {
        @if let Some(explored) = program.explored.as_ref().filter(|explored| explored.trials > 0) {
            h3 { "Exploration" }
            p { (summary(explored)) }
            (growth(explored))
            (table(explored))
        }
    }
}

/// All of it in a few sentences.
fn summary(explored: &Exploration) -> String {
    let mut all = format!(
        "{} have shown {}. Threads meet at {}: {} held some back at one, and {} of these failed; {} switched between them there \
         alone, and {} failed. In {} some instructions were delayed each time, and the others never; {} failed.",
        count(explored.trials, "trial", "trials"),
        count(explored.things, "different thing", "different things"),
        count(explored.places, "place", "places"),
        count(explored.held_trials, "trial", "trials"),
        number(explored.held_failures),
        count(explored.switched_trials, "trial", "trials"),
        number(explored.switched_failures),
        count(explored.swarm_trials, "trial", "trials"),
        number(explored.swarm_failures),
    );
    if let Some(first) = &explored.first_failure {
        let mut how = String::new();
        for (so, words) in [
            (first.held, ", with threads held back"),
            (first.switched, ", switched where threads meet"),
            (first.swarm, ", some instructions delayed each time"),
        ] {
            how += if so { words } else { "" };
        }
        all += &format!(
            " The first failure was trial {}, after {} ({}{how}).",
            first.trial,
            count(first.after, "trial", "trials"),
            text::short(&first.arm, 100),
        );
    }
    if explored.left_out > 0 {
        all +=
            &format!(" {} were not counted, for lack of room.", count(explored.left_out, "thing", "things"));
    }
    all
}

fn growth(explored: &Exploration) -> Markup {
    let point = |(trials, things): &(u64, u64)| format!("{} after {}", number(*things), number(*trials));
    let points: Vec<String> = explored.growth.iter().map(point).collect();
    html! {
        @if !points.is_empty() { p.soft { "Things known: " (points.join(", ")) "." } }
    }
}

fn table(explored: &Exploration) -> Markup {
    let mut arms: Vec<&ExploredArm> = explored.arms.iter().filter(|arm| arm.trials > 0).collect();
    arms.sort_by(|a, b| (b.failures, b.trials, &a.key).cmp(&(a.failures, a.trials, &b.key)));
    let left = arms.len().saturating_sub(MOST);
    arms.truncate(MOST);
    html! {
        details {
            summary { "Trials by configuration" }
            div.box tabindex="0" role="region" aria-label="Trials by configuration" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Configuration" } th.n scope="col" { "Trials" }
                            th.n scope="col" { "Failures" } th.n scope="col" { "Showed something new" }
                        }
                    }
                    tbody {
                        @for arm in arms {
                            tr {
                                th scope="row" { (text::short(&arm.key, 100)) }
                                td.n { (number(arm.trials)) } td.n { (number(arm.failures)) } td.n { (number(arm.new)) }
                            }
                        }
                    }
                }
            }
            @if left > 0 { p.soft { (count(left as u64, "configuration more", "configurations more")) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::summary;
    use crate::night::{Exploration, ExploredFailure};

    #[test]
    fn what_was_found_and_what_was_left_out_are_said() {
        let first = ExploredFailure {
            trial: 9,
            after: 10,
            arm: "ptx pw=0.5".into(),
            held: true,
            ..ExploredFailure::default()
        };
        let explored = Exploration {
            trials: 40,
            things: 7,
            places: 3,
            held_trials: 20,
            held_failures: 2,
            first_failure: Some(first),
            left_out: 1,
            ..Exploration::default()
        };
        let text = summary(&explored);
        for part in [
            "40 trials",
            "7 different things",
            "3 places",
            "trial 9, after 10 trials (ptx pw=0.5, with",
            "1 thing",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
