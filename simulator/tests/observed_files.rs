//! The kernels of `tests/ptx`, with somebody looking on: they do the same, and what is told is what they do.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use crate::observed_support::MODELS;
use crate::observed_support::checker::Checker;
use crate::script::Script;
use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_semantics::Wants;
use bugaroo_simulator::model::{ptx, store_buffer};
use bugaroo_simulator::{
    AllocationKind, Counts, DeviceConfig, End, Grid, LaunchSpec, LaunchWatch, Memory, MemoryModel,
    PctScheduler, Program, RandomScheduler, SchedulerStrategy,
};

#[derive(Clone, Copy, Debug)]
struct How {
    model: &'static str,
    lockstep: bool,
    pct: bool,
    seed: u64,
}

/// All launches of a file: how they end, what they count, what memory is in the end.
fn run(
    text: &str,
    script: &Script,
    how: How,
    told: Option<&mut BTreeMap<&'static str, u64>>,
) -> Option<Vec<(End, Counts, u64)>> {
    let module = bugaroo_ptx::parse(text).expect("the file parses");
    let config = DeviceConfig {
        lockstep: how.lockstep || script.launches.iter().any(|one| one.lockstep),
        late_copies: how.seed.is_multiple_of(2),
        patience: Some(1 << 24),
        ..DeviceConfig::default()
    };
    let mut memory = Memory::new(1 << 26).expect("address space");
    let program = Arc::new(Program::load(&module, &mut memory, &config).expect("the file loads"));
    let mut buffers = HashMap::new();
    let mut regions = Vec::new();
    for buffer in &script.buffers {
        let bytes = buffer.count * crate::script::size(&buffer.ty);
        let address = memory.alloc(bytes as u64, 256, AllocationKind::Program).expect("room");
        memory.write(address, &buffer.init).expect("allocated");
        buffers.insert(buffer.name.as_str(), address);
        regions.push((address, bytes));
    }
    let mut told = told;
    let mut ends = Vec::new();
    for one in &script.launches {
        let mut params = Vec::new();
        for argument in &one.arguments {
            let value = match argument.split_once(':') {
                Some((ty, value)) => crate::script::encode(ty, value),
                None => {
                    let (name, offset) = argument.split_once('+').unwrap_or((argument, "0"));
                    (buffers[name] + offset.parse::<u64>().expect("a number")).to_le_bytes().to_vec()
                }
            };
            params.resize(params.len().next_multiple_of(value.len()), 0);
            params.extend(value);
        }
        let seed = (how.seed, 0);
        let model: Option<Box<dyn MemoryModel>> = match how.model {
            "ptx" => {
                let settings = ptx::PtxSettings { pw: [0.75; 2], pr: [0.5; 2], seed, memory: 1 << 30 };
                Some(Box::new(ptx::PtxModel::new(&settings, Arc::new(ptx::Facts::new(&program)))))
            }
            "store-buffer" => {
                let settings = store_buffer::StoreBufferSettings { pw: [0.75; 2], seed, capacity: 16 };
                let sites = store_buffer::Sites::new(&program, &collect_sites(&module));
                Some(Box::new(store_buffer::StoreBuffer::new(&settings, Arc::new(sites))))
            }
            _ => None,
        };
        let scheduler: Box<dyn SchedulerStrategy> = if how.pct {
            Box::new(PctScheduler::new(how.seed, PctScheduler::DEPTH, None))
        } else {
            Box::new(RandomScheduler::new(how.seed))
        };
        let wants = Wants { branches: true, sources: how.seed % 4 != 3, before: false };
        let checker = told.is_some().then(|| Rc::new(RefCell::new(Checker::new(wants))));
        if let Some(checker) = &checker {
            checker.borrow_mut().strict = how.model.is_empty() || wants.sources;
        }
        let watch = checker.clone().map(|observer| LaunchWatch { observer, grid: 7, first_site: 1000 });
        let spec = LaunchSpec {
            kernel: &one.kernel,
            grid: one.grid,
            block: one.block,
            dynamic_shared: one.shared,
            params: &params,
            cluster: None,
            step_budget: Some(one.budget.unwrap_or(1 << 16)),
        };
        let before: Vec<Vec<u8>> = regions.iter().map(|region| bytes_of(&memory, *region)).collect();
        let program = Arc::clone(&program);
        let grid = Grid::with_model(program, &config, &spec, None, scheduler, model, watch);
        let Ok(mut grid) = grid else { return None };
        let end = grid.advance(&mut memory, u64::MAX).expect("it ends");
        ends.push((end.clone(), grid.counts(), memory.digest()));
        drop(grid);
        if let (Some(checker), Some(told)) = (checker, &mut told) {
            let checker = Rc::into_inner(checker).expect("the launch is over").into_inner();
            checker.finish();
            for (what, count) in &checker.told {
                *told.entry(what).or_default() += count;
            }
            if end == End::Complete && checker.strict {
                for (region, before) in regions.iter().zip(before) {
                    checker.compare(region.0, &before, &bytes_of(&memory, *region));
                }
            }
        }
    }
    Some(ends)
}

fn bytes_of(memory: &Memory, (address, bytes): (u64, usize)) -> Vec<u8> {
    let mut held = vec![0; bytes];
    memory.read(address, &mut held).expect("allocated");
    held
}

#[test]
fn files_are_told() {
    let mut all = BTreeMap::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ptx");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|f| f.expect("a file").path()).collect();
    files.sort();
    for path in files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "ptx")) {
        let text = std::fs::read_to_string(&path).expect("a text");
        let cuda = path.with_extension("cu");
        let directives =
            if cuda.exists() { std::fs::read_to_string(cuda).expect("a text") } else { text.clone() };
        let script = crate::script::parse(&directives);
        if script.refuse.is_some() || path.ends_with("endless_loop.ptx") {
            continue;
        }
        for model in MODELS {
            for lockstep in [false, true] {
                // It waits for lanes of its own warp: in lockstep it goes round for ever.
                if lockstep && path.ends_with("spin_in_warp.ptx") {
                    continue;
                }
                for seed in 0..6 {
                    let how = How { model, lockstep, pct: seed % 3 == 2, seed };
                    println!("{path:?} {how:?}");
                    let mut told = BTreeMap::new();
                    let with = run(&text, &script, how, Some(&mut told));
                    assert_eq!(with, run(&text, &script, how, None), "{path:?} {how:?}");
                    for (what, count) in told {
                        *all.entry(what).or_insert(0u64) += count;
                    }
                }
            }
        }
    }
    println!("{all:?}");
    for what in [
        "load",
        "store",
        "atomic",
        "fence",
        "arrive",
        "leave",
        "warp barrier",
        "block",
        "landed",
        "read from",
        "mbarrier init",
        "mbarrier arrive",
        "mbarrier phase",
        "mbarrier passed",
        "cluster arrive",
        "cluster leave",
        "copy issued",
        "copy done",
        "copy awaited",
        "copy counted",
        "split",
        "join",
        "else",
    ] {
        assert!(all.contains_key(what), "{what}");
    }
}
