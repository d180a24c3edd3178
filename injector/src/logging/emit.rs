//! The text that tells one record.
//!
//! First a call, which may take long: the logger waits for room and works out each lane's word. Behind it stands one piece, from the
//! question who is here up to the program's own instruction: the lanes choose a leader, the leader takes a slot, all write their words,
//! the leader takes the ticket and commits. Where the lanes are not those of the call, or the room is gone, they go back to the call.
//!
//! What makes the order of tickets that of the instructions:
//! - A virtual GPU gives the turn to other warps, or to other lanes of the warp, only behind what others can see of the program
//!   (accesses of its memory, fences), and at calls, returns, barriers that are not complete, and branches that are taken or part
//!   lanes. The piece has none of these: the queues are the tester's memory, its collectives name just the lanes that are
//!   there, and its two ways back are not taken in the piece that commits. So it is done together with the instruction.
//! - Hardware knows no such thing. There a ticket comes before what its lanes do next, in the order of their program, and no thread
//!   knows of it that was not told so by an acquire of what comes behind: between a release and the acquire that reads from it tickets
//!   keep their order, as the one stands before its instruction and the other behind ([`super::log::Loads::Behind`]). Between accesses
//!   that nothing orders, they may be the other way round.

use bugaroo_device_handlers::logging::{LOG_VARIABLE, LogState, control, prepared, queue, record};

use crate::emit::{
    AT, CAPACITY, Code, FIRST, HIGH, LANES, LEADER, LOGGED, LOGGING, NEXT, P, QUEUE, RECORD, TICKET, WARP,
    WORD, WRITE,
};

/// Offset of the address of what only the device touches.
const CONTROL: usize = std::mem::offset_of!(LogState, control);
/// Offset of the records that a queue holds.
const ROOM: usize = std::mem::offset_of!(LogState, capacity);

/// Tells a record by a function of the logger, if there are queues. `compute` makes the parameters, in registers that
/// nothing here writes; it is run under [`LOGGING`] alone. Falls through to `label`, which is written.
pub(super) fn tell(
    code: &mut Code,
    label: &str,
    function: &str,
    place: u32,
    compute: impl FnOnce(&mut Code),
    parameters: &[&str],
) {
    let again = format!("{label}_again");
    code.op(format!("@!{LOGGING} bra {label};"));
    compute(code);
    code.label(&again);
    call(code, function, parameters);
    for line in piece(&again, &format!("{label}_wait"), place) {
        match line.strip_suffix(':') {
            Some(name) => code.label(name),
            None => code.op(line),
        }
    }
    code.label(label);
}

fn call(code: &mut Code, function: &str, parameters: &[&str]) {
    code.op("{");
    let mut names = Vec::new();
    for (index, parameter) in parameters.iter().enumerate() {
        code.op(format!(".param .b64 bugaroo_in{index};"));
        code.op(format!("st.param.b64 [bugaroo_in{index}], {parameter};"));
        names.push(format!("bugaroo_in{index}"));
    }
    code.op(format!(".param .align 16 .b8 bugaroo_out[{}];", prepared::BYTES));
    code.op(format!("call (bugaroo_out), {function}, ({});", names.join(", ")));
    for (register, bits, offset) in [
        (QUEUE, 64, prepared::QUEUE),
        (WRITE, 64, prepared::WRITE),
        (LOGGED, 64, prepared::WORD),
        (LANES, 32, prepared::LANES),
        (WARP, 32, prepared::WARP),
    ] {
        code.op(format!("ld.param.b{bits} {register}, [bugaroo_out+{offset}];"));
    }
    code.op("}");
}

/// What stands between the call and the program's instruction, line by line.
fn piece(again: &str, wait: &str, place: u32) -> Vec<String> {
    let header = queue::RECORDS + record::LANES as u64;
    let mut lines = Vec::new();
    let mut op = |text: String| lines.push(text);
    // The lanes of the call, and no others.
    op(format!("activemask.b32 {WORD};"));
    op(format!("setp.eq.u32 {P}, {WORD}, {LANES};"));
    op(format!("vote.sync.all.pred {P}, {P}, {WORD};"));
    op(format!("@!{P} bra {again};"));
    op(format!("brev.b32 {FIRST}, {LANES};"));
    op(format!("clz.b32 {FIRST}, {FIRST};"));
    op(format!("mov.u32 {WORD}, %laneid;"));
    op(format!("setp.eq.u32 {LEADER}, {WORD}, {FIRST};"));
    // The leader takes a slot, if there is room.
    op(format!("ld.const.u32 {HIGH}, [{LOG_VARIABLE}+{ROOM}];"));
    op(format!("cvt.u64.u32 {CAPACITY}, {HIGH};"));
    op(format!("ld.relaxed.gpu.global.u64 {NEXT}, [{WRITE}];"));
    op(format!("ld.acquire.sys.global.u64 {AT}, [{QUEUE}+{}];", queue::READ));
    op(format!("sub.u64 {AT}, {NEXT}, {AT};"));
    op(format!("setp.lt.and.u64 {P}, {AT}, {CAPACITY}, {LEADER};"));
    op(format!("add.u64 {RECORD}, {NEXT}, 1;"));
    op(format!("not.b64 {AT}, {NEXT};"));
    op(format!("@{P} atom.relaxed.gpu.global.cas.b64 {AT}, [{WRITE}], {NEXT}, {RECORD};"));
    op(format!("setp.eq.u64 {P}, {AT}, {NEXT};"));
    op(format!("vote.sync.any.pred {P}, {P}, {LANES};"));
    op(format!("@!{P} bra {again};"));
    // On hardware lanes may have seen different heads: the leader's counts.
    op(format!("mov.b64 {{{WORD}, {HIGH}}}, {NEXT};"));
    op(format!("shfl.sync.idx.b32 {WORD}, {WORD}, {FIRST}, 31, {LANES};"));
    op(format!("shfl.sync.idx.b32 {HIGH}, {HIGH}, {FIRST}, 31, {LANES};"));
    op(format!("mov.b64 {NEXT}, {{{WORD}, {HIGH}}};"));
    op(format!("rem.u64 {RECORD}, {NEXT}, {CAPACITY};"));
    op(format!("mad.lo.u64 {RECORD}, {RECORD}, {}, {QUEUE};", record::BYTES));
    op(format!("mov.u32 {WORD}, %laneid;"));
    op(format!("mul.wide.u32 {AT}, {WORD}, 8;"));
    op(format!("add.u64 {AT}, {RECORD}, {AT};"));
    op(format!("st.global.u64 [{AT}+{}], {LOGGED};", queue::RECORDS));
    // Whoever has earlier slots is in this piece, too.
    op(format!("{wait}:"));
    op(format!("ld.acquire.sys.global.u64 {AT}, [{QUEUE}+{}];", queue::COMMIT));
    op(format!("setp.ne.u64 {P}, {AT}, {NEXT};"));
    op(format!("@{P} bra {wait};"));
    op(format!("ld.const.u64 {AT}, [{LOG_VARIABLE}+{CONTROL}];"));
    op(format!("@{LEADER} atom.relaxed.gpu.global.add.u64 {AT}, [{AT}+{}], 1;", control::TICKET));
    op(format!("cvt.u32.u64 {TICKET}, {AT};"));
    op(format!("mov.u32 {WORD}, {place:#x};"));
    op(format!("@{LEADER} st.global.v4.u32 [{RECORD}+{header}], {{{LANES}, {WORD}, {WARP}, {TICKET}}};"));
    op(format!("add.u64 {NEXT}, {NEXT}, 1;"));
    // All lanes have written their words, and nobody goes on before the record has its ticket.
    op(format!("bar.warp.sync {LANES};"));
    op(format!("@{LEADER} st.release.sys.global.u64 [{QUEUE}+{}], {NEXT};", queue::COMMIT));
    lines
}
