use super::*;

/// Values of the reference implementation.
#[test]
fn agrees_with_the_reference() {
    assert_eq!(Digest::of(b"").to_string(), "6c62272e07bb014262b821756295c58d");
    assert_eq!(Digest::of(b"a").to_string(), "d228cb696f1a8caf78912b704e4a8964");
    assert_eq!(Digest::of(b"foobar").to_string(), "343e1662793c64bf6f0d3597ba446f18");
}

#[test]
fn continues() {
    assert_eq!(Digest::of(b"foo").and(b"bar"), Digest::of(b"foobar"));
}
