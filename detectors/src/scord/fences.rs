//! The fence file, and the barriers of the blocks: what has happened since an access (section IV-A).
//!
//! Counts are kept whole here; entries keep them as wide as their fields are, and compare so.

use super::check::SinceAccess;
use super::layout::EntryLayout;
use super::metadata::ScordEntry;

/// A block.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// How often its threads have met.
    barriers: u32,
    /// That number when one of its warps last fenced for the device.
    fenced_at: u32,
    /// That number when its cluster last met.
    cluster_at: u32,
    /// Where its warps are in the fence file, and one; 0 where none has fenced.
    file: u32,
}

/// Fences of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpFences {
    /// For the device.
    pub dev: u32,
    /// For the block.
    pub blk: u32,
}

/// The blocks of a grid, by the numbers that entries have for them.
#[derive(Debug, Default)]
pub struct ScordBlocks {
    blocks: Vec<Block>,
    file: Vec<WarpFences>,
    warps: u32,
    /// Blocks of a cluster; 1 where there are none.
    cluster: u32,
}

impl ScordBlocks {
    /// Of so many warps each, so many a cluster.
    pub fn new(warps: u32, cluster: u32) -> ScordBlocks {
        ScordBlocks { blocks: Vec::new(), file: Vec::new(), warps, cluster: cluster.max(1) }
    }

    #[inline]
    fn get(&self, block: u32) -> Block {
        self.blocks.get(block as usize).copied().unwrap_or_default()
    }

    fn get_mut(&mut self, block: u32) -> &mut Block {
        let index = block as usize;
        if self.blocks.len() <= index {
            self.blocks.resize(index + 1, Block::default());
        }
        &mut self.blocks[index]
    }

    /// What a warp has fenced.
    #[inline]
    pub fn fences(&self, block: u32, warp: u32) -> WarpFences {
        match self.get(block).file {
            0 => WarpFences::default(),
            file => self.file.get((file - 1 + warp) as usize).copied().unwrap_or_default(),
        }
    }

    /// How often a block has met.
    #[inline]
    pub fn barriers(&self, block: u32) -> u32 {
        self.get(block).barriers
    }

    /// A warp fences. `counts`: it has accessed memory since it last did, else its number need not change. Gives its new numbers.
    pub fn fence(&mut self, block: u32, warp: u32, device: bool, counts: bool) -> WarpFences {
        let (warps, end) = (self.warps, self.file.len() as u32);
        let state = self.get_mut(block);
        if device {
            state.fenced_at = state.barriers;
        }
        if state.file == 0 {
            state.file = end + 1;
            self.file.resize((end + warps) as usize, WarpFences::default());
        }
        let at = self.get(block).file - 1 + warp;
        let Some(fences) = self.file.get_mut(at as usize) else { return WarpFences::default() };
        match (counts, device) {
            (true, true) => fences.dev = fences.dev.wrapping_add(1),
            (true, false) => fences.blk = fences.blk.wrapping_add(1),
            (false, _) => {}
        }
        *fences
    }

    /// Threads of a block have met. Gives how often they have.
    pub fn meet(&mut self, block: u32) -> u32 {
        let state = self.get_mut(block);
        state.barriers = state.barriers.wrapping_add(1);
        state.barriers
    }

    /// As [`ScordBlocks::meet`], of a block whose whole cluster meets.
    pub fn meet_cluster(&mut self, block: u32) -> u32 {
        let barriers = self.meet(block);
        self.get_mut(block).cluster_at = barriers;
        barriers
    }

    /// What has happened since the access that an entry tells of, for an access of `block`.
    #[inline]
    pub fn since(&self, layout: &EntryLayout, md: &ScordEntry, block: u32) -> SinceAccess {
        let state = self.get(md.block);
        let fences = self.fences(md.block, md.warp);
        // How many barriers ago that was, as far as the field tells.
        let age = layout.barrier(state.barriers.wrapping_sub(md.barrier));
        let behind = |at: u32| age > state.barriers.wrapping_sub(at);
        let near = self.cluster > 1 && md.block / self.cluster == block / self.cluster;
        SinceAccess {
            dev: layout.dev_fence(fences.dev) != md.dev_fence || behind(state.fenced_at),
            blk: layout.blk_fence(fences.blk) != md.blk_fence,
            barrier: age != 0,
            cluster: near && behind(state.cluster_at),
        }
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        (self.blocks.capacity() * size_of::<Block>() + self.file.capacity() * size_of::<WarpFences>()) as u64
    }
}
