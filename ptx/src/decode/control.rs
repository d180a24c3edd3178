//! Control flow and what threads do together (PTX ISA 9.7.12, 9.7.13, 9.7.19).

use crate::op::{AtomOp, BarRed, BarrierKind, Op, ShflMode, VoteMode};
use crate::types::{Scope, Semantics, Space, Type};

use super::modifiers::Modifiers;

pub(super) fn decode(opcode: &str, m: &mut Modifiers<'_>) -> Option<Op> {
    match opcode {
        "bra" => Some(Op::Bra { uni: m.flag("uni") }),
        "brx" => {
            let indexed = m.flag("idx");
            indexed.then_some(Op::Brx { uni: m.flag("uni") })
        }
        "call" => Some(Op::Call { uni: m.flag("uni") }),
        "ret" => Some(Op::Ret { uni: m.flag("uni") }),
        "exit" => Some(Op::Exit),
        "trap" => Some(Op::Trap),
        "brkpt" => Some(Op::Brkpt),
        "nanosleep" => m.ty_in(&[Type::U32]).map(|_| Op::Nanosleep),
        "pmevent" => {
            m.flag("mask");
            Some(Op::Prefetch)
        }
        "alloca" => Some(Op::Alloca { ty: m.ty_in(&[Type::U32, Type::U64])? }),
        "stacksave" | "stackrestore" => {
            let save = opcode == "stacksave";
            Some(Op::Stack { save, ty: m.ty_in(&[Type::U32, Type::U64])? })
        }
        "bar" if m.flag("warp") => m.flag("sync").then_some(Op::WarpSync),
        "bar" | "barrier" if !m.has("cluster") => barrier(opcode == "bar", m),
        "shfl" => {
            let sync = m.flag("sync");
            let mode = m.one_of(&[
                ("up", ShflMode::Up),
                ("down", ShflMode::Down),
                ("bfly", ShflMode::Bfly),
                ("idx", ShflMode::Idx),
            ])?;
            m.ty_in(&[Type::B32])?;
            Some(Op::Shfl { mode, sync })
        }
        "vote" => {
            let sync = m.flag("sync");
            let mode = m.one_of(&[
                ("all", VoteMode::All),
                ("any", VoteMode::Any),
                ("uni", VoteMode::Uni),
                ("ballot", VoteMode::Ballot),
            ])?;
            let ty = if mode == VoteMode::Ballot { Type::B32 } else { Type::Pred };
            m.ty_in(&[ty])?;
            Some(Op::Vote { mode, sync })
        }
        "match" => {
            let all = m.one_of(&[("all", true), ("any", false)])?;
            let sync = m.flag("sync");
            let ty = m.ty_in(&[Type::B32, Type::B64])?;
            sync.then_some(Op::Match { all, ty })
        }
        "redux" => redux(m),
        "elect" => m.flag("sync").then_some(Op::Elect),
        "barrier" if m.flag("cluster") => cluster_barrier(m),
        "mapa" | "getctarank" => {
            let space = m.space();
            let ty = m.ty_in(&[Type::U32, Type::U64])?;
            let fits = matches!(space, Space::Generic | Space::SharedCluster);
            let op = if opcode == "mapa" { Op::Mapa { space, ty } } else { Op::Getctarank { space, ty } };
            fits.then_some(op)
        }
        "setmaxnreg" | "griddepcontrol" => {
            while m.take(Some).is_some() {}
            Some(Op::Hint)
        }
        "activemask" => m.ty_in(&[Type::B32]).map(|_| Op::Activemask),
        _ => None,
    }
}

fn redux(m: &mut Modifiers<'_>) -> Option<Op> {
    let sync = m.flag("sync");
    let op = m.one_of(&[
        ("add", AtomOp::Add),
        ("min", AtomOp::Min),
        ("max", AtomOp::Max),
        ("and", AtomOp::And),
        ("or", AtomOp::Or),
        ("xor", AtomOp::Xor),
    ])?;
    let (abs, nan) = (m.flag("abs"), m.flag("NaN"));
    let ty = m.ty()?;
    let extreme = matches!(op, AtomOp::Min | AtomOp::Max);
    let fits = match ty {
        Type::U32 | Type::S32 => (extreme || op == AtomOp::Add) && !abs && !nan,
        Type::B32 => matches!(op, AtomOp::And | AtomOp::Or | AtomOp::Xor) && !abs && !nan,
        Type::F32 => extreme,
        _ => false,
    };
    (sync && fits).then_some(Op::Redux { op, ty, abs, nan })
}

/// `barrier.cluster`: an arrival releases and a wait acquires unless they say otherwise.
fn cluster_barrier(m: &mut Modifiers<'_>) -> Option<Op> {
    let wait = m.one_of(&[("arrive", false), ("wait", true)])?;
    let order = if m.flag("relaxed") {
        Semantics::Relaxed(Scope::Cluster)
    } else if wait {
        m.flag("acquire");
        Semantics::Acquire(Scope::Cluster)
    } else {
        m.flag("release");
        Semantics::Release(Scope::Cluster)
    };
    m.flag("aligned");
    (!wait || order != Semantics::Relaxed(Scope::Cluster)).then_some(Op::ClusterBarrier { wait, order })
}

/// `bar` is `barrier.cta.….aligned`.
fn barrier(bar: bool, m: &mut Modifiers<'_>) -> Option<Op> {
    m.flag("cta");
    let aligned = bar || m.flag("aligned");
    let kind = m.one_of(&[("sync", "sync"), ("arrive", "arrive"), ("red", "red")])?;
    let kind = match kind {
        "sync" => BarrierKind::Sync,
        "arrive" => BarrierKind::Arrive,
        _ => {
            let red = m.one_of(&[("popc", BarRed::Popc), ("and", BarRed::And), ("or", BarRed::Or)])?;
            m.ty_in(&[if red == BarRed::Popc { Type::U32 } else { Type::Pred }])?;
            BarrierKind::Red(red)
        }
    };
    Some(Op::Barrier { kind, aligned })
}
