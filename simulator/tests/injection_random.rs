//! Random programs of one thread: whatever is delayed, a thread sees its own stores, in every width and
//! overlap, and memory ends as it would without injection.
//!
//! A program is a straight line of loads, stores, atomics and fences of random widths at random aligned
//! offsets of one small buffer, in global or shared memory, named by space or generically. Every loaded
//! value goes into a checksum that is stored at the end.

use crate::injected::{Argument, Injection, Prepared, Work, natively, run, run_original, words};
use bugaroo_device_handlers::HandlerModel;
use proptest::prelude::*;

const BYTES: u32 = 32;

#[derive(Clone, Debug)]
struct Step {
    what: What,
    /// log2 of the element's bytes.
    width: u32,
    /// log2 of the elements.
    elements: u32,
    place: u32,
    shared: bool,
    generic: bool,
    signed: bool,
    wide: bool,
    strength: &'static str,
    guard: Option<bool>,
    value: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Load,
    Store,
    Constant,
    Atomic,
    Fence,
}

fn step() -> impl Strategy<Value = Step> {
    let what = prop_oneof![
        5 => Just(What::Load),
        6 => Just(What::Store),
        2 => Just(What::Constant),
        1 => Just(What::Atomic),
        1 => Just(What::Fence),
    ];
    let strength = prop_oneof![6 => Just(""), 1 => Just(".volatile"), 1 => Just(".relaxed.gpu")];
    let guard = prop_oneof![6 => Just(None), 1 => Just(Some(true)), 1 => Just(Some(false))];
    let shape = (0u32..4, prop_oneof![4 => Just(0u32), 1 => Just(1), 1 => Just(2)], 0..BYTES);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (what, shape, flags, strength, guard, any::<u64>()).prop_map(
        |(what, (width, elements, place), (shared, generic, signed, wide), strength, guard, value)| {
            // At most 16 bytes an access.
            let elements = if (width + elements) > 4 { 4 - width } else { elements };
            Step { what, width, elements, place, shared, generic, signed, wide, strength, guard, value }
        },
    )
}

impl Step {
    fn text(&self, out: &mut String) {
        let mut line = |text: String| {
            out.push('\t');
            out.push_str(&text);
            out.push('\n');
        };
        let size = 1u32 << (self.width + self.elements);
        let offset = self.place % BYTES / size * size;
        let bits = 8 << self.width;
        let space = if self.shared { "shared" } else { "global" };
        let (dot_space, base) = match (self.generic, self.shared) {
            (false, _) => (format!(".{space}"), if self.shared { "%s" } else { "%g" }),
            (true, true) => (String::new(), "%gs"),
            (true, false) => (String::new(), "%g"),
        };
        let at = format!("[{base}+{offset}]");
        let guard = match self.guard {
            None => "",
            Some(true) => "@%yes ",
            Some(false) => "@%no ",
        };
        let ty = format!("{}{bits}", if self.signed { "s" } else { "u" });
        let elements = 1 << self.elements;
        let vector = if elements > 1 { format!(".v{elements}") } else { String::new() };
        let strength = if elements > 1 { "" } else { self.strength };
        let register_bits: u32 = if self.wide { 64 } else { bits.max(16) };
        let registers: Vec<String> =
            (0..elements).map(|element| format!("%x{register_bits}_{element}")).collect();
        let list = if elements > 1 { format!("{{{}}}", registers.join(", ")) } else { registers[0].clone() };
        match self.what {
            What::Load => {
                for register in &registers {
                    line(format!("mov.b{register_bits} {register}, 0;"));
                }
                line(format!("{guard}ld{strength}{dot_space}{vector}.{ty} {list}, {at};"));
                for register in &registers {
                    match register_bits {
                        64 => line(format!("mov.b64 %v, {register};")),
                        bits => line(format!("cvt.u64.u{bits} %v, {register};")),
                    }
                    line("mad.lo.u64 %sum, %sum, 6364136223846793005, %v;".into());
                }
            }
            What::Store => {
                for (element, register) in registers.iter().enumerate() {
                    line(format!("add.u64 %v, %sum, {};", self.value as i64 >> element >> 1));
                    match register_bits {
                        64 => line(format!("mov.b64 {register}, %v;")),
                        bits => line(format!("cvt.u{bits}.u64 {register}, %v;")),
                    }
                }
                line(format!("{guard}st{strength}{dot_space}{vector}.{ty} {at}, {list};"));
            }
            What::Constant => {
                let value = self.value & (u64::MAX >> (64 - bits));
                line(format!(
                    "{guard}st{strength}{dot_space}.u{bits} [{base}+{}], {value:#x};",
                    (self.place % BYTES) & !((1 << self.width) - 1)
                ));
            }
            What::Atomic => {
                let offset = self.place % BYTES / 4 * 4;
                line("mov.b32 %x32_0, 0;".into());
                line(format!(
                    "{guard}atom{dot_space}.add.u32 %x32_0, [{base}+{offset}], {};",
                    self.value as u16
                ));
                line("cvt.u64.u32 %v, %x32_0;".into());
                line("mad.lo.u64 %sum, %sum, 31, %v;".into());
            }
            What::Fence => line(format!("{guard}membar.{};", if self.signed { "gl" } else { "cta" })),
        }
    }
}

fn program(steps: &[Step]) -> String {
    let mut text = String::from(
        ".version 9.0\n.target sm_75\n.address_size 64\n\
         .visible .entry test(.param .u64 data, .param .u64 result)\n{\n\
         \t.reg .pred %yes, %no;\n\t.reg .b64 %g, %gs, %s, %r, %v, %sum;\n\t.reg .b32 %t;\n\
         \t.reg .b16 %x16_<4>;\n\t.reg .b32 %x32_<4>;\n\t.reg .b64 %x64_<4>;\n\
         \t.shared .align 16 .b8 box[32];\n\
         \tld.param.u64 %g, [data];\n\tld.param.u64 %r, [result];\n\
         \tmov.u64 %s, box;\n\tcvta.shared.u64 %gs, %s;\n\tmov.u64 %sum, 1;\n\
         \tmov.u32 %t, %tid.x;\n\tsetp.eq.u32 %yes, %t, 0;\n\tsetp.ne.u32 %no, %t, 0;\n",
    );
    for word in 0..BYTES / 8 {
        text.push_str(&format!("\tst.shared.u64 [%s+{}], {};\n", 8 * word, 77 + word));
    }
    // What goes before and after is of another width than the steps.
    text.push_str("\tmembar.gl;\n");
    steps.iter().for_each(|step| step.text(&mut text));
    text.push_str("\tmembar.gl;\n\tst.global.u64 [%r], %sum;\n");
    for word in 0..BYTES / 8 {
        let offset = 8 * word;
        text.push_str(&format!(
            "\tld.shared.u64 %v, [%s+{offset}];\n\tst.global.u64 [%r+{}], %v;\n",
            offset + 8
        ));
    }
    text.push_str("\tret;\n}\n");
    text
}

fn same_with_and_without(steps: &[Step], models: &[HandlerModel], seed: u64) -> Result<(), TestCaseError> {
    let prepared = Prepared::new(&program(steps));
    let data: Vec<u32> = (0..BYTES / 4).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let arguments = [words(&data), Argument::Buffer(vec![0; 8 + BYTES as usize])];
    let work = Work::new("test", 1, 1, &arguments);
    let expected = run_original(&prepared, &work, 0).complete();
    prop_assert_eq!(&run(&prepared, &work, None, 0).complete().buffers, &expected.buffers);
    for model in models {
        for pw in [0.0, 0.5, 1.0] {
            for capacity in [1, 2, 256] {
                let injection = Injection { capacity, ..Injection::new(*model, pw) };
                let outcome = run(&prepared, &work, Some(&injection), seed).complete();
                prop_assert_eq!(&outcome.buffers, &expected.buffers, "{:?}", injection);
                let native = natively(|| run(&prepared, &work, Some(&injection), seed)).complete();
                prop_assert_eq!(&native.buffers, &expected.buffers, "natively, {:?}", injection);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn store_buffers_are_never_noticed_by_their_own_thread(
        steps in proptest::collection::vec(step(), 1..40), seed: u64,
    ) {
        same_with_and_without(&steps, &[HandlerModel::StoreBuffer], seed)?;
    }

    /// The paper matches addresses by equality, so its own thread is safe only while each address is used
    /// in one width, and not by atomics.
    #[test]
    fn the_papers_buffers_neither_with_one_width(
        steps in proptest::collection::vec(step(), 1..40), width in 0u32..4, seed: u64,
    ) {
        let mut steps = steps;
        steps.retain(|step| step.what != What::Atomic);
        for step in &mut steps {
            step.width = width;
            step.elements = step.elements.min(4 - width);
        }
        same_with_and_without(&steps, &[HandlerModel::StoreBuffer, HandlerModel::Bugaroo], seed)?;
    }
}
