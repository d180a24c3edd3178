//! A patch is judged by what it does once it is compiled in, and by where it stands.

mod support;

use std::fs;
use std::time::Duration;

use fence_suite::advice::SuiteAdvice;
use fence_suite::expert::{ExpertProgram, programs};
use fence_suite::measure::{AdviceOutcome, Measured, judge};
use fence_suite::tools::AdviceTools;
use support::tools;

/// What comes of a patch for a program.
fn judged(tools: &AdviceTools, program: &ExpertProgram, patch: &str) -> Measured {
    let advice = SuiteAdvice { patch: Some(patch.to_owned()), ..SuiteAdvice::default() };
    judge(tools, program, &advice, Duration::ZERO).expect("it can be judged")
}

#[test]
fn a_patch_is_what_it_does() {
    let Some(tools) = tools() else { return };
    let all = programs().expect("the programs can be read");
    let program = all.into_iter().find(|program| program.name == "mutex_class").expect("it is there");
    let expert = fs::read_to_string(program.patch().expect("it has one")).expect("it can be read");

    let measured = judged(&tools, &program, &expert);
    assert_eq!(
        (&measured.outcome, measured.same_line, measured.ours),
        (&AdviceOutcome::Cured, Some(true), Some(1))
    );
    assert!(measured.right());

    // Behind the atomic that it should stand before.
    let atomic = "         atomicExch(&held_, 0u);\n";
    let fence = "+        __threadfence();\n";
    let behind = expert.replace(&format!("{fence}{atomic}"), &format!("{atomic}{fence}"));
    assert_ne!(behind, expert);
    let measured = judged(&tools, &program, &behind);
    assert!(
        matches!(&measured.outcome, AdviceOutcome::Wrong(why) if why.contains("fail under")),
        "{measured:?}"
    );
    assert_eq!(measured.same_line, Some(false));

    // One more than is needed.
    let twice = expert.replace(fence, &fence.repeat(2)).replace("+11,7", "+11,8");
    let measured = judged(&tools, &program, &twice);
    assert_eq!(
        (&measured.outcome, measured.ours, measured.right()),
        (&AdviceOutcome::Cured, Some(2), false),
        "{twice}"
    );

    let elsewhere = expert.replace("atomicExch(&held_", "atomicExch(&taken_");
    let measured = judged(&tools, &program, &elsewhere);
    assert!(
        matches!(&measured.outcome, AdviceOutcome::Wrong(why) if why.contains("does not apply")),
        "{measured:?}"
    );
}
