//! What a kernel's warps do with given inputs: one straight line of commands each.

use crate::reference::{Command, Cta, Kind};

use super::{How, Inputs, Kernel, Parity, Place, Statement, Test, Trips};

/// Commands of a warp at which a run is given up.
const MOST: usize = 400;

struct Runner<'a> {
    kernel: &'a Kernel,
    inputs: &'a Inputs,
    warp: usize,
    /// Rounds of the loops around, by depth; of others, where they ended.
    rounds: [u32; 3],
    handed: u32,
    commands: Vec<Command>,
}

/// The threads' programs; None if they are too long.
pub fn run(kernel: &Kernel, inputs: &Inputs) -> Option<Cta> {
    let mut threads = Vec::new();
    for warp in 0..kernel.warps {
        let mut runner = Runner { kernel, inputs, warp, rounds: [0; 3], handed: 0, commands: Vec::new() };
        if kernel.is_cluster {
            runner.meet();
        }
        runner.block(&kernel.body, 0)?;
        if kernel.is_cluster {
            runner.meet();
        }
        threads.push(runner.commands);
    }
    Some(Cta { threads, barriers: 3, mbarriers: kernel.mbarriers.clone() })
}

impl Runner<'_> {
    fn meet(&mut self) {
        let members = (0..self.kernel.warps).collect();
        self.commands.push(Command::Meet { barrier: 0, members });
    }

    /// A number for each row.
    fn address(&self, place: Place) -> u32 {
        match place {
            Place::Common(row) => row,
            Place::Chosen => self.inputs.w[self.warp] & 1,
            Place::Own => 4 + self.warp as u32,
            Place::Next => 4 + ((self.warp + 1) % self.kernel.warps) as u32,
            Place::Alternating(depth) => 8 + (self.rounds[depth] & 1),
        }
    }

    fn block(&mut self, all: &[Statement], depth: usize) -> Option<()> {
        all.iter().try_for_each(|statement| self.statement(statement, depth))
    }

    fn statement(&mut self, statement: &Statement, depth: usize) -> Option<()> {
        let command = match statement {
            Statement::Access(how, place) => {
                let kind = match how {
                    How::Read => Kind::Read,
                    How::Write => Kind::Write,
                    How::Atomic => Kind::Atomic,
                };
                Command::Access { kind, address: self.address(*place), size: 1 }
            }
            Statement::Copy(place) => Command::GroupCopy { address: self.address(*place), size: 1 },
            Statement::Commit => Command::Commit,
            Statement::WaitGroup(left) => Command::WaitGroup { left: *left },
            Statement::Sync(id, warps) => Command::Sync { barrier: id + 1, count: *warps },
            Statement::Arrive(id, warps) => Command::Arrive { barrier: id + 1, count: *warps },
            Statement::Meet => {
                self.meet();
                return (self.commands.len() < MOST).then_some(());
            }
            Statement::MbarrierArrive(mbarrier) => Command::MbarrierArrive { mbarrier: *mbarrier },
            Statement::MbarrierWait(mbarrier, parity) => {
                let parity = match parity {
                    Parity::Fixed(parity) => *parity,
                    Parity::Round(depth, more) => (self.rounds[*depth] + more) & 1,
                };
                Command::MbarrierWait { mbarrier: *mbarrier, parity }
            }
            Statement::Raise(flag) => Command::Raise { flag: *flag },
            Statement::Poll(flag, least) => Command::Poll { flag: *flag, least: *least },
            Statement::Lock => Command::Lock,
            Statement::Unlock => Command::Unlock,
            Statement::Give if self.warp != 0 => return Some(()),
            Statement::Give => Command::Access { kind: Kind::Write, address: 16, size: 1 },
            Statement::Take => {
                self.handed = self.inputs.w[0];
                Command::Access { kind: Kind::Read, address: 16, size: 1 }
            }
            Statement::Exchange => return Some(()),
            Statement::Count => {
                self.handed = u32::from(self.inputs.w.iter().any(|loaded| *loaded != 0));
                self.meet();
                return (self.commands.len() < MOST).then_some(());
            }
            Statement::If(test, yes, no) => {
                return self.block(if self.holds(*test) { yes } else { no }, depth);
            }
            Statement::Loop(trips, body) => {
                let trips = match trips {
                    Trips::N => self.inputs.n,
                    Trips::M => self.inputs.m,
                    Trips::Loaded | Trips::Voted => self.inputs.w[self.warp],
                    Trips::Fixed(trips) => *trips,
                };
                for round in 0..trips {
                    self.rounds[depth] = round;
                    self.block(body, depth + 1)?;
                }
                self.rounds[depth] = trips;
                return Some(());
            }
        };
        self.commands.push(command);
        (self.commands.len() < MOST).then_some(())
    }

    fn holds(&self, test: Test) -> bool {
        match test {
            Test::Above(least) => self.inputs.n > least,
            Test::Flag => self.inputs.m != 0,
            Test::Loaded | Test::Voted => self.inputs.w[self.warp] != 0,
            Test::Handed => self.handed != 0,
            Test::Warp(warp) => self.warp == warp,
            Test::Round(depth, round) => self.rounds[depth] == round,
            Test::Odd(depth) => self.rounds[depth] & 1 != 0,
            Test::Before(depth) => self.rounds[depth] + 1 < self.inputs.n,
        }
    }
}
