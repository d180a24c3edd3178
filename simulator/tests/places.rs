//! What is put in beside a stretch of the source stands where it has to: on all paths of random kernels, tried one by one.

use std::collections::BTreeSet;

use crate::places_support::{Kernel, Node, kernel};
use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_protocol::{Inserted, Insertion, Position, Side, SourceSpan};
use bugaroo_ptx::types::Scope;
use bugaroo_simulator::decoded::{Kind, NO_GUARD};
use bugaroo_simulator::{CodeImage, Memory, Places, Program, Rng};

/// What a path met last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Last {
    Begin,
    /// A site, or a branch of the stretch: its line, and whether it belongs to the stretch.
    Stop(u32, bool),
}

/// A point of a path: the next instruction, fences since the last stop, whether it went back, and through other lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    pc: u32,
    last: Last,
    fences: u32,
    back: bool,
    elsewhere: bool,
    /// Guards that are known on this path: by row, and whether they hold.
    guards: Vec<(u32, bool)>,
}

/// Goes along all paths of a function and says what is wrong.
struct Walk<'p> {
    image: CodeImage<'p>,
    program: &'p Program,
    node: Node,
    side: Side,
    kernel: bool,
    todo: Vec<Point>,
    seen: BTreeSet<Point>,
    wrong: Option<String>,
    met: usize,
}

impl Walk<'_> {
    fn line(&self, pc: u32) -> Option<u32> {
        self.program.place(pc).source.first().map(|at| at.line)
    }

    fn is_mine(&self, line: u32) -> bool {
        self.node.from <= line && line < self.node.to
    }

    fn go(&mut self, point: Point) {
        if self.seen.insert(point.clone()) {
            self.todo.push(point);
        }
    }

    /// The path ends at a stop: was it right?
    fn stop(&mut self, point: &Point, next: Option<(u32, bool)>) {
        self.met += 1;
        let (before, after) = (&point.last, next);
        let mine = |stop: &Last| matches!(stop, Last::Stop(_, true));
        let next_mine = matches!(after, Some((_, true)));
        let again = mine(before) && next_mine && point.back && point.elsewhere;
        let wanted = match self.side {
            Side::Behind => mine(before) && (!next_mine || again),
            Side::Before => next_mine && (!mine(before) || again),
        };
        let border = match self.side {
            Side::Behind => after.is_none() && self.kernel,
            Side::Before => *before == Last::Begin && self.kernel,
        };
        let right = if wanted && border { point.fences <= 1 } else { point.fences == u32::from(wanted) };
        if !right {
            self.wrong =
                Some(format!("{} fences between {before:?} and {after:?} at {point:?}", point.fences));
        }
    }

    fn step(&mut self, point: &Point) {
        let inst = self.image.code[point.pc as usize];
        let known = point.guards.iter().find(|(row, _)| *row == inst.guard).map(|(_, holds)| *holds);
        let line = self.line(point.pc);
        let next = |pc: u32| Point { pc, ..point.clone() };
        let Node { from, to } = self.node;
        let moved = |target: u32, back: bool| {
            let elsewhere =
                point.elsewhere || line.is_some_and(|line| line != 0 && !(from..to).contains(&line));
            Point { pc: target, back: point.back || back, elsewhere, ..point.clone() }
        };
        let restart = |line: u32, mine: bool, pc: u32, guards: &[(u32, bool)]| Point {
            pc,
            last: Last::Stop(line, mine),
            fences: 0,
            back: false,
            elsewhere: false,
            guards: guards.to_vec(),
        };
        let visible = match inst.kind {
            Kind::Load | Kind::Store => self.image.accesses[inst.extra as usize].visible,
            Kind::Atomic | Kind::Call => true,
            _ => false,
        };
        match inst.kind {
            Kind::Fence | Kind::Load | Kind::Store | Kind::Atomic | Kind::Call
                if visible || inst.kind == Kind::Fence =>
            {
                let ways: &[bool] = match (inst.guard, known) {
                    (NO_GUARD, _) => &[true],
                    (_, Some(true)) => &[true],
                    (_, Some(false)) => &[false],
                    (_, None) => &[true, false],
                };
                // A stretch that begins before such an access is an `if` around it: who comes there has come to it.
                let line_of_site = line.filter(|_| inst.kind != Kind::Fence && inst.guard != NO_GUARD);
                let test = line_of_site.filter(|line| self.is_mine(*line) && *line > self.node.from);
                let tested = test.map(|line| {
                    self.stop(point, Some((line, true)));
                    restart(line, true, point.pc, &point.guards)
                });
                let point = tested.as_ref().unwrap_or(point);
                let moved = |target: u32| Point {
                    pc: target,
                    ..if tested.is_some() { point.clone() } else { moved(target, false) }
                };
                for holds in ways {
                    let active = inst.guard == NO_GUARD || *holds != (inst.guard_flip != 0);
                    let mut after = moved(point.pc + 1);
                    if inst.kind == Kind::Fence {
                        after = next(point.pc + 1);
                    }
                    if inst.guard != NO_GUARD && known.is_none() {
                        after.guards.push((inst.guard, *holds));
                    }
                    if !active {
                        self.go(after);
                    } else if inst.kind == Kind::Fence {
                        self.go(Point { fences: (point.fences + 1).min(3), ..after });
                    } else {
                        let line = line.expect("sites have lines");
                        let mine = self.is_mine(line);
                        self.stop(point, Some((line, mine)));
                        after.guards.retain(|(row, _)| *row == inst.guard);
                        self.go(restart(line, mine, point.pc + 1, &after.guards));
                    }
                }
            }
            Kind::Branch => {
                let target = inst.extra;
                let back = self.was_back(point.pc, target);
                if inst.guard == NO_GUARD {
                    self.go(moved(target, back));
                    return;
                }
                let line = line.expect("branches have lines");
                if self.is_mine(line) {
                    self.stop(point, Some((line, true)));
                    let from = restart(line, true, target, &[]);
                    self.go(Point { back, ..from });
                    self.go(restart(line, true, point.pc + 1, &[]));
                } else {
                    self.go(moved(target, back));
                    self.go(moved(point.pc + 1, false));
                }
            }
            Kind::Ret | Kind::Exit => self.stop(point, None),
            _ => self.go(moved(point.pc + 1, false)),
        }
    }

    /// Does a branch lead to an earlier line of the text? What was put in on the way has the origin of its target.
    fn was_back(&self, pc: u32, target: u32) -> bool {
        let ptx = |pc: u32| self.image.origins[pc as usize].line;
        ptx(target) < ptx(pc)
    }
}

struct Loaded {
    program: Program,
    table: bugaroo_injector::collect_sites::SiteTable,
}

fn load(text: &str) -> Loaded {
    let module = bugaroo_ptx::parse(text).expect("the test's PTX parses");
    let mut memory = Memory::new(1 << 24).expect("address space");
    // Rows of guards tell paths apart: each register has its own.
    let config = bugaroo_simulator::DeviceConfig { share_rows: false, ..Default::default() };
    let program = Program::load(&module, &mut memory, &config).expect("it loads");
    Loaded { program, table: collect_sites(&module) }
}

fn insertion(node: Node, side: Side) -> Insertion {
    let (from, to) = (Position { line: node.from, column: 3 }, Position { line: node.to, column: 1 });
    Insertion { span: SourceSpan { file: "made_up.cu".to_owned(), from, to }, side, what: Inserted::Fence }
}

/// Puts a fence beside a stretch and goes along all paths; None where there is nothing, or it is refused.
fn tried(loaded: &Loaded, node: Node, side: Side, function: bool) -> Option<Result<usize, String>> {
    let insertion = insertion(node, side);
    let placed = Places::new(&loaded.program, &loaded.table).place(&insertion);
    if placed.sites == 0 {
        return None;
    }
    if let Some(reason) = placed.refused {
        return Some(Err(format!("refused: {reason}")));
    }
    let changed = loaded.program.changed(&loaded.table, &[], (&BTreeSet::new(), Scope::Gpu), [&insertion]);
    let program = changed.expect("it has a place")?;
    let image = program.image();
    let name = if function { "apart" } else { "k" };
    let entry = image.functions.iter().find(|f| f.name == name).expect("the function").entry;
    let mut walk = Walk {
        image,
        program: &program,
        node,
        side,
        kernel: !function,
        todo: Vec::new(),
        seen: BTreeSet::new(),
        wrong: None,
        met: 0,
    };
    let (last, guards) = (Last::Begin, Vec::new());
    walk.go(Point { pc: entry, last, fences: 0, back: false, elsewhere: false, guards });
    while let Some(point) = walk.todo.pop() {
        walk.step(&point);
        if let Some(wrong) = walk.wrong.take() {
            return Some(Err(wrong));
        }
    }
    Some(Ok(walk.met))
}

/// Beside each statement of a structured source there is a place, and it is right on all paths.
#[test]
fn on_all_paths_of_random_kernels() {
    let (mut rng, mut paths, mut stretches) = (Rng::new(11), 0, 0);
    for round in 0..400 {
        let function = round % 4 == 3;
        let Kernel { text, nodes } = kernel(&mut rng, function);
        let loaded = load(&text);
        for node in nodes {
            for side in [Side::Before, Side::Behind] {
                match tried(&loaded, node, side, function) {
                    None => {}
                    Some(Ok(met)) => (paths, stretches) = (paths + met, stretches + 1),
                    Some(Err(wrong)) => panic!("round {round}, {side:?} {node:?}: {wrong}\n{text}"),
                }
            }
        }
    }
    println!("{stretches} stretches, {paths} paths");
    assert!(stretches > 3000 && paths > 30_000, "{stretches} stretches, {paths} paths");
}

/// Stretches that are none of the source's statements have a place that is right, or none.
#[test]
fn what_is_no_statement_is_right_or_refused() {
    let (mut rng, mut right, mut refused) = (Rng::new(12), 0, 0);
    for round in 0..300 {
        let Kernel { text, nodes } = kernel(&mut rng, false);
        let loaded = load(&text);
        let last = nodes.iter().map(|node| node.to).max().unwrap_or(2);
        for _ in 0..6 {
            let from = 1 + (rng.next() % u64::from(last)) as u32;
            let node = Node { from, to: from + 1 + (rng.next() % 4) as u32 };
            for side in [Side::Before, Side::Behind] {
                match tried(&loaded, node, side, false) {
                    None => {}
                    Some(Ok(_)) => right += 1,
                    Some(Err(wrong)) if wrong.starts_with("refused") => refused += 1,
                    Some(Err(wrong)) => panic!("round {round}, {side:?} {node:?}: {wrong}\n{text}"),
                }
            }
        }
    }
    println!("{right} right, {refused} refused");
    assert!(right > 500, "{right} right, {refused} refused");
}
