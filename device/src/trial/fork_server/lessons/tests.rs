//! Lessons come over whole, once, and only as far as there is room.

use super::{BYTES, Lesson, Lessons, MOST_LESSONS};

/// What comes in.
fn taken(lessons: &mut Lessons) -> Vec<(Vec<u8>, Vec<u64>)> {
    let mut all = Vec::new();
    lessons.take(|lesson| all.push((lesson.image.to_vec(), lesson.addresses.to_vec())));
    all
}

#[test]
fn what_a_fork_tells_comes_over_once() {
    let mut lessons = Lessons::new().expect("memory");
    // SAFETY: the child writes to the shared memory and ends at once.
    let child = unsafe { libc::fork() };
    if child == 0 {
        lessons.tell(Lesson { image: b"first", addresses: &[7, 9] });
        lessons.tell(Lesson { image: b"", addresses: &[] });
        // SAFETY: ends the process.
        unsafe { libc::_exit(0) };
    }
    // SAFETY: waits for the child of above.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    assert_eq!(taken(&mut lessons), [(b"first".to_vec(), vec![7, 9]), (vec![], vec![])]);
    assert_eq!(taken(&mut lessons), []);
    lessons.tell(Lesson { image: b"second", addresses: &[1] });
    assert_eq!(taken(&mut lessons), [(b"second".to_vec(), vec![1])]);
}

#[test]
fn what_was_overwritten_or_not_completed_is_not_taken() {
    let mut lessons = Lessons::new().expect("memory");
    lessons.tell(Lesson { image: b"torn", addresses: &[3] });
    // SAFETY: the first word of the lesson, which nobody reads meanwhile.
    unsafe { lessons.bytes().write(4) };
    lessons.tell(Lesson { image: b"begun", addresses: &[] });
    lessons.shared().entries[1].complete.store(0, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(taken(&mut lessons), []);
}

#[test]
fn there_is_an_end_to_what_is_taken_in() {
    let mut lessons = Lessons::new().expect("memory");
    let large = vec![1; BYTES - 8];
    lessons.tell(Lesson { image: b"small", addresses: &[] });
    lessons.tell(Lesson { image: &large, addresses: &[1] });
    for _ in 0..2 * MOST_LESSONS {
        lessons.tell(Lesson { image: b"again", addresses: &[] });
    }
    // The large one has found no room.
    let all = taken(&mut lessons);
    assert_eq!((all.len(), &all[0].0[..], &all[1].0[..]), (MOST_LESSONS, &b"small"[..], &b"again"[..]));
}
