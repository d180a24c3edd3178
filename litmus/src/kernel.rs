//! A litmus test as a kernel in PTX.
//!
//! Copies of the test run side by side in one launch, a row of blocks each: `%ctaid.y` is the copy, `%ctaid.x`
//! the CTA of the test. A thread of the test is one thread of the GPU, in a warp of its own or beside the
//! others of its CTA in one warp ([`ThreadPlacement`]). Each copy has a piece of memory: its locations, packed as
//! C would, so that neighbours share a word of eight bytes where they can, then eight bytes for each register.
//! When it ends, every thread stores its registers there.
//!
//! Locations in shared memory are set by the CTA's first thread before the test begins, and copied out by it
//! when all have ended; between lie barriers.

use crate::key::OutcomeKey;
use crate::test::{
    Arithmetic, Rmw, Scope, Test, TestFence, TestOp, TestOrder, TestSpace, TestType, TestValue, Thread,
};

/// Name of the kernel.
pub const KERNEL: &str = "litmus";

/// How the threads of a CTA lie in warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadPlacement {
    /// Each has a warp of its own.
    Warps,
    /// They are lanes of one warp.
    Lanes,
}

/// Where a copy keeps what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyLayout {
    /// Offset of each location.
    locations: Vec<u32>,
    /// Offset of each thread's first register.
    registers: Vec<u32>,
    /// Bytes of a copy.
    pub bytes: u32,
    /// A fresh copy.
    initial: Vec<u8>,
}

impl CopyLayout {
    /// Lays a test out.
    pub fn new(test: &Test) -> CopyLayout {
        let mut end = 0u32;
        let mut initial = Vec::new();
        let mut locations = Vec::new();
        for location in &test.locations {
            end = end.next_multiple_of(location.bytes);
            locations.push(end);
            initial.resize(end as usize, 0);
            initial.extend(&location.initial.to_le_bytes()[..location.bytes as usize]);
            end += location.bytes;
        }
        end = end.next_multiple_of(8);
        let mut registers = Vec::new();
        for thread in &test.threads {
            registers.push(end);
            end += thread.registers.len() as u32 * 8;
        }
        let bytes = end.next_multiple_of(64).max(64);
        initial.resize(bytes as usize, 0);
        CopyLayout { locations, registers, bytes, initial }
    }

    /// What memory holds before a launch of so many copies.
    pub fn initial(&self, copies: u32) -> Vec<u8> {
        self.initial.repeat(copies as usize)
    }

    /// The value of a key in a copy's memory.
    pub fn value(&self, test: &Test, copy: &[u8], key: OutcomeKey) -> u64 {
        let (at, bytes) = match key {
            OutcomeKey::Register { thread, register } => (self.registers[thread] + register as u32 * 8, 8),
            OutcomeKey::Location(location) => (self.locations[location], test.locations[location].bytes),
        };
        let mut value = [0; 8];
        value[..bytes as usize].copy_from_slice(&copy[at as usize..(at + bytes) as usize]);
        u64::from_le_bytes(value)
    }
}

impl ThreadPlacement {
    /// Threads of a block: from one of the test's threads to the next are so many.
    fn stride(self) -> u32 {
        match self {
            ThreadPlacement::Warps => 32,
            ThreadPlacement::Lanes => 1,
        }
    }

    /// Threads that a block has.
    pub fn block(self, test: &Test) -> u32 {
        (test.most_threads().max(1) - 1) * self.stride() + 1
    }

    /// Warps that a block has.
    pub fn warps(self, test: &Test) -> u32 {
        self.block(test).div_ceil(32)
    }
}

/// What may be different in a test's kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelForm {
    /// All its locations lie in shared memory, which only a test of one CTA can have.
    pub shared: bool,
    /// Before and behind each instruction its thread loads memory that nobody writes. What may be seen stays the same.
    pub untouched: bool,
}

/// The text of a test's kernel.
pub fn kernel(test: &Test, layout: &CopyLayout, placement: ThreadPlacement, form: KernelForm) -> String {
    let mut writer = Writer { test, layout, form, text: String::new() };
    writer.kernel(placement);
    writer.text
}

struct Writer<'a> {
    test: &'a Test,
    layout: &'a CopyLayout,
    form: KernelForm,
    text: String,
}

impl Writer<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    fn kernel(&mut self, placement: ThreadPlacement) {
        self.line(".version 9.0\n.target sm_90\n.address_size 64");
        if self.form.untouched {
            self.line(".global .align 4 .u32 untouched;");
        }
        self.line(format!(".visible .entry {KERNEL}(.param .u64 memory)\n{{"));
        self.line(
            ".reg .pred %p;\n.reg .b32 %cta, %tid, %lane, %copy, %one, %untouched;\n.reg .b64 %m, %offset, %eight;",
        );
        if self.any_shared() {
            self.line(format!(".shared .align 8 .b8 cells[{}];", self.layout.bytes));
        }
        for (index, thread) in self.test.threads.iter().enumerate() {
            for (register, of) in thread.registers.iter().enumerate() {
                self.line(format!(".reg .b{} {};", if of.wide { 64 } else { 32 }, name(index, register)));
            }
        }
        let bits = placement.stride() - 1;
        self.line(format!(
            "ld.param.u64 %m, [memory];\nmov.u32 %copy, %ctaid.y;\nmul.wide.u32 %offset, %copy, {};\n\
             add.u64 %m, %m, %offset;\nmov.u32 %cta, %ctaid.x;\nmov.u32 %tid, %tid.x;",
            self.layout.bytes
        ));
        self.copies(true);
        if placement == ThreadPlacement::Warps {
            self.line(format!("and.b32 %lane, %tid, {bits};\nsetp.ne.u32 %p, %lane, 0;\n@%p exit;"));
            self.line("shr.u32 %tid, %tid, 5;");
        }
        self.line("mad.lo.u32 %tid, %cta, 64, %tid;");
        let mut places = vec![0; self.test.ctas() as usize];
        for (index, thread) in self.test.threads.iter().enumerate() {
            let place = &mut places[thread.cta as usize];
            let number = thread.cta * 64 + *place;
            *place += 1;
            self.line(format!("setp.eq.u32 %p, %tid, {number};\n@%p bra P{index};"));
        }
        // A block of the widest CTA's size has threads to spare in the others.
        self.line("exit;");
        for (index, thread) in self.test.threads.iter().enumerate() {
            self.thread(index, thread);
        }
        self.line("END:");
        self.copies(false);
        self.line("ret;\n}");
    }

    fn thread(&mut self, index: usize, thread: &Thread) {
        self.line(format!("P{index}:"));
        for (register, of) in thread.registers.iter().enumerate() {
            let bits = if of.wide { 64 } else { 32 };
            self.line(format!("mov.b{bits} {}, {};", name(index, register), of.initial));
        }
        let between = |writer: &mut Self| {
            if writer.form.untouched {
                writer.line("ld.global.u32 %untouched, [untouched];");
            }
        };
        for instruction in &thread.instructions {
            between(self);
            let line = self.instruction(index, thread, &instruction.op);
            self.line(line);
            between(self);
        }
        for (register, of) in thread.registers.iter().enumerate() {
            let bits = if of.wide { 64 } else { 32 };
            let at = self.layout.registers[index] + register as u32 * 8;
            self.line(format!("st.global.b{bits} [%m+{at}], {};", name(index, register)));
        }
        self.line("bra END;");
    }

    fn instruction(&self, index: usize, thread: &Thread, op: &TestOp) -> String {
        let register = |register: usize| name(index, register);
        let value = |value: &TestValue| match value {
            TestValue::Constant(number) => number.to_string(),
            TestValue::Register(register) => name(index, *register),
        };
        let wide = |register: usize| if thread.registers[register].wide { 64 } else { 32 };
        match op {
            TestOp::Load { order, ty, register: to, location } => {
                let (space, address) = self.place(*location);
                let (order, ty) = (ordering(*order), access_type(*ty));
                format!("ld{order}.{space}.{ty} {}, {address};", register(*to))
            }
            TestOp::Store { order, ty, location, value: stored } => {
                let (space, address) = self.place(*location);
                let (order, ty) = (ordering(*order), access_type(*ty));
                format!("st{order}.{space}.{ty} {address}, {};", value(stored))
            }
            TestOp::Atomic { order, ty, rmw, register: to, location, value: with, swap } => {
                let (space, address) = self.place(*location);
                let (order, (operation, ty)) = (ordering(*order), atomic(*rmw, *ty));
                let (stem, to) = match to {
                    Some(to) => ("atom", format!("{}, ", register(*to))),
                    None => ("red", String::new()),
                };
                let swap = swap.as_ref().map(|swap| format!(", {}", value(swap))).unwrap_or_default();
                format!("{stem}{order}.{space}.{operation}.{ty} {to}{address}, {}{swap};", value(with))
            }
            TestOp::Fence(kind, scope) => {
                let kind = match kind {
                    TestFence::Sc => "sc",
                    TestFence::AcqRel => "acq_rel",
                    TestFence::Acquire => "acquire",
                    TestFence::Release => "release",
                };
                format!("fence.{kind}.{};", scope_name(*scope))
            }
            TestOp::Membar(Scope::Gpu) => "membar.gl;".into(),
            TestOp::Membar(scope) => format!("membar.{};", scope_name(*scope)),
            TestOp::Barrier(number) => format!("barrier.sync {number};"),
            TestOp::WarpBarrier => "bar.warp.sync 0xffffffff;".into(),
            TestOp::Move(to, from) => format!("mov.b{} {}, {};", wide(*to), register(*to), value(from)),
            TestOp::Arithmetic(operation, to, a, b) => {
                let (operation, kind) = match operation {
                    Arithmetic::Add => ("add", 'u'),
                    Arithmetic::Sub => ("sub", 'u'),
                    Arithmetic::And => ("and", 'b'),
                    Arithmetic::Or => ("or", 'b'),
                    Arithmetic::Xor => ("xor", 'b'),
                };
                format!("{operation}.{kind}{} {}, {}, {};", wide(*to), register(*to), value(a), value(b))
            }
        }
    }

    fn is_shared(&self, location: usize) -> bool {
        self.owner(location).is_some()
    }

    /// The CTA in whose shared memory a location lies.
    fn owner(&self, location: usize) -> Option<u32> {
        let shared = self.form.shared || self.test.locations[location].space == TestSpace::Shared;
        let touches = |thread: &&Thread| {
            thread.instructions.iter().any(|instruction| instruction.op.location() == Some(location))
        };
        shared.then(|| self.test.threads.iter().find(touches).map(|thread| thread.cta))?
    }

    fn any_shared(&self) -> bool {
        (0..self.test.locations.len()).any(|location| self.is_shared(location))
    }

    fn place(&self, location: usize) -> (&'static str, String) {
        let at = self.layout.locations[location];
        if self.is_shared(location) {
            ("shared", format!("[cells+{at}]"))
        } else {
            ("global", format!("[%m+{at}]"))
        }
    }

    /// Sets shared locations, or copies them out.
    fn copies(&mut self, set: bool) {
        if !self.any_shared() {
            return;
        }
        let used = |number: u32| {
            let mut instructions = self.test.threads.iter().flat_map(|thread| &thread.instructions);
            instructions.any(|instruction| instruction.op == TestOp::Barrier(number))
        };
        // Where the test has none to spare, the last one is free again when the test has ended.
        let barrier = (0..16).find(|number| !used(*number)).unwrap_or(15);
        if !set {
            self.line(format!("barrier.sync {barrier};\nmov.u32 %tid, %tid.x;"));
        }
        for location in 0..self.test.locations.len() {
            let Some(cta) = self.owner(location) else { continue };
            let at = self.layout.locations[location];
            let (bits, through) = match self.test.locations[location].bytes {
                8 => (64, "%eight"),
                _ => (32, "%one"),
            };
            // The CTA's first thread has the number of the CTA, of 64 each.
            self.line(format!("mad.lo.u32 %one, %cta, 4096, %tid;\nsetp.eq.u32 %p, %one, {};", cta * 4096));
            let (from, to) = (format!("global.b{bits}"), format!("shared.b{bits}"));
            if set {
                self.line(format!(
                    "@%p ld.{from} {through}, [%m+{at}];\n@%p st.{to} [cells+{at}], {through};"
                ));
            } else {
                self.line(format!(
                    "@%p ld.{to} {through}, [cells+{at}];\n@%p st.{from} [%m+{at}], {through};"
                ));
            }
        }
        if set {
            self.line(format!("barrier.sync {barrier};"));
        }
    }
}

fn name(thread: usize, register: usize) -> String {
    format!("%t{thread}r{register}")
}

fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Cta => "cta",
        Scope::Cluster => "cluster",
        Scope::Gpu => "gpu",
        Scope::Sys => "sys",
    }
}

/// The modifiers of an order.
fn ordering(order: TestOrder) -> String {
    match order {
        TestOrder::Weak => String::new(),
        TestOrder::Volatile => ".volatile".into(),
        TestOrder::Relaxed(scope) => format!(".relaxed.{}", scope_name(scope)),
        TestOrder::Acquire(scope) => format!(".acquire.{}", scope_name(scope)),
        TestOrder::Release(scope) => format!(".release.{}", scope_name(scope)),
        TestOrder::AcqRel(scope) => format!(".acq_rel.{}", scope_name(scope)),
    }
}

fn access_type(ty: TestType) -> String {
    format!("{}{}", if ty.signed { 's' } else { 'u' }, ty.bytes * 8)
}

/// An atomic's operation and type, as PTX wants them together.
fn atomic(rmw: Rmw, ty: TestType) -> (&'static str, String) {
    let operation = match rmw {
        Rmw::Add => "add",
        Rmw::Exch => "exch",
        Rmw::Cas => "cas",
        Rmw::Inc => "inc",
        Rmw::Dec => "dec",
        Rmw::Min => "min",
        Rmw::Max => "max",
        Rmw::And => "and",
        Rmw::Or => "or",
        Rmw::Xor => "xor",
    };
    let bits = ty.bytes * 8;
    let ty = match rmw {
        Rmw::Exch | Rmw::Cas | Rmw::And | Rmw::Or | Rmw::Xor => format!("b{bits}"),
        _ => access_type(ty),
    };
    (operation, ty)
}
