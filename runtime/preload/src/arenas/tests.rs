//! Arenas lie side by side.

use std::ptr::null_mut;

use super::{HUGE_PAGE, gives_back, takes};

#[test]
fn arenas_lie_side_by_side() {
    let arena = HUGE_PAGE / 2;
    // SAFETY: these are given back once, below.
    let arenas: Vec<usize> = (0..8).map(|_| unsafe { takes(null_mut(), arena) } as usize).collect();
    assert!(arenas.windows(2).all(|pair| pair[1] - pair[0] == arena), "{arenas:x?}");
    assert_eq!(arenas[0] % HUGE_PAGE, 0);
    for start in arenas {
        // SAFETY: as above; it can be written to before.
        unsafe {
            (start as *mut u8).write_bytes(1, arena);
            gives_back(null_mut(), start as *mut _, arena);
        }
    }
    // SAFETY: nothing has that much memory.
    assert!(unsafe { takes(null_mut(), 1 << 60) }.is_null());
}
