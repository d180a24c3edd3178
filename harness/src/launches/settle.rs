//! Launches of one kernel in one shape, verified with as few verifications as will do.
//!
//! Of what the launches do not all have in common, and of the block's place in the grid, first nothing is taken for known. A
//! kernel that is verified so is verified for all of these launches, and for every block: pointers that differ from launch to
//! launch do not matter where nothing depends on them. An error that is found so, whatever the unknown values are, is one
//! of all these launches; it is told of the first of them, with all that is known of that.
//!
//! What is not known can make the cases of a kernel many where each launch by itself has one. So launches that differ are looked at together for no more
//! than [`TOGETHER`] warp instructions. Where that is not enough, they are parted, and what is known of each is not limited so.
//!
//! Else blocks of the grid are looked at, all or some ([`super::blocks`]), with what the launches have in common. Where launches that
//! differ in parameters alone are not verifiable then, for a reason that is no parameter's, and the first by itself is not for the
//! same reason, none of them is said to be.
//!
//! Where that does not do either, the launches are parted, and each part is verified by itself: by their grids first, then by the
//! parameter that the verdict misses, by what is in memory, and at last by all of their parameters. A part that is one launch gets
//! the verdict that it gets.
//!
//! What it misses: blocks that are not looked at, where only some are, which is said with the verdict. Values in global memory
//! are never known, so that a kernel whose barriers depend on them is not verifiable. And constant memory is taken to keep what
//! it holds when the launch starts.

use std::ops::Range;

use bugaroo_barriers::emulate::{Emulation, KernelOptions, KernelText, Refusal, RefusalKind};
use bugaroo_barriers::findings::{KernelFindings, verify};

use super::blocks::Units;
use super::collected::Collected;
use super::common::{Common, One, memory, parted};
use super::told::{Blocks, LeftOut, Row, Told, VerifyWanted};

/// Warp instructions for which launches that are not alike are looked at together: a second or two.
const TOGETHER: u64 = 2_000_000;

/// One kernel's verifications.
pub(super) struct Kernel<'a> {
    pub text: &'a mut KernelText,
    pub collected: &'a Collected,
    pub wanted: &'a VerifyWanted,
    /// How many more rows there may be of the kernel.
    pub left: usize,
    /// Warp instructions that may still be looked at of launches that differ, together.
    pub work: u64,
    pub tell: &'a mut dyn FnMut(Told),
    /// What is left out of it.
    pub left_out: Option<LeftOut>,
}

/// Blocks that were looked at, and what was found: of the first one that is wrong, or else of the first that is open, or else of the first.
struct Looked {
    blocks: Vec<[u32; 3]>,
    all: bool,
    findings: KernelFindings,
}

/// What was found of a block, or of any.
struct Verified {
    findings: KernelFindings,
    /// Warp instructions that it took.
    steps: u64,
    /// How often the block comes to the grid's barrier; None where that depends on what is not known.
    grid_barriers: Option<u32>,
}

/// Whether the blocks that were looked at come to the grid's barrier equally often, and they are all of the grid if they come to it.
fn meeting(comes: &[Option<u32>], all: bool) -> Result<(), String> {
    let unknown = "how often a block comes to the grid's barrier (grid.sync) depends on what is not known";
    let mut counts = comes.iter().map(|count| count.ok_or_else(|| unknown.to_owned()));
    let Some(first) = counts.next().transpose()? else { return Ok(()) };
    for count in counts {
        let count = count?;
        if count != first {
            return Err(format!(
                "a block comes to the grid's barrier (grid.sync) {first} times, and another one {count} times: some wait for ever"
            ));
        }
    }
    if first > 0 && !all {
        let message = "blocks wait for all others of the grid (grid.sync), and there are too many to look at each of them";
        return Err(message.to_owned());
    }
    Ok(())
}

/// Something is wrong, whatever is not known.
fn is_certain(findings: &KernelFindings) -> bool {
    let wrong = !findings.is_clean() && !findings.is_open();
    wrong && findings.example.is_empty() && findings.verdict != "possible-race"
}

/// Nothing is known, and no parameter would help.
fn is_open_by_itself(findings: &KernelFindings) -> bool {
    findings.is_open() && findings.refusal.as_ref().is_some_and(|refused| refused.parameter.is_none())
}

/// Why nothing is known, and where.
fn place(findings: &KernelFindings) -> Option<(&str, Option<u32>)> {
    let refused = findings.refusal.as_ref()?;
    Some((&refused.reason, refused.at.as_ref().map(|at| at.ptx_line)))
}

impl Kernel<'_> {
    /// Verifies these launches, which agree in all but grid, parameters and memory.
    pub fn settle(&mut self, launches: &[One<'_>]) {
        let Some(common) = Common::of(launches) else { return };
        if self.left == 0 {
            self.leave_out(launches);
            return;
        }
        self.work = TOGETHER;
        let cluster = common.first.cluster.unwrap_or([1; 3]);
        let one_block = common.grid == Some([1; 3]);
        let mut found = None;
        if cluster == [1; 3] && !one_block {
            let Verified { findings, .. } = self.verify(&common, None);
            if findings.is_clean() {
                return self.told(launches, Blocks::Every, findings);
            }
            if is_certain(&findings)
                && let Some(first) = Common::of(&launches[..1])
                && let Some(looked) = self.look(&first, cluster)
                && looked.findings.verdict == findings.verdict
            {
                return self.told_looked(launches, looked);
            }
            found = Some(findings);
        }
        if let Some(looked) = self.look(&common, cluster) {
            if looked.findings.is_clean() || common.is_exact() {
                return self.told_looked(launches, looked);
            }
            let certain = is_certain(&looked.findings);
            let hopeless = !common.differs_in_memory && is_open_by_itself(&looked.findings);
            if (certain || hopeless)
                && let Some(first) = Common::of(&launches[..1])
                && let Some(exact) = self.look(&first, cluster)
                && exact.findings.verdict == looked.findings.verdict
                && (certain || place(&exact.findings) == place(&looked.findings))
            {
                return self.told_looked(launches, exact);
            }
            found = Some(looked.findings);
        }
        for part in self.part(&common, launches, found.as_ref()) {
            self.settle(&part);
        }
    }

    /// Parts launches that are not all alike.
    fn part<'a>(
        &self,
        common: &Common<'a>,
        launches: &[One<'a>],
        found: Option<&KernelFindings>,
    ) -> Vec<Vec<One<'a>>> {
        if common.grid.is_none() {
            return parted(launches, |launch| launch.grid);
        }
        let missed = found
            .and_then(|findings| findings.refusal.as_ref())
            .and_then(|refused| refused.parameter.as_ref());
        let place = missed.and_then(|name| {
            let params = self.text.parameters(&common.first.kernel);
            params.into_iter().find(|(known, _)| known == name).map(|(_, place)| place)
        });
        let overlaps = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        if let Some(place) = place.filter(|place| common.open.iter().any(|open| overlaps(open, place))) {
            return parted(launches, |launch| launch.params.0.get(place.clone()));
        }
        if common.differs_in_memory {
            return parted(launches, memory);
        }
        parted(launches, |launch| &launch.params)
    }

    /// Verifies with what launches have in common: for one block, or for any of them.
    fn verify(&mut self, common: &Common<'_>, cta: Option<[u32; 3]>) -> Verified {
        let first = common.first;
        self.text.reset();
        for (name, digest) in &common.constants {
            let bytes = digest.and_then(|digest| self.collected.contents.get(digest));
            let given = bytes.map(|bytes| self.text.give(name, bytes.clone()));
            if !matches!(given, Some(Ok(()))) {
                self.text.forget(name);
            }
        }
        common.changed.iter().for_each(|name| self.text.forget(name));
        let params = self.text.parameters(&first.kernel);
        let tensors = common.tensors.iter().filter_map(|(at, bytes)| {
            let at = *at as usize;
            let index = params.iter().position(|(_, place)| place.contains(&at))?;
            Some((format!("{index}+{}", at - params[index].1.start), *bytes))
        });
        let options = KernelOptions {
            block: Some(first.block),
            cta: cta.unwrap_or_default(),
            any_cta: cta.is_none(),
            whole_grid: true,
            grid: common.grid,
            cluster: first.cluster,
            params: Vec::new(),
            param_bytes: Some(first.params.0.clone()),
            open_bytes: common.open.clone(),
            tensors: tensors.collect(),
            dynamic_shared: Some(first.dynamic_shared),
            warp_synchronous: self.wanted.warp_synchronous,
            max_steps: self.wanted.max_steps,
            max_work: if common.is_exact() { u64::MAX } else { self.work },
        };
        match verify(self.text, &first.kernel, &options) {
            Ok(verified) => {
                if !common.is_exact() {
                    self.work = self.work.saturating_sub(verified.work);
                }
                let of = |emulation: Emulation| (emulation.steps[0], emulation.grid_barriers);
                let (steps, grid_barriers) = verified.emulation.map_or((0, 0), of);
                let cases = verified.findings.cases.max(1);
                let steps = steps.saturating_mul(u64::from(cases));
                let grid_barriers =
                    if cases == 1 { Some(grid_barriers) } else { (grid_barriers == 0).then_some(0) };
                Verified { findings: verified.findings, steps, grid_barriers }
            }
            Err(refusal) => {
                let findings = KernelFindings::not_verifiable(&first.kernel, &refusal);
                Verified { findings, steps: 0, grid_barriers: Some(0) }
            }
        }
    }

    /// Looks at blocks of the grid, until one is wrong; None where the launches have no grid in common.
    fn look(&mut self, common: &Common<'_>, cluster: [u32; 3]) -> Option<Looked> {
        let units = Units::new(common.grid?, cluster);
        let mut waiting = units.chosen();
        let mut blocks: Vec<[u32; 3]> = Vec::new();
        let mut open: Option<([u32; 3], KernelFindings)> = None;
        let mut first: Option<KernelFindings> = None;
        let mut most_steps = 0;
        let mut grid_barriers: Vec<Option<u32>> = Vec::new();
        while !waiting.is_empty() {
            for block in std::mem::take(&mut waiting) {
                let Verified { findings, steps, grid_barriers: comes } = self.verify(common, Some(block));
                most_steps = most_steps.max(steps);
                grid_barriers.push(comes);
                match (findings.is_clean(), findings.is_open()) {
                    (true, _) => {
                        first.get_or_insert(findings);
                    }
                    (false, true) => {
                        open.get_or_insert((block, findings));
                    }
                    (false, false) => return Some(Looked { blocks: vec![block], all: false, findings }),
                }
                blocks.push(block);
            }
            if open.is_none() && (blocks.len() as u64) < units.all() {
                waiting = units.others(most_steps);
            }
        }
        match open {
            Some((block, findings)) => Some(Looked { blocks: vec![block], all: false, findings }),
            None => {
                let all = blocks.len() as u64 == units.all();
                let findings = match meeting(&grid_barriers, all) {
                    Ok(()) => first?,
                    Err(message) => {
                        let refusal = Refusal::new(RefusalKind::NotVerifiable, message);
                        KernelFindings::not_verifiable(&common.first.kernel, &refusal)
                    }
                };
                Some(Looked { blocks, all, findings })
            }
        }
    }

    fn told_looked(&mut self, launches: &[One<'_>], looked: Looked) {
        let blocks = if looked.all { Blocks::Every } else { Blocks::Some(looked.blocks) };
        self.told(launches, blocks, looked.findings);
    }

    fn told(&mut self, launches: &[One<'_>], blocks: Blocks, findings: KernelFindings) {
        let Some(common) = Common::of(launches) else { return };
        self.left -= 1;
        (self.tell)(Told::Row(Box::new(Row::new(&common, launches, blocks, findings))));
    }

    fn leave_out(&mut self, launches: &[One<'_>]) {
        let [(first, _), ..] = launches else { return };
        let left_out = self.left_out.get_or_insert_with(|| LeftOut::new(&first.kernel));
        left_out.forms += launches.len() as u64;
        left_out.launches += launches.iter().map(|(_, seen)| seen.count).sum::<u64>();
    }
}
