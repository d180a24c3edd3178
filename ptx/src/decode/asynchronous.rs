//! `mbarrier` and asynchronous copies (PTX ISA, "Asynchronous copy", "mbarrier"). Of tensor copies those of
//! tiles are known.

use crate::op::{AtomOp, MbarrierOp, Op};
use crate::types::{Scope, Semantics, Space, Type};

use super::modifiers::Modifiers;

pub(super) fn decode(opcode: &str, m: &mut Modifiers<'_>) -> Option<Op> {
    match opcode {
        "mbarrier" => mbarrier(m),
        "cp" => {
            let reduce = m.flag("reduce");
            let copies = m.flag("async");
            match (copies, m.flag("bulk"), reduce) {
                (true, true, _) => bulk(reduce, m),
                (true, false, false) => simple(m),
                _ => None,
            }
        }
        _ => None,
    }
}

fn mbarrier(m: &mut Modifiers<'_>) -> Option<Op> {
    let name = m.one_of(&[
        ("init", "init"),
        ("inval", "inval"),
        ("arrive", "arrive"),
        ("arrive_drop", "arrive_drop"),
        ("test_wait", "test_wait"),
        ("try_wait", "try_wait"),
        ("pending_count", "pending_count"),
        ("expect_tx", "expect_tx"),
        ("complete_tx", "complete_tx"),
    ])?;
    let mut order = Semantics::Weak;
    let op = match name {
        "init" => MbarrierOp::Init,
        "inval" => MbarrierOp::Inval,
        "pending_count" => MbarrierOp::PendingCount,
        "arrive" | "arrive_drop" => {
            let (no_complete, expect_tx) = (m.flag("noComplete"), m.flag("expect_tx"));
            order = if m.flag("relaxed") {
                Semantics::Relaxed(m.scope()?)
            } else {
                m.flag("release");
                Semantics::Release(m.scope().unwrap_or(Scope::Cta))
            };
            if no_complete && expect_tx {
                return None;
            }
            MbarrierOp::Arrive { drop: name == "arrive_drop", no_complete, expect_tx }
        }
        "test_wait" | "try_wait" => {
            let parity = m.flag("parity");
            order = if m.flag("relaxed") {
                Semantics::Relaxed(m.scope()?)
            } else {
                m.flag("acquire");
                Semantics::Acquire(m.scope().unwrap_or(Scope::Cta))
            };
            MbarrierOp::Wait { blocking: name == "try_wait", parity }
        }
        _ => {
            if m.flag("relaxed") {
                order = Semantics::Relaxed(m.scope()?);
            }
            if name == "expect_tx" { MbarrierOp::ExpectTx } else { MbarrierOp::CompleteTx }
        }
    };
    let space = m.space();
    m.ty_in(&[Type::B64])?;
    let shared = matches!(space, Space::Generic | Space::Shared | Space::SharedCluster);
    shared.then_some(Op::Mbarrier { op, space, order })
}

/// `cp.async` of 4, 8 or 16 bytes a thread.
fn simple(m: &mut Modifiers<'_>) -> Option<Op> {
    if m.flag("commit_group") {
        return Some(Op::CpAsyncCommit { bulk: false });
    }
    if m.flag("wait_group") || m.flag("wait_all") {
        return Some(Op::CpAsyncWait { bulk: false, read: false });
    }
    if m.flag("mbarrier") {
        let arrives = m.flag("arrive");
        let noinc = m.flag("noinc");
        let space = m.space();
        m.ty_in(&[Type::B64])?;
        let fits = arrives && matches!(space, Space::Generic | Space::Shared);
        return fits.then_some(Op::CpAsyncArrive { space, noinc });
    }
    let policy = m.has("level::cache_hint") || m.has("L2::cache_hint");
    m.cache_hints();
    let (dst, src) = (m.named_space()?, m.named_space()?);
    (dst == Space::Shared && src == Space::Global).then_some(Op::CpAsync { policy })
}

/// `cp.async.bulk`, `cp.reduce.async.bulk`
fn bulk(reduce: bool, m: &mut Modifiers<'_>) -> Option<Op> {
    if m.flag("commit_group") {
        return Some(Op::CpAsyncCommit { bulk: true });
    }
    if m.flag("wait_group") {
        return Some(Op::CpAsyncWait { bulk: true, read: m.flag("read") });
    }
    if m.flag("prefetch") {
        if m.flag("tensor") {
            dimensions(m)?;
            m.flag("tile");
        }
        m.cache_hints();
        m.flag("L2");
        return m.flag("global").then_some(Op::Prefetch);
    }
    if m.flag("tensor") {
        return tensor(reduce, m);
    }
    let policy = m.has("level::cache_hint") || m.has("L2::cache_hint");
    m.cache_hints();
    let (dst, src) = (m.named_space()?, m.named_space()?);
    let mbarrier = m.flag("mbarrier::complete_tx::bytes");
    let group = m.flag("bulk_group");
    let multicast = m.flag("multicast::cluster");
    let reduce = if reduce {
        let op = reduction(m)?;
        m.flag("noftz");
        Some((op, m.ty()?))
    } else {
        None
    };
    let to_shared = matches!(dst, Space::Shared | Space::SharedCluster);
    let fits = match src {
        Space::Global => to_shared && mbarrier && reduce.is_none(),
        Space::Shared if dst == Space::Global => group && !multicast,
        Space::Shared => dst == Space::SharedCluster && mbarrier && !multicast,
        _ => false,
    };
    (fits && mbarrier != group).then_some(Op::CpAsyncBulk { dst, src, mbarrier, reduce, multicast, policy })
}

fn reduction(m: &mut Modifiers<'_>) -> Option<AtomOp> {
    m.one_of(&[
        ("and", AtomOp::And),
        ("or", AtomOp::Or),
        ("xor", AtomOp::Xor),
        ("add", AtomOp::Add),
        ("inc", AtomOp::Inc),
        ("dec", AtomOp::Dec),
        ("min", AtomOp::Min),
        ("max", AtomOp::Max),
    ])
}

fn dimensions(m: &mut Modifiers<'_>) -> Option<u8> {
    m.one_of(&[("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)])
}

/// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`, of tiles.
fn tensor(reduces: bool, m: &mut Modifiers<'_>) -> Option<Op> {
    let dims = dimensions(m)?;
    let policy = m.has("level::cache_hint") || m.has("L2::cache_hint");
    m.cache_hints();
    let (dst, src) = (m.named_space()?, m.named_space()?);
    m.flag("tile");
    let mbarrier = m.flag("mbarrier::complete_tx::bytes");
    let group = m.flag("bulk_group");
    let multicast = m.flag("multicast::cluster");
    let reduce = if reduces { Some(reduction(m)?) } else { None };
    let inwards = matches!(dst, Space::Shared | Space::SharedCluster) && src == Space::Global;
    let outwards = dst == Space::Global && src == Space::Shared;
    let fits = match mbarrier {
        true => inwards && !group && !reduces,
        false => outwards && group && !multicast,
    };
    let shared = if inwards { dst } else { src };
    fits.then_some(Op::CpAsyncTensor { dims, shared, to_shared: inwards, reduce, multicast, policy })
}
