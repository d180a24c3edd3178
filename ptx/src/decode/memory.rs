//! Movement, memory, atomics and fences (PTX ISA 9.7.9, 9.7.13).

use crate::op::{AtomOp, FenceKind, Op};
use crate::types::{Scope, Semantics, Space, Type};

use super::modifiers::Modifiers;

use Type::{B8, B16, B32, B64, B128, BF16, BF16x2, F16, F16x2, F32, F64, Pred};
use Type::{S8, S16, S32, S64, U8, U16, U32, U64};

/// What `ld` and `st` move.
const MEMORY: [Type; 15] = [B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64];
const MOVES: [Type; 13] = [Pred, B16, B32, B64, B128, U16, U32, U64, S16, S32, S64, F32, F64];

pub(super) fn decode(opcode: &str, m: &mut Modifiers<'_>) -> Option<Op> {
    match opcode {
        "mov" => Some(Op::Mov { ty: m.ty_in(&MOVES)? }),
        "cvta" => {
            let to = m.flag("to");
            let space = m.named_space()?;
            Some(Op::Cvta { to, space, ty: m.ty_in(&[U32, U64])? })
        }
        "isspacep" => Some(Op::Isspacep { space: m.named_space()? }),
        "red" | "st" if m.flag("async") => asynchronous_access(opcode == "st", m),
        "createpolicy" => {
            while m.take(|word| (word != "b64").then_some(())).is_some() {}
            m.ty_in(&[B64]).map(|_| Op::Createpolicy)
        }
        "ld" => {
            let sem = m.semantics()?;
            let space = m.space();
            let nc = m.flag("nc");
            m.cache_hints();
            let vec = m.vector();
            let ty = m.ty_in(&MEMORY)?;
            let fits = match sem {
                Semantics::Release(_) => false,
                _ => !nc || (sem == Semantics::Weak && space == Space::Global),
            };
            fits.then_some(Op::Ld { space, sem, nc, vec, ty })
        }
        "ldu" => {
            let space = m.space();
            let vec = m.vector();
            Some(Op::Ldu { space, vec, ty: m.ty_in(&MEMORY)? })
                .filter(|_| matches!(space, Space::Generic | Space::Global))
        }
        "st" => {
            let sem = m.semantics()?;
            let space = m.space();
            m.cache_hints();
            let vec = m.vector();
            let ty = m.ty_in(&MEMORY)?;
            let fits = !matches!(sem, Semantics::Acquire(_)) && space != Space::Const;
            fits.then_some(Op::St { space, sem, vec, ty })
        }
        "atom" | "red" => atomic(opcode == "atom", m),
        "prefetch" | "prefetchu" | "discard" | "applypriority" => {
            while m.take(Some).is_some() {}
            Some(Op::Prefetch)
        }
        "membar" => match m.one_of(&[("cta", Scope::Cta), ("gl", Scope::Gpu), ("sys", Scope::Sys)]) {
            Some(scope) => Some(Op::Fence { kind: FenceKind::Sc, scope }),
            None => proxy(m),
        },
        "fence" => fence(m),
        _ => None,
    }
}

fn atomic(returns: bool, m: &mut Modifiers<'_>) -> Option<Op> {
    let order = m.one_of(&[
        ("relaxed", "relaxed"),
        ("acquire", "acquire"),
        ("release", "release"),
        ("acq_rel", "acq_rel"),
    ]);
    let scope = m.scope().unwrap_or(Scope::Gpu);
    let sem = match order {
        Some("acquire") => Semantics::Acquire(scope),
        Some("release") => Semantics::Release(scope),
        Some("acq_rel") => Semantics::AcqRel(scope),
        _ => Semantics::Relaxed(scope),
    };
    let space = m.space();
    let op = m.one_of(&[
        ("and", AtomOp::And),
        ("or", AtomOp::Or),
        ("xor", AtomOp::Xor),
        ("cas", AtomOp::Cas),
        ("exch", AtomOp::Exch),
        ("add", AtomOp::Add),
        ("inc", AtomOp::Inc),
        ("dec", AtomOp::Dec),
        ("min", AtomOp::Min),
        ("max", AtomOp::Max),
    ])?;
    let noftz = m.flag("noftz");
    m.cache_hints();
    let vec = m.vector();
    let ty = m.ty()?;
    let halves = matches!(ty, F16 | F16x2 | BF16 | BF16x2);
    let type_fits = match op {
        AtomOp::And | AtomOp::Or | AtomOp::Xor => matches!(ty, B32 | B64),
        AtomOp::Exch => returns && matches!(ty, B32 | B64 | B128),
        AtomOp::Cas => returns && matches!(ty, B16 | B32 | B64 | B128),
        AtomOp::Add => matches!(ty, U32 | S32 | U64 | F32 | F64) || halves,
        AtomOp::Inc | AtomOp::Dec => ty == U32,
        AtomOp::Min | AtomOp::Max => matches!(ty, U32 | S32 | U64 | S64) || halves,
    };
    let shared = matches!(space, Space::Shared | Space::SharedCluster);
    let space_fits = matches!(space, Space::Generic | Space::Global) || shared;
    // A vector of up to 16 bytes, element by element, in global memory.
    let vector_fits = vec == 1
        || (!shared
            && u32::from(vec) * ty.bytes() <= 16
            && match op {
                AtomOp::Add => ty == F32 || halves,
                AtomOp::Min | AtomOp::Max => halves,
                _ => false,
            });
    let fits = type_fits && space_fits && vector_fits && (!noftz || halves);
    fits.then_some(if returns {
        Op::Atom { space, sem, op, ty, vec, noftz }
    } else {
        Op::Red { space, sem, op, ty, vec, noftz }
    })
}

/// `st.async` and `red.async`: always on a cluster's shared memory, always with an mbarrier.
fn asynchronous_access(store: bool, m: &mut Modifiers<'_>) -> Option<Op> {
    m.flag("weak");
    if m.flag("relaxed") {
        m.scope()?;
    }
    let counted = m.flag("mbarrier::complete_tx::bytes");
    let space = m.space();
    if !counted || !matches!(space, Space::Generic | Space::SharedCluster) {
        return None;
    }
    if store {
        let vec = m.vector();
        return Some(Op::StAsync { vec, ty: m.ty_in(&[B32, B64, U32, U64, S32, S64, F32, F64])? });
    }
    let op = m.one_of(&[
        ("inc", AtomOp::Inc),
        ("dec", AtomOp::Dec),
        ("min", AtomOp::Min),
        ("max", AtomOp::Max),
        ("add", AtomOp::Add),
        ("and", AtomOp::And),
        ("or", AtomOp::Or),
        ("xor", AtomOp::Xor),
    ])?;
    let ty = m.ty()?;
    let fits = match op {
        AtomOp::Inc | AtomOp::Dec => ty == U32,
        AtomOp::Min | AtomOp::Max => matches!(ty, U32 | S32),
        AtomOp::Add => matches!(ty, U32 | S32 | U64),
        _ => ty == B32,
    };
    fits.then_some(Op::RedAsync { op, ty })
}

fn fence(m: &mut Modifiers<'_>) -> Option<Op> {
    if m.take(|word| (word.starts_with("proxy") || word.starts_with("mbarrier_init")).then_some(())).is_some()
    {
        while m.take(Some).is_some() {}
        return Some(Op::Fence { kind: FenceKind::Proxy, scope: Scope::Sys });
    }
    let kind = m.one_of(&[
        ("sc", FenceKind::Sc),
        ("acq_rel", FenceKind::AcqRel),
        ("acquire", FenceKind::Acquire),
        ("release", FenceKind::Release),
    ]);
    if matches!(kind, Some(FenceKind::Acquire | FenceKind::Release)) {
        // `.sync_restrict::shared::cluster` narrows what is ordered; ordering more is no error.
        m.take(|word| word.starts_with("sync_restrict::").then_some(()));
    }
    Some(Op::Fence { kind: kind.unwrap_or(FenceKind::AcqRel), scope: m.scope()? })
}

/// `membar.proxy.…`
fn proxy(m: &mut Modifiers<'_>) -> Option<Op> {
    m.take(|word| (word == "proxy").then_some(()))?;
    while m.take(Some).is_some() {}
    Some(Op::Fence { kind: FenceKind::Proxy, scope: Scope::Sys })
}
