//! `rare_bugs`: programs with one bug each that needs a rare interleaving of a few threads, and the same without it.
//!
//! Exit code 0 when the result is right, 1 with one line on stderr when it is not, 2 when the device could not be used at all. Which
//! bugs there are and how often they show is in `README.md` beside this crate's manifest.

use std::process::ExitCode;

use anyhow::Context as _;
use bugaroo_apps_host::{CheckVerdict, Device, conclude, shape};
use clap::{Parser, ValueEnum};
use cudarc::driver::PushKernelArg as _;

const KERNELS: &str = include_str!("../kernel.ptx");
const FURTHER: &str = include_str!("../further.ptx");
const LAST: &str = include_str!("../last.ptx");
/// Words of the memory that a program's parts share.
const WORDS: usize = 64;

/// Bugs that need a rare interleaving.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Which program
    #[arg(long, value_enum)]
    bug: Bug,

    /// Without the bug
    #[arg(long)]
    fixed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Bug {
    /// Publication through two hops, without the first fence
    TwoHops,
    /// A count of load, addition and store
    LostUpdate,
    /// A stack without locks, and without tags
    Aba,
    /// A sleeper and a waker that look too early
    LostWakeup,
    /// Double-checked initialisation without a fence
    DoubleChecked,
    /// A ticket lock with tickets of two bits
    TicketWrap,
    /// A sequence lock that asks for too little
    Seqlock,
    /// A ring that is full one item too late
    Ring,
    /// A reader of a message without a fence
    MissingAcquire,
    /// A record that is taken for whole too early
    Trailer,
    /// A barrier that is left before it is known which one it was
    LateLook,
    /// A node that is named too late
    Hazard,
    /// Marks that are there before their items
    Marks,
    /// Two that enter at one time, for want of a fence
    BothIn,
    /// A reader that counts itself too late
    TwoCopies,
    /// A queue with two ends whose owner lacks a fence
    Steal,
    /// A message that is said to be there before it is read
    EarlyAck,
    /// Two counts that are looked at in the wrong order
    TwoCounts,
}

impl Bug {
    fn kernel(self, fixed: bool) -> String {
        let name = self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        if fixed { format!("{name}_fixed") } else { name }
    }

    /// The module that its kernel is in.
    fn module(self) -> &'static str {
        match self {
            Bug::LateLook | Bug::Hazard | Bug::Marks | Bug::BothIn | Bug::TwoCopies => FURTHER,
            Bug::Steal | Bug::EarlyAck | Bug::TwoCounts => LAST,
            _ => KERNELS,
        }
    }

    /// Blocks of one thread.
    fn parts(self) -> u32 {
        match self {
            Bug::TwoHops | Bug::LateLook | Bug::EarlyAck => 3,
            Bug::DoubleChecked => 4,
            Bug::TicketWrap => 6,
            _ => 2,
        }
    }

    /// What memory holds at first.
    fn before(self) -> Vec<u32> {
        let mut memory = vec![0; WORDS];
        match self {
            Bug::Aba => memory[..4].copy_from_slice(&[1, 2, 3, 0]),
            Bug::Hazard => memory[..7].copy_from_slice(&[1, 0, 0, 0, 0, 5, 6]),
            Bug::Steal => memory[1] = 2,
            _ => {}
        }
        memory
    }

    /// What is wrong with memory afterwards.
    fn check(self, memory: &[u32]) -> Result<(), String> {
        let counts = |at: usize, wanted| match memory[at] == wanted {
            true => Ok(()),
            false => Err(format!("a count of {} instead of {wanted}", memory[at])),
        };
        match self {
            Bug::LostUpdate => counts(0, self.parts()),
            Bug::TicketWrap => counts(2, self.parts()),
            Bug::Aba => {
                let mut owners: Vec<u32> = memory[16..20].to_vec();
                let mut node = memory[0] & 0xffff;
                for _ in 0..4 {
                    if node == 0 {
                        break;
                    }
                    owners[node as usize] += 1;
                    node = memory[node as usize];
                }
                match owners[1..].iter().all(|count| *count == 1) {
                    true => Ok(()),
                    false => Err(format!("nodes are there {:?} times instead of once each", &owners[1..])),
                }
            }
            Bug::Steal => match memory[16..18].iter().all(|count| *count <= 1) {
                true => Ok(()),
                false => Err(format!("items were taken {:?} times instead of once at most", &memory[16..18])),
            },
            _ => Ok(()),
        }
    }
}

fn main() -> ExitCode {
    conclude("rare_bugs", run(&Options::parse()))
}

fn run(options: &Options) -> anyhow::Result<CheckVerdict> {
    let device = Device::open(options.bug.module())?;
    let name = options.bug.kernel(options.fixed);
    let kernel = device.kernel(&name)?;
    let stream = &device.stream;
    let mut memory = stream.clone_htod(&options.bug.before())?;
    let mut wrong = stream.alloc_zeros::<u32>(1)?;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&mut memory).arg(&mut wrong);
    // SAFETY: the arguments are the kernel's parameters, in order and type; it touches words below `WORDS` of the first, and one of the
    // second.
    unsafe { launch.launch(shape(options.bug.parts(), 1)) }.context("the launch failed")?;
    let memory = stream.clone_dtoh(&memory).context("the kernel failed")?;
    if stream.clone_dtoh(&wrong)?[0] != 0 {
        return Ok(Err(format!("{name}: a part has seen what must not be")));
    }
    Ok(match options.bug.check(&memory) {
        Ok(()) => Ok(format!("{name} is right")),
        Err(what) => Err(format!("{name}: {what}")),
    })
}
