use std::path::Path;
use std::time::Duration;

use super::{Oracle, OracleVerdict, Reference};
use crate::capture::{Capture, HEAD_BYTES, Output};
use crate::outcome::Exit;

fn oracle(text: &str) -> Oracle {
    text.parse().unwrap()
}

fn printed(oracle: &Oracle, text: &[u8]) -> Output {
    let mut capture = Capture::new(oracle.keep());
    capture.push(text);
    capture.finish()
}

async fn judge(oracle: &str, exit: i32, text: &[u8]) -> OracleVerdict {
    let oracle: Oracle = oracle.parse().unwrap();
    let output = printed(&oracle, text);
    let timeout = Duration::from_secs(600);
    oracle.judge(Exit::Code(exit), &output, None, Path::new("/"), timeout).await.unwrap()
}

async fn content(oracle: &str, exit: i32, text: &[u8]) -> bool {
    judge(oracle, exit, text).await == OracleVerdict::Content
}

#[test]
fn texts() {
    for text in ["exit", "reference", r"stdout:^a: \d+$", "cmd:grep -q x: && true"] {
        assert_eq!(oracle(text).to_string(), text);
    }
    for (text, part) in [
        ("exits", "is no oracle"),
        ("", "is no oracle"),
        ("exit:1", "is no oracle"),
        ("cmd: ", "needs a command"),
        ("stdout:(", "unclosed group"),
    ] {
        let message = text.parse::<Oracle>().unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[tokio::test]
async fn exit() {
    assert!(content("exit", 0, b"").await);
    assert_eq!(judge("exit", 3, b"").await, OracleVerdict::Discontent("exit code 3".into()));
}

#[tokio::test]
async fn stdout() {
    assert!(content("stdout:^PASS$", 1, b"a\nPASS\nb\n").await);
    assert!(!content("stdout:^PASS$", 0, b"a\nNO PASS\n").await);
    assert!(content("stdout:^\\xff", 0, b"\xff").await || content("stdout:(?-u)^\\xff", 0, b"\xff").await);
}

#[tokio::test]
async fn stdout_is_read_at_both_ends() {
    let mut long = b"FIRST\n".to_vec();
    long.resize(HEAD_BYTES + 100_000, b'\n');
    long.extend(b"LAST\n");
    assert!(content("stdout:^FIRST$", 0, &long).await);
    assert!(content("stdout:^LAST$", 0, &long).await);
    assert!(!content("stdout:^MIDDLE$", 0, &long).await);
}

#[tokio::test]
async fn command() {
    assert!(content("cmd:grep -q '^sum 4'", 0, b"sum 42\n").await);
    assert!(!content("cmd:grep -q '^sum 4'", 0, b"sum 5\n").await);
    assert!(content("cmd:test $BUGAROO_EXIT_CODE = 7", 7, b"").await);
    assert_eq!(
        judge("cmd:echo 'off by one' >&2; exit 9", 0, b"").await,
        OracleVerdict::Discontent("the oracle's command is not content (exit code 9): off by one".into())
    );
}

/// More than a pipe holds, to a command that does not read it.
#[tokio::test]
async fn command_that_does_not_read() {
    assert!(content("cmd:true", 0, &vec![b'x'; 1 << 20]).await);
}

#[tokio::test]
async fn reference() {
    let oracle = oracle("reference");
    let output = printed(&oracle, b"42\n");
    let reference =
        Reference { exit: Exit::Code(0), stdout_sha256: output.digest.clone(), lines: None, memory: None };
    let judge = async |exit, text: &[u8], reference: Option<&Reference>| {
        let output = printed(&oracle, text);
        oracle.judge(exit, &output, reference, Path::new("/"), Duration::MAX).await.unwrap()
            == OracleVerdict::Content
    };
    assert!(judge(Exit::Code(0), b"42\n", Some(&reference)).await);
    assert!(!judge(Exit::Code(0), b"43\n", Some(&reference)).await);
    assert!(!judge(Exit::Code(1), b"42\n", Some(&reference)).await);
    assert!(judge(Exit::Code(1), b"anything", None).await);
}
