use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use bugaroo_protocol::Backend;

use super::environment;

fn said(backend: Backend, own: &[(&str, &str)]) -> BTreeMap<&'static str, OsString> {
    let own = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    environment(Path::new("/run"), backend, &own).into_iter().collect()
}

#[test]
fn machine_code_and_other_drivers_are_out_of_reach_whatever_the_user_says() {
    let all = said(Backend::Sim, &[("TRITON_PTXAS_PATH", "/cuda/ptxas"), ("TRITON_LIBCUDA_PATH", "/cuda")]);
    assert_eq!(all["TRITON_PTXAS_PATH"], "/run/ptxas");
    assert_eq!(all["TRITON_PTXAS_BLACKWELL_PATH"], "/run/ptxas");
    assert_eq!(all["TRITON_LIBCUDA_PATH"], "/run");
}

#[test]
fn a_cache_and_a_generation_of_the_users_own_stand() {
    let none = said(Backend::Sim, &[]);
    assert_eq!(
        (&none["TRITON_CACHE_DIR"], &none["TRITON_OVERRIDE_ARCH"]),
        (&"/run/triton".into(), &"sm89".into())
    );
    let own = said(Backend::Sim, &[("TRITON_CACHE_DIR", "/mine"), ("TRITON_OVERRIDE_ARCH", "sm80")]);
    assert!(!own.contains_key("TRITON_CACHE_DIR") && !own.contains_key("TRITON_OVERRIDE_ARCH"), "{own:?}");
}

#[test]
fn a_real_gpu_gets_what_is_written_for_it() {
    assert!(!said(Backend::Cuda, &[]).contains_key("TRITON_OVERRIDE_ARCH"));
}
