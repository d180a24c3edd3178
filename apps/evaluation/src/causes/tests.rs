use super::*;
use crate::catalog::Correct;
use crate::paper::finding_of;

#[test]
fn every_cause_is_of_rows_that_the_paper_has() {
    for cause in CAUSES {
        for variant in cause.variants {
            assert!(finding_of(cause.program, variant).is_some(), "{} {variant}", cause.program);
        }
    }
}

#[test]
fn no_cause_excuses_a_failure_of_a_correct_variant_under_the_sound_model() {
    for program in crate::catalog::PROGRAMS {
        for variant in program.variants.iter().filter(|variant| variant.correct > Correct::Never) {
            assert_eq!(of(program.name, variant.name, Model::StoreBuffer, Kind::OursAlone), None);
        }
    }
}

#[test]
fn a_row_has_one_cause_at_most() {
    for (at, one) in CAUSES.iter().enumerate() {
        for other in &CAUSES[at + 1..] {
            let same = one.program == other.program
                && one.variants.iter().any(|variant| other.variants.contains(variant))
                && one.models.iter().any(|model| other.models.contains(model))
                && one.kinds.iter().any(|kind| other.kinds.contains(kind));
            assert!(!same, "{} {:?}", one.program, one.variants);
        }
    }
}
