//! Random kernels with lines of a source that is made up, structured as sources are: statements, `if`, loops.

use bugaroo_simulator::Rng;

/// A statement of the source: its first line, and the line behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub from: u32,
    pub to: u32,
}

/// A kernel, and the statements of its source.
pub struct Kernel {
    pub text: String,
    pub nodes: Vec<Node>,
}

struct Writer<'r> {
    rng: &'r mut Rng,
    text: String,
    nodes: Vec<Node>,
    /// The line of the source.
    line: u32,
    labels: u32,
    guards: u32,
    value: u32,
}

pub fn kernel(rng: &mut Rng, function: bool) -> Kernel {
    let mut writer =
        Writer { rng, text: String::new(), nodes: Vec::new(), line: 1, labels: 0, guards: 0, value: 0 };
    writer.block(0);
    let (text, guards) = (writer.text, writer.guards);
    let body = format!(
        "{{\n .reg .pred %p<4>;\n .reg .pred %g<{}>;\n .reg .b32 %r<4>;\n .reg .b64 %rd<3>;\n \
         mov.u64 %rd1, data;\n mov.u32 %r1, 1;\n mov.u32 %r3, %tid.x;\n{}{text} ret;\n}}\n",
        guards + 1,
        (0..guards).map(|g| format!(" setp.eq.u32 %g{g}, %r3, {g};\n")).collect::<String>(),
    );
    let (head, tail) = if function {
        (".func apart()\n", ".visible .entry k()\n{\n .loc 1 999 1\n call.uni apart, ();\n ret;\n}\n")
    } else {
        (".visible .entry k()\n", "")
    };
    let text = format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n.global .align 4 .b8 data[256];\n{head}{body}{tail}.file 1 \"made_up.cu\"\n"
    );
    Kernel { text, nodes: writer.nodes }
}

impl Writer<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        self.rng.next() % bound
    }

    fn loc(&mut self, line: u32) {
        self.text += &format!(" .loc 1 {line} 3\n");
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    /// An access, with something computed before.
    fn access(&mut self, line: u32, guard: &str) {
        self.loc(line);
        self.value += 4;
        let at = self.value % 64;
        if self.below(3) == 0 {
            self.text += " add.u32 %r1, %r1, 1;\n";
        }
        let text = match self.below(3) {
            0 => format!(" {guard}ld.volatile.global.u32 %r2, [%rd1+{at}];\n"),
            1 => format!(" {guard}st.global.u32 [%rd1+{at}], %r1;\n"),
            _ => format!(" {guard}atom.global.add.u32 %r2, [%rd1+{at}], 1;\n"),
        };
        self.text += &text;
    }

    fn condition(&mut self, line: u32) {
        if self.below(2) == 0 {
            self.access(line, "");
        }
        self.loc(line);
        self.text += " setp.ne.u32 %p1, %r2, 0;\n";
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..1 + self.below(3) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        let from = self.line;
        self.line += 1;
        let choices = if depth < 3 { 8 } else { 4 };
        match self.below(choices) {
            0..3 => self.access(from, ""),
            3 => {
                let guard = format!("@{}%g{} ", if self.below(2) == 0 { "!" } else { "" }, self.guards);
                self.guards += 1;
                self.access(from, &guard);
            }
            4 | 5 => self.choice(from, depth),
            6 => self.rotated(from, depth),
            _ => self.repeated(from, depth),
        }
        self.nodes.push(Node { from, to: self.line });
    }

    fn choice(&mut self, from: u32, depth: u32) {
        let (other, end) = (self.label(), self.label());
        self.condition(from);
        self.text += &format!(" @%p1 bra L{other};\n");
        self.block(depth + 1);
        if self.below(2) == 0 {
            self.text += &format!(" bra.uni L{end};\nL{other}:\n");
            self.block(depth + 1);
        } else {
            self.text += &format!("L{other}:\n");
        }
        self.text += &format!("L{end}:\n");
    }

    /// `while`, the condition in front; the loop may have a body that is empty.
    fn repeated(&mut self, from: u32, depth: u32) {
        let (head, end) = (self.label(), self.label());
        self.text += &format!("L{head}:\n");
        self.condition(from);
        self.text += &format!(" @%p1 bra L{end};\n");
        if self.below(3) != 0 {
            self.block(depth + 1);
        }
        self.loc(from);
        self.text += &format!(" add.u32 %r1, %r1, 3;\n bra.uni L{head};\nL{end}:\n");
    }

    /// `do` and `while`, the condition behind, on a line of its own.
    fn rotated(&mut self, _from: u32, depth: u32) {
        let head = self.label();
        self.text += &format!("L{head}:\n");
        self.block(depth + 1);
        let line = self.line;
        self.line += 1;
        self.condition(line);
        self.text += &format!(" @%p1 bra L{head};\n");
    }
}
