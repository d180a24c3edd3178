//! Is a test of an mbarrier a wait? What the kernel does when the test fails is run, too: it must come back to the test without doing
//! anything that others could see.
//!
//! Registers that differ between no, one and more failed tests are not known afterwards: how often a test fails is open. The failing ways
//! are run again until nothing new differs, which is a least fixed point over "known or not".

use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::{Kind, NO_GUARD};

use super::arithmetic::arithmetic;
use super::machine::Machine;
use super::refusal::Refusal;
use super::registers::{Registers, Why, lanes};

/// Instructions of a failing way after which it counts as none that comes back.
const LONGEST: u32 = 4096;
/// Times that the failing ways are run.
const ROUNDS: u32 = 64;
/// Failing ways that are followed at a time: they part where a branch is open (waiting is often done by the clock).
const WAYS: usize = 256;

impl<'a> Machine<'a> {
    /// Runs what follows a failed test at `pc` for the lanes in `active`, whose answer goes to row `dst`, and forgets what depends on
    /// how often it fails.
    pub fn polled(
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
            let before = self.frames[frame].registers.clone();
            let registers = &mut self.frames[frame].registers;
            lanes(active).for_each(|lane| registers.write(dst, Width::Pred, lane, 0));
            registers.mark(dst, active, !0, Why::NEVER);
            let came_back = self.failing_ways(w, frame as u32, pc, active);
            self.frames[frame].registers = before;
            let registers = &mut self.frames[frame].registers;
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
        let mut ways = vec![(test + 1, self.frames[frame as usize].registers.clone())];
        let mut left = LONGEST;
        while let Some((from, registers)) = ways.pop() {
            self.frames[frame as usize].registers = registers;
            let mut pc = from;
            while pc != test {
                left = left.checked_sub(1).ok_or_else(|| self.no_wait(w, test, active))?;
                match self.failing_step(w, frame, pc, test, active)? {
                    (next, None) => pc = next,
                    (next, Some(other)) => {
                        if ways.len() + back.len() >= WAYS {
                            return Err(self.no_wait(w, test, active));
                        }
                        ways.push((other, self.frames[frame as usize].registers.clone()));
                        pc = next;
                    }
                }
            }
            back.push(self.frames[frame as usize].registers.clone());
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
        let code = self.set.image.code;
        let inst = &code[pc as usize];
        let (mut runs, mut doubtful) = (active, 0);
        if inst.guard != NO_GUARD {
            let registers = &self.frames[frame as usize].registers;
            let known = registers.known(inst.guard as i32);
            runs &= known & (registers.predicate(inst.guard as i32) ^ inst.guard_flip);
            doubtful = active & !known;
        }
        match inst.kind {
            Kind::Alu => {
                let info = &self.set.extras[pc as usize].arithmetic;
                let registers = &mut self.frames[frame as usize].registers;
                // SAFETY: the instruction is one of the function whose frame this is: no call was followed.
                unsafe { arithmetic(registers, inst, info, pc, runs, doubtful) };
            }
            Kind::Branch if doubtful == 0 && runs == active => return Ok((inst.extra, None)),
            Kind::Branch if doubtful == 0 && runs == 0 => {}
            Kind::Branch => return Ok((pc + 1, Some(inst.extra))),
            Kind::Nop => {}
            Kind::Fence if !self.set.extras[pc as usize].proxy_fence => {}
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
