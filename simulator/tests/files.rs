//! Runs every PTX file of `tests/ptx` as its directives say (see `support/script.rs`), under several
//! schedules, with both instantiations of the arithmetic. A `.ptx` that nvcc made has its directives in the
//! `.cu` beside it.

#[path = "support/script.rs"]
mod script;

use std::collections::HashMap;
use std::path::Path;

use bugaroo_simulator::alu::Isa;
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, LaunchSpec, Memory, Program, RandomScheduler, launch,
};
use script::Script;

fn file(path: &Path) -> datatest_stable::Result<()> {
    let ptx = std::fs::read_to_string(path)?;
    let cuda = path.with_extension("cu");
    let script = script::parse(&if cuda.exists() { std::fs::read_to_string(cuda)? } else { ptx.clone() });
    for isa in [Isa::detect(), Isa::Portable] {
        for seed in 0..script.seeds {
            run(&ptx, &script, isa, seed);
        }
    }
    Ok(())
}

fn run(ptx: &str, script: &Script, isa: Isa, seed: u64) {
    let module = bugaroo_ptx::parse(ptx).expect("the file parses");
    let mut config = DeviceConfig::default();
    let mut memory = Memory::new(1 << 26).expect("address space");
    let loaded = Program::load_for(&module, &mut memory, &config, isa);
    let program = loaded.unwrap_or_else(|e| panic!("{e}"));
    if let Some(text) = &script.refuse {
        let kernel = program.kernel(&script.launches[0].kernel).expect("the kernel is there");
        let message = kernel.refused.as_ref().expect("the kernel is refused").to_string();
        assert!(message.contains(text.as_str()), "{message}");
        return;
    }
    let mut buffers = HashMap::new();
    for buffer in &script.buffers {
        let bytes = buffer.count * script::size(&buffer.ty);
        let address = memory.alloc(bytes as u64, 256, AllocationKind::Program).expect("room");
        assert!(buffer.init.len() <= bytes, "buffer {} is too small", buffer.name);
        memory.write(address, &buffer.init).expect("allocated");
        buffers.insert(buffer.name.as_str(), (address, buffer));
    }
    let mut end = End::Complete;
    for one in &script.launches {
        let mut params = Vec::new();
        for argument in &one.arguments {
            let value = match argument.split_once(':') {
                Some((ty, value)) => script::encode(ty, value),
                None => {
                    let (name, offset) = argument.split_once('+').unwrap_or((argument, "0"));
                    (buffers[name].0 + offset.parse::<u64>().expect("a number")).to_le_bytes().to_vec()
                }
            };
            params.resize(params.len().next_multiple_of(value.len()), 0);
            params.extend(value);
        }
        let spec = LaunchSpec {
            kernel: &one.kernel,
            grid: one.grid,
            block: one.block,
            dynamic_shared: one.shared,
            params: &params,
            cluster: None,
            step_budget: Some(one.budget.unwrap_or(10_000_000)),
        };
        config.lockstep = one.lockstep;
        let mut scheduler = RandomScheduler::new(seed);
        let result = launch(&program, &mut memory, &config, &spec, &mut scheduler);
        end = result.unwrap_or_else(|e| panic!("{e}")).end;
    }
    check_end(&end, script);
    for (name, values) in &script.expects {
        let (address, buffer) = buffers[name.as_str()];
        let want = script::values(&buffer.ty, values);
        let mut got = vec![0; want.len()];
        memory.read(address, &mut got).expect("the expectation fits the buffer");
        let size = script::size(&buffer.ty);
        for (i, (got, want)) in got.chunks(size).zip(want.chunks(size)).enumerate() {
            let hex = |bytes: &[u8]| bytes.iter().rev().map(|b| format!("{b:02x}")).collect::<String>();
            assert_eq!(hex(got), hex(want), "{name}[{i}], seed {seed}, {isa:?}");
        }
    }
}

fn check_end(end: &End, script: &Script) {
    let (how, text) = match end {
        End::Complete => ("complete", String::new()),
        End::Deadlock(diagnosis) => ("deadlock", diagnosis.to_string()),
        End::StepBudget(diagnosis) => ("budget", diagnosis.to_string()),
        End::Fault(fault) => ("fault", fault.to_string()),
    };
    let (want, part) = script.end.as_ref().map_or(("complete", ""), |(h, t)| (h.as_str(), t.as_str()));
    assert_eq!(how, want, "{text}");
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

datatest_stable::harness! {
    { test = file, root = "tests/ptx", pattern = r".*\.ptx$" },
}
