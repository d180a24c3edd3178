//! Reports are compared with labels as these say, on made-up reports.

use race_suite::accesses;
use race_suite::judge::differences;
use race_suite::label::{Label, LabelPlace, LabelVerdict};
use race_suite::report::{Reported, races};
use serde_json::{Value, json};

fn party(line: u32) -> Value {
    json!({"kernel": "k", "ptx_line": 9, "source": {"file": "/tmp/x/it.cu", "line": line},
        "instruction": "st.global.u32 [%rd1], 1;", "thread": [0, 0, 0], "block": [1, 0, 0], "access": "write"})
}

fn race(kind: &str, class: &str, first: Value, second: Value) -> Value {
    json!({"kind": kind, "class": class, "space": "global", "address": 64, "first": first, "second": second,
        "missing": "acquire", "count": 1, "trials": 1})
}

fn reported(all: Vec<Value>) -> Vec<Reported> {
    races(&json!({"schema": 1, "detector": "ptx", "trials": 3, "races": all, "warnings": []}), "it.cu")
        .expect("a report")
}

fn wrong(verdict: &str, all: Vec<Value>) -> Vec<String> {
    differences(&LabelVerdict::parse(verdict).expect("a verdict"), &reported(all))
}

const MESSAGE: &str = "race(write-read,inter-block,12,20)";

#[test]
fn a_write_and_a_read_match_in_either_order_of_time() {
    let forward = race("write-read", "inter-block", party(12), party(20));
    let backward = race("read-write", "inter-block", party(20), party(12));
    assert!(wrong(MESSAGE, vec![forward.clone()]).is_empty());
    assert!(wrong(MESSAGE, vec![backward]).is_empty());
    // The read where the write should be.
    let crossed = race("write-read", "inter-block", party(20), party(12));
    assert_eq!(wrong(MESSAGE, vec![crossed]).len(), 1);
    // The right lines, told as something else.
    let other_class = race("write-read", "intra-block", party(12), party(20));
    assert_eq!(wrong(MESSAGE, vec![other_class]).len(), 1);
    let other_kind = race("write-write", "inter-block", party(12), party(20));
    assert_eq!(wrong(MESSAGE, vec![other_kind]).len(), 1);
    assert!(wrong("race(write-write/write-read,intra-block/inter-block,12,20)", vec![forward]).is_empty());
}

#[test]
fn what_is_missing_false_or_elsewhere_is_told() {
    let right = race("write-read", "inter-block", party(12), party(20));
    let flag = race("write-read", "inter-block", party(13), party(18));
    assert!(wrong(MESSAGE, Vec::new())[0].starts_with("missing: "));
    assert!(wrong(MESSAGE, vec![right.clone(), flag.clone()])[0].starts_with("elsewhere: "));
    assert!(wrong("race(write-read,inter-block,12,20)+lines(13,18)", vec![right.clone(), flag]).is_empty());
    assert!(wrong("none", vec![right.clone()])[0].starts_with("false: "));
    assert!(wrong("none", Vec::new()).is_empty());
    assert!(wrong("any", vec![right]).is_empty());
    // A line of another file, and no line at all.
    let mut other = race("write-read", "inter-block", party(12), party(20));
    other["second"]["source"]["file"] = "/usr/include/it.h".into();
    assert_eq!(wrong(MESSAGE, vec![other.clone()]).len(), 2);
    other["second"]["source"] = Value::Null;
    assert_eq!(wrong(MESSAGE, vec![other]).len(), 2);
}

#[test]
fn writes_and_branches_match_in_either_order() {
    for kind in ["write-write", "branch-order"] {
        let verdict = format!("race({kind},divergence,5,9)");
        for (first, second) in [(5, 9), (9, 5)] {
            assert!(wrong(&verdict, vec![race(kind, "divergence", party(first), party(second))]).is_empty());
        }
        assert_eq!(wrong(&verdict, vec![race(kind, "divergence", party(5), party(5))]).len(), 1);
    }
    let barrier = "race(barrier-divergence,intra-warp,7,7)+lines(11)";
    let told = race("barrier-divergence", "intra-warp", party(11), party(7));
    assert!(wrong(barrier, vec![told]).is_empty());
}

#[test]
fn the_host_is_who_is_no_thread() {
    let mut copy = race(
        "write-read",
        "inter-grid",
        party(12),
        json!({"kernel": "cudaMemcpyAsync", "source": {"file": "/tmp/x/it.cu", "line": 31}, "access": "read"}),
    );
    let verdict = "race(write-read,inter-grid/host,12,host)";
    assert!(wrong(verdict, vec![copy.clone()]).is_empty());
    assert_eq!(wrong(MESSAGE, vec![copy.clone()]).len(), 2);
    copy["second"]["instruction"] = "ld.global.u32 %r1, [%rd1];".into();
    assert_eq!(wrong(verdict, vec![copy]).len(), 2);
}

#[test]
fn reports_that_say_nothing_are_refused() {
    for report in [
        json!({"schema": 1, "error": "no such program"}),
        json!({"schema": 1, "trials": 0, "races": []}),
        json!({"schema": 1, "trials": 3}),
        json!({"trials": 3, "races": [{"kind": "odd"}]}),
    ] {
        assert!(races(&report, "it.cu").is_err(), "{report}");
    }
}

#[test]
fn labels_are_read_strictly() {
    let label = Label::parse(
        "// race: ptx=race(write-read,host,3,host) barracuda=none arch=sm_90 trials=50 | why so",
    )
    .expect("a label");
    assert_eq!((label.arch.as_str(), label.trials, label.why.as_str()), ("sm_90", 50, "why so"));
    assert_eq!(label.verdict("barracuda"), &LabelVerdict::None);
    assert_eq!(
        label.verdict("ptx").places().into_iter().collect::<Vec<_>>(),
        [LabelPlace::Line(3), LabelPlace::Host]
    );
    for wrong in [
        "// ptx=none barracuda=none | why",
        "// race: ptx=none barracuda=none",
        "// race: ptx=none | why",
        "// race: ptx=none ptx=none barracuda=none | why",
        "// race: ptx=race(read-write,host,3,4) barracuda=none | why",
        "// race: ptx=race(write-read,host,3) barracuda=none | why",
        "// race: ptx=race(write-read,host,0,4) barracuda=none | why",
        "// race: ptx=lines(3,4) barracuda=none | why",
        "// race: ptx=none barracuda=none tsan=none | why",
        "// race : ptx=none barracuda=none | why",
        "// race ptx=none barracuda=none | why",
        "// race: ptx=none barracuda=none graphs=a | why",
    ] {
        assert!(Label::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn accesses_are_found_by_their_lines() {
    let ptx = "\t.loc\t1 5 3\n\tld.global.u32 %r1, [%rd1];\n\t.loc\t1 6 3\n\tadd.s32 %r2, %r1, 1;\n\
        \t.loc\t2 80 9, function_name $L__info_string0, inlined_at 1 7 5\n\t@%p1 atom.global.add.u32 %r3, [%rd1], 1;\n\
        \t.loc\t1 8 1\n\tld.param.u64 %rd4, [k_param_0];\n\t.loc\t1 9 1\n\t{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%r1], %rd2; }\n\
        \t.file\t1 \"/tmp/x/it.cu\"\n\t.file\t2 \"/usr/include/atomics.hpp\"\n";
    assert_eq!(accesses::lines(ptx, "it.cu").into_iter().collect::<Vec<_>>(), [5, 7, 9]);
}
