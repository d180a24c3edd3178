//! What is told of a launch without a memory model is what is told of it under one that only looks on: random programs, event by event.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use crate::observed_support::{Launch, text};
use bugaroo_semantics::event::{Access, AccessKind, Addresses, Event};
use bugaroo_semantics::{Observer, Spares, Wants};
use bugaroo_simulator::{End, Rng};

/// Writes all down.
struct Recorder {
    wants: Wants,
    spares: Spares,
    told: Vec<String>,
}

impl Recorder {
    fn values(&self, access: &Access<'_>, line: &mut String) {
        for lane in access.by.each() {
            let _ = write!(line, " {lane}@{:x}:", access.address(lane));
            for element in 0..access.elements {
                let _ = write!(line, "{:x},", access.values.value(lane, element));
                if self.wants.before || matches!(access.kind, AccessKind::Atomic(_)) {
                    let _ = write!(line, "was {:x},", access.values.before(lane, element));
                }
            }
        }
    }
}

impl Observer for Recorder {
    fn wants(&self) -> Wants {
        self.wants
    }

    fn spares(&self) -> Spares {
        self.spares
    }

    fn access(&mut self, access: &Access<'_>) {
        let Access { by, site, kind, strength, acquire, release, memory, size, elements, .. } = *access;
        let at = match access.at {
            Addresses::Consecutive(first) => format!("from {first:x}"),
            Addresses::Same(all) => format!("all at {all:x}"),
            Addresses::Each(_) => "each".to_owned(),
        };
        let mut line = format!(
            "{memory:?} {at} {by:?} {site} {kind:?} {strength:?} {acquire} {release} {size}*{elements} wrote {:x} held {:x} own {:x} \
             sourced {:x} {:?}",
            access.wrote, access.held, access.own, access.sourced, access.numbers
        );
        self.values(access, &mut line);
        self.told.push(line);
    }

    fn event(&mut self, event: &Event<'_>) {
        self.told.push(format!("{event:?}"));
    }
}

/// Where an instruction goes: in which space, and an address for elements of up to so many bytes.
const PLACES: [(&str, &str, u32); 12] = [
    (".global", "%rd1", 4),
    (".global", "%rd0", 16),
    (".global", "%rd2", 4),
    (".global", "%rd5", 16),
    (".shared", "%r3", 4),
    (".shared", "values", 16),
    (".shared", "%r10", 4),
    ("", "%rd1", 4),
    ("", "%rd3", 4),
    // Half of the lanes each.
    ("", "%rd4", 4),
    ("", "%rd6", 4),
    // The thread's own.
    (".local", "mine", 16),
];

/// A body for [`text`].
fn body(rng: &mut Rng) -> String {
    let mut pick = |of: u64| ((rng.next() >> 32) * of) >> 32;
    let mut code = format!(
        ".local .align 16 .b8 mine[64];\nmul.lo.u32 %r9, %r1, {};\nand.b32 %r9, %r9, 255;\nshl.b32 %r9, %r9, 2;\n\
         cvt.u64.u32 %rd2, %r9;\nadd.u64 %rd2, %rd0, %rd2;\nmov.u32 %r10, values;\nadd.u32 %r10, %r10, %r9;\n\
         cvt.u64.u32 %rd3, %r10;\ncvta.shared.u64 %rd3, %rd3;\nand.b32 %r11, %r1, 1;\nsetp.eq.u32 %p1, %r11, 0;\n\
         selp.b64 %rd4, %rd2, %rd3, %p1;\nmul.wide.u32 %rd5, %r1, 16;\nadd.u64 %rd5, %rd0, %rd5;\nmov.u64 %rd6, mine;\n\
         cvta.local.u64 %rd6, %rd6;\nselp.b64 %rd6, %rd2, %rd6, %p1;\nsetp.lt.u32 %p2, %r1, {};\nsetp.gt.u32 %p3, %r1, {};\n\
         mov.u32 %r14, {};\nmov.f32 %f1, 0f3f800000;\nAGAIN:\n",
        [1, 3, 32, 0, 5, 2][pick(6) as usize],
        pick(64),
        pick(100),
        1 + pick(3)
    );
    for label in 0..8 + pick(16) {
        let (space, register, most) = PLACES[pick(12) as usize];
        let offset = pick(8) * u64::from(most.max(4));
        let at = format!("[{register}+{offset}]");
        let guard = ["", "", "", "@%p1 ", "@!%p1 ", "@%p2 ", "@%p3 "][pick(7) as usize];
        let order = match space {
            ".local" => "",
            _ => ["", "", "", ".volatile", ".relaxed.gpu", ".relaxed.cta"][pick(6) as usize],
        };
        let (acquire, release) = if order == ".relaxed.gpu" && pick(2) == 0 {
            (".acquire.gpu", ".release.gpu")
        } else {
            (order, order)
        };
        // Every so often beyond all memory.
        let at = if pick(150) == 0 { "[%rd0+1073741824]".to_owned() } else { at };
        let space = if at.contains("1073741824") { ".global" } else { space };
        let wide = most == 16 && pick(2) == 0;
        let line = match pick(14) {
            0..=2 if wide => {
                let vector = [
                    "ld{O}{S}.v2.u32 {%r5, %r6}",
                    "ld{O}{S}.v4.u32 {%r5, %r6, %r7, %r8}",
                    "ld{O}{S}.u64 %rd7",
                ];
                vector[pick(3) as usize].replace("{O}", acquire).replace("{S}", space) + &format!(", {at};")
            }
            0..=2 => format!("ld{acquire}{space}.{} %r5, {at};", ["u32", "u8", "s16"][pick(3) as usize]),
            3..=5 if wide => {
                let vector = [
                    "st{O}{S}.v2.u32 {A}, {%r4, %r6}",
                    "st{O}{S}.v4.u32 {A}, {%r5, %r4, %r7, %r8}",
                    "st{O}{S}.u64 {A}, %rd7",
                ];
                vector[pick(3) as usize].replace("{O}", release).replace("{S}", space).replace("{A}", &at)
                    + ";"
            }
            3..=5 => format!("st{release}{space}.{} {at}, %r4;", ["u32", "u8", "u16"][pick(3) as usize]),
            6 => format!("ld.const.u32 %r6, [bank+{}];", 4 * pick(4)),
            7 => [
                "membar.gl;",
                "fence.acq_rel.cta;",
                "membar.sys;",
                "fence.sc.gpu;",
                "nanosleep.u32 20;",
                "fence.proxy.async;",
            ][pick(6) as usize]
                .to_owned(),
            // The register that holds the address is overwritten by what it is given, and made anew.
            8 => {
                code += "mov.u32 %r12, %r10;\nld.shared.u32 %r12, [%r12];\n";
                continue;
            }
            9 => {
                code += &format!(
                    "@%p2 bra OVER{label};\nadd.u32 %r4, %r4, 3;\nst.shared.u32 [%r3], %r4;\nOVER{label}:\n"
                );
                continue;
            }
            10 => {
                code += if pick(2) == 0 { "bar.warp.sync -1;\n" } else { "bar.sync 0;\n" };
                continue;
            }
            _ if space == ".local" || register == "%rd6" => continue,
            _ => match pick(10) {
                0 => format!("red.relaxed.gpu{space}.add.u32 {at}, %r4;"),
                1 => format!("atom{space}.add.u32 %r7, {at}, -2;"),
                2 => format!("atom{space}.cas.b32 %r7, {at}, %r7, %r4;"),
                // What it has read takes the operand's place.
                3 => format!("atom.acq_rel.cta{space}.exch.b32 %r8, {at}, %r8;"),
                4 => format!("atom{space}.inc.u32 %r7, {at}, 5;"),
                5 => format!("atom{space}.add.noftz.f16x2 %r7, {at}, %r4;"),
                6 => format!("atom{space}.add.f32 %f2, {at}, %f1;"),
                7 if most == 16 => format!("atom{space}.max.s64 %rd7, {at}, %rd7;"),
                8 if most == 16 => format!("atom{space}.exch.b128 %q1, {at}, %q1;"),
                9 if most == 16 => format!("atom{space}.cas.b128 %q1, {at}, %q1, %q2;"),
                _ => format!("atom{space}.min.s32 %r7, {at}, %r4;"),
            },
        };
        code += &format!("{guard}{line}\n");
    }
    code + "sub.u32 %r14, %r14, 1;\nsetp.ne.u32 %p0, %r14, 0;\n@%p0 bra AGAIN;\n"
}

/// What is told, and how the launch is left.
fn record(launch: &Launch<'_>, wants: Wants, spares: Spares) -> (Vec<String>, crate::observed_support::Left) {
    let recorder = Rc::new(RefCell::new(Recorder { wants, spares, told: Vec::new() }));
    let left = launch.run(Some(recorder.clone()));
    (std::mem::take(&mut recorder.borrow_mut().told), left)
}

#[test]
fn both_ways_tell_the_same() {
    let programs = std::env::var("BUGAROO_TRACES").ok().and_then(|count| count.parse().ok()).unwrap_or(150);
    let (mut lines, mut faults, mut spared) = (0, 0, 0);
    let mut kinds = vec![
        "Global from",
        "Global all at",
        "Global each",
        "Shared(1) from",
        "Shared(0) all at",
        "Shared(0) each",
        "Load",
        "Store",
        "Atomic(Add) Strong",
        "Atomic(Cas)",
        "Atomic(Exch)",
        "Strong(Gpu) false false 2*1 wrote",
        "16*1 wrote",
        "4*4 wrote",
        "Fence",
        "ProxyFence",
        "WarpBarrier",
        "Arrive",
        "Leave",
        "Split",
        "Exit",
        "BlockEnd",
    ];
    for seed in 0..programs {
        let mut rng = Rng::new(seed);
        let ptx = text(&body(&mut rng))
            .replace(".visible .entry", ".const .align 4 .b32 bank[4] = {5, 6, 7, 8};\n.visible .entry");
        let bits = rng.next();
        let wants = Wants { branches: bits & 1 != 0, sources: bits & 2 != 0, before: bits & 4 != 0 };
        let launch = Launch {
            grid: 2,
            block: [64, 48, 33][seed as usize % 3],
            seed,
            lockstep: bits & 8 != 0,
            pct: bits & 48 == 0,
            ..Launch::new(&ptx)
        };
        let hooked = Launch { model: "looks on", ..launch.clone() };
        let all = record(&launch, wants, Spares::default());
        assert_eq!(all, record(&hooked, wants, Spares::default()), "{ptx}");
        assert_eq!(all.1, launch.run(None), "{ptx}");
        lines += all.0.len();
        kinds.retain(|kind| !all.0.iter().any(|line| line.contains(kind)));
        faults += u32::from(matches!(all.1.end, End::Fault(_)));
        for spares in [
            Spares { shared: true, ..Spares::default() },
            Spares {
                shared: bits & 64 != 0,
                covered: true,
                led: bits & 128 != 0,
                unwritten: bits & 256 != 0,
            },
        ] {
            let less = record(&launch, wants, spares);
            assert_eq!(less, record(&hooked, wants, spares), "{ptx}");
            assert_eq!(less.1, all.1, "{ptx}");
            // What is left comes in the same order, and is the same.
            let mut rest = all.0.iter();
            assert!(less.0.iter().all(|line| rest.any(|told| told == line)), "{ptx}");
            if spares.shared {
                assert!(!less.0.iter().any(|line| line.starts_with("Shared(")));
            }
            if !spares.covered {
                let global = all.0.iter().filter(|line| !line.starts_with("Shared("));
                assert!(global.eq(&less.0), "{ptx}");
            }
            spared += all.0.len() - less.0.len();
        }
    }
    assert!(lines > 50 * programs as usize && faults > 0 && spared > 0, "{lines} {faults} {spared}");
    assert!(kinds.is_empty(), "never told: {kinds:?}");
}
