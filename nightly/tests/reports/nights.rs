//! Nights made by hand.

use std::collections::BTreeMap;

use bugaroo_harness::Outcome;
use bugaroo_harness::findings::Share;
use bugaroo_harness::interval::clopper_pearson;
use bugaroo_nightly::night::{
    Cell, Change, Excerpt, Night, NightFinding, NightKernel, NightPlace, NightProgram, NightVerdict, NotRun,
    Past, SCHEMA, Stage, Status,
};
use bugaroo_nightly::plan::CellKind;
use bugaroo_nightly::plan::expect::Expected;
use bugaroo_protocol::{Model, Scheduler};

/// What a program may print to break a report.
pub const HOSTILE: &str =
    "</script><img src=x onerror=alert(1)> ]]> &amp; \" ' \0\x1b[31m\u{7}\u{202e}\u{ffff} {{7*7}} <!--";

/// No program at all.
pub fn empty() -> Night {
    Night {
        schema: SCHEMA,
        plan: "stress".into(),
        label: "2026-03-02".into(),
        plan_sha256: "5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592".into(),
        seed: u64::MAX,
        began: "2026-03-02T01:00:00Z".into(),
        ended: Some("2026-03-02T05:31:07Z".into()),
        complete: true,
        missing_shards: Vec::new(),
        bugaroo: "0.1.0".into(),
        verdict: NightVerdict::Red,
        compared_with: None,
        programs: Vec::new(),
        notes: Vec::new(),
    }
}

/// A program of these cells.
pub fn program(name: &str, cells: Vec<Cell>) -> NightProgram {
    NightProgram {
        name: name.into(),
        run: vec![format!("build/{name}"), "--size".into(), "4096".into()],
        sha256: Some("9e107d9d372bb6826bd81d3542a419d69e107d9d372bb6826bd81d3542a419d6".into()),
        error: None,
        baseline_ms: Some(41.7),
        without_fork_server: None,
        cells,
        findings: Vec::new(),
        kernels: Vec::new(),
        flush_lengths: BTreeMap::new(),
        explored: None,
        expectations: Vec::new(),
        notes: Vec::new(),
    }
}

/// A cell with so many failing trials.
pub fn cell(model: Model, pw: f64, failures: u64, trials: u64) -> Cell {
    let name = match model {
        Model::Bugaroo => "bugaroo",
        Model::StoreBuffer => "store-buffer",
        Model::Ptx => "ptx",
    };
    let outcomes = [(Outcome::Pass, trials - failures), (Outcome::WrongResult, failures)];
    Cell {
        key: format!("{name} pw={pw}"),
        kind: CellKind::Trials,
        model,
        pw,
        pr: 0.5,
        buffer: 256,
        scheduler: Scheduler::Random,
        trials,
        planned: Some(trials),
        failures,
        rate: (trials > 0).then(|| failures as f64 / trials as f64),
        ci95: clopper_pearson(failures, trials),
        outcomes: outcomes.into_iter().filter(|(_, trials)| *trials > 0).collect(),
        first_failing_trial: (failures > 0).then_some(17),
        delayed_stores: 3 * trials,
        forgetful: 0,
        spent_ms: 9 * trials,
        status: if trials == 0 {
            Status::Nothing
        } else if failures > 0 {
            Status::Fail
        } else {
            Status::Pass
        },
        reason: if failures > 0 { "wrong results".into() } else { String::new() },
        change: Change::None,
        before: (1..=30)
            .map(|night| Past {
                label: format!("2026-02-{night:02}"),
                told: if night == 7 { 0 } else { 1000 },
                failures: if failures > 0 { night * 37 % 29 } else { 0 },
            })
            .collect(),
    }
}

/// A place with a source, whose line is in the middle of its excerpt.
pub fn place(role: &str, file: &str, line: u32) -> NightPlace {
    let lines = [
        "    int tid = threadIdx.x;",
        "    partial[blockIdx.x] = sum;",
        "    if (tid == 0) {",
        "        unsigned done = atomicInc(&count, gridDim.x);",
        "        last = done == gridDim.x - 1;",
        "    }",
        "    __syncthreads();",
    ];
    NightPlace {
        role: role.into(),
        kernel: "reduce(float const*, float*, unsigned int)".into(),
        file: Some(file.into()),
        line: Some(line),
        ptx_line: Some(line * 7),
        excerpt: Some(Excerpt {
            first: line.saturating_sub(3).max(1),
            lines: lines.map(str::to_owned).to_vec(),
        }),
    }
}

/// A patch that puts a fence in.
pub const PATCH: &str = "diff --git a/src/reduce.cu b/src/reduce.cu\n--- a/src/reduce.cu\n+++ b/src/reduce.cu\n@@ -39,6 +39,7 @@ __global__ void reduce(float const *in)\n     int tid = threadIdx.x;\n     partial[blockIdx.x] = sum;\n     if (tid == 0) {\n+        __threadfence();\n         unsigned done = atomicInc(&count, gridDim.x);\n         last = done == gridDim.x - 1;\n     }\n";

/// A race between two lines.
pub fn race(number: u32, cells: &[&str]) -> NightFinding {
    let line = 40 + number % 9;
    NightFinding {
        fingerprint: format!("race reduce.cu:{line} {number:08x}"),
        kind: Expected::Race,
        title: format!("write-read race on global memory, {number}"),
        message: format!(
            "Thread 3 of block {number} writes 4 bytes at 0x7f0000001000.\nThread 0 of block 2 reads them later, and nothing orders the two.\nMissing: release by the writer; a __threadfence() adds it."
        ),
        places: vec![
            place("second access", "src/reduce.cu", line),
            place("first access", "src/reduce.cu", 40),
        ],
        cells: cells.iter().map(|key| (*key).to_owned()).collect(),
        trials: Share { seen: 12, of: 1000 },
        replay: format!("bugaroo replay reports/2026-03-02/runs/threadfence/{number} 17"),
        patch: PATCH.into(),
        patch_note: "2000 trials with the fence compiled in: no failure".into(),
        new: number.is_multiple_of(5),
        expected: None,
    }
}

/// All green, and compared with a night before.
pub fn green() -> Night {
    let mut one =
        program("hotspot", vec![cell(Model::StoreBuffer, 0.75, 0, 1000), cell(Model::Ptx, 0.75, 0, 1000)]);
    one.kernels.push(kernel("stencil(float*)", "verified", Status::Pass));
    let two = program("kmeans", vec![cell(Model::StoreBuffer, 0.5, 0, 500)]);
    Night {
        verdict: NightVerdict::Green,
        compared_with: Some("2026-03-01".into()),
        programs: vec![one, two],
        ..empty()
    }
}

/// A verified kernel.
pub fn kernel(name: &str, verdict: &str, status: Status) -> NightKernel {
    let text = format!("{name}: {verdict}\n128 threads, 2 barriers, 96 dynamic barriers\nall launches alike");
    NightKernel { name: name.into(), verdict: verdict.into(), launches: 12, status, text }
}

/// A night with a bit of all there is: news, cures, what is expected, what was not run, what was slow.
pub fn mixed() -> Night {
    let mut cells = Vec::new();
    for (model, times) in [(Model::Bugaroo, 3), (Model::StoreBuffer, 2), (Model::Ptx, 5)] {
        for (at, pw) in [0.1, 0.25, 0.5, 0.75, 0.9].into_iter().enumerate() {
            cells.push(cell(model, pw, at as u64 * times * (5 - at as u64), 1000));
        }
    }
    cells[1].change = Change::New { passed: 29_000 };
    cells[2].change = Change::Changed { before: 0.004, p: 0.000_03 };
    cells[5].change = Change::Cured { before: 0.012, p: 0.002 };
    cells[3].outcomes.insert(Outcome::Slow, 4);
    cells[3].outcomes.insert(Outcome::Killed, 1);
    cells[12].forgetful = 31;
    cells[13].planned = Some(4000);
    let mut reduce = program("threadfence-reduction", cells);
    let mut races = cell(Model::Ptx, 0.75, 0, 200);
    races.kind = CellKind::Races;
    races.key = "races ptx+hirace".into();
    races.status = Status::Fail;
    races.reason = "9 races, 2 of them new".into();
    reduce.cells.push(races);
    reduce.findings = (0..9).map(|number| race(number, &["races ptx+hirace", "ptx pw=0.75"])).collect();
    reduce.findings.push(NightFinding {
        kind: Expected::WrongResult,
        title: "the sum differs from the reference".into(),
        message: "expected 8388608, got 8386560".into(),
        places: Vec::new(),
        patch: String::new(),
        new: false,
        cells: vec!["store-buffer pw=0.5".into()],
        ..race(5, &[])
    });
    reduce.findings.push(NightFinding {
        expected: Some("known since the port; see the file's head".into()),
        ..race(6, &["bugaroo pw=0.9"])
    });
    reduce.kernels = vec![
        kernel("reduce(float const*, float*, unsigned int)", "verified", Status::Pass),
        kernel("scan<unsigned int, 256>(unsigned int*)", "races", Status::Fail),
    ];
    for (space, most) in [("global", 40), ("shared", 9)] {
        let lengths = (1..=most).map(|length| (length, 90_000 / (length * length))).collect();
        reduce.flush_lengths.insert(space.into(), lengths);
    }
    reduce.expectations =
        vec!["`race` at reduce.cu:41 (line 30 of the plan) has expired on 2026-02-28".into()];
    let mut broken = program("octree", Vec::new());
    broken.error = Some(NotRun {
        stage: Stage::Build,
        message: "make: *** [octree] Error 1\nkernel.cu(41): error: identifier \"foo\" is undefined".into(),
        expected: None,
    });
    let mut silent =
        program("scan", vec![cell(Model::Ptx, 0.5, 0, 0), cell(Model::StoreBuffer, 0.5, 0, 800)]);
    silent.without_fork_server = Some("it has two threads before its first launch".into());
    let mut known = program("streamcluster", vec![cell(Model::StoreBuffer, 0.5, 7, 800)]);
    known.cells[0].status = Status::Expected;
    known.cells[0].reason = "upstream knows of it".into();
    let mut night = green();
    night.verdict = NightVerdict::Red;
    night.complete = false;
    night.missing_shards = vec![3, 7];
    night.notes = vec!["the disk had room for 40 of 60 run directories".into()];
    night.programs.splice(0..0, [reduce, broken, silent, known]);
    night
}

/// The same with 500 findings.
pub fn many() -> Night {
    let mut night = mixed();
    let keys = ["races ptx+hirace", "ptx pw=0.75"];
    night.programs[0].findings.extend((20..220).map(|number| race(number, &keys)));
    let mut other = program(&"long-name-".repeat(300), vec![cell(Model::StoreBuffer, 0.75, 3, 1000)]);
    other.findings = (0..280)
        .map(|number| NightFinding { title: "x".repeat(3000), ..race(number, &["store-buffer pw=0.75"]) })
        .collect();
    night.programs.push(other);
    let all: usize = night.programs.iter().map(|program| program.findings.len()).sum();
    assert!(all >= 491, "{all} findings");
    night.programs[4].findings.extend((0..500 - all as u32).map(|number| race(number, &["ptx pw=0.75"])));
    night
}

/// A night in which all texts are hostile.
pub fn hostile() -> Night {
    let text = || HOSTILE.to_owned();
    let mut cell = cell(Model::Ptx, 0.5, 2, 10);
    cell.key = text();
    cell.reason = text();
    cell.before.iter_mut().for_each(|past| past.label = text());
    let mut hostile = program(HOSTILE, vec![cell]);
    hostile.run = vec![text(), text()];
    hostile.error = Some(NotRun { stage: Stage::Trials, message: text(), expected: None });
    hostile.without_fork_server = Some(text());
    let mut finding = race(0, &[HOSTILE]);
    for field in [
        &mut finding.fingerprint,
        &mut finding.title,
        &mut finding.message,
        &mut finding.replay,
        &mut finding.patch,
        &mut finding.patch_note,
    ] {
        *field = text();
    }
    for place in &mut finding.places {
        place.role = text();
        place.kernel = text();
        place.file = Some(text());
        place.excerpt = Some(Excerpt { first: u32::MAX - 1, lines: vec![text(); 4] });
    }
    hostile.findings =
        vec![finding.clone(), NightFinding { expected: Some(text()), patch: PATCH.into(), ..finding }];
    hostile.kernels = vec![kernel(HOSTILE, HOSTILE, Status::Nothing)];
    hostile.flush_lengths.insert(text(), BTreeMap::from([(0, u64::MAX), (u64::MAX, 1)]));
    hostile.expectations = vec![text()];
    hostile.notes = vec![text()];
    let mut night = empty();
    night.programs = vec![hostile];
    night.notes = vec![text()];
    for field in
        [&mut night.plan, &mut night.label, &mut night.plan_sha256, &mut night.began, &mut night.bugaroo]
    {
        *field = text();
    }
    night.ended = Some(text());
    night.compared_with = Some(text());
    night
}

/// All of them, with their names.
pub fn all() -> [(&'static str, Night); 5] {
    [("empty", empty()), ("green", green()), ("mixed", mixed()), ("many", many()), ("hostile", hostile())]
}
