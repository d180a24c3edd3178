//! What can be said about `handlers.ptx` without assembling it (the injector's tests do that).

use bugaroo_device_handlers::{LAUNCH_VARIABLE, LaunchState, PTX, SYMBOL_PREFIX, symbols};

#[test]
fn the_launch_variable_has_the_hosts_size() {
    let declaration = format!(".const .align 8 .b8 {LAUNCH_VARIABLE}[{}];", LaunchState::BYTES);
    assert!(PTX.contains(&declaration), "no '{declaration}'");
}

#[test]
fn every_handler_is_there() {
    for symbol in symbols::ALL {
        assert!(PTX.contains(&format!(" {symbol}(")), "no {symbol}");
    }
}

#[test]
fn every_function_has_the_prefix_and_none_is_named_after_a_path() {
    let functions: Vec<&str> = PTX.lines().filter(|line| line.contains(".func")).collect();
    assert!(functions.len() >= symbols::ALL.len());
    for line in functions {
        assert!(line.contains(SYMBOL_PREFIX), "{line}");
    }
    assert!(!PTX.contains(".file") && !PTX.contains("_INTERNAL_"));
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

#[test]
fn no_handler_needs_local_memory() {
    assert!(!PTX.contains(".local"), "a handler spills to a stack frame of its own");
}

#[test]
fn logging_is_there_and_needs_no_local_memory() {
    use bugaroo_device_handlers::logging::{LOG_VARIABLE, LOGGING_PTX, LogState, prepare};
    let declaration = format!(".const .align 8 .b8 {LOG_VARIABLE}[{}];", LogState::BYTES);
    assert!(LOGGING_PTX.contains(&declaration), "no '{declaration}'");
    for symbol in prepare::ALL {
        assert!(LOGGING_PTX.contains(&format!(" {symbol}(")), "no {symbol}");
    }
    for line in LOGGING_PTX.lines().filter(|line| line.contains(".func")) {
        assert!(line.contains(SYMBOL_PREFIX), "{line}");
    }
    // It asks whether an address is of local memory; it has none of its own.
    let unwanted = [".local .", "ld.local", "st.local", ".file", "_INTERNAL_"];
    assert!(unwanted.iter().all(|name| !LOGGING_PTX.contains(name)));
}
