//! The text that tells one record.
//!
//! Between the leader's taking of the ticket and the program's own instruction there is no branch, no call and nothing that
//! others can see but what the leader does under a guard: so nothing comes between on a device that stops warps only at what is
//! visible, or at branches, as long as the lanes of the record have stayed together since they took its slot.

use bugaroo_device_handlers::logging::{LOG_VARIABLE, LogState, control, record, slot};

use crate::emit::{Code, LANES, LOGGING, NEXT, P, QUEUE, RECORD, TICKET, WORD};

/// Offset of the address of what only the device touches.
const CONTROL: usize = std::mem::offset_of!(LogState, control);

/// Tells a record by a function of the logger, if there are queues. `prepare` computes the parameters that follow the place; it
/// is run under [`LOGGING`] alone. Falls through to `label`, which is written.
pub(super) fn tell(
    code: &mut Code,
    label: &str,
    function: &str,
    place: u32,
    prepare: impl FnOnce(&mut Code),
    parameters: &[&str],
) {
    code.op(format!("@!{LOGGING} bra {label};"));
    prepare(code);
    call(code, function, place, parameters);
    code.op(format!("setp.ne.u64 {P}, {RECORD}, 0;"));
    code.op(format!("ld.const.u64 {TICKET}, [{LOG_VARIABLE}+{CONTROL}];"));
    let ticket = control::TICKET;
    code.op(format!("@{P} atom.relaxed.gpu.global.add.u64 {TICKET}, [{TICKET}+{ticket}], 1;"));
    code.op(format!("cvt.u32.u64 {WORD}, {TICKET};"));
    code.op(format!("@{P} st.global.u32 [{RECORD}+{}], {WORD};", record::TICKET));
    code.op(format!("@{P} st.release.sys.global.u64 [{QUEUE}], {NEXT};"));
    // Nobody goes on before the record has its ticket.
    code.op(format!("cvt.u32.u64 {WORD}, {LANES};"));
    code.op(format!("bar.warp.sync {WORD};"));
    code.label(label);
}

fn call(code: &mut Code, function: &str, place: u32, parameters: &[&str]) {
    code.op("{");
    code.op(".param .b32 bugaroo_in0;");
    code.op(format!("st.param.b32 [bugaroo_in0], {place:#x};"));
    let mut names = String::from("bugaroo_in0");
    for (index, parameter) in parameters.iter().enumerate() {
        let index = index + 1;
        code.op(format!(".param .b64 bugaroo_in{index};"));
        code.op(format!("st.param.b64 [bugaroo_in{index}], {parameter};"));
        names.push_str(&format!(", bugaroo_in{index}"));
    }
    code.op(format!(".param .align 16 .b8 bugaroo_out[{}];", slot::BYTES));
    code.op(format!("call (bugaroo_out), {function}, ({names});"));
    for (register, offset) in
        [(RECORD, slot::RECORD), (QUEUE, slot::QUEUE), (NEXT, slot::NEXT), (LANES, slot::LANES)]
    {
        code.op(format!("ld.param.b64 {register}, [bugaroo_out+{offset}];"));
    }
    code.op("}");
}
