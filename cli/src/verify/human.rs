//! A verdict for people: what is wrong, where, who, and why.

mod place;
mod race;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use bugaroo_barriers::findings::{CommandPlace, Deadlocked, KernelFindings, Recycled, Waits};
use bugaroo_barriers::verdict::RecyclingRule;
use bugaroo_harness::names::demangled;

use crate::output::{indent, thousands};
use place::{place, who};

/// Findings of a sort that are shown.
const SHOWN: usize = 20;
/// Groups of waiting threads, or of threads without a path, that are shown.
const FEW: usize = 4;

/// Writes lines; shows the source beside places where it can be read.
struct Page<'a> {
    text: String,
    /// The PTX file.
    file: &'a Path,
}

/// All that is known of a kernel. `file` is the PTX file, beside which sources are looked for, too.
pub fn describe(findings: &KernelFindings, file: &Path) -> String {
    let mut page = Page { text: String::new(), file };
    let threads = match findings.block {
        Some([x, 1, 1]) => format!(" ({x} threads)"),
        Some([x, y, z]) => format!(" ({x}×{y}×{z} threads)"),
        None => String::new(),
    };
    page.line(0, &format!("kernel {}{threads}: {}", demangled(&findings.kernel), verdict(findings)));
    if !findings.example.is_empty() {
        let given: Vec<String> =
            findings.example.iter().map(|(name, value)| format!("{name}={value}")).collect();
        page.line(1, &format!("for example with {}", given.join(" ")));
    }
    if findings.cases > 1 {
        page.line(1, &format!("in each of {} cases of its parameters", findings.cases));
    }
    if let Some(refused) = &findings.refusal {
        page.line(1, &refused.reason);
        if let Some(at) = &refused.at {
            page.place(2, "at", at);
        }
        if let Some(cause) = &refused.cause {
            page.line(1, &format!("because of {cause}"));
        }
        if let Some(at) = &refused.cause_at {
            page.place(2, "at", at);
        }
    }
    if let Some(deadlock) = &findings.deadlock {
        page.deadlock(deadlock);
    }
    if let Some(misuse) = &findings.misuse {
        page.line(1, &misuse.what);
        page.place(2, "by", &misuse.at);
        if let Some(other) = &misuse.other {
            page.place(2, "and", other);
        }
    }
    for recycled in findings.recycling.iter().take(SHOWN) {
        page.recycled(recycled);
    }
    page.more(findings.recycling.len(), "");
    for races in findings.pairs().take(SHOWN) {
        page.text += &indent(&race::told(races, file), "  ");
    }
    page.more(findings.pairs().count(), " pairs of lines with races");
    if !findings.unordered.is_empty() {
        page.line(
            1,
            "note: volatile or relaxed accesses that do not race come in no order; what is read depends on who comes first:",
        );
        findings.unordered.iter().take(FEW).for_each(|at| page.place(2, "at", at));
    }
    // In a deadlock, that barriers do not complete goes without saying.
    let unfinished = if findings.deadlock.is_none() { &findings.unfinished[..] } else { &[] };
    for unfinished in unfinished.iter().take(FEW) {
        let what = format!("note: use {} of {} never completes", unfinished.generation, unfinished.barrier);
        page.line(1, &what);
        for at in unfinished.at.iter().take(FEW) {
            page.place(2, "arrived at by", at);
        }
    }
    for unwaited in findings.unwaited.iter().take(FEW) {
        let what =
            format!("note: nobody waits at {}, for example at use {}", unwaited.barrier, unwaited.generation);
        page.line(1, &what);
        for at in unwaited.at.iter().take(FEW) {
            page.place(2, "arrived at by", at);
        }
    }
    if findings.right_in_lockstep {
        page.line(
            1,
            "note: it is right where the lanes of a warp run in lockstep (--warp-synchronous), which they need not since Volta: \
             a __syncwarp() may be missing",
        );
    }
    if !findings.tables.is_empty() {
        let names: Vec<String> = findings.tables.iter().map(|name| demangled(name)).collect();
        let what = "note: it rests on the initial values of";
        page.line(1, &format!("{what} {}, which the host must leave as they are", names.join(", ")));
    }
    if !findings.taken_to_meet.is_empty() {
        let note =
            "note: it is taken for granted that all lanes that take part in these exchanges come to them:";
        page.line(1, note);
        findings.taken_to_meet.iter().for_each(|at| page.place(2, "at", at));
    }
    let stats = &findings.stats;
    if stats.threads > 0 {
        page.line(
            1,
            &format!(
                "{} dynamic barriers, {} shared addresses, {} commands, {} race tests, {} threads",
                thousands(stats.dynamic_barriers),
                thousands(stats.shared_addresses),
                thousands(stats.commands),
                thousands(stats.race_tests),
                thousands(stats.threads)
            ),
        );
    }
    page.text
}

fn verdict(findings: &KernelFindings) -> &str {
    match findings.verdict {
        "verified" if findings.vacuous => {
            "verified, but there was nothing to prove: it came to no barrier and to no access of shared memory"
        }
        "verified" => "verified: no deadlock, no unsafe recycling of barriers, no race, in any execution",
        "deadlock" => "DEADLOCK: threads can wait for ever",
        "misuse" if findings.misuse.as_ref().is_some_and(|misuse| misuse.of == "cluster") => {
            "MISUSE of a cluster: a block touches the memory of one that may not be there"
        }
        "misuse" => "MISUSE of a barrier",
        "unsafe-recycling" => "UNSAFE RECYCLING: a barrier is used again too early",
        "race" => "RACE in shared memory",
        "benign-race" => "benign races only: writes of values known to be the same",
        "possible-race" if findings.races.iter().all(|race| race.flag.is_some()) => {
            "POSSIBLE RACE in shared memory: accesses race if flags or locks in memory do not order them"
        }
        "possible-race" if findings.races.iter().any(|race| race.flag.is_some()) => {
            "POSSIBLE RACE in shared memory: accesses race if branches go ways that are not known to be possible, or flags in memory do not order them"
        }
        "possible-race" => {
            "POSSIBLE RACE in shared memory: accesses race if branches go ways that are not known to be possible"
        }
        "illegal" => "ILLEGAL: the kernel does what no kernel may",
        "not-verifiable" => "not verifiable",
        other => other,
    }
}

impl Page<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:width$}{line}", "", width = 2 * depth);
    }

    fn more(&mut self, count: usize, what: &str) {
        if count > SHOWN {
            self.line(1, &format!("… and {} more{what}", thousands((count - SHOWN) as u64)));
        }
    }

    /// A place: who, where, and the line of the source.
    fn place(&mut self, depth: usize, how: &str, at: &CommandPlace) {
        let words = format!("{how}{}: {}", who(at), place(at));
        self.line(depth, words.trim_start());
        let innermost = at.file.as_deref().zip(at.line);
        if let Some(source) = innermost.and_then(|(file, line)| self.source(file, line)) {
            self.line(depth + 1, &format!("| {source}"));
        }
        for (file, line) in at.inlined_at.iter().take(2) {
            let source = self.source(file, *line).map(|source| format!(" | {source}")).unwrap_or_default();
            self.line(depth + 1, &format!("inlined at {file}:{line}{source}"));
        }
    }

    /// The line of the source, if it can be read: where the compiler says, or beside the PTX file.
    fn source(&self, file: &str, line: u32) -> Option<String> {
        let beside = self.file.with_file_name(Path::new(file).file_name()?);
        let candidates: [PathBuf; 2] = [PathBuf::from(file), beside];
        let text = candidates.iter().find_map(|path| fs::read_to_string(path).ok())?;
        let words = text.lines().nth(line.checked_sub(1)? as usize)?.trim();
        (!words.is_empty()).then(|| words.to_owned())
    }

    fn deadlock(&mut self, deadlock: &Deadlocked) {
        let order: Vec<usize> = match deadlock.cycle.is_empty() {
            false => deadlock.cycle.clone(),
            true => (0..deadlock.waiting.len()).collect(),
        };
        if !deadlock.cycle.is_empty() {
            self.line(1, "each of these waits for the next, and the last for the first:");
        }
        for index in order.iter().take(SHOWN) {
            let waits = &deadlock.waiting[*index];
            let Waits { generation, barrier, arrived, expected, .. } = waits;
            let mut what = match waits.in_warp {
                false => {
                    format!(
                        "waits for use {generation} of {barrier}, where {arrived} of {expected} have come"
                    )
                }
                true => format!(
                    "waits at {barrier} for the rest of its own warp, which arrives as a whole: {arrived} of its {expected} threads \
                     have come"
                ),
            };
            if waits.bytes_missing != 0 {
                what += &format!("; {} bytes are missing", waits.bytes_missing);
            }
            self.place(1, "", &waits.at);
            self.line(2, &what);
            if waits.waits_for.is_empty() {
                self.line(2, "nobody else would come there");
            }
            let how = if waits.in_warp { "has to come or to exit:" } else { "would still come:" };
            for (_, at) in waits.waits_for.iter().take(FEW) {
                self.place(2, how, at);
            }
        }
        if order.len() < deadlock.waiting.len() {
            self.line(1, &format!("{} groups of threads wait in all", deadlock.waiting.len()));
        }
    }

    fn recycled(&mut self, recycled: &Recycled) {
        let Recycled { barrier, earlier, later, count, .. } = recycled;
        let what = match recycled.rule {
            RecyclingRule::EarlierComplete => {
                format!("use {later} of {barrier} need not come after use {earlier} is over ({count} times)")
            }
            RecyclingRule::WaitBeforeNext => format!(
                "use {later} of {barrier} may be over before a wait for use {earlier} was made ({count} times)"
            ),
        };
        self.line(1, &what);
        self.place(2, "takes part:", &recycled.at);
        match &recycled.knows_from {
            Some(at) => self.place(2, "which knows only what it knew when it waited last:", at),
            None => self.line(2, "which has never waited before"),
        }
        for at in recycled.unordered.iter().take(FEW) {
            self.place(2, "no path from:", at);
        }
        if recycled.unordered.len() > FEW {
            self.line(2, &format!("… nor from {} more", recycled.unordered.len() - FEW));
        }
    }
}
