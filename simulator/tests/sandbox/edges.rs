//! Instructions whose offsets, sizes, counts, ranks and masks lie at the edges of what 32 and 64 bits hold.

use super::Choices;

/// Numbers at which sums, products and sign changes go wrong.
const EDGES: [u64; 20] = [
    0,
    1,
    15,
    16,
    31,
    32,
    48,
    64,
    0x7fff_fff0,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffe0,
    0xffff_fff0,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_fff0,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fff0,
    0xffff_ffff_ffff_ffff,
];

/// What the instructions here name, for the module: a function with a parameter in memory and one in a register.
pub const ITEMS: &str = ".extern .func (.param .b64 got) malloc (.param .b64 bytes);\n\
     .func (.param .align 16 .b8 given[16]) twice (.param .align 16 .b8 a[16]) {\n.reg .b64 %x<2>;\n\
     ld.param.v2.b64 {%x0, %x1}, [a];\nst.param.v2.b64 [given], {%x1, %x0};\nret;\n}\n\
     .func (.reg .b64 sum) more (.reg .b64 x) { mov.b64 sum, x; ret; }\n";

/// And for the kernel.
pub const DECLARATIONS: &str = ".shared .align 8 .b8 bars[16];\n.reg .pred %p<4>;\n.reg .b64 %e<12>;\n.reg .b32 %f<12>;\n\
     mov.u32 %f9, tile;\nmov.u32 %f10, bars;\n";

/// A number at an edge, or close to one.
fn edge(choices: &mut Choices<'_>) -> u64 {
    let near = choices.one_of(&EDGES);
    match choices.below(4) {
        0 => near.wrapping_add(choices.below(64)).wrapping_sub(32),
        1 => near.wrapping_sub(16 * choices.below(4)),
        _ => near,
    }
}

/// As the text of an offset.
fn offset(choices: &mut Choices<'_>) -> String {
    format!("{:+}", edge(choices).cast_signed())
}

/// One such instruction, with what it needs; `%rd4` holds some address. And the rows that it has loaded from memory.
pub fn instruction(choices: &mut Choices<'_>) -> (String, &'static [&'static str]) {
    match choices.below(12) {
        0..5 => address(choices),
        5 => call(choices),
        6 => copy(choices),
        7 => barrier(choices),
        8 => together(choices),
        9 => stack(choices),
        10 => cluster(choices),
        _ => control(choices),
    }
}

/// Loads, stores and atomics: each form of an address with such an offset.
fn address(choices: &mut Choices<'_>) -> (String, &'static [&'static str]) {
    let (space, name) = choices.one_of(&[
        (".global", "variable"),
        ("", "variable"),
        (".const", "bank"),
        (".shared", "tile"),
        ("", "tile"),
        (".shared::cluster", "tile"),
        (".local", "own"),
        (".param", "results"),
        ("", "results"),
    ]);
    let by = offset(choices);
    let (before, place) = match choices.below(7) {
        0 => (String::new(), format!("[{name}{by}]")),
        1 => (format!("mov.u64 %e0, {name}{by};\n"), "[%e0]".to_string()),
        2 => (format!("mov.u64 %e0, {name};\n"), format!("[%e0{by}]")),
        3 => (format!("mov.u64 %e0, {name};\nadd.u64 %e0, %e0, {};\n", edge(choices)), format!("[%e0{by}]")),
        4 => {
            let by = (edge(choices) as u32).cast_signed();
            (format!("mov.u32 %f0, {name};\n"), format!("[%f0{by:+}]"))
        }
        5 => (String::new(), format!("[%rd4{by}]")),
        _ => (String::new(), format!("[{}]", edge(choices))),
    };
    let read_only = matches!(space, ".const" | ".param") || name == "results";
    let no_atomics = read_only || space == ".local";
    let (access, rows): (String, &[&str]) = match choices.below(if read_only { 4 } else { 12 }) {
        0 => (format!("ld{space}.b64 %rd8, {place};"), &["%rd8"]),
        1 => (format!("ld{space}.v2.b64 {{%rd8, %rd9}}, {place};"), &["%rd8", "%rd9"]),
        2 => (format!("ld{space}.v4.b32 {{%r4, %r5, %r6, %r7}}, {place};"), &["%r4", "%r7"]),
        3 => (format!("ld{space}.u8 %r4, {place};"), &["%r4"]),
        4 => (format!("st{space}.v2.b64 {place}, {{%rd3, %rd3}};"), &[]),
        5 => (format!("st{space}.v4.b64 {place}, {{%rd3, %rd3, %rd3, %rd3}};"), &[]),
        6 => (format!("st{space}.u8 {place}, %h3;"), &[]),
        7 => (format!("st{space}.b32 {place}, %r3;"), &[]),
        8 if !no_atomics => (format!("atom{space}.exch.b64 %rd8, {place}, %rd3;"), &["%rd8"]),
        9 if !no_atomics => (format!("atom{space}.or.b32 %r4, {place}, %r3;"), &["%r4"]),
        10 if !no_atomics => (
            format!("atom{space}.cas.b128 %w1, {place}, %w0, %w0;\nmov.b128 {{%rd8, %rd9}}, %w1;"),
            &["%rd8"],
        ),
        _ => (format!("ld{space}.v4.b64 {{%rd8, %rd9, %e5, %e6}}, {place};"), &["%rd8", "%rd9"]),
    };
    (format!("{before}{access}\n"), rows)
}

/// Parameters of calls; few of them with an offset that no parameter has, as these are refused before anything runs.
fn call(choices: &mut Choices<'_>) -> (String, &'static [&'static str]) {
    let by = if choices.below(8) == 0 { offset(choices) } else { format!("+{}", choices.below(2) * 8) };
    let target = edge(choices);
    let text = match choices.below(6) {
        0..3 => format!(
            "{{\n.param .align 16 .b8 a[16];\n.param .align 16 .b8 b[16];\nst.param.v2.b64 [a+0], {{%rd3, %rd3}};\n\
             st.param.b64 [a{by}], %rd3;\ncall (b), twice, (a);\nld.param.b64 %rd8, [b{by}];\n}}\n"
        ),
        3 => "call (%rd8), more, (%rd3);\n".to_string(),
        4 => format!(
            "{{\n.param .b64 bytes;\n.param .b64 got;\nst.param.b64 [bytes], {target};\ncall (got), malloc, (bytes);\n\
             ld.param.b64 %e1, [got];\nst.b64 [%e1{by}], %rd3;\n}}\n"
        ),
        _ => format!(
            "p{number}: .callprototype (.reg .b64 _) _ (.reg .b64 _);\nmov.u64 %e1, {target};\n\
             call (%rd8), %e1, (%rd3), p{number};\n",
            number = choices.fresh()
        ),
    };
    (text, &[])
}

/// Asynchronous copies of such sizes, and the barriers that count them.
fn copy(choices: &mut Choices<'_>) -> (String, &'static [&'static str]) {
    let (size, by) = (edge(choices) as u32, (edge(choices) as u32).cast_signed());
    let start = format!("mov.u32 %f0, {size};\n");
    let text = match choices.below(11) {
        0 => format!("cp.async.ca.shared.global [%f9{by:+}], [%rd4], 16, %f0;\ncp.async.wait_all;\n"),
        1 => "cp.async.ca.shared.global [%f9], [%rd4], 8, %f0;\ncp.async.commit_group;\ncp.async.wait_group 0;\n"
            .to_string(),
        2 => "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%f9], [%rd4], %f0, [%f10];\n"
            .to_string(),
        3 => format!(
            "cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%f9{by:+}], %f0;\ncp.async.bulk.commit_group;\n\
             cp.async.bulk.wait_group 0;\n"
        ),
        4 => "cp.reduce.async.bulk.global.shared::cta.bulk_group.or.b64 [%rd4], [%f9], %f0;\n".to_string(),
        5 => "mbarrier.init.shared.b64 [%f10], %f0;\n".to_string(),
        6 => "mbarrier.init.shared.b64 [%f10], 40;\nmbarrier.arrive.expect_tx.shared.b64 _, [%f10], %f0;\n"
            .to_string(),
        7 => "mbarrier.init.shared.b64 [%f10], 40;\nmbarrier.arrive.shared.b64 _, [%f10], %f0;\n".to_string(),
        8 => "mbarrier.init.shared.b64 [%f10], 1;\nmbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%f10], %f0;\n"
            .to_string(),
        9 => format!(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%f9{by:+}], {{%rd3, %rd3}}, [%f10];\n"
        ),
        _ => format!(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%f9], \
             [%rd4{by:+}, {{%f0, %f0}}], [%f10];\n"
        ),
    };
    (start + &text, &[])
}

/// Barriers of such numbers and counts.
fn barrier(choices: &mut Choices<'_>) -> (String, &'static [&'static str]) {
    let (id, count) =
        (edge(choices) as u32 & if choices.below(2) == 0 { 15 } else { !0 }, edge(choices) as u32);
    let start = format!("mov.u32 %f0, {id};\nmov.u32 %f1, {count};\n");
    let text = choices.one_of(&[
        "bar.sync %f0, %f1;\n",
        "bar.sync %f0;\n",
        "bar.arrive %f0, %f1;\n",
        "barrier.sync %f0, %f1;\n",
        "bar.red.popc.u32 %f2, %f0, %f1, %p0;\n",
        "bar.sync 0;\n",
    ]);
    (start + text, &[])
}

/// What lanes do together, with such masks and operands.
fn together(choices: &mut Choices<'_>) -> (String, &'static [&'static str]) {
    let [a, b, mask] = [0; 3].map(|_| edge(choices) as u32);
    let mask = if choices.below(2) == 0 { !0 } else { mask };
    let start = format!("mov.u32 %f0, {a};\nmov.u32 %f1, {b};\nmov.u32 %f2, {mask};\n");
    let by = (edge(choices) as u32).cast_signed();
    let text = match choices.below(9) {
        0 => "shfl.sync.idx.b32 %f3|%p0, %r3, %f0, %f1, %f2;\n".to_string(),
        1 => "shfl.sync.up.b32 %f3|%p0, %r3, %f0, %f1, %f2;\n".to_string(),
        2 => "shfl.sync.down.b32 %f3, %r3, %f0, %f1, %f2;\n".to_string(),
        3 => "vote.sync.ballot.b32 %f3, %p0, %f2;\n".to_string(),
        4 => "match.any.sync.b64 %f3, %rd3, %f2;\n".to_string(),
        5 => "redux.sync.add.u32 %f3, %f0, %f2;\n".to_string(),
        6 => "bar.warp.sync %f2;\n".to_string(),
        7 => format!("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r4, %r5, %r6, %r7}}, [%f9{by:+}];\n"),
        _ => "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd4], {%r3, %r3, %r3, %r3, %r3, %r3, %r3, %r3}, %f0;\n"
            .to_string(),
    };
    (start + &text, &[])
}

/// Local memory that a frame takes as it runs.
fn stack(choices: &mut Choices<'_>) -> (String, &'static [&'static str]) {
    let (size, by) = (edge(choices), offset(choices));
    let align = choices.one_of(&[1, 16, 4096, 1 << 23]);
    let text = match choices.below(4) {
        0 => format!("mov.u64 %e1, {size};\nalloca.u64 %e2, %e1, {align};\nst.local.b64 [%e2{by}], %rd3;\n"),
        1 => format!("alloca.u32 %f2, {}, {align};\nst.local.b64 [%f2], %rd3;\n", size as u32),
        2 => format!("alloca.u64 %e2, 64, {align};\nst.local.v2.b64 [%e2+48], {{%rd3, %rd3}};\n"),
        _ => format!("stackrestore.u64 {size};\nalloca.u64 %e2, 32, 16;\nst.local.b64 [%e2{by}], %rd3;\n"),
    };
    (text, &[])
}

/// Addresses in the shared memory of the cluster.
fn cluster(choices: &mut Choices<'_>) -> (String, &'static [&'static str]) {
    let rank = if choices.below(2) == 0 { choices.below(4) as u32 } else { edge(choices) as u32 };
    let at = if choices.below(2) == 0 { "tile".to_string() } else { edge(choices).to_string() };
    let by = (edge(choices) as u32).cast_signed();
    let by = if choices.below(2) == 0 { 0 } else { by };
    let (text, rows): (String, &[&str]) = match choices.below(5) {
        0 => (
            format!(
                "mov.u64 %e1, {at};\nmapa.shared::cluster.u64 %e2, %e1, {rank};\nld.shared::cluster.u32 %r4, [%e2{by:+}];\n"
            ),
            &["%r4"],
        ),
        1 => (
            format!(
                "mov.u64 %e1, {at};\ncvta.shared.u64 %e1, %e1;\nmapa.u64 %e2, %e1, {rank};\nld.v2.b64 {{%rd8, %rd9}}, [%e2{by:+}];\n"
            ),
            &["%rd8", "%rd9"],
        ),
        2 => (
            format!(
                "mov.u32 %f1, {};\nmapa.shared::cluster.u32 %f2, %f1, {rank};\nst.shared::cluster.b32 [%f2{by:+}], %r3;\n",
                at.parse().unwrap_or(0) as u32
            ),
            &[],
        ),
        3 => (
            format!(
                "mov.u32 %f1, tile;\nmapa.shared::cluster.u32 %f2, %f1, {rank};\natom.shared::cluster.or.b32 %r4, [%f2], %r3;\n"
            ),
            &["%r4"],
        ),
        _ => (
            format!(
                "mov.u64 %e1, {};\nadd.u64 %e1, %e1, {};\nst.b64 [%e1{by:+}], %rd3;\n",
                super::SHARED_WINDOW,
                u64::from(rank) << 24
            ),
            &[],
        ),
    };
    (text, rows)
}

/// Branches by table, and by such an index.
fn control(choices: &mut Choices<'_>) -> (String, &'static [&'static str]) {
    let index = if choices.below(2) == 0 { choices.below(3) as u32 } else { edge(choices) as u32 };
    let number = choices.fresh();
    let text = format!(
        "mov.u32 %f0, {index};\ntable{number}: .branchtargets one{number}, two{number};\n\
         brx.idx %f0, table{number};\none{number}: mov.b64 %e3, 1;\ntwo{number}: mov.b64 %e3, 2;\n"
    );
    (text, &[])
}
