//! Is a test of an mbarrier a wait? What the kernel does when the test fails is run, too: it must come back to the test without doing
//! anything that others could see.
//!
//! Registers that differ between no, one and more failed tests are not known afterwards: how often a test fails is open. The failing ways
//! are run again until nothing new differs, which is a least fixed point over "known or not".
//!
//! A first test may stand before the loop (a peeled wait): where it fails, the same is tested again in a loop, and both ways meet behind that.
//! Then all of it is one wait: what lies between touches registers alone, and those that differ where the ways meet are not known
//! from there on.

use bugaroo_ptx::op::MbarrierOp;
use bugaroo_simulator::decoded::{Asynchronous, Kind, NO_GUARD};

use super::arithmetic::arithmetic;
use super::machine::Machine;
use super::refusal::Refusal;
use super::registers::{Registers, Why, lanes};

/// Instructions of a failing way after which it counts as none that comes back.
const LONGEST: u32 = 4096;
/// Instructions between a first test and the loop behind it, and from each of them to where they meet.
const PEEL: u32 = 16;
/// Times that the failing ways are run.
const ROUNDS: u32 = 64;
/// Failing ways that are followed at a time: they part where a branch is open (waiting is often done by the clock).
const WAYS: usize = 256;

impl<'a> Machine<'a> {
    /// Checks that the test at `pc`, whose answer goes to row `dst`, is a wait for the lanes in `active`, alone or with a loop behind it;
    /// forgets what depends on how often it fails; and answers where the lanes go on.
    pub fn polled(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        active: u32,
        dst: Option<u32>,
    ) -> Result<u32, Refusal> {
        match self.looped(w, fragment, pc, active, dst) {
            Ok(()) => Ok(pc + 1),
            Err(refusal) => {
                let peeled = dst.map(|dst| self.peeled(w, fragment, pc, active, dst)).transpose()?;
                peeled.flatten().ok_or(refusal)
            }
        }
    }

    /// A test before a loop that tests the same: where the two ways meet. None if it is nothing of the kind.
    fn peeled(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        active: u32,
        dst: u32,
    ) -> Result<Option<u32>, Refusal> {
        let frame = self.warps[w].fragments[fragment].frame;
        let before = self.calls.frames[frame as usize].registers.clone();
        let found = self.peeled_from(w, fragment, (frame, pc), active, dst, &before);
        if !matches!(found, Ok(Some(_))) {
            self.calls.frames[frame as usize].registers = before;
        }
        found
    }

    fn peeled_from(
        &mut self,
        w: usize,
        fragment: usize,
        (frame, pc): (u32, u32),
        active: u32,
        dst: u32,
        before: &Registers<'a>,
    ) -> Result<Option<u32>, Refusal> {
        let Some(first) = self.test_at(w, frame, pc, active)? else { return Ok(None) };
        self.answer(frame, dst, active, false);
        let mut again = pc + 1;
        let mut left = PEEL;
        let (second, row) = loop {
            if let Some(found) = self.test_at(w, frame, again, active)? {
                break found;
            }
            left -= 1;
            match self.failing_step(w, frame, again, pc, active) {
                Ok((next, None)) if left > 0 && next != pc => again = next,
                _ => return Ok(None),
            }
        };
        let same = lanes(active).all(|lane| first.0[lane] == second[lane]);
        if again == pc || !same || self.looped(w, fragment, again, active, Some(row)).is_err() {
            return Ok(None);
        }
        self.answer(frame, row, active, true);
        let by_loop = self.way(w, frame, again + 1, active);
        self.calls.frames[frame as usize].registers = before.clone();
        self.answer(frame, dst, active, true);
        let at_once = self.way(w, frame, pc + 1, active);
        let meet = at_once.iter().find_map(|(at, one)| {
            by_loop.iter().find(|(other, _)| other == at).map(|(_, other)| (*at, one, other))
        });
        let Some((at, one, other)) = meet else { return Ok(None) };
        let differ: Vec<u32> = one.differences(other).into_iter().collect();
        let mut merged = one.clone();
        for row in differ {
            merged.mark(row, active, 0, Why::at(pc));
        }
        self.calls.frames[frame as usize].registers = merged;
        Ok(Some(at))
    }

    /// If there is a test of an mbarrier that all these lanes execute: what each waits for, and the row of the answer.
    #[expect(clippy::type_complexity, reason = "what `awaited` answers, and a row")]
    fn test_at(
        &self,
        w: usize,
        frame: u32,
        pc: u32,
        active: u32,
    ) -> Result<Option<([(u32, u32, u32, u32); 32], u32)>, Refusal> {
        let image = self.set.code.image;
        let inst = &image.code[pc as usize];
        if inst.kind != Kind::Asynchronous {
            return Ok(None);
        }
        let Asynchronous::Mbarrier {
            op: MbarrierOp::Wait { parity, .. },
            address,
            value,
            dst: Some(dst),
            ..
        } = &image.asyncs[inst.extra as usize]
        else {
            return Ok(None);
        };
        if inst.guard != NO_GUARD {
            let registers = &self.calls.frames[frame as usize].registers;
            let runs = registers.predicate(inst.guard as i32) ^ inst.guard_flip;
            if active & !(runs & registers.known(inst.guard as i32)) != 0 {
                return Ok(None);
            }
        }
        Ok(Some((self.awaited(w, frame, pc, active, address, (*value, *parity))?, *dst)))
    }

    /// Writes the answer of a test.
    fn answer(&mut self, frame: u32, row: u32, active: u32, yes: bool) {
        self.calls.frames[frame as usize].registers.set_predicate(row, active, yes);
    }

    /// The instructions from `pc` on that touch registers alone, and the one behind them, each with the registers before it.
    fn way(&mut self, w: usize, frame: u32, mut pc: u32, active: u32) -> Vec<(u32, Registers<'a>)> {
        let mut all = Vec::new();
        while all.len() < PEEL as usize {
            all.push((pc, self.calls.frames[frame as usize].registers.clone()));
            match self.failing_step(w, frame, pc, pc, active) {
                Ok((next, None)) => pc = next,
                _ => break,
            }
        }
        all
    }

    /// Runs what follows a failed test at `pc` for the lanes in `active`, whose answer goes to row `dst`, and forgets what depends on
    /// how often it fails.
    fn looped(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        active: u32,
        dst: Option<u32>,
    ) -> Result<(), Refusal> {
        let frame = self.warps[w].fragments[fragment].frame as usize;
        let Some(dst) = dst else { return Ok(()) };
        for _ in 0..ROUNDS {
            let before = self.calls.frames[frame].registers.clone();
            self.calls.frames[frame].registers.set_predicate(dst, active, false);
            let came_back = self.failing_ways(w, frame as u32, pc, active);
            self.calls.frames[frame].registers = before;
            let registers = &mut self.calls.frames[frame].registers;
            let mut news = false;
            for after in came_back? {
                for row in after.differences(registers) {
                    if row != dst && registers.known(row as i32) & active != 0 {
                        registers.mark(row, active, 0, Why::at(pc));
                        news = true;
                    }
                }
            }
            if !news {
                return Ok(());
            }
        }
        Err(self.no_wait(w, pc, active))
    }

    fn no_wait(&self, w: usize, pc: u32, active: u32) -> Refusal {
        let lane = active.trailing_zeros() as usize;
        let message = "a test of an mbarrier that is no loop until it succeeds: what follows depends on the order of threads";
        self.unsupported(w, pc, lane, message)
    }

    /// The registers with which the failing ways come back to the test. Where lanes may part, all of them are taken both ways, which
    /// covers what each of them does.
    fn failing_ways(
        &mut self,
        w: usize,
        frame: u32,
        test: u32,
        active: u32,
    ) -> Result<Vec<Registers<'a>>, Refusal> {
        let mut back = Vec::new();
        let mut ways = vec![(test + 1, self.calls.frames[frame as usize].registers.clone())];
        let mut left = LONGEST;
        while let Some((from, registers)) = ways.pop() {
            self.calls.frames[frame as usize].registers = registers;
            let mut pc = from;
            while pc != test {
                left = left.checked_sub(1).ok_or_else(|| self.no_wait(w, test, active))?;
                match self.failing_step(w, frame, pc, test, active)? {
                    (next, None) => pc = next,
                    (next, Some(other)) => {
                        if ways.len() + back.len() >= WAYS {
                            return Err(self.no_wait(w, test, active));
                        }
                        ways.push((other, self.calls.frames[frame as usize].registers.clone()));
                        pc = next;
                    }
                }
            }
            back.push(self.calls.frames[frame as usize].registers.clone());
        }
        Ok(back)
    }

    /// One instruction of a failing way: where it goes on, and where else it might.
    fn failing_step(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        test: u32,
        active: u32,
    ) -> Result<(u32, Option<u32>), Refusal> {
        let code = self.set.code.image.code;
        let inst = &code[pc as usize];
        let (mut runs, mut doubtful) = (active, 0);
        if inst.guard != NO_GUARD {
            let registers = &self.calls.frames[frame as usize].registers;
            let known = registers.known(inst.guard as i32);
            runs &= known & (registers.predicate(inst.guard as i32) ^ inst.guard_flip);
            doubtful = active & !known;
        }
        match inst.kind {
            Kind::Alu => {
                let info = &self.set.code.extras[pc as usize].arithmetic;
                let head = &mut self.calls.frames[frame as usize];
                let flow = &self.set.code.flows[head.function as usize];
                let meaning = (&mut self.known.symbols, flow);
                // SAFETY: the instruction is one of the function whose frame this is: no call was followed.
                unsafe { arithmetic(&mut head.registers, inst, info, pc, runs, doubtful, meaning) };
            }
            Kind::Branch if doubtful == 0 && runs == active => return Ok((inst.extra, None)),
            Kind::Branch if doubtful == 0 && runs == 0 => {}
            Kind::Branch => return Ok((pc + 1, Some(inst.extra))),
            Kind::Nop => {}
            Kind::Fence if self.is_idle_fence(pc) => {}
            Kind::Special
            | Kind::Pack
            | Kind::Unpack
            | Kind::LocalAddress
            | Kind::IsSpace
            | Kind::Lanewise
            | Kind::ParamLoad
            | Kind::ParamStore => self.lane_data(w, frame, pc, inst, runs, doubtful)?,
            _ if runs == 0 && doubtful == 0 => {}
            _ => return Err(self.no_wait(w, test, active)),
        }
        Ok((pc + 1, None))
    }
}
