use super::*;

fn asked(words: &str) -> bool {
    json_was_asked_for(words.split_whitespace().map(OsString::from))
}

#[test]
fn json_is_seen_where_the_rest_is_not_understood() {
    assert!(asked("bugaroo run --format json --bogus app"));
    assert!(asked("bugaroo run --bogus --format json app"));
    assert!(asked("bugaroo run --pw 7 --format=json app"));
    assert!(asked("bugaroo bisect --format json"));
    assert!(!asked("bugaroo run --bogus app --format json"));
    assert!(!asked("bugaroo run --pw 7 app --format json"));
    assert!(!asked("bugaroo run --format human --bogus app"));
    assert!(asked("bugaroo verify file.ptx --bogus --format json"));
    assert!(!asked("bugaroo run -- app --format json"));
    assert!(!asked("bugaroo run --seed --format json app"));
    assert!(!asked("bugaroo nothing --format json"));
    assert!(!asked("bugaroo"));
    assert!(!asked("bugaroo --format json"));
}
