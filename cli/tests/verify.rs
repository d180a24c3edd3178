//! `bugaroo verify`: exit codes, what is printed, JSON, pictures.

use std::fs;

use crate::common::Place;

/// One of the verifier's example files.
fn kernels(file: &str) -> String {
    format!("{}/../barriers/tests/kernels/{file}.ptx", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_kernel_that_is_right() {
    let place = Place::new();
    let file = kernels("dma");
    place
        .bugaroo(&["verify", &file, "--kernel", "quad"])
        .exits(0)
        .prints("kernel quad (160 threads): verified")
        .prints("32 dynamic barriers, 512 shared addresses, 11,264 commands, 33,792 race tests, 160 threads");
}

#[test]
fn findings_come_with_places_and_change_the_exit_code() {
    let place = Place::new();
    let file = kernels("paper");
    place
        .bugaroo(&["verify", &file, "--kernel", "listing1"])
        .exits(1)
        .prints("DEADLOCK")
        .prints("each of these waits for the next")
        .prints("waits for use 1 of barrier 0, where 32 of 64 have come")
        .prints("| SYNC(0, 64);");
    place
        .bugaroo(&["verify", &file, "--kernel", "listing3", "--error-exitcode", "77"])
        .exits(77)
        .prints("RACE")
        .prints("float2 v1 = pq[tid + RADIUS - j]")
        .prints("second: ")
        .prints("up to use");
    place
        .bugaroo(&["verify", &kernels("accesses"), "--kernel", "same_value"])
        .exits(1)
        .prints("all of them benign");
}

#[test]
fn all_kernels_of_a_file() {
    let place = Place::new();
    // Findings outweigh what is open.
    place
        .bugaroo(&["verify", &kernels("ring")])
        .exits(1)
        .prints("kernel ring (")
        .prints("kernel impatient: unsupported");
    place
        .bugaroo(&["verify", &kernels("unknown"), "--max-steps", "10000"])
        .exits(1)
        .prints("kernel branch: not verifiable")
        .prints("kernel address (64 threads): POSSIBLE RACE")
        .prints("kernel harmless (");
}

#[test]
fn what_is_not_known_exits_with_4_and_names_the_parameter() {
    let place = Place::new();
    let file = kernels("unknown");
    place
        .bugaroo(&["verify", &file, "--kernel", "branch"])
        .exits(4)
        .prints("not verifiable")
        .prints("a branch depends on a value that is not known")
        .prints("because of the kernel's parameter `branch_param_1`")
        .prints("| for (int i = 0; i < n; i++) {");
    place.bugaroo(&["verify", &file, "--kernel", "branch", "--param", "1=3"]).exits(0).prints("verified");
    for (count, part) in [("33", "for 33 threads"), ("0", "for 0 threads"), ("4096", "for 4096 threads")] {
        let given = format!("0={count}");
        place
            .bugaroo(&["verify", &file, "--kernel", "barrier_count", "--param", &given])
            .exits(1)
            .prints(part);
    }
    place
        .bugaroo(&["verify", &file, "--kernel", "barrier_id", "--param", "0=16"])
        .exits(1)
        .prints("barriers 0 to 15");
}

#[test]
fn requests_that_will_not_do() {
    let place = Place::new();
    let file = kernels("paper");
    place.bugaroo(&["verify", "nothing.ptx"]).exits(2).says("nothing.ptx");
    for (content, part) in [
        (&b""[..], "the file is empty"),
        (b"garbage {{{", "1:1"),
        (b".version 8.0\n.target sm_80\n.address_size 64\n", "the module has no kernel"),
        (b".version 8.0\n\xff\xfe", "line 2"),
    ] {
        fs::write(place.path("bad.ptx"), content).unwrap();
        place.bugaroo(&["verify", "bad.ptx"]).exits(2).says(part);
    }
    place.bugaroo(&["verify", &file, "--kernel", "nobody"]).exits(2).says("no kernel `nobody`");
    place.bugaroo(&["verify", &file, "--kernel", "listing1", "--block", "0"]).exits(2).says("0,1,1");
    place.bugaroo(&["verify", &file, "--kernel", "listing1", "--block", "4096"]).exits(2).says("4096");
    place.bugaroo(&["verify", &file, "--param", "1"]).exits(2).says("NAME=VALUE");
    place
        .bugaroo(&["verify", &file, "--param", "nobody=1"])
        .exits(2)
        .says("no kernel has a parameter `nobody`; name it as the PTX does, or by number from 0");
    place
        .bugaroo(&["verify", &file, "--kernel", "listing2", "--tensor", "nobody=64"])
        .exits(2)
        .says("--tensor nobody: no kernel has a parameter of this name");
    let no_block =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n bar.sync 0;\n ret;\n}\n";
    fs::write(place.path("k.ptx"), no_block).unwrap();
    place.bugaroo(&["verify", "k.ptx"]).exits(4).prints("--block X[,Y,Z]");
    place.bugaroo(&["verify", "k.ptx", "--block", "64"]).exits(0).prints("1 dynamic barriers");
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let place = Place::new();
    let json = place.bugaroo(&["verify", &kernels("paper"), "--format", "json"]).exits(1).json();
    assert_eq!(
        (&json["schema"], &json["kernel"], &json["verdict"]),
        (&1.into(), &"listing1".into(), &"deadlock".into())
    );
    assert_eq!(json["kernels"].as_array().unwrap().len(), 6);
    let listing3 = &json["kernels"][2];
    assert_eq!(listing3["verdict"], "race");
    let race = &listing3["races"][0];
    assert_eq!(race["kind"], "read-write");
    for side in ["first", "second"] {
        assert!(race[side]["line"].is_u64() && race[side]["file"].is_string(), "{race:#}");
    }
    for field in ["threads", "dynamic_barriers", "shared_addresses", "commands", "race_tests"] {
        assert!(listing3["stats"][field].is_u64(), "{field}");
    }
    let json = place
        .bugaroo(&["verify", &kernels("unknown"), "--kernel", "branch", "--format", "json"])
        .exits(4)
        .json();
    assert_eq!(
        (&json["verdict"], &json["refusal"]["parameter"]),
        (&"not-verifiable".into(), &"branch_param_1".into())
    );
}

#[test]
fn the_barrier_dependence_graph_is_drawn() {
    let place = Place::new();
    let file = kernels("paper");
    place.bugaroo(&["verify", &file, "--graph", "all.svg"]).exits(2).says("--kernel");
    place.bugaroo(&["verify", &file, "--kernel", "figure2", "--graph", "g.dot"]).exits(0);
    let dot = fs::read_to_string(place.path("g.dot")).unwrap();
    // Figure 6: from the first use of barrier 2 by 1 and 3 to its second, and not from 0 to 1.
    let node = |label: &str| {
        let line =
            dot.lines().find(|line| line.contains(label)).unwrap_or_else(|| panic!("{label} in {dot}"));
        line.split_whitespace().next().unwrap().to_owned()
    };
    let (first, one, three, second) =
        (node("barrier 2 · 1"), node("barrier 1 · 1"), node("barrier 3 · 1"), node("barrier 2 · 2"));
    for (from, to) in [(&first, &one), (&one, &three), (&three, &second), (&one, &second)] {
        assert!(dot.contains(&format!("{from} -> {to};")), "{from} -> {to} in {dot}");
    }
    place.bugaroo(&["verify", &file, "--kernel", "figure2", "--graph", "g.svg"]).exits(0);
    let svg = fs::read_to_string(place.path("g.svg")).unwrap();
    // A line for each use of a barrier.
    assert_eq!((svg.matches("stroke-width=\"2\"").count(), svg.ends_with("</svg>\n")), (5, true));
}

/// A kernel `work<int>` in which each of `lines` lines races with itself, by its mangled name; and one that is right.
fn racing(lines: usize) -> String {
    let mut ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"work.cu\"\n".to_owned();
    ptx += ".visible .entry _Z4workIiEvPT_(.param .u64 p)\n.maxntid 64, 1, 1\n{\n.shared .align 4 .b8 d[4096];\n.reg .b32 t, v;\nmov.u32 t, %tid.x;\n";
    for line in 0..lines {
        // A write of its own value by each thread, and a read of it.
        ptx += &format!(".loc 1 {} 3\nst.shared.u32 [d+{}], t;\n", line + 1, 4 * line);
        ptx += &format!("ld.shared.u32 v, [d+{}];\n", 4 * line);
    }
    ptx + "ret;\n}\n.visible .entry _Z4calmPf(.param .u64 p)\n.maxntid 64, 1, 1\n{\nbar.sync 0;\nret;\n}\n"
}

#[test]
fn races_are_told_by_pair_of_lines_and_twenty_of_them() {
    let place = Place::new();
    fs::write(place.path("work.ptx"), racing(23)).unwrap();
    let source: String = (0..23).map(|line| format!("    box[{line}] = lane; x += box[{line}];\n")).collect();
    let without = place.bugaroo(&["verify", "work.ptx", "--kernel", "work<int>"]).exits(1);
    without
        .prints("first: write of 4 bytes")
        .prints("work.cu:20, PTX line")
        .prints("… and 3 more pairs of lines with races");
    fs::write(place.path("work.cu"), source).unwrap();
    place
        .bugaroo(&["verify", "work.ptx"])
        .exits(1)
        .prints("kernel void work<int>(int*) (64 threads): RACE")
        .prints("20 |     box[19] = lane; x += box[19];")
        .prints("--> work.cu:1:5")
        .prints("also a read and a write are not ordered")
        .prints("… and 3 more pairs of lines with races")
        .prints("kernel calm(float*) (64 threads): verified");
    let json = place.bugaroo(&["verify", "work.ptx", "--format", "json"]).exits(1).json();
    let lines = |json: &serde_json::Value| {
        let races = json["races"].as_array().unwrap().iter();
        races
            .map(|race| race["first"]["line"].as_u64().unwrap())
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    };
    assert_eq!((lines(&json), &json["races_left_out"]), (20, &3.into()));
    assert_eq!(
        (&json["kernel"], &json["demangled"]),
        (&"_Z4workIiEvPT_".into(), &"void work<int>(int*)".into())
    );
    assert_eq!(json["kernels"][1]["demangled"], "calm(float*)");
    let json = place.bugaroo(&["verify", "work.ptx", "--format", "json", "--all"]).exits(1).json();
    assert_eq!(
        (lines(&json), &json["races_left_out"], &json["recycling_left_out"]),
        (23, &0.into(), &0.into())
    );
}

#[test]
fn kernels_are_named_by_how_they_begin_or_match() {
    let place = Place::new();
    fs::write(place.path("work.ptx"), racing(1)).unwrap();
    for name in ["calm", "_Z4calm", "calm(float*)", "^calm", "lm\\(f"] {
        place.bugaroo(&["verify", "work.ptx", "--kernel", name]).exits(0).prints("kernel calm(float*)");
    }
    place
        .bugaroo(&["verify", "work.ptx", "--kernel", "calm|work"])
        .exits(1)
        .prints("work<int>")
        .prints("calm");
    place
        .bugaroo(&["verify", "work.ptx", "--kernel", "calmer"])
        .exits(2)
        .says("no kernel `calmer` (there are: void work<int>(int*), calm(float*))");
    place
        .bugaroo(&["verify", "work.ptx", "--kernel", "calm", "--param", "1=2"])
        .exits(2)
        .says("parameter `1`");
}
