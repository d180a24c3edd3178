use super::*;

#[test]
fn arguments_name_the_variant_where_there_is_a_choice() {
    let args = |name: &str, variant: &str, small| program(name).unwrap().args(variant, small).join(" ");
    assert_eq!(args("cbe_dot", "1_fence", false), "--variant 1_fence");
    assert_eq!(args("cbe_dot", "1_fence", true), "--variant 1_fence");
    assert_eq!(args("streamcluster", ORIGINAL, false), "");
    assert_eq!(args("streamcluster", ORIGINAL, true), "--size 128 --gains 60");
}

#[test]
fn tables_two_and_three_show_every_program_and_only_correct_variants() {
    for program in PROGRAMS {
        assert!(program.measured().next().is_some(), "{}", program.name);
        for variant in program.measured() {
            assert!(
                program.variant(variant).unwrap().correct_under(Model::StoreBuffer),
                "{} {variant}",
                program.name
            );
        }
    }
}

/// The plan of a night over all programs, which stands beside them.
const PLAN: &str = include_str!("../../../nightly.toml");

#[test]
fn the_nightly_plan_runs_every_variant_and_expects_what_is_said_here() {
    let plan: toml::Table = PLAN.parse().unwrap();
    let planned = plan["program"].as_array().unwrap();
    let mut left: Vec<Vec<String>> = planned.iter().map(words).collect();
    for program in &PROGRAMS {
        for variant in program.variants {
            let mut run = vec![format!("../target/release/{}", program.name)];
            run.extend(program.args(variant.name, true));
            let at = left
                .iter()
                .position(|words| *words == run)
                .unwrap_or_else(|| panic!("{run:?} is not planned"));
            left.remove(at);
            let entry = planned.iter().find(|entry| words(entry) == run).unwrap();
            let expected = entry.get("expect").map_or(&[][..], |expect| expect.as_array().unwrap());
            let failures = expected.iter().find(|expect| expect["finding"].as_str() == Some("failure"));
            let model = failures.map(|expect| expect.get("model").and_then(toml::Value::as_str));
            let wanted = match variant.correct {
                Correct::Never => Some(None),
                Correct::Delays => Some(Some("ptx")),
                Correct::Ptx => None,
            };
            assert_eq!(model, wanted, "{run:?}");
        }
    }
    assert_eq!(left, Vec::<Vec<String>>::new(), "no more than these");
}

/// Program and arguments of an entry.
fn words(entry: &toml::Value) -> Vec<String> {
    entry["run"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}
