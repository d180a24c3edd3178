use super::*;

fn read(json: &str) -> Result<RaceSettings, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[test]
fn what_is_written_is_read_back() {
    let text = r#"{"watch": {"kernels": ["^a"], "space": "shared", "variables": ["t"], "addresses": ["0x10..0x20", "7"],
        "blocks": ["0..4"], "one_block_in": 3}, "limits": {"races": 5, "shadow": "2M"},
        "hirace": {"block_clock": 12, "site": 0},
        "scord": {"layout": {"block": 9, "warp": 5, "bloom": 8}, "cache": 4, "independent_threads": true}}"#;
    let settings = read(text).unwrap();
    assert_eq!(settings.watch.addresses, [NumberSpan(16..32), NumberSpan(7..8)]);
    assert_eq!(settings.limits.shadow, Some(2 << 20));
    let given = ScordWidths { block: 9, warp: 5, bloom: 8, ..ScordWidths::default() };
    assert_eq!(settings.scord.layout, ScordLayout::Given(given));
    assert_eq!(read(&serde_json::to_string(&settings).unwrap()).unwrap(), settings);
    let none = RaceSettings::default();
    assert_eq!(read("{}").unwrap(), none);
    assert_eq!(read(&serde_json::to_string(&none).unwrap()).unwrap(), none);
    let paper = read(r#"{"scord": {"layout": "paper"}}"#).unwrap();
    assert_eq!(read(&serde_json::to_string(&paper).unwrap()).unwrap(), paper);
}

#[test]
fn what_is_wrong_is_refused() {
    for (json, part) in [
        (r#"{"wacth": {}}"#, "unknown field `wacth`"),
        (r#"{"watch": {"kernel": ["a"]}}"#, "unknown field `kernel`"),
        (r#"{"watch": {"space": "local"}}"#, "unknown variant `local`"),
        (r#"{"watch": {"blocks": ["4..4"]}}"#, "'4..4': a number or two"),
        (r#"{"watch": {"blocks": ["5..4"]}}"#, "'5..4': a number or two"),
        (r#"{"watch": {"addresses": ["0x+1"]}}"#, "'0x+1': a number or two"),
        (r#"{"watch": {"addresses": ["18446744073709551615"]}}"#, "a number or two"),
        (r#"{"watch": {"one_block_in": 0}}"#, "one block in 0 is none"),
        (r#"{"limits": {"shadow": "12Q"}}"#, "'Q' is no unit of memory"),
        (r#"{"limits": {"shadow": 5}}"#, "between 1M and 1024T"),
        (r#"{"hirace": {"block_clock": 25}}"#, "a clock takes 1 to 24 bits"),
        (r#"{"hirace": {"warp_clock": 0}}"#, "a clock takes 1 to 24 bits"),
        (r#"{"hirace": {"site": 33}}"#, "an instruction takes 0 to 32 bits"),
        (r#"{"scord": {"cache": 0}}"#, "a tag takes 1 to 8 bits"),
        (r#"{"scord": {"layout": "papre"}}"#, "expected \"fit\", \"paper\", or a table"),
        (r#"{"scord": {"layout": {"blcok": 4}}}"#, "unknown field `blcok`"),
        (r#"{"scord": {"layout": {"block": 4, "bloom": 4}}}"#, "0, 8 or 16 bits are wanted"),
        (r#"{"scord": {"layout": {"warp": 4}}}"#, "blocks have to be told apart"),
        (r#"{"scord": {"layout": {"block": 32, "site": 26}}}"#, "take 65 bits, and a word has 64"),
        (r#"{"scord": {"layout": {"block": 4294967295, "site": 4294967295}}}"#, "and a word has 64"),
    ] {
        let error = read(json).unwrap_err();
        assert!(error.contains(part), "{json}: {error}");
    }
}
