//! Frames: the register rows of a call, for the lanes that are in it.
//!
//! Lanes that diverge inside a call go on sharing its frame, each writing its own lanes of the rows; a call
//! that some of them make gets a frame of its own, tied to its caller's. A frame is given back when its last
//! lane has left it. Rows lie in blocks that never move; a free list per function makes calls cost no
//! allocation once the depth has been reached before.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

/// No parent: the kernel's own frame.
pub(super) const ROOT: u32 = u32::MAX;

/// A frame's bookkeeping.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// First byte of its rows.
    pub rows: *mut u8,
    /// Whose call this is.
    pub function: u32,
    /// The caller's frame, or [`ROOT`].
    pub parent: u32,
    /// The instruction after the call.
    pub return_pc: u32,
    /// Lanes that are in this frame or in one below it.
    pub live: u32,
    /// Calls in progress; 0 for a kernel.
    pub depth: u32,
    /// Where the function's local variables begin in the thread's local memory.
    pub local_base: u32,
}

/// Zeroed bytes on a 64-byte boundary.
#[derive(Debug)]
pub(super) struct Block {
    base: *mut u8,
    layout: Layout,
}

impl Block {
    /// None when the size is past what the host can address.
    pub fn new(bytes: usize) -> Option<Block> {
        let layout = Layout::from_size_align(bytes.max(64), 64).ok()?;
        // SAFETY: the size is not zero.
        let base = unsafe { alloc_zeroed(layout) };
        (!base.is_null()).then_some(Block { base, layout })
    }

    pub fn base(&self) -> *mut u8 {
        self.base
    }

    pub fn bytes(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and freed here only.
        unsafe { dealloc(self.base, self.layout) };
    }
}

/// All frames of a launch.
#[derive(Debug)]
pub(super) struct Frames {
    frames: Vec<Frame>,
    /// Frames to be used again, by function.
    free: Vec<Vec<u32>>,
    blocks: Vec<Block>,
    /// Bytes of the last block that are taken.
    taken: usize,
}

const BLOCK_BYTES: usize = 1 << 20;

impl Frames {
    /// For a program of so many functions.
    pub fn new(functions: usize) -> Frames {
        Frames { frames: Vec::new(), free: vec![Vec::new(); functions], blocks: Vec::new(), taken: 0 }
    }

    #[inline(always)]
    pub fn get(&self, frame: u32) -> &Frame {
        &self.frames[frame as usize]
    }

    /// A frame for a call of `head.function`, with rows of `bytes` bytes (`head.rows` is set here). The rows
    /// hold whatever an earlier call left there.
    pub fn enter(&mut self, bytes: u32, mut head: Frame) -> u32 {
        if let Some(frame) = self.free[head.function as usize].pop() {
            head.rows = self.frames[frame as usize].rows;
            self.frames[frame as usize] = head;
            return frame;
        }
        head.rows = self.take(bytes as usize);
        self.frames.push(head);
        self.frames.len() as u32 - 1
    }

    /// Lanes leave a frame; it is free when nobody is left in it.
    pub fn leave(&mut self, frame: u32, lanes: u32) {
        let head = &mut self.frames[frame as usize];
        head.live &= !lanes;
        if head.live == 0 {
            self.free[head.function as usize].push(frame);
        }
    }

    fn take(&mut self, bytes: usize) -> *mut u8 {
        let room = self.blocks.last().map_or(0, |b| b.bytes() - self.taken);
        if room < bytes {
            let size = bytes.max(BLOCK_BYTES);
            let Some(block) = Block::new(size) else {
                handle_alloc_error(Layout::new::<u8>());
            };
            self.blocks.push(block);
            self.taken = 0;
        }
        let block = self.blocks.last().expect("one was just made if there was none");
        // SAFETY: `taken + bytes` is at most the block's size, as the room was checked.
        let rows = unsafe { block.base().add(self.taken) };
        self.taken += bytes;
        rows
    }
}
