use bugaroo_harness::progress::Silent;
use bugaroo_harness::*;
use bugaroo_protocol::{Model, Scheduler};
use std::io::Write;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (app, out, trials, default) =
        (&args[1], &args[2], args[3].parse::<u64>().unwrap(), args[4].parse::<u64>().unwrap());
    let rest: Vec<String> = args[5..].to_vec();
    let target = Target::resolve_in(&std::env::current_dir().unwrap(), app, rest.clone()).unwrap();
    let library = DriverLibrary::find().unwrap();
    let interrupt = Interrupt::never();
    let settings = Settings { seed: 7, digest: false, jobs: Some(3), ..Settings::default() };
    let session = Session::start(target, settings, library, interrupt, &Silent).await.unwrap();
    let session = std::sync::Arc::new(session);
    let d = session
        .trials(&Variation::default(), 1_000_000..1_000_000 + default, Stop::Never, &Silent)
        .await
        .unwrap();
    let df = d.iter().filter(|r| r.outcome.is_failure()).count();
    eprintln!("{rest:?} default: {df}/{default}");
    let mut arms = Vec::new();
    for model in [Model::StoreBuffer, Model::Ptx] {
        for pw in [0.1, 0.5, 0.75, 0.95] {
            for x in 0..3 {
                for (scheduler, pct_depth) in [(Scheduler::Random, 3), (Scheduler::Pct, 3)] {
                    let base =
                        Variation { model, pw, scheduler, pct_depth, coverage: true, ..Variation::default() };
                    arms.push(if model == Model::Ptx {
                        Variation { pr: [0.1, 0.5, 0.9][x], ..base }
                    } else {
                        Variation { buffer: [1, 8, 256][x], ..base }
                    });
                }
            }
        }
    }
    let mut file = std::io::BufWriter::new(std::fs::File::create(out).unwrap());
    let (mut total, mut lens) = (0, 0);
    for (a, arm) in arms.iter().enumerate() {
        let mut fails = 0;
        session
            .full_trials_with(
                arm,
                (a as u64 * 100_000)..(a as u64 * 100_000 + trials),
                Stop::Never,
                &Silent,
                |full| {
                    let f = full.record.outcome.is_failure();
                    fails += u64::from(f);
                    lens += full.coverage.len();
                    total += 1;
                    let things: Vec<String> = full.coverage.iter().map(u32::to_string).collect();
                    writeln!(file, "{a} {} {}", u32::from(f), things.join(" ")).unwrap();
                    Ok(())
                },
            )
            .await
            .unwrap();
        if fails > 0 {
            eprint!(
                "{:?} pw{} pr{} b{} {:?}{}: {fails}; ",
                arm.model, arm.pw, arm.pr, arm.buffer, arm.scheduler, arm.pct_depth
            );
        }
    }
    eprintln!("\nthings per trial {}", lens / total);
}
