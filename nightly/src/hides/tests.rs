use bugaroo_harness::hidden::Hidden;

use super::{Hides, lines};

fn hides(cell: &str, (say_failure, differ): (u64, u64), first: u64, says: Option<&str>) -> Hides {
    let lacks = says.is_none().then(|| "TEST PASSED".to_owned());
    let what = Hidden { says: says.map(str::to_owned), lacks, oracle: Some("stdout:TEST PASSED".to_owned()) };
    Hides { cell: cell.to_owned(), say_failure, differ, first, what }
}

#[test]
fn batches_of_a_cell_are_one_line_in_whatever_order_they_come() {
    let batches = [
        hides("ptx pw=0.5", (3, 1), 40, Some("TEST FAILED")),
        hides("ptx pw=0.5", (0, 2), 7, None),
        hides("store-buffer pw=0.5", (1, 0), 9, Some("mismatch at 3")),
    ];
    let wanted = [
        "ptx pw=0.5: of the trials that pass by their exit code, 3 print that something failed, and 3 print something else than \
         without injection; trial 7 lacks: TEST PASSED; to have such trials fail: oracle = \"stdout:TEST PASSED\"",
        "store-buffer pw=0.5: of the trials that pass by their exit code, 1 print that something failed; trial 9 prints: mismatch \
         at 3; to have such trials fail: oracle = \"stdout:TEST PASSED\"",
    ];
    assert_eq!(lines(batches.clone()), wanted);
    assert_eq!(lines(batches.into_iter().rev()), wanted);
}
