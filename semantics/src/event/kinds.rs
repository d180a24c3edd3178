//! What accesses do, and by which path.

use bugaroo_ptx::op::AtomOp;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// `ld`, `ldu`
    Load,
    /// `st`
    Store,
    /// `atom`, `red`
    Atomic(AtomOp),
}

impl AccessKind {
    /// Whether it may write.
    pub fn writes(self) -> bool {
        self != AccessKind::Load
    }
}

/// Through which path memory is accessed (PTX ISA, "Proxies").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proxy {
    /// That of plain accesses, of `cp.async` that is not bulk, and of the host.
    Generic,
    /// That of bulk and tensor copies, and of `st.async`.
    Async,
}
