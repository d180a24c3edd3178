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
