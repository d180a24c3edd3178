//! Pieces of PTX that more than one pass writes, and the names of the registers that they use.
//!
//! All registers are declared once a function, by the declare-state pass. Those of [`STATE`] hold from
//! the prologue on; the others are scratch that one place uses between two instructions of the
//! program.

use std::fmt::Write;

use bugaroo_device_handlers::constants::pending;
use bugaroo_device_handlers::{BufferSpace, SiteWord};
use bugaroo_ptx::types::Type;

use crate::access::{AccessOperand, AddressOperand, Element, OperandBase};

/// Every register of ours starts so.
pub const REGISTER_PREFIX: &str = "%bugaroo_";
/// Every label of ours starts so.
pub const LABEL_PREFIX: &str = "$bugaroo_";

/// Address of the thread's word of counts (64 bits).
pub const SLOT: &str = "%bugaroo_slot";
/// Address of the state of the thread's CTA (64 bits).
pub const CTA: &str = "%bugaroo_cta";
/// Linear index of the thread in the launch (32 bits).
pub const THREAD: &str = "%bugaroo_thread";
/// Some store may be delayed in this launch (predicate).
pub const ROUTE: &str = "%bugaroo_route";
/// Stores may have to be restored (predicate).
pub const RESTORE: &str = "%bugaroo_restore";
/// The flags table is not all zero (predicate).
pub const FLAGGED: &str = "%bugaroo_flagged";
/// Scratch predicate.
pub const P: &str = "%bugaroo_p";
/// Scratch, 16 bits.
pub const HALF: &str = "%bugaroo_half";
/// Scratch, 32 bits.
pub const WORD: &str = "%bugaroo_word";
/// What a fence drains for.
pub const EVENT: &str = "%bugaroo_event";
/// Generic address of the access at hand.
pub const ADDRESS: &str = "%bugaroo_address";
/// Generic address of the element at hand.
pub const AT: &str = "%bugaroo_at";
/// A value on its way into or out of a buffer.
pub const VALUE: &str = "%bugaroo_value";
/// The thread's word of counts, and what handlers answer with.
pub const ANSWER: &str = "%bugaroo_answer";
/// Per element: the value found, or the old value. A family: `%bugaroo_held0` and on.
pub const HELD: &str = "%bugaroo_held";
/// Per element: whether one was found, or what to do. A family.
pub const CHOICE: &str = "%bugaroo_choice";

/// There are queues in this launch, or it is looked at (predicate).
pub const LOGGING: &str = "%bugaroo_logging";
/// Logging: who writes the record's header (predicate).
pub const LEADER: &str = "%bugaroo_leader";
/// Logging: its lane, 32 bits.
pub const FIRST: &str = "%bugaroo_first";
/// Logging: what a function of the logger answers with: addresses of the queue and of its write head, and the lane's word.
pub const QUEUE: &str = "%bugaroo_queue";
/// See [`QUEUE`].
pub const WRITE: &str = "%bugaroo_write";
/// See [`QUEUE`].
pub const LOGGED: &str = "%bugaroo_logged";
/// Logging: also from there, the lanes of the record and the warp, 32 bits.
pub const LANES: &str = "%bugaroo_lanes";
/// See [`LANES`].
pub const WARP: &str = "%bugaroo_warp";
/// Logging: the slot, then the commit index behind it; how many slots there are; where the slot's record is, short of
/// the queue's head. 64 bits.
pub const NEXT: &str = "%bugaroo_next";
/// See [`NEXT`].
pub const CAPACITY: &str = "%bugaroo_capacity";
/// See [`NEXT`].
pub const RECORD: &str = "%bugaroo_record";
/// Logging: the ticket's low half.
pub const TICKET: &str = "%bugaroo_ticket";
/// What a compare-and-swap compares with, in 64 bits.
pub const COMPARAND: &str = "%bugaroo_comparand";
/// Logging: scratch, 32 bits.
pub const HIGH: &str = "%bugaroo_high";

/// HiRace and ScoRD: the phase of the barrier that the thread waits at, 32 bits.
pub const PHASE: &str = "%bugaroo_phase";

/// Which delayed stores a place has to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// All of them.
    Everything,
    /// Those of one space. Strong ones of the other count, too: the handlers' calls are the clock by which they
    /// drain.
    Space(BufferSpace),
}

impl Concern {
    /// An access's own.
    pub fn of(access: &AccessOperand) -> Concern {
        match access.space {
            BufferSpace::Generic => Concern::Everything,
            _ if access.drains => Concern::Everything,
            space => Concern::Space(space),
        }
    }
}

/// PTX text that grows a line at a time.
#[derive(Default)]
pub struct Code(String);

impl Code {
    /// An instruction, `;` included.
    pub fn op(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.0, "\t{}", text.as_ref());
    }

    /// A label.
    pub fn label(&mut self, name: &str) {
        let _ = writeln!(self.0, "{name}:");
    }

    /// Jumps over the program's instruction, or to it, unless the launch delays stores.
    pub fn unless_routed(&mut self, target: &str) {
        self.op(format!("@!{ROUTE} bra {target};"));
    }

    /// Jumps when there is nothing of this concern: this thread has no entries and its CTA holds none.
    pub fn unless_pending(&mut self, concern: Concern, target: &str) {
        self.unless_routed(target);
        self.op(format!("ld.global.u64 {ANSWER}, [{SLOT}];"));
        if let Concern::Space(space) = concern {
            let entries = u64::from(pending::COUNT_MASK) << (space as u32 * pending::COUNT_BITS);
            let strong = u64::from(pending::COUNT_MASK) << pending::STRONG_SHIFT;
            self.op(format!("and.b64 {ANSWER}, {ANSWER}, {:#x};", entries | strong));
        }
        if !matches!(concern, Concern::Space(BufferSpace::Shared)) {
            self.op(format!("ld.volatile.global.u64 {ADDRESS}, [{CTA}];"));
            self.op(format!("or.b64 {ANSWER}, {ANSWER}, {ADDRESS};"));
        }
        self.op(format!("setp.eq.u64 {P}, {ANSWER}, 0;"));
        self.op(format!("@{P} bra {target};"));
    }

    /// Calls a handler: parameters as (type, operand), results as registers (none, one `.b32`, or two
    /// `.b64` in a structure). Lanes may be diverged, so the call is not `.uni`.
    pub fn call(&mut self, handler: &str, parameters: &[(&str, &str)], results: &[&str]) {
        self.op("{");
        for (index, (ty, operand)) in parameters.iter().enumerate() {
            self.op(format!(".param .{ty} bugaroo_in{index};"));
            self.op(format!("st.param.{ty} [bugaroo_in{index}], {operand};"));
        }
        let names: Vec<String> = (0..parameters.len()).map(|index| format!("bugaroo_in{index}")).collect();
        let arguments = if names.is_empty() { String::new() } else { format!(", ({})", names.join(", ")) };
        match results {
            [] => self.op(format!("call {handler}{arguments};")),
            [single] => {
                self.op(".param .b32 bugaroo_out;");
                self.op(format!("call (bugaroo_out), {handler}{arguments};"));
                self.op(format!("ld.param.b32 {single}, [bugaroo_out];"));
            }
            many => {
                self.op(".param .align 16 .b8 bugaroo_out[16];");
                self.op(format!("call (bugaroo_out), {handler}{arguments};"));
                self.op(format!("ld.param.v2.b64 {{{}}}, [bugaroo_out];", many.join(", ")));
            }
        }
        self.op("}");
    }

    /// Puts the generic address of the access into [`ADDRESS`].
    ///
    /// A global address is its own generic address (PTX ISA 5.1.4: what falls into no other window).
    pub fn address(&mut self, access: &AccessOperand) {
        let AddressOperand { base, offset } = &access.address;
        match base {
            OperandBase::Register64(name) if *offset == 0 => self.op(format!("mov.b64 {ADDRESS}, {name};")),
            OperandBase::Register64(name) => self.op(format!("add.s64 {ADDRESS}, {name}, {offset};")),
            OperandBase::Register32(name) if *offset == 0 => {
                self.op(format!("cvt.u64.u32 {ADDRESS}, {name};"))
            }
            OperandBase::Register32(name) => {
                self.op(format!("add.s32 {WORD}, {name}, {offset};"));
                self.op(format!("cvt.u64.u32 {ADDRESS}, {WORD};"));
            }
            OperandBase::Symbol(name) => {
                self.op(format!("mov.u64 {ADDRESS}, {name};"));
                if *offset != 0 {
                    self.op(format!("add.s64 {ADDRESS}, {ADDRESS}, {offset};"));
                }
            }
            OperandBase::Absolute => self.op(format!("mov.u64 {ADDRESS}, {offset};")),
        }
        if access.space == BufferSpace::Shared {
            self.op(format!("cvta.shared.u64 {ADDRESS}, {ADDRESS};"));
        }
    }

    /// The register that holds the address of an element: [`ADDRESS`], or [`AT`] for later ones.
    pub fn element_address(&mut self, access: &AccessOperand, element: usize) -> &'static str {
        if element == 0 {
            return ADDRESS;
        }
        self.op(format!("add.s64 {AT}, {ADDRESS}, {};", element as u32 * access.ty.bytes()));
        AT
    }

    /// Puts the bits of a stored element into [`VALUE`].
    pub fn take(&mut self, element: &Element) {
        match element {
            Element::Register { name, bits: 64 } => self.op(format!("mov.b64 {VALUE}, {name};")),
            Element::Register { name, bits: 32 } => {
                self.op(format!("mov.b32 {WORD}, {name};"));
                self.op(format!("cvt.u64.u32 {VALUE}, {WORD};"));
            }
            Element::Register { name, .. } => {
                self.op(format!("mov.b16 {HALF}, {name};"));
                self.op(format!("cvt.u64.u16 {VALUE}, {HALF};"));
            }
            Element::Bits(bits) => self.op(format!("mov.u64 {VALUE}, {bits:#x};")),
            Element::Sink => {}
        }
    }

    /// Puts the raw bits in `from` (which is overwritten) into a loaded element's register as the load
    /// itself would: extended by sign or with zeros to the register's width. `guard` is empty or a
    /// guard with a trailing space; it guards the last step alone.
    pub fn give(&mut self, element: &Element, ty: Type, from: &str, guard: &str) {
        let Element::Register { name, bits } = element else { return };
        if *bits > ty.bits() {
            if ty.is_signed() {
                self.op(format!("shl.b64 {from}, {from}, {};", 64 - ty.bits()));
                self.op(format!("shr.s64 {from}, {from}, {};", 64 - ty.bits()));
            } else {
                self.op(format!("and.b64 {from}, {from}, {:#x};", u64::MAX >> (64 - ty.bits())));
            }
        }
        match bits {
            64 => self.op(format!("{guard}mov.b64 {name}, {from};")),
            32 => {
                self.op(format!("cvt.u32.u64 {WORD}, {from};"));
                self.op(format!("{guard}mov.b32 {name}, {WORD};"));
            }
            _ => {
                self.op(format!("cvt.u16.u64 {HALF}, {from};"));
                self.op(format!("{guard}mov.b16 {name}, {HALF};"));
            }
        }
    }

    /// Puts an operand of so many bits into 64, with zeros. `guard` as with [`Code::give`]; it guards every step.
    pub fn widen(&mut self, to: &str, operand: &str, bits: u32, guard: &str) {
        match bits {
            64 => self.op(format!("{guard}mov.b64 {to}, {operand};")),
            32 => {
                self.op(format!("{guard}mov.b32 {WORD}, {operand};"));
                self.op(format!("{guard}cvt.u64.u32 {to}, {WORD};"));
            }
            _ => {
                self.op(format!("{guard}mov.b16 {HALF}, {operand};"));
                self.op(format!("{guard}cvt.u64.u16 {to}, {HALF};"));
            }
        }
    }

    /// The text.
    pub fn finish(self) -> String {
        self.0
    }
}

/// A site's word as an operand.
pub fn immediate(word: SiteWord) -> String {
    format!("{:#x}", word.encode())
}

/// A label of the place with this number.
pub fn label(point: usize, name: &str) -> String {
    format!("{LABEL_PREFIX}{point}_{name}")
}

/// A label of the function with this number.
pub fn function_label(function: usize, name: &str) -> String {
    format!("{LABEL_PREFIX}f{function}_{name}")
}
