//! Whoever spares loads of memory that a launch does not write is not told of these, and of nothing else less: random kernels
//! over several buffers, one of which may be written by a way that the text does not show.

use std::cell::RefCell;
use std::rc::Rc;

use crate::observed_support::{BUFFER, Launch};
use bugaroo_semantics::event::{Access, AccessKind, Event, WhoseBytes};
use bugaroo_semantics::{Observer, Spares, Wants};
use bugaroo_simulator::{End, Rng};

/// What is told: an access with its first lane's address, or a store that was not foreseen, by the first address of the allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Access(AccessKind, WhoseBytes, u64),
    Unforeseen(u64),
}

struct Recorder {
    unwritten: bool,
    told: Vec<Told>,
}

impl Observer for Recorder {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn spares(&self) -> Spares {
        Spares { unwritten: self.unwritten, ..Spares::default() }
    }

    fn access(&mut self, access: &Access<'_>) {
        let address = access.address(access.by.mask.trailing_zeros());
        self.told.push(Told::Access(access.kind, access.memory, address));
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::UnforeseenWrite { range, .. } = event {
            self.told.push(Told::Unforeseen(range.address));
        }
    }
}

fn record(launch: &Launch<'_>, unwritten: bool) -> Vec<Told> {
    let recorder = Rc::new(RefCell::new(Recorder { unwritten, told: Vec::new() }));
    let left = launch.run(Some(recorder.clone()));
    assert_eq!(left.end, End::Complete, "{}", launch.ptx);
    std::mem::take(&mut recorder.borrow_mut().told)
}

const BUFFERS: usize = 4;

/// A kernel over [`BUFFERS`] buffers: `%rd1` and so on are the thread's words of them. The number behind them is how far apart the first two are.
fn text(code: &str) -> String {
    let names = ["a", "b", "c", "d"];
    let params: String = names.map(|name| format!(".param .u64 {name}, ")).concat();
    let loads: String = names
        .iter()
        .zip(1..)
        .map(|(name, at)| format!("ld.param.u64 %rd{at}, [{name}];\nadd.u64 %rd{at}, %rd{at}, %rd0;\n"))
        .collect();
    format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n.const .align 4 .b32 bank[4] = {{5, 6, 7, 8}};\n\
         .visible .entry k({params}.param .u64 apart)\n{{\n.reg .b64 %rd<12>;\n.reg .b32 %r<8>;\n\
         .shared .align 4 .b8 tile[256];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd0, %r1, 4;\n{loads}\
         mov.u64 %rd8, tile;\ncvta.shared.u64 %rd8, %rd8;\nadd.u64 %rd8, %rd8, %rd0;\nld.param.u64 %rd9, [apart];\n{code}ret;\n}}\n"
    )
}

/// Loads of any buffer, writes to some; `hidden`: a store to the first one that looks like one to the second.
fn body(rng: &mut Rng, hidden: bool) -> String {
    let mut pick = |of: u64| ((rng.next() >> 32) * of) >> 32;
    let writes = pick(1 << BUFFERS);
    let mut lines = Vec::new();
    for _ in 0..6 + pick(10) {
        let buffer = pick(BUFFERS as u64);
        let space = [".global", ""][pick(2) as usize];
        lines.push(match pick(6) {
            _ if writes >> buffer & 1 != 0 && pick(3) == 0 => match pick(3) {
                0 => format!("st{space}.u32 [%rd{}], %r1;\n", buffer + 1),
                1 => format!("red{space}.add.u32 [%rd{}+4], 1;\n", buffer + 1),
                _ => format!("atom{space}.exch.b32 %r3, [%rd{}], %r1;\n", buffer + 1),
            },
            0 => "st.u32 [%rd8], %r1;\n".to_owned(),
            1 => "ld.const.u32 %r2, [bank+4];\n".to_owned(),
            _ => format!("ld{space}.u32 %r2, [%rd{}+{}];\n", buffer + 1, 4 * pick(3)),
        });
    }
    if hidden {
        let at = pick(lines.len() as u64) as usize;
        lines.insert(at, "sub.u64 %rd10, %rd2, %rd9;\nst.global.u32 [%rd10], %r1;\n".to_owned());
    }
    lines.concat()
}

#[test]
fn what_is_spared_is_read_and_not_written() {
    let (mut spared, mut unforeseen, mut foreseen) = (0, 0, 0);
    let empty = text("");
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let hidden = seed % 4 == 0;
        let ptx = text(&body(&mut rng, hidden));
        let launch = Launch { seed, grid: 2, buffers: BUFFERS, numbers: &[0], ..Launch::new(&empty) };
        let buffers: Vec<u64> = launch.run(None).buffers.iter().map(|(address, _)| *address).collect();
        let numbers = [buffers[1] - buffers[0]];
        let launch = Launch { ptx: &ptx, numbers: &numbers, ..launch };
        let all = record(&launch, false);
        let less = record(&launch, true);
        let hooked = Launch { model: "looks on", ..launch.clone() };
        assert_eq!(less, record(&hooked, true), "{ptx}");
        assert!(!all.iter().any(|told| matches!(told, Told::Unforeseen(_))));

        let of_buffer = |address: u64, first: u64| address.wrapping_sub(first) < BUFFER;
        let mut rest = less.iter().filter(|told| !matches!(told, Told::Unforeseen(_))).peekable();
        let mut left_out = Vec::new();
        for told in &all {
            if rest.peek() == Some(&told) {
                rest.next();
            } else {
                left_out.push(*told);
            }
        }
        assert!(rest.next().is_none(), "what is left comes in the same order, and is the same: {ptx}");
        let late = less.iter().find_map(|told| match told {
            Told::Unforeseen(first) => Some(*first),
            Told::Access(..) => None,
        });
        for told in &left_out {
            let Told::Access(AccessKind::Load, WhoseBytes::Global, address) = *told else {
                panic!("{told:?} was left out: {ptx}")
            };
            // Nobody writes to the same buffer, unless that was not foreseen.
            if !late.is_some_and(|first| of_buffer(address, first)) {
                let buffer = |address: u64| buffers.iter().position(|first| of_buffer(address, *first));
                let writes = |told: &&Told| match told {
                    Told::Access(kind, WhoseBytes::Global, other) => {
                        kind.writes() && buffer(*other) == buffer(address)
                    }
                    _ => false,
                };
                assert_eq!(all.iter().find(writes), None, "{address:x} was left out: {ptx}");
            }
        }
        if let Some(first) = late {
            assert!(hidden, "{ptx}");
            let at = less.iter().position(|told| *told == Told::Unforeseen(first)).expect("it is there");
            let behind =
                |told: &&Told| matches!(told, Told::Access(_, _, address) if of_buffer(*address, first));
            let count = less[at..].iter().filter(behind).count();
            // From there on, all accesses of it are told.
            let last = all.iter().rev().filter(behind).take(count);
            assert!(last.eq(less[at..].iter().rev().filter(behind)), "{ptx}");
            assert!(count > 0, "the store itself is told: {ptx}");
            unforeseen += 1;
        } else if hidden {
            // The first buffer is written in other ways, too, or never read before.
            foreseen += 1;
        }
        spared += left_out.len();
    }
    assert!(spared > 1000 && unforeseen > 10 && foreseen > 5, "{spared} {unforeseen} {foreseen}");
}
