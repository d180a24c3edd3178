use super::*;

const SOURCE: &str = "\
.version 9.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [a];
    st.global.u32 [%rd1], 1;
    ret;
}
";

fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    entries.map(|entry| entry.expect("it can be read").path()).collect()
}

#[test]
fn an_entry_is_taken_as_it_stands() {
    let folder = tempfile::tempdir().expect("there is room");
    let digest = Digest::of(SOURCE.as_bytes());
    let made = instrument(Some(folder.path()), SOURCE, digest).expect("it is PTX");
    let [entry] = entries(folder.path()).try_into().expect("one text, one entry");
    assert_eq!(read(&entry), Some(made.clone()));
    // What was put there is what comes back, so it is not made again.
    let other = Instrumented { ptx: "// other".to_owned(), ..made };
    write(&entry, &other).expect("it can be written");
    assert_eq!(instrument(Some(folder.path()), SOURCE, digest).expect("it is there"), other);
}

#[test]
fn a_changed_text_has_another_entry() {
    let folder = tempfile::tempdir().expect("there is room");
    for value in ["1", "2"] {
        let store = format!("[%rd1], {value};");
        let source = SOURCE.replace("[%rd1], 1;", &store);
        let made = instrument(Some(folder.path()), &source, Digest::of(source.as_bytes()));
        assert!(made.expect("it is PTX").ptx.contains(&store), "{value}");
    }
    assert_eq!(entries(folder.path()).len(), 2);
}

#[test]
fn every_flipped_byte_is_noticed() {
    let folder = tempfile::tempdir().expect("there is room");
    let digest = Digest::of(SOURCE.as_bytes());
    instrument(Some(folder.path()), SOURCE, digest).expect("it is PTX");
    let [entry] = entries(folder.path()).try_into().expect("one text, one entry");
    let content = fs::read(&entry).expect("it can be read");
    // All of the first line, and samples of the rest.
    for index in (0..100).chain((100..content.len()).step_by(997)) {
        let mut damaged = content.clone();
        damaged[index] ^= 0x20;
        fs::write(&entry, damaged).expect("it can be written");
        assert_eq!(read(&entry), None, "byte {index}");
    }
}

#[test]
fn what_is_no_ptx_is_refused_and_not_cached() {
    let folder = tempfile::tempdir().expect("there is room");
    let refusal = instrument(Some(folder.path()), "nonsense", Digest::of(b"nonsense")).expect_err("no PTX");
    assert_eq!(refusal.status, crate::Status::InvalidImage);
    assert!(!refusal.unsupported);
    assert!(entries(folder.path()).is_empty());
}
