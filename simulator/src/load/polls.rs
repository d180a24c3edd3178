//! Which loads and atomics a thread may poll: those from which it comes back to the same instruction by arithmetic and branches
//! alone, with no other access, fence or barrier between.

use crate::decoded::{Atomic, DecodedAccess, Inst, Kind, NO_GUARD};

/// Instructions of a round that are looked at. A loop that polls is short.
pub(crate) const LONGEST: u32 = 64;

/// The instructions that may be polled, in order.
pub(super) fn polls(code: &[Inst], accesses: &[DecodedAccess], atomics: &[Atomic]) -> Vec<u32> {
    let may = |(inst, pc): &(&Inst, u32)| reads(inst, accesses, atomics) && comes_back(code, *pc);
    code.iter().zip(0..).filter(may).map(|(_, pc)| pc).collect()
}

/// Whether it is an access that may read without writing, by all lanes that come to it.
fn reads(inst: &Inst, accesses: &[DecodedAccess], atomics: &[Atomic]) -> bool {
    let at = inst.extra as usize;
    inst.guard == NO_GUARD
        && match inst.kind {
            Kind::Load => accesses[at].visible && accesses[at].vec == 1,
            Kind::Atomic => {
                let atomic = &atomics[at];
                atomic.dst.is_some() && atomic.high.is_none() && !atomic.ty.is_float()
            }
            _ => false,
        }
}

/// Whether an instruction depends on nothing but registers, parameters and constants, and changes nothing but registers.
pub(crate) fn computes(inst: &Inst) -> bool {
    matches!(inst.kind, Kind::Alu | Kind::Nop | Kind::ParamLoad | Kind::Branch)
}

fn comes_back(code: &[Inst], pc: u32) -> bool {
    let mut seen = Vec::new();
    let mut open = vec![pc + 1];
    while let Some(next) = open.pop() {
        if next == pc {
            return true;
        }
        let Some(inst) = code.get(next as usize).filter(|inst| computes(inst)) else { continue };
        if seen.contains(&next) {
            continue;
        }
        seen.push(next);
        if seen.len() > LONGEST as usize {
            return false;
        }
        if inst.kind != Kind::Branch || inst.guard != NO_GUARD {
            open.push(next + 1);
        }
        if inst.kind == Kind::Branch {
            open.push(inst.extra);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use bugaroo_device_handlers::flags;
    use bugaroo_injector::collect_sites::collect_sites;

    use crate::config::DeviceConfig;
    use crate::decoded::Kind;
    use crate::load::Program;
    use crate::memory::Memory;

    const TEXT: &str = ".version 8.4\n.target sm_90\n.address_size 64\n\
        .visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<4>;\n.reg .pred %p<3>;\n\
        ld.param.u64 %rd0, [out];\nst.global.u32 [%rd0+64], 1;\n\
        LOCK: atom.global.cas.b32 %r1, [%rd0], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOCK;\n\
        WAIT: ld.volatile.global.u32 %r2, [%rd0+4];\nld.volatile.global.u32 %r3, [%rd0+8];\nadd.u32 %r2, %r2, %r3;\n\
        setp.eq.u32 %p1, %r2, 0;\n@%p1 bra WAIT;\nret;\n}\n";

    /// The lock is polled, and the sum of two words, which are two accesses, is not: also where fences are inserted, which move what is
    /// behind them. One behind the lock's own access is part of each round.
    #[test]
    fn polls_are_found_in_programs_with_fences() {
        let module = bugaroo_ptx::parse(TEXT).expect("the test's PTX parses");
        let table = collect_sites(&module);
        let mut memory = Memory::new(1 << 24).expect("address space");
        let program = Program::load(&module, &mut memory, &DeviceConfig::default()).expect("it loads");
        let kinds = |program: &Program| -> Vec<Kind> {
            program.polls.iter().map(|pc| program.code[*pc as usize].kind).collect()
        };
        assert_eq!(kinds(&program), [Kind::Atomic]);
        let sites = table.sites.len();
        let with = |site: usize| {
            let words: Vec<u32> = (0..sites).map(|at| if at == site { flags::INSERT } else { 0 }).collect();
            program.with_fences(&table, &words).map(|program| kinds(&program))
        };
        let found: Vec<_> = (0..sites).filter_map(with).collect();
        assert!(found.contains(&vec![Kind::Atomic]) && found.contains(&vec![]), "{found:?}");
        assert!(found.iter().flatten().all(|kind| *kind == Kind::Atomic), "{found:?}");
    }
}
