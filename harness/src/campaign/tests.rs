use super::{timestamp, unused};

#[test]
fn timestamps() {
    for (seconds, text) in [
        (0, "19700101T000000Z"),
        (951_782_399, "20000228T235959Z"),
        (951_782_400, "20000229T000000Z"),
        (951_868_800, "20000301T000000Z"),
        (1_709_164_800, "20240229T000000Z"),
        (1_735_689_599, "20241231T235959Z"),
        (4_107_542_400, "21000301T000000Z"),
    ] {
        assert_eq!(timestamp(seconds), text);
    }
}

#[test]
fn directories_of_the_same_second_are_numbered() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "a-2", "a-3"] {
        let path = unused(folder.path(), "a");
        assert!(path.ends_with(name));
        std::fs::create_dir(path).unwrap();
    }
}
