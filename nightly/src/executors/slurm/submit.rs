//! Submitting a night as one array job, and only once.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use bugaroo_harness::Interrupt;
use regex::Regex;

use super::error::SlurmError;
use super::folder::Folder;
use super::request::{SlurmRequest, Tell};
use super::script::{self, Spoken};
use super::state;
use super::tool::{ToolError, Tools};
use crate::plan::{Plan, Slurm};

/// Longest pause between two tries.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// What `sbatch` says where trying again helps. It tries for two minutes itself before it says the first two.
const TEMPORARY: [&str; 8] = [
    "temporarily unable to accept job",
    "Resource temporarily unavailable",
    "Unable to contact slurm controller",
    "Socket timed out on send/recv operation",
    "Zero Bytes were transmitted or received",
    "Slurm backup controller in standby mode",
    "Connection refused",
    "Connection reset by peer",
];

/// Options that the executor sets itself, or that make `sbatch` do something else.
const RESERVED: [(&str, Option<char>); 14] = [
    ("--array", Some('a')),
    ("--output", Some('o')),
    ("--error", Some('e')),
    ("--job-name", Some('J')),
    ("--wait", Some('W')),
    ("--clusters", Some('M')),
    ("--cluster", None),
    ("--help", Some('h')),
    ("--usage", None),
    ("--version", Some('V')),
    ("--no-requeue", None),
    ("--open-mode", None),
    ("--test-only", None),
    ("--wrap", None),
];

/// The first of the plan's options that cannot be.
pub fn reserved(options: &[String]) -> Option<&String> {
    options.iter().find(|option| {
        let long = option.split('=').next().unwrap_or_default();
        RESERVED.iter().any(|&(name, short)| {
            // `sbatch` takes any beginning of a long option that is unique.
            let beginning = long.len() > 4 && long.starts_with("--") && name.starts_with(long);
            let letter = short.is_some_and(|letter| {
                !option.starts_with("--")
                    && option.strip_prefix('-').is_some_and(|rest| rest.starts_with(letter))
            });
            long == name || beginning || letter
        })
    })
}

/// What `sbatch` is given.
///
/// # Errors
/// When the plan has options that cannot be, or a path cannot be written down.
pub fn arguments(plan: &Plan, slurm: &Slurm, folder: &Folder) -> Result<Vec<String>, SlurmError> {
    if let Some(option) = reserved(&slurm.options) {
        return Err(SlurmError::Reserved { option: option.clone() });
    }
    let mut all = vec![format!("--chdir={}", plan.folder().spoken()?)];
    let given = [
        ("partition", &slurm.partition),
        ("gres", &slurm.gres),
        ("time", &slurm.time),
        ("mem", &slurm.memory),
        ("account", &slurm.account),
        ("qos", &slurm.qos),
    ];
    all.extend(given.iter().filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?))));
    all.push(format!("--cpus-per-task={}", slurm.cpus));
    all.extend(slurm.options.iter().cloned());
    let most = slurm.at_a_time.map_or(String::new(), |most| format!("%{most}"));
    let log = folder.file("shard-").spoken()?.to_owned();
    if log.contains('\\') {
        let why = "Slurm does not fill in the number of the task where a log's path has a backslash";
        return Err(SlurmError::Unspeakable { what: log, why });
    }
    let log = format!("{}%a.log", log.replace('%', "%%"));
    all.extend([
        "--parsable".into(),
        format!("--array=1-{}{most}", slurm.shards),
        "--requeue".into(),
        "--open-mode=append".into(),
        format!("--job-name={}", plan.name),
        format!("--output={log}"),
        format!("--error={log}"),
        folder.file(script::NAME).spoken()?.to_owned(),
    ]);
    Ok(all)
}

/// Submits, and waits where Slurm cannot take the job just now.
///
/// # Errors
/// When it does not take it at all, or the user wishes to stop.
pub async fn submit(
    tools: &Tools,
    arguments: &[String],
    shards: u32,
    request: &SlurmRequest,
    interrupt: &mut Interrupt,
    tell: &dyn Tell,
) -> Result<u32, SlurmError> {
    let script = arguments.last().map(Path::new).unwrap_or(Path::new(""));
    let mut pause = request.poll;
    loop {
        let tried = tokio::select! {
            tried = tools.sbatch.run(arguments) => tried,
            () = interrupt.wait() => {
                // It may have come through before it was killed.
                return find(tools, script).await?.ok_or(SlurmError::NotSubmitted);
            }
        };
        let error = match tried {
            Ok(printed) => return state::of_sbatch(&printed),
            Err(error) => error,
        };
        let Some(said) = temporary(&error) else { return Err(refusal(tools, error, shards).await) };
        tell.line(&format!("Slurm cannot take the job now ({said}); next try in {} s", pause.as_secs()));
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = interrupt.wait() => return find(tools, script).await?.ok_or(SlurmError::NotSubmitted),
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
        // An answer that was lost on its way does not mean that the job was not taken.
        if let Ok(Some(job)) = find(tools, script).await {
            return Ok(job);
        }
    }
}

/// The job of ours in the queue that runs this script; None: there is none.
///
/// # Errors
/// When the queue cannot be asked.
pub async fn find(tools: &Tools, script: &Path) -> Result<Option<u32>, SlurmError> {
    let asked = ["--me", "--noheader", "--format=%F|%o"].map(String::from);
    let printed = tools.squeue.run(&asked).await?;
    let ours = printed.lines().find_map(|line| {
        let (job, command) = line.trim_end().split_once('|')?;
        (Path::new(command) == script).then_some(job.trim())
    });
    let unreadable = |job: &str| SlurmError::Unreadable { tool: "squeue", line: job.to_owned() };
    ours.map(|job| job.parse().map_err(|_| unreadable(job))).transpose()
}

/// The line that says so, where trying again helps.
pub fn temporary(error: &ToolError) -> Option<&str> {
    error.said().lines().find(|line| TEMPORARY.iter().any(|known| line.contains(known)))
}

/// What a refusal means.
async fn refusal(tools: &Tools, error: ToolError, shards: u32) -> SlurmError {
    static LIMIT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(?:QOS|Assoc)\w*Limit\w*").expect("the expression is constant"));
    let said = match &error {
        ToolError::Failed { said, .. } => said.replace('\n', " "),
        _ => return error.into(),
    };
    if said.contains("Invalid job array specification")
        && let Some(most) = largest(tools).await
        && shards > most
    {
        return SlurmError::TooMany { shards, most };
    }
    match LIMIT.find(&said) {
        Some(limit) => SlurmError::Limit { shards, limit: limit.as_str().to_owned(), said },
        None => SlurmError::Refused { said },
    }
}

/// Tasks that an array may have: their numbers stay below `MaxArraySize`, and ours start at 1.
async fn largest(tools: &Tools) -> Option<u32> {
    let printed = tools.scontrol.run(&["show".into(), "config".into()]).await.ok()?;
    let line = printed.lines().find(|line| line.starts_with("MaxArraySize"))?;
    line.split_once('=')?.1.trim().parse::<u32>().ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests;
