//! What can be said about compiled device code without assembling it (the injector's tests do that).

use bugaroo_device_handlers::{PTX, SYMBOL_PREFIX, kit};

#[test]
fn the_variable_of_a_launch_has_the_hosts_size() {
    for code in kit::ALL {
        let declaration = format!(".const .align 8 .b8 {}[{}];", code.variable, code.variable_bytes);
        assert!(code.ptx.contains(&declaration), "{}: no '{declaration}'", code.name);
    }
}

#[test]
fn every_function_is_there() {
    for code in kit::ALL {
        for symbol in code.functions {
            assert!(code.ptx.contains(&format!(" {symbol}(")), "{}: no {symbol}", code.name);
        }
    }
}

#[test]
fn every_function_has_the_prefix_and_none_is_named_after_a_path() {
    for code in kit::ALL {
        let functions: Vec<&str> = code.ptx.lines().filter(|line| line.contains(".func")).collect();
        assert!(functions.len() >= code.functions.len());
        for line in functions {
            assert!(line.contains(SYMBOL_PREFIX), "{line}");
        }
        assert!(!code.ptx.contains(".file") && !code.ptx.contains("_INTERNAL_"));
    }
}

#[test]
fn no_handler_waits_for_other_lanes() {
    let starts = |line: &str, opcode: &str| line.trim_start().starts_with(opcode);
    for opcode in ["bar", "barrier", "shfl", "vote", "match", "activemask", "exit", "trap"] {
        let found = PTX.lines().find(|line| {
            starts(line, &format!("{opcode}."))
                || starts(line, &format!("{opcode} "))
                || starts(line, &format!("{opcode};"))
        });
        assert_eq!(found, None);
    }
}

/// Some code asks whether an address is of local memory; none has any.
#[test]
fn no_code_needs_local_memory() {
    for code in kit::ALL {
        for unwanted in [".local .", "ld.local", "st.local"] {
            assert!(!code.ptx.contains(unwanted), "{}: a stack frame of its own", code.name);
        }
    }
}
