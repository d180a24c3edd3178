//! Where `.shared` variables lie.
//!
//! A variable has one offset in whatever kernel uses it, so that decoded code serves all kernels. Variables
//! of one kernel only are packed; one that several kernels share is placed past what each of them has so
//! far, which can leave holes in some of them. Dynamic shared memory (`extern .shared x[]`) begins after a
//! kernel's last variable.

use bugaroo_ptx::ast::Variable;
use rustc_hash::FxHashMap;

/// A shared variable of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedVariable {
    /// Name, as the PTX has it.
    pub name: String,
    /// Byte offset in the block's shared memory.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// Offsets of shared variables and sizes per kernel.
#[derive(Debug, Default)]
pub(super) struct SharedLayout {
    /// By function (None: the module's) and name.
    offsets: FxHashMap<(Option<u32>, String), u32>,
    /// Bytes that each kernel (by function index) needs.
    sizes: FxHashMap<u32, u32>,
    /// The variables that each kernel reaches.
    variables: FxHashMap<u32, Vec<SharedVariable>>,
}

/// A variable, its owner and the kernels that reach it.
pub(super) struct SharedUse<'m> {
    /// Function that declares it; None for the module.
    pub owner: Option<u32>,
    pub variable: &'m Variable,
    /// Function indices of kernels.
    pub kernels: Vec<u32>,
}

impl SharedLayout {
    /// Places the variables: those of several kernels first. None when offsets pass 4 GiB.
    pub fn new(mut uses: Vec<SharedUse<'_>>) -> Option<SharedLayout> {
        uses.sort_by_key(|u| std::cmp::Reverse(u.kernels.len()));
        let mut layout = SharedLayout::default();
        for one in uses {
            let top = one.kernels.iter().filter_map(|k| layout.sizes.get(k)).max().copied().unwrap_or(0);
            let offset = top.checked_next_multiple_of(one.variable.align.max(1))?;
            let size = u32::try_from(one.variable.size()).ok()?;
            let end = offset.checked_add(size)?;
            for kernel in &one.kernels {
                layout.sizes.insert(*kernel, end);
                let name = one.variable.name.clone();
                layout.variables.entry(*kernel).or_default().push(SharedVariable { name, offset, size });
            }
            layout.offsets.insert((one.owner, one.variable.name.clone()), offset);
        }
        Some(layout)
    }

    /// Offset of a module variable.
    pub fn module_offset(&self, name: &str) -> Option<u32> {
        self.offsets.get(&(None, name.to_string())).copied()
    }

    /// Offset of a function's variable.
    pub fn offset(&self, owner: u32, name: &str) -> Option<u32> {
        self.offsets.get(&(Some(owner), name.to_string())).copied()
    }

    /// A kernel's variables.
    pub fn variables(&self, kernel: u32) -> Vec<SharedVariable> {
        self.variables.get(&kernel).cloned().unwrap_or_default()
    }

    /// Bytes that a kernel's variables take.
    pub fn size(&self, kernel: u32) -> u32 {
        self.sizes.get(&kernel).copied().unwrap_or(0)
    }
}
