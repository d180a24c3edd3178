//! Frames: the register rows of a call, for the lanes that are in it.
//!
//! Lanes that diverge inside a call go on sharing its frame, each writing its own lanes of the rows; a call
//! that some of them make gets a frame of its own, tied to its caller's. A frame is given back when its last
//! lane has left it. Rows lie in blocks that never move; a free list per function makes calls cost no
//! allocation once the depth has been reached before.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

use crate::poison::unpoison;

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
    /// Bytes of local memory that it took behind its variables (`alloca`).
    pub grown: u32,
}

/// Zeroed bytes: on a page boundary and committed as they are touched, where it does not say otherwise.
#[derive(Debug)]
pub(super) struct Block {
    base: *mut u8,
    bytes: usize,
    /// It is the allocator's, and no mapping of its own.
    allocated: bool,
}

/// Bytes that are zeroed sooner than mapped.
const FEW: usize = 1 << 14;
/// The same for memory all of which will be used.
const FEW_USED: usize = 1 << 18;

/// Alignment of blocks that are the allocator's: rows are a multiple of it, and read as vectors.
const ALIGN: usize = 64;

impl Block {
    /// None when the host has no room for it.
    pub fn new(bytes: usize) -> Option<Block> {
        Block::mapped_beyond(FEW, bytes)
    }

    /// As [`Block::new`], for memory all of which will be used.
    pub fn used(bytes: usize) -> Option<Block> {
        Block::mapped_beyond(FEW_USED, bytes)
    }

    /// A mapping of its own where it is of more than a few bytes.
    fn mapped_beyond(few: usize, bytes: usize) -> Option<Block> {
        let bytes = bytes.max(64);
        if bytes <= few {
            return Block::allocated(bytes);
        }
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh mapping that overlaps nothing.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes, protection, flags | libc::MAP_NORESERVE, -1, 0)
        };
        (base != libc::MAP_FAILED).then_some(Block { base: base.cast(), bytes, allocated: false })
    }

    /// From the allocator, for memory all of which will be used: trials of a fork server have a huge page at their heap's end,
    /// from which it comes without a fault a page.
    pub fn allocated(bytes: usize) -> Option<Block> {
        let layout = Layout::from_size_align(bytes, ALIGN).ok().filter(|layout| layout.size() > 0)?;
        // SAFETY: the size is not zero.
        let base = unsafe { alloc_zeroed(layout) };
        (!base.is_null()).then_some(Block { base, bytes, allocated: true })
    }

    /// As [`Block::new`], for memory that will be used densely: asks the host for huge pages, so that touching
    /// it faults a few times instead of once in 4 KiB.
    pub fn dense(bytes: usize) -> Option<Block> {
        let mut block = Block::new(bytes.next_multiple_of(HUGE_PAGE) + HUGE_PAGE)?;
        // Not all systems place large mappings so that huge pages fit.
        let before = block.base.align_offset(HUGE_PAGE);
        let behind = HUGE_PAGE - before;
        // SAFETY: our own mapping, in whole pages: what is not needed goes, at the one end and the other. The advice does
        // not change what the rest holds, and refusal changes nothing.
        unsafe {
            if before > 0 {
                libc::munmap(block.base.cast(), before);
            }
            block.base = block.base.add(before);
            block.bytes -= HUGE_PAGE;
            libc::munmap(block.base.add(block.bytes).cast(), behind);
            libc::madvise(block.base.cast(), block.bytes, libc::MADV_HUGEPAGE);
        }
        Some(block)
    }

    pub fn base(&self) -> *mut u8 {
        self.base
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: made in `allocated` with this layout, or mapped with this length, and given back here only.
        unsafe {
            if self.allocated {
                dealloc(self.base, Layout::from_size_align_unchecked(self.bytes, ALIGN));
            } else {
                unpoison(self.base, self.bytes);
                libc::munmap(self.base.cast(), self.bytes);
            }
        };
    }
}

/// All frames of a launch.
#[derive(Debug)]
pub(super) struct Frames {
    frames: Vec<Frame>,
    /// By function: the first of its frames that are to be used again, or [`ROOT`]; the next one is its parent. Functions behind the
    /// last one that was called are not there: launches cost the same, however large the program.
    free: Vec<u32>,
    blocks: Vec<Block>,
    /// Bytes of the last block that are taken.
    taken: usize,
    /// Size of the next block.
    next_bytes: usize,
}

/// Size of a block of frames where nothing larger is expected.
const SMALL_BLOCK: usize = 1 << 18;

/// From here on, blocks are whole huge pages.
const HUGE_PAGE: usize = 1 << 21;

impl Frames {
    /// For a launch whose kernel frames alone will take `expected` bytes.
    pub fn new(expected: usize) -> Frames {
        let next_bytes = if expected < HUGE_PAGE / 2 {
            expected
        } else {
            // A quarter more, for the functions that the kernel calls.
            (expected + expected / 4).next_multiple_of(HUGE_PAGE)
        };
        Frames { frames: Vec::new(), free: Vec::new(), blocks: Vec::new(), taken: 0, next_bytes }
    }

    #[inline(always)]
    pub fn get(&self, frame: u32) -> &Frame {
        &self.frames[frame as usize]
    }

    pub fn get_mut(&mut self, frame: u32) -> &mut Frame {
        &mut self.frames[frame as usize]
    }

    /// A frame for a call of `head.function`, with rows of `bytes` bytes (`head.rows` is set here). The rows
    /// hold whatever an earlier call left there.
    pub fn enter(&mut self, bytes: u32, mut head: Frame) -> u32 {
        if let Some(first) = self.free.get_mut(head.function as usize).filter(|first| **first != ROOT) {
            let frame = *first;
            let known = &mut self.frames[frame as usize];
            *first = known.parent;
            head.rows = known.rows;
            *known = head;
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
            let function = head.function as usize;
            if self.free.len() <= function {
                self.free.resize(function + 1, ROOT);
            }
            head.parent = std::mem::replace(&mut self.free[function], frame);
        }
    }

    fn take(&mut self, bytes: usize) -> *mut u8 {
        let room = self.blocks.last().map_or(0, |b| b.bytes() - self.taken);
        // The sanitizer sees where a frame ends if each is an allocation of its own.
        let alone = cfg!(feature = "asan");
        if room < bytes || alone {
            let size = if alone { bytes } else { bytes.max(self.next_bytes) };
            let block = match size {
                _ if alone => Block::allocated(size),
                HUGE_PAGE.. => Block::dense(size),
                // The first one, which was asked for.
                _ if self.blocks.is_empty() => Block::allocated(size),
                _ => Block::new(size),
            };
            self.next_bytes = if size < HUGE_PAGE { SMALL_BLOCK } else { HUGE_PAGE };
            let Some(block) = block else {
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
