//! Random kernels. Each begins as one that hands over rightly in some way; most are strewn with accesses and branches, and in many something
//! is left out, doubled, or another number.

use crate::random::Random;

use super::{How, Kernel, Parity, Place, Statement, Test, Trips};

struct Maker {
    random: Random,
    warps: usize,
    is_cluster: bool,
    mbarriers: Vec<u32>,
    /// Statements that may still come.
    left: u32,
    /// Of a hundred statements, so many have a mistake.
    mistakes: usize,
}

/// The kernel of a number.
pub fn kernel(seed: u64) -> Kernel {
    let mut random = Random(seed << 20);
    let way = random.below(12);
    let warps = 2 + usize::from(random.below(4) == 0);
    let mistakes = [0, 0, 6, 12][random.below(4)];
    let mut maker = Maker { random, warps, is_cluster: way == 7, mbarriers: Vec::new(), left: 8, mistakes };
    let body = match way {
        0 | 1 => maker.anything(),
        2 => maker.named_roles(),
        3 | 4 => maker.mbarrier_roles(),
        5 => maker.copies(),
        6 => maker.handed_over(),
        8 => maker.flags(),
        9 => maker.locked(),
        10 => maker.looking_back(),
        11 => maker.counted(),
        _ => maker.anything(),
    };
    Kernel { warps: maker.warps, is_cluster: maker.is_cluster, mbarriers: maker.mbarriers, body }
}

impl Maker {
    fn chance(&mut self, of_hundred: usize) -> bool {
        self.random.below(100) < of_hundred
    }

    fn test(&mut self, depth: usize) -> Test {
        let inside = if depth > 0 { 4 } else { 0 };
        let round = self.random.below(depth.max(1));
        match self.random.below(7 + inside) {
            0 | 1 => Test::Above(self.random.below(3) as u32),
            2 | 3 => Test::Flag,
            4 => Test::Loaded,
            5 | 6 => Test::Warp(self.random.below(self.warps)),
            7 => Test::Round(round, self.random.below(3) as u32),
            8 => Test::Odd(round),
            _ => Test::Before(round),
        }
    }

    fn trips(&mut self) -> Trips {
        match self.random.below(6) {
            0..3 => Trips::N,
            3 => Trips::M,
            4 => Trips::Loaded,
            _ => Trips::Fixed(2),
        }
    }

    fn access(&mut self, depth: usize) -> Statement {
        let how = [How::Read, How::Write, How::Read, How::Write, How::Atomic][self.random.below(5)];
        let place = match self.random.below(8) {
            0 => Place::Common(self.random.below(2) as u32),
            1 | 2 if depth > 0 => Place::Alternating(self.random.below(depth)),
            3 => Place::Next,
            4 if self.chance(20) => Place::Chosen,
            _ => Place::Own,
        };
        Statement::Access(how, place)
    }

    /// Statements in which all threads meet, as a rule.
    fn block(&mut self, depth: usize, branches: u32) -> Vec<Statement> {
        let mut all = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let statement = match self.random.below(12) {
                0..4 => Statement::Meet,
                4 | 5 if branches < 3 => {
                    let test = self.test(depth);
                    let yes = self.block(depth, branches + 1);
                    let no = if self.chance(40) { self.block(depth, branches + 1) } else { Vec::new() };
                    Statement::If(test, yes, no)
                }
                6 | 7 if depth < 2 => {
                    let trips = self.trips();
                    Statement::Loop(trips, self.block(depth + 1, branches))
                }
                _ => self.access(depth),
            };
            all.push(statement);
        }
        all
    }

    fn anything(&mut self) -> Vec<Statement> {
        let mut all = self.block(0, 0);
        all.extend(self.block(0, 0));
        all
    }

    /// A statement of a protocol; with a mistake at times.
    fn add(&mut self, all: &mut Vec<Statement>, depth: usize, statement: Statement) {
        if self.chance(8) {
            let access = self.access(depth);
            all.push(self.perhaps(depth, access));
        }
        if !self.chance(self.mistakes) {
            return all.push(statement);
        }
        match self.random.below(4) {
            0 => {}
            1 => all.extend([statement.clone(), statement]),
            2 => {
                let test = self.test(depth);
                all.push(Statement::If(test, vec![statement], Vec::new()));
            }
            _ => all.push(self.changed(statement)),
        }
    }

    fn perhaps(&mut self, depth: usize, statement: Statement) -> Statement {
        match self.random.below(2) {
            0 => Statement::If(self.test(depth), vec![statement], Vec::new()),
            _ => statement,
        }
    }

    /// The statement with another number in it.
    fn changed(&mut self, statement: Statement) -> Statement {
        match statement {
            Statement::Sync(id, warps) if self.chance(50) => Statement::Arrive(id, warps),
            Statement::Sync(id, warps) => Statement::Sync((id + 1) % 2, warps),
            Statement::Arrive(id, warps) => Statement::Arrive((id + 1) % 2, warps),
            Statement::WaitGroup(left) => Statement::WaitGroup(left + 1),
            Statement::MbarrierArrive(mbarrier) => Statement::MbarrierArrive((mbarrier + 1) % 2),
            Statement::MbarrierWait(mbarrier, parity) => {
                let parity = match parity {
                    Parity::Fixed(parity) => Parity::Fixed(1 - parity),
                    Parity::Round(depth, more) => Parity::Round(depth, 1 - more),
                };
                Statement::MbarrierWait(mbarrier, parity)
            }
            Statement::Raise(flag) => Statement::Raise(1 - flag),
            Statement::Poll(flag, least) => Statement::Poll(flag, least - 1),
            Statement::Access(how, Place::Own) => Statement::Access(how, Place::Next),
            Statement::Access(how, _) => Statement::Access(how, Place::Common(0)),
            Statement::Copy(_) => Statement::Copy(Place::Common(1)),
            other => other,
        }
    }

    /// Two loops of as many rounds, a warp's and that of the others.
    fn roles(&mut self, trips: Trips, first: Vec<Statement>, second: Vec<Statement>) -> Vec<Statement> {
        let mut between = |body: Vec<Statement>| match (self.random.below(6), trips) {
            // In a branch around the loop, as compilers put it.
            (0, Trips::N) => {
                vec![Statement::If(Test::Above(0), vec![Statement::Loop(Trips::N, body)], Vec::new())]
            }
            _ => vec![Statement::Loop(trips, body)],
        };
        let (first, second) = (between(first), between(second));
        vec![Statement::If(Test::Warp(0), first, second)]
    }

    /// Warp 0 fills a row, the others read it: by two named barriers.
    fn named_roles(&mut self) -> Vec<Statement> {
        let all = self.warps as u32;
        let (mut first, mut second, mut body) = (Vec::new(), Vec::new(), Vec::new());
        let row = Place::Common(0);
        self.add(&mut first, 1, Statement::Sync(1, all));
        self.add(&mut first, 1, Statement::Access(How::Write, row));
        self.add(&mut first, 1, Statement::Arrive(0, all));
        self.add(&mut second, 1, Statement::Sync(0, all));
        self.add(&mut second, 1, Statement::Access(How::Read, row));
        self.add(&mut second, 1, Statement::Arrive(1, all));
        let mut before = Vec::new();
        self.add(&mut before, 0, Statement::Arrive(1, all));
        body.push(Statement::If(Test::Warp(0), Vec::new(), before));
        let trips = self.shared_trips();
        body.extend(self.roles(trips, first, second));
        body
    }

    fn shared_trips(&mut self) -> Trips {
        match self.random.below(8) {
            0 => Trips::M,
            1 => Trips::Fixed(2),
            _ => Trips::N,
        }
    }

    /// The same by two mbarriers; in a loop, or once.
    fn mbarrier_roles(&mut self) -> Vec<Statement> {
        let others = self.warps as u32 - 1;
        self.mbarriers = vec![1, others];
        let row = Place::Common(0);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let once = self.chance(20);
        let parity = |more| if once { Parity::Fixed(more) } else { Parity::Round(0, more) };
        self.add(&mut first, 1, Statement::MbarrierWait(1, parity(1)));
        self.add(&mut first, 1, Statement::Access(How::Write, row));
        self.add(&mut first, 1, Statement::MbarrierArrive(0));
        self.add(&mut second, 1, Statement::MbarrierWait(0, parity(0)));
        self.add(&mut second, 1, Statement::Access(How::Read, row));
        self.add(&mut second, 1, Statement::MbarrierArrive(1));
        if once {
            return vec![Statement::If(Test::Warp(0), first, second)];
        }
        let trips = self.shared_trips();
        self.roles(trips, first, second)
    }

    /// Each warp copies a row while it works on another.
    fn copies(&mut self) -> Vec<Statement> {
        let (mut all, mut body) = (Vec::new(), Vec::new());
        let place = if self.chance(50) { Place::Own } else { Place::Alternating(0) };
        let ahead = place == Place::Own && self.chance(30);
        if ahead {
            self.add(&mut all, 0, Statement::Copy(place));
            self.add(&mut all, 0, Statement::Commit);
        } else {
            let copy = Statement::Copy(place);
            let leader = Test::Warp(0);
            let copy = match place {
                Place::Own => copy,
                _ => Statement::If(leader, vec![copy], Vec::new()),
            };
            self.add(&mut body, 1, copy);
            self.add(&mut body, 1, Statement::Commit);
        }
        self.add(&mut body, 1, Statement::WaitGroup(0));
        self.add(&mut body, 1, Statement::Meet);
        let read = if place == Place::Own { Place::Next } else { place };
        self.add(&mut body, 1, Statement::Access(How::Read, read));
        if place == Place::Own || self.chance(50) {
            self.add(&mut body, 1, Statement::Meet);
        }
        if ahead {
            self.add(&mut body, 1, Statement::Copy(place));
            self.add(&mut body, 1, Statement::Commit);
        }
        let trips = self.shared_trips();
        all.push(Statement::Loop(trips, body));
        if self.chance(30) {
            self.add(&mut all, 0, Statement::WaitGroup(0));
        }
        all
    }

    /// Warp 0 hands a number to all, by which they go on.
    fn handed_over(&mut self) -> Vec<Statement> {
        let (mut all, depth) = (Vec::new(), usize::from(self.chance(50)));
        self.add(&mut all, depth, Statement::Give);
        self.add(&mut all, depth, Statement::Meet);
        self.add(&mut all, depth, Statement::Take);
        self.add(&mut all, depth, Statement::Meet);
        let yes = self.block(depth, 1);
        let no = if self.chance(50) { self.block(depth, 1) } else { Vec::new() };
        all.push(Statement::If(Test::Handed, yes, no));
        all.extend(self.block(depth, 1));
        if depth > 0 { vec![Statement::Loop(self.shared_trips(), all)] } else { all }
    }

    /// Each warp looks back in a loop that it leaves as a whole, and shows the others what it has found.
    fn looking_back(&mut self) -> Vec<Statement> {
        let (mut all, mut body) = (Vec::new(), Vec::new());
        self.add(&mut body, 1, Statement::Exchange);
        if self.chance(50) {
            let inner = vec![Statement::Exchange];
            let again = if self.chance(50) { Trips::Voted } else { Trips::Loaded };
            body.push(match self.chance(50) {
                true => Statement::If(Test::Voted, inner, Vec::new()),
                false => Statement::Loop(again, inner),
            });
        }
        if self.chance(30) {
            self.add(&mut body, 1, Statement::Access(How::Write, Place::Own));
        }
        let trips = if self.chance(90) { Trips::Voted } else { Trips::Loaded };
        let looking = Statement::Loop(trips, body);
        match self.chance(40) {
            true => all.push(Statement::If(Test::Warp(0), vec![looking], Vec::new())),
            false => all.push(looking),
        }
        self.add(&mut all, 0, Statement::Access(How::Write, Place::Own));
        self.add(&mut all, 0, Statement::Meet);
        self.add(&mut all, 0, Statement::Access(How::Read, Place::Next));
        all
    }

    /// All go on by what a barrier has counted.
    fn counted(&mut self) -> Vec<Statement> {
        let (mut all, depth) = (Vec::new(), usize::from(self.chance(30)));
        self.add(&mut all, depth, Statement::Access(How::Write, Place::Own));
        self.add(&mut all, depth, Statement::Count);
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        self.add(&mut yes, depth, Statement::Access(How::Read, Place::Next));
        self.add(&mut yes, depth, Statement::Meet);
        if self.chance(40) {
            self.add(&mut no, depth, Statement::Meet);
        }
        all.push(Statement::If(Test::Handed, yes, no));
        if self.chance(50) {
            self.add(&mut all, depth, Statement::Access(How::Write, Place::Own));
        }
        if depth > 0 { vec![Statement::Loop(self.shared_trips(), all)] } else { all }
    }

    /// Warp 0 fills a row, the others read it, and it fills it again: by flags in memory.
    fn flags(&mut self) -> Vec<Statement> {
        let others = self.warps as u32 - 1;
        let row = Place::Common(0);
        let (mut first, mut second, mut all) = (Vec::new(), Vec::new(), Vec::new());
        self.add(&mut first, 0, Statement::Access(How::Write, row));
        self.add(&mut first, 0, Statement::Raise(0));
        self.add(&mut second, 0, Statement::Poll(0, 1));
        self.add(&mut second, 0, Statement::Access(How::Read, row));
        if self.chance(50) {
            self.add(&mut second, 0, Statement::Raise(1));
            self.add(&mut first, 0, Statement::Poll(1, others));
            self.add(&mut first, 0, Statement::Access(How::Write, row));
        }
        all.push(Statement::If(Test::Warp(0), first, second));
        if self.chance(30) {
            self.add(&mut all, 0, Statement::Meet);
            let access = self.access(0);
            self.add(&mut all, 0, access);
        }
        all
    }

    /// All come to a row, one after the other.
    fn locked(&mut self) -> Vec<Statement> {
        let row = Place::Common(0);
        let mut all = Vec::new();
        self.add(&mut all, 0, Statement::Lock);
        self.add(&mut all, 0, Statement::Access(How::Read, row));
        self.add(&mut all, 0, Statement::Access(How::Write, row));
        self.add(&mut all, 0, Statement::Unlock);
        if self.chance(50) {
            self.add(&mut all, 0, Statement::Meet);
            self.add(&mut all, 0, Statement::Access(How::Read, row));
        }
        all
    }
}
