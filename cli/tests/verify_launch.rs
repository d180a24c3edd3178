//! `bugaroo verify`: what the launch fixes: parameters, blocks, clusters; and what is said where it is not given.

use std::fs;

use crate::common::Place;

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// Of a structure `{ u32 n; u32 count; u64 size; float x; }`: n turns of a barrier for `count` threads, and nothing if the size is not 512.
const STRUCTURE: &str = "
.visible .entry fields(.param .align 8 .b8 fields_param_0[24])
.maxntid 64, 1, 1
{
    .reg .b32 n, count, i;
    .reg .b64 size;
    .reg .f32 x;
    .reg .pred p;
    ld.param.u32 n, [fields_param_0];
    ld.param.u32 count, [fields_param_0+4];
    ld.param.u64 size, [fields_param_0+8];
    ld.param.f32 x, [fields_param_0+16];
    setp.ne.u64 p, size, 512;
    @p ret;
    setp.ne.f32 p, x, 0f3FC00000;
    @p ret;
    mov.u32 i, 0;
again:
    bar.sync 1, count;
    add.u32 i, i, 1;
    setp.lt.u32 p, i, n;
    @p bra again;
    ret;
}
";

/// Needs launch bounds.
const UNBOUNDED: &str = "
.visible .entry unbounded()
{
    bar.sync 0;
    ret;
}
";

const BOUNDED: &str = "
.visible .entry bounded()
.reqntid 32, 1, 1
{
    bar.sync 0;
    ret;
}
";

const CLUSTER: &str = "
.visible .entry cluster()
.maxntid 32, 1, 1
{
    .shared .b32 box;
    .reg .b32 rank, a;
    .reg .pred p;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mov.u32 rank, %cluster_ctarank;
    setp.ne.u32 p, rank, 0;
    @p bra meet;
    mov.u32 a, box;
    mapa.shared::cluster.u32 a, a, 1;
    mov.u32 rank, %tid.x;
    setp.eq.u32 p, rank, 0;
    @p st.shared::cluster.u32 [a], 7;
meet:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;
}
";

fn file(place: &Place, name: &str, kernels: &[&str]) {
    fs::write(place.path(name), format!("{HEAD}{}", kernels.concat())).unwrap();
}

#[test]
fn fields_of_a_structure_are_given_by_offset_and_the_rest_is_unknown() {
    let place = Place::new();
    file(&place, "f.ptx", &[STRUCTURE]);
    let verify = |params: &[&str]| {
        let mut args = vec!["verify", "f.ptx"];
        params.iter().for_each(|given| args.extend(["--param", given]));
        place.bugaroo(&args)
    };
    // What is not given is unknown, never 0. Asked for is what nothing can be assumed of: how many threads meet. Of the others each case is
    // looked at.
    verify(&["0=4"]).exits(4).prints("--param fields_param_0+4=VALUE gives it a value");
    verify(&["0+0=4", "0+8=512"]).exits(4).prints("--param fields_param_0+4=VALUE");
    verify(&["0=4", "0+4=64"]).exits(0).prints("cases of its parameters");
    let all = ["0+0=4", "fields_param_0+4=64", "0+8=512", "param_0+0x10=1.5"];
    verify(&all).exits(0).prints("kernel fields (64 threads): verified: no").prints("4 dynamic barriers");
    // With a type of its own, a field can be given in parts.
    verify(&["0=4", "0+4=64", "0+8:u32=512", "0+12:u32=0", "0+16:f32=1.5"])
        .exits(0)
        .prints("4 dynamic barriers");
    verify(&["0=4", "0+4=96", "0+8=512", "0+16=1.5"]).exits(1).prints("DEADLOCK");
    // What does not fit is said.
    verify(&["0+24=1"]).exits(2).says("not in the parameter's 24 bytes");
    verify(&["0+4=0x100000000"]).exits(2).says("does not fit");
    verify(&["0+4:u33=1"]).exits(2).says("no kernel has a parameter `0+4:u33`");
    verify(&["1+4=1"]).exits(2).says("no kernel has a parameter");
}

#[test]
fn parameters_come_from_files() {
    let place = Place::new();
    file(&place, "f.ptx", &[STRUCTURE]);
    let mut bytes = Vec::new();
    for part in [4u32.to_le_bytes(), 64u32.to_le_bytes(), 512u32.to_le_bytes(), [0; 4], 1.5f32.to_le_bytes()]
    {
        bytes.extend(part);
    }
    fs::write(place.path("all.bin"), &bytes).unwrap();
    fs::write(place.path("part.bin"), &bytes[..8]).unwrap();
    fs::write(place.path("one.bin"), &bytes[..4]).unwrap();
    fs::write(place.path("long.bin"), [0; 25]).unwrap();
    fs::write(place.path("all.txt"), "# n\n0 = 4\n0+4=64 # threads\n\n0+8=512\n0+16=1.5\n").unwrap();
    fs::write(place.path("bad.txt"), "0=4\n64\n").unwrap();
    let verify = |file: &str| place.bugaroo(&["verify", "f.ptx", "--params", file]);
    verify("all.bin").exits(0).prints("4 dynamic barriers");
    verify("all.txt").exits(0).prints("4 dynamic barriers");
    // Whether there are barriers at all is the same for all threads, so each way is looked at, but not where who takes part is not known.
    verify("part.bin").exits(0).prints("in each of 3 cases of its parameters");
    verify("one.bin").exits(4).prints("fields_param_0+4=VALUE");
    verify("long.bin").exits(2).says("25 bytes of parameters for kernel `fields`, which has 24");
    verify("bad.txt").exits(2).says("line 2");
    verify("none.bin").exits(2).says("none.bin");
    // What the command line gives comes after that.
    place.bugaroo(&["verify", "f.ptx", "--params", "all.bin", "--param", "0=7"]).exits(0).prints("7 dynamic");
    file(&place, "two.ptx", &[STRUCTURE, BOUNDED]);
    place.bugaroo(&["verify", "two.ptx", "--params", "all.bin"]).exits(2).says("--kernel");
}

#[test]
fn a_proof_of_nothing_says_so() {
    let place = Place::new();
    file(&place, "f.ptx", &[STRUCTURE]);
    let given = ["verify", "f.ptx", "--param", "0+8=511"];
    let human = place.bugaroo(&given).exits(0);
    human.prints("kernel fields (64 threads): verified, but there was nothing to prove");
    let json = place.bugaroo(&[&given[..], &["--format", "json"]].concat()).exits(0).json();
    assert_eq!((&json["verdict"], &json["vacuous"]), (&"verified".into(), &true.into()));
    file(&place, "b.ptx", &[BOUNDED]);
    let json = place.bugaroo(&["verify", "b.ptx", "--format", "json"]).exits(0).json();
    assert_eq!(json["vacuous"], false);
}

#[test]
fn a_kernel_without_bounds_does_not_end_the_check_of_its_file() {
    let place = Place::new();
    file(&place, "f.ptx", &[UNBOUNDED, BOUNDED]);
    place
        .bugaroo(&["verify", "f.ptx"])
        .exits(4)
        .prints("kernel unbounded: not verifiable")
        .prints("--block X[,Y,Z]")
        .prints("kernel bounded (32 threads): verified");
    // Nor does one that requires another block; the file is not taken for an extent.
    place
        .bugaroo(&["verify", "--block", "64", "f.ptx"])
        .exits(4)
        .prints("kernel unbounded (64 threads): verified")
        .prints("requires blocks of 32,1,1, not 64,1,1");
    place.bugaroo(&["verify", "--block", "64", "f.ptx", "--kernel", "unbounded"]).exits(0).prints("verified");
    place
        .bugaroo(&["verify", "--block", "8,4", "--grid", "2", "--cta", "1", "f.ptx"])
        .prints("(8×4×1 threads)");
    place.bugaroo(&["verify", "--block", "64", "f.ptx", "--kernel", "bounded"]).exits(2).says("not 64,1,1");
}

#[test]
fn clusters_have_to_be_given() {
    let place = Place::new();
    file(&place, "f.ptx", &[CLUSTER, BOUNDED]);
    place
        .bugaroo(&["verify", "f.ptx"])
        .exits(4)
        .prints("kernel cluster: not verifiable")
        .prints("--cluster X,Y,Z")
        .prints("kernel bounded (32 threads): verified");
    place
        .bugaroo(&["verify", "f.ptx", "--kernel", "cluster", "--cluster", "2,1,1"])
        .exits(0)
        .prints("verified: no")
        .prints("64 threads");
    let early =
        CLUSTER.replacen("    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n", "", 1);
    file(&place, "e.ptx", &[&early]);
    place
        .bugaroo(&["verify", "e.ptx", "--cluster", "2,1,1"])
        .exits(1)
        .prints("the shared memory of CTA 1 is touched before the CTA is known to run");
    place.bugaroo(&["verify", "f.ptx", "--cluster", "17"]).exits(4).prints("it has 1 to 16 blocks");
    let barrier = CLUSTER.replace("mov.u32 rank, %cluster_ctarank;", "mov.u32 rank, 1;");
    file(&place, "g.ptx", &[&barrier]);
    place.bugaroo(&["verify", "g.ptx"]).exits(4).prints("works with other blocks of its cluster");
    let stated = CLUSTER.replace(".maxntid 32, 1, 1", ".maxntid 32, 1, 1\n.reqnctapercluster 2, 1, 1");
    file(&place, "h.ptx", &[&stated]);
    place.bugaroo(&["verify", "h.ptx"]).exits(0).prints("verified: no");
    place
        .bugaroo(&["verify", "h.ptx", "--cluster", "4"])
        .exits(2)
        .says("requires clusters of 2,1,1, not 4,1,1");
}

#[test]
fn after_a_misuse_nothing_is_said_to_never_complete() {
    let place = Place::new();
    let two_counts = "
.visible .entry counts()
.maxntid 96, 1, 1
{
    .reg .b32 warp;
    .reg .pred p;
    mov.u32 warp, %tid.x;
    shr.u32 warp, warp, 5;
    setp.eq.u32 p, warp, 0;
    @p bar.sync 1, 64;
    @!p bar.sync 1, 96;
    ret;
}
";
    file(&place, "f.ptx", &[two_counts]);
    let run = place.bugaroo(&["verify", "f.ptx", "--format", "json"]).exits(1).json();
    assert_eq!(run["verdict"], "misuse");
    assert!(run["unfinished"].as_array().unwrap().is_empty() && run["deadlock"].is_null(), "{run:#}");
}

#[test]
fn a_warp_that_arrives_in_parts_is_told_as_such() {
    let place = Place::new();
    let parted = "
.visible .entry parted()
.maxntid 64, 1, 1
{
    .reg .b32 tid;
    .reg .pred p;
    mov.u32 tid, %tid.x;
    setp.lt.u32 p, tid, 10;
    @p bra other;
    barrier.sync 1, 64;
    ret;
other:
    barrier.sync 2, 64;
    ret;
}
";
    file(&place, "f.ptx", &[parted]);
    place
        .bugaroo(&["verify", "f.ptx"])
        .exits(1)
        .prints("DEADLOCK")
        .prints("waits at barrier 2 for the rest of its own warp, which arrives as a whole: 10 of its 32 threads have come")
        .prints("has to come or to exit:");
}

const TABLES: &str = "
.global .align 4 .u32 _ZL5known[2] = {3, 64};
.visible .global .align 4 .b8 _ZN4chem5orderE[8];
.visible .entry tables(.param .u64 tables_param_0)
.maxntid 64, 1, 1
{
    .reg .b32 id, count;
    ld.global.u32 id, [_ZN4chem5orderE+4];
    ld.global.u32 count, [_ZL5known+4];
    bar.sync id, count;
    ret;
}
.visible .entry init()
.maxntid 32, 1, 1
{
    bar.sync 0;
    st.global.u32 [_ZN4chem5orderE], 0;
    ret;
}
";

#[test]
fn variables_come_from_files() {
    let place = Place::new();
    file(&place, "t.ptx", &[TABLES]);
    fs::write(place.path("order.bin"), [0, 0, 0, 0, 5, 0, 0, 0]).unwrap();
    fs::write(place.path("short.bin"), [0, 0, 0]).unwrap();
    let verify =
        |options: &[&str]| place.bugaroo(&[&["verify", "t.ptx", "--kernel", "tables"], options].concat());
    verify(&[]).exits(4).prints("the number of a barrier");
    verify(&["--global", "_ZN4chem5orderE=order.bin"]).exits(0).prints("1 dynamic barriers");
    verify(&["--global", "chem::order=order.bin"]).exits(0).prints("1 dynamic barriers");
    for (given, part) in [
        (
            "chem::orders=order.bin",
            "no variable `chem::orders` in global or constant memory (did you mean `chem::order`?)",
        ),
        ("chem::order=short.bin", "`_ZN4chem5orderE` has 8 bytes, not 3"),
        ("chem::order=nothing.bin", "nothing.bin: No such file"),
        ("chem::order", "a variable is given as NAME=FILE"),
    ] {
        verify(&["--global", given]).exits(2).says(part);
    }
    // A kernel that writes it is not looked at with what was given.
    let all = ["verify", "t.ptx", "--global", "chem::order=order.bin"];
    place
        .bugaroo(&all)
        .exits(4)
        .prints("kernel tables (64 threads): verified")
        .prints("kernel `init` may write `_ZN4chem5orderE`: what it holds cannot be given");
}
