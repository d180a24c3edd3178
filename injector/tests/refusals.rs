//! What is not instrumented, and says why.

use bugaroo_injector::{InstrumentError, instrument};

const HEADER: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";

#[test]
fn what_does_not_parse_says_where() {
    let error =
        instrument(&format!("{HEADER}.visible .entry k() {{ st.global.u32 [")).map(drop).expect_err("no PTX");
    assert!(matches!(error, InstrumentError::Parse(_)), "{error}");
    assert!(error.to_string().contains('4'), "the line: {error}");
}

#[test]
fn modules_with_32_bit_addresses_are_refused() {
    let error =
        instrument(".version 8.0\n.target sm_75\n.address_size 32\n").map(drop).expect_err("too narrow");
    assert!(matches!(error, InstrumentError::AddressSize(32)), "{error}");
}

#[test]
fn nothing_is_instrumented_twice() {
    let source = format!(
        "{HEADER}.visible .entry k(.param .u64 p)\n{{\n.reg .b64 %a;\nld.param.u64 %a, [p];\nst.global.u32 [%a], 1;\nret;\n}}\n"
    );
    let once = instrument(&source).expect("a plain kernel").ptx;
    let error = instrument(&once).map(drop).expect_err("it has our names");
    assert!(matches!(error, InstrumentError::AlreadyInstrumented(_)), "{error}");
    for line in [".reg .b32 %bugaroo_p;", "$bugaroo_3_run:", ".param .b32 bugaroo_in0;"] {
        let source = format!("{HEADER}.visible .entry k()\n{{\n{line}\nret;\n}}\n");
        assert!(instrument(&source).is_err(), "{line}");
    }
}

#[test]
fn a_module_without_sites_is_still_one() {
    let source = format!("{HEADER}.global .u32 x;\n.func f()\n{{\n.reg .b32 %a;\nmov.b32 %a, 1;\nret;\n}}\n");
    for source in [HEADER, &source] {
        let instrumented = instrument(source).expect("nothing to do");
        assert!(instrumented.sites.is_empty() && instrumented.store_sites == 0);
        assert_eq!(instrumented.ptx, source, "it stays as it is");
    }
}
