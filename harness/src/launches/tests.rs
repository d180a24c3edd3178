use bugaroo_barriers::emulate::DEFAULT_MAX_STEPS;
use bugaroo_protocol::{Hex, RecordedLaunch};

use super::told::Told;
use super::verify::all;
use super::{Blocks, Collected, LeftOut, Row, VerifyWanted};

/// Its barrier is for as many threads as a parameter says, behind a pointer that it does not look at.
const COUNTED: &str = "
.visible .entry counted(.param .u64 out, .param .u32 count, .param .u32 other)
{
    .reg .b32 n;
    ld.param.u32 n, [count];
    bar.sync 1, n;
    ret;
}
";

/// As many barriers as a constant says.
const CONSTANT: &str = "
.visible .const .align 4 .b32 rounds;
.visible .const .align 4 .b32 count = 64;
.visible .entry constant(.param .u64 out)
{
    .reg .b32 i, n, c;
    .reg .pred p;
    ld.const.u32 n, [rounds];
    ld.const.u32 c, [count];
    mov.u32 i, 0;
again:
    setp.ge.u32 p, i, n;
    @p bra done;
    bar.sync 1, c;
    add.u32 i, i, 1;
    bra again;
done:
    ret;
}
";

/// A barrier for as many threads as stand at the address in a parameter; and one for as many as a table says.
const TABLE: &str = "
.global .align 4 .b32 table[2] = {64, 64};
.visible .entry pointed(.param .u64 from)
{
    .reg .b64 a; .reg .b32 n;
    ld.param.u64 a, [from];
    ld.global.u32 n, [a];
    bar.sync 1, n;
    ret;
}
.visible .entry tabled(.param .u64 from)
{
    .reg .b32 n;
    ld.global.u32 n, [table+4];
    bar.sync 1, n;
    ret;
}
";

/// Wrong in one block, whose number is a parameter.
const ONE_BLOCK: &str = "
.visible .entry one_block(.param .u32 wrong)
{
    .reg .b32 w, b, t; .reg .pred p, q;
    ld.param.u32 w, [wrong];
    mov.u32 b, %ctaid.x;
    mov.u32 t, %tid.x;
    setp.eq.u32 p, b, w;
    setp.lt.and.u32 q, t, 32, p;
    @q bra done;
    bar.sync 1, 64;
done:
    ret;
}
";

/// Each thread writes its own word, by a parameter's bidding to the next one, too; without a barrier before it is read.
const RACES: &str = "
.visible .entry races(.param .u64 out)
{
    .shared .align 4 .b8 box[256];
    .reg .b32 t, a, v;
    mov.u32 t, %tid.x;
    shl.b32 a, t, 2;
    mov.u32 v, box;
    add.u32 a, a, v;
    st.shared.u32 [a], t;
    ld.shared.u32 v, [box+252];
    ret;
}
";

/// Of each block below a number, the first thread comes to the barrier of the whole grid.
const GRID: &str = "
.visible .entry meets(.param .u32 below)
{
    .reg .b32 high, low, block, most, old, new, t; .reg .b64 at; .reg .pred p, first;
    ld.param.u32 most, [below];
    mov.u32 block, %ctaid.x;
    mov.u32 t, %tid.x;
    setp.eq.u32 first, t, 0;
    mov.u32 high, %envreg1;
    mov.u32 low, %envreg2;
    mov.b64 at, {low, high};
    setp.ge.u32 p, block, most;
    @p bra done;
    bar.sync 0;
    @!first bra behind;
    atom.add.release.gpu.u32 old, [at+4], 1;
again:
    ld.acquire.gpu.u32 new, [at+4];
    xor.b32 new, new, old;
    setp.gt.s32 p, new, -1;
    @p bra again;
behind:
    bar.sync 0;
done:
    ret;
}
";

/// Rows beyond the end return, and the others go round for as many tiles as there are.
const TILED: &str = "
.visible .entry tiled(.param .u64 out, .param .u32 size)
{
    .shared .align 4 .b8 tile[256];
    .reg .b32 t, b, row, n, k, a, v; .reg .pred p;
    ld.param.u32 n, [size];
    mov.u32 t, %tid.x;
    mov.u32 b, %ctaid.x;
    mad.lo.u32 row, b, 64, t;
    setp.ge.u32 p, row, n;
    @p bra done;
    shr.u32 n, n, 6;
    shl.b32 a, t, 2;
    mov.u32 v, tile;
    add.u32 a, a, v;
    mov.u32 k, 0;
again:
    setp.ge.u32 p, k, n;
    @p bra done;
    st.shared.u32 [a], t;
    bar.sync 0;
    ld.shared.u32 v, [tile];
    bar.sync 0;
    add.u32 k, k, 1;
    bra again;
done:
    ret;
}
";

fn launch(kernel: &str, params: &[&[u8]]) -> RecordedLaunch {
    RecordedLaunch {
        module: "module".to_owned(),
        kernel: kernel.to_owned(),
        grid: [16, 1, 1],
        block: [64, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: Hex(params.concat()),
        constants: Vec::new(),
        changed: Vec::new(),
        tensors: Vec::new(),
    }
}

fn collected(ptx: &str, launches: impl IntoIterator<Item = RecordedLaunch>) -> Collected {
    let mut collected = Collected::default();
    collected.text("module".to_owned(), format!(".version 8.0\n.target sm_80\n.address_size 64\n{ptx}"));
    for value in 0..200_u32 {
        collected.content(format!("{value}"), value.to_le_bytes().to_vec());
    }
    launches.into_iter().for_each(|launch| collected.launch(launch));
    collected
}

fn verified(collected: &Collected, most: usize) -> (Vec<Row>, Vec<LeftOut>) {
    let wanted = VerifyWanted { kernels: None, most, warp_synchronous: false, max_steps: DEFAULT_MAX_STEPS };
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    all(collected, &wanted, &mut |told| match told {
        Told::Row(row) => rows.push(*row),
        Told::LeftOut(more) => left_out.push(more),
    });
    (rows, left_out)
}

/// Verdict, launches and kinds of each row.
fn verdicts(collected: &Collected) -> Vec<(&'static str, u64, u64)> {
    let (rows, left_out) = verified(collected, 20);
    assert_eq!(left_out, []);
    rows.iter().map(|row| (row.findings.verdict, row.launches, row.forms)).collect()
}

fn word(value: u32) -> [u8; 4] {
    value.to_le_bytes()
}

fn pointer(value: u64) -> [u8; 8] {
    value.to_le_bytes()
}

#[test]
fn what_a_verdict_does_not_rest_on_makes_no_difference() {
    let launches =
        (0..1000).map(|i| launch("counted", &[&pointer(0x70_0000_0200 + 512 * i), &word(64), &word(9)]));
    let collected = collected(COUNTED, launches.clone().chain(launches));
    let (rows, _) = verified(&collected, 20);
    assert_eq!(verdicts(&collected), [("verified", 2000, 1000)]);
    assert_eq!((&rows[0].blocks, rows[0].grid, rows[0].first_launch), (&Blocks::Every, Some([16, 1, 1]), 0));
}

#[test]
fn launches_are_parted_by_the_parameter_that_matters_alone() {
    let counted = |i: u32| {
        let count = [32, 64, 96][i as usize % 3];
        launch("counted", &[&pointer(u64::from(512 * i)), &word(count), &word(i)])
    };
    // 32 threads are too few for two warps to go different ways, 96 are more than there are.
    let found = verdicts(&collected(COUNTED, (0..300).map(counted)));
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[1], ("verified", 100, 100));
    assert!(found.iter().all(|(verdict, launches, _)| *launches == 100 && *verdict != "not-verifiable"));
    assert_eq!(found[2].0, "deadlock");
}

/// Together, nobody knows how the number of a block and the size belong together: there is another case for each round.
#[test]
fn what_takes_long_together_is_looked_at_apart() {
    let tiled = |size: u32| {
        let launch = launch("tiled", &[&pointer(0x70_0000_0200), &word(size)]);
        RecordedLaunch { grid: [size.div_ceil(64), 1, 1], ..launch }
    };
    let collected = collected(TILED, [tiled(1024), tiled(640), tiled(100)]);
    assert_eq!(verdicts(&collected), [("verified", 1, 1), ("verified", 1, 1), ("verified", 1, 1)]);
}

#[test]
fn what_is_left_out_is_counted() {
    let counted = |i: u32| launch("counted", &[&pointer(0), &word(32 * (i % 50 + 1)), &word(0)]);
    let (rows, left_out) = verified(&collected(COUNTED, (0..100).map(counted)), 7);
    assert_eq!(rows.len(), 7);
    assert_eq!(rows.iter().map(|row| row.launches).sum::<u64>(), 14);
    assert_eq!(left_out, [LeftOut { kernel: "counted".to_owned(), launches: 86, forms: 43 }]);
}

#[test]
fn constants_are_those_of_the_launch() {
    let with = |rounds: Option<u32>, count: Option<u32>, i: u64| {
        let held = |name: &str, value: u32| (name.to_owned(), value.to_string());
        let constants = rounds.map(|value| held("rounds", value)).into_iter();
        let constants = constants.chain(count.map(|value| held("count", value))).collect();
        RecordedLaunch { constants, ..launch("constant", &[&pointer(i)]) }
    };
    // Twice the same with other pointers, then others; at last `count` holds no more what its initialiser says.
    let launches =
        [with(Some(2), None, 0), with(Some(2), None, 1), with(Some(0), None, 0), with(Some(1), Some(96), 0)];
    assert_eq!(
        verdicts(&collected(CONSTANT, launches)),
        [("verified", 2, 2), ("verified", 1, 1), ("deadlock", 1, 1)]
    );
    // What constants hold is not known from the text alone, nor from another launch.
    assert_eq!(verdicts(&collected(CONSTANT, [with(None, None, 0)])), [("not-verifiable", 1, 1)]);
}

#[test]
fn addresses_of_the_program_are_none_of_the_module_s_own() {
    // Wherever a table lay if the device's memory began with it.
    let addresses = (0..64).map(|i| 0x70_0000_0000 + 64 * i);
    let launches = addresses.map(|address| launch("pointed", &[&pointer(address)]));
    let (rows, left_out) = verified(&collected(TABLE, launches), 100);
    assert!(rows.iter().all(|row| row.findings.verdict == "not-verifiable"), "{rows:#?}");
    assert_eq!((rows.iter().map(|row| row.launches).sum::<u64>(), left_out.len()), (64, 0));
}

#[test]
fn tables_are_known_until_somebody_changes_them() {
    let changed = |changed: &[&str]| {
        let changed = changed.iter().map(|name| (*name).to_owned()).collect();
        RecordedLaunch { changed, ..launch("tabled", &[&pointer(0)]) }
    };
    assert_eq!(verdicts(&collected(TABLE, [changed(&[])])), [("verified", 1, 1)]);
    assert_eq!(verdicts(&collected(TABLE, [changed(&["table"])])), [("not-verifiable", 1, 1)]);
    // One after the other, whatever was said of the one before.
    let both = [changed(&["table"]), changed(&[]), changed(&["table", "other"])];
    assert_eq!(
        verdicts(&collected(TABLE, both)),
        [("not-verifiable", 1, 1), ("verified", 1, 1), ("not-verifiable", 1, 1)]
    );
}

#[test]
fn no_more_blocks_are_claimed_than_were_looked_at() {
    let of = |wrong: u32, grid: u32| {
        let launch = RecordedLaunch { grid: [grid, 1, 1], ..launch("one_block", &[&word(wrong)]) };
        let (rows, _) = verified(&collected(ONE_BLOCK, [launch]), 20);
        let [row] = &rows[..] else { panic!("{rows:#?}") };
        (row.findings.verdict, row.blocks.clone())
    };
    let some = |blocks: &[u32]| Blocks::Some(blocks.iter().map(|x| [*x, 0, 0]).collect());
    assert_eq!(of(0, 9000), ("deadlock", some(&[0])));
    assert_eq!(of(8999, 9000), ("deadlock", some(&[8999])));
    // In the middle of a large grid nobody looks, and nobody says so.
    assert_eq!(of(7, 9000), ("verified", some(&[0, 8999])));
    assert_eq!(of(700, 2000), ("deadlock", some(&[700])));
    assert_eq!(of(7, 8), ("deadlock", some(&[7])));
    assert_eq!(of(9, 8), ("verified", Blocks::Every));
    assert_eq!(of(2000, 2000), ("verified", Blocks::Every));
}

#[test]
fn an_error_of_all_launches_is_told_once() {
    let races = |i: u32| {
        let launch = launch("races", &[&pointer(u64::from(i))]);
        RecordedLaunch { grid: [i % 3 + 1, 1, 1], ..launch }
    };
    let found = verdicts(&collected(RACES, (0..30).map(races)));
    assert_eq!(found, [("race", 30, 30)]);
}

#[test]
fn a_text_that_is_lost_or_none_is_said() {
    let mut lost = Collected::default();
    lost.launch(launch("counted", &[]));
    let (rows, _) = verified(&lost, 20);
    assert_eq!(rows[0].findings.verdict, "not-verifiable");
    assert!(rows[0].findings.refusal.as_ref().unwrap().reason.contains("lost"), "{rows:#?}");
    let (rows, _) = verified(&collected("garbage", [launch("counted", &[])]), 20);
    assert_eq!((rows[0].findings.verdict, rows[0].launches), ("not-verifiable", 1));
}

#[test]
fn what_no_parameter_would_help_is_said_once() {
    let launches = (0..1000).map(|i| launch("pointed", &[&pointer(512 * i)]));
    let (rows, left_out) = verified(&collected(TABLE, launches), 20);
    let told: Vec<_> = rows.iter().map(|row| (row.findings.verdict, row.launches)).collect();
    assert_eq!((told, left_out), (vec![("not-verifiable", 1000)], vec![]));
}

/// Some blocks that do not come to the grid's barrier are enough for the others to wait for ever.
#[test]
fn blocks_that_meet() {
    let found = |below: u32, grid: u32| {
        let launch = RecordedLaunch { grid: [grid, 1, 1], ..launch("meets", &[&word(below)]) };
        let (rows, _) = verified(&collected(GRID, [launch]), 20);
        let [row] = &rows[..] else { panic!("one launch") };
        let reason = row.findings.refusal.as_ref().map_or(String::new(), |refused| refused.reason.clone());
        (row.findings.verdict, reason)
    };
    assert_eq!(found(4, 4), ("verified", String::new()));
    assert_eq!(found(100, 16), ("verified", String::new()));
    for (below, grid) in [(3, 4), (15, 16), (1, 16)] {
        let (verdict, reason) = found(below, grid);
        assert_eq!(verdict, "not-verifiable");
        assert!(reason.contains("grid's barrier"), "{reason}");
    }
    // Too many to look at each of them.
    assert_eq!(found(10_000, 5000).0, "not-verifiable");
}
