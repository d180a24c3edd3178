//! The heap of a program that trials are forked from.
//!
//! A page of memory that a trial touches first costs it a fault, and a page that the server has touched costs a copy on
//! top: some microseconds each, of which hundreds make up a third of a short trial. So what is free between the blocks
//! of the heap goes back to the system and is taken out of the allocator's hands, and the heap's end, from which the
//! trials then take all that they need, comes to lie just before a huge page that nobody has touched: one fault for all of
//! it. With another allocator than the C library's, or a system without huge pages, nothing is gained and nothing lost.

use libc::{c_int, c_void};

/// Bytes of a huge page.
pub const HUGE_PAGE: usize = 2 << 20;
/// Before the huge pages: for what the server itself still asks for.
const MARGIN: usize = 16 << 10;
/// Blocks with which gaps are filled: powers of two from the largest, and then every size of the allocator's own lists.
const LARGEST_BLOCK: usize = 1 << 20;
const LISTED_BLOCK: usize = 1 << 10;
/// Between two of these sizes.
const SIZE_STEP: usize = 16;
/// Untouched memory at the heap's end: what short trials need under any model. More of it costs nothing.
const ROOM: usize = 9 * HUGE_PAGE;

/// Gives memory back that is free.
pub fn give_back() {
    // SAFETY: only what is not in use goes.
    unsafe { libc::malloc_trim(0) };
}

/// Prepares the heap. What the server allocates from now on is no longer there for trials.
pub fn prepare() {
    give_back();
    // SAFETY: these set parameters of the allocator. Large blocks come from the heap from now on, and its end is not given back.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, c_int::MAX);
        libc::mallopt(libc::M_TOP_PAD, ROOM as c_int);
    }
    // SAFETY: asks where the heap ends, and does not move it.
    let end = unsafe { libc::sbrk(0) } as usize;
    take_gaps(end);
    // What is bigger than the lists' blocks comes from the heap's end now.
    // SAFETY: plain allocation, freed once.
    let end = unsafe {
        let probe = libc::malloc(2 * LISTED_BLOCK);
        libc::free(probe);
        probe as usize
    };
    // Behind what was touched when gaps were looked for: blocks that fit into none came from the heap's end.
    let touched = end + LARGEST_BLOCK + MARGIN;
    let Some(boundary) = touched.checked_next_multiple_of(HUGE_PAGE) else { return };
    // What lies between is taken, for good, and not touched.
    // SAFETY: plain allocation; never freed.
    let filler = unsafe { libc::malloc(boundary - MARGIN - end) } as usize;
    // SAFETY: as above.
    let new_end = unsafe { libc::sbrk(0) } as usize;
    let ours = filler != 0 && filler < boundary && filler + MARGIN > end && new_end > boundary;
    if ours {
        let whole = (new_end - boundary) / HUGE_PAGE * HUGE_PAGE;
        // SAFETY: whole pages of the heap, of which nothing has been used yet; the advice changes no contents.
        unsafe { libc::madvise(boundary as *mut c_void, whole, libc::MADV_HUGEPAGE) };
    }
}

/// Takes what is free between the blocks of a heap that ends here, the largest gaps first, for good.
fn take_gaps(end: usize) {
    let powers = (LISTED_BLOCK.ilog2() + 1..=LARGEST_BLOCK.ilog2()).rev().map(|power| 1 << power);
    for size in powers.chain((0..=LISTED_BLOCK).rev().step_by(SIZE_STEP)) {
        loop {
            // SAFETY: plain allocation, freed at most once.
            let block = unsafe { libc::malloc(size) };
            if block.is_null() || block as usize + size >= end {
                // There is no such gap.
                // SAFETY: as above.
                unsafe { libc::free(block) };
                break;
            }
        }
    }
}
