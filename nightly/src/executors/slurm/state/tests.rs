//! What Slurm 22.05 prints, as it was printed, and what is no such thing.

use super::*;

fn states(tasks: &Tasks) -> Vec<(u32, TaskState)> {
    tasks.iter().map(|(number, task)| (*number, task.state)).collect()
}

#[test]
fn squeue_tells_of_tasks_that_wait_run_and_have_ended() {
    let printed = "1|FAILED|1280|n1|2026-11-23T22:56:54|NonZeroExitCode|\n\
                   7-12%5|PENDING|0||N/A|JobArrayTaskLimit|\n\
                   6|RUNNING|0|n1|NONE|None|\n\
                   5|COMPLETING|0|n3|2026-11-23T23:01:13|None|\n\
                   2,4|CANCELLED|0||2026-11-23T23:01:13|Resources|\n\
                   3|CANCELLED|15|n4|2026-11-23T23:01:13|Resources|\n\n";
    let tasks = of_squeue(printed, 12).expect("it is readable");
    let known: Vec<u32> = tasks.keys().copied().collect();
    assert_eq!(known, Vec::from_iter(1..=12));
    let failed = Task {
        state: TaskState::Failed,
        word: "FAILED".into(),
        code: Some(5),
        signal: None,
        node: "n1".into(),
        ended: "2026-11-23T22:56:54".into(),
        reason: "NonZeroExitCode".into(),
    };
    assert_eq!(tasks[&1], failed);
    assert_eq!((tasks[&3].state, tasks[&3].signal), (TaskState::Cancelled, Some(15)));
    assert_eq!((tasks[&9].state, tasks[&9].ended.as_str()), (TaskState::Waits, ""));
    assert_eq!(tasks[&9].reason, "JobArrayTaskLimit");
    assert_eq!((tasks[&5].state, tasks[&6].state), (TaskState::Runs, TaskState::Runs));
    assert_eq!((tasks[&2].state, tasks[&4].state), (TaskState::Cancelled, TaskState::Cancelled));
    assert_eq!(of_squeue("", 3).expect("nothing"), Tasks::new());
}

#[test]
fn sacct_tells_the_same() {
    let printed = "24_1|FAILED|5:0|n1|2026-11-23T23:01:08\n\
                   24_2|CANCELLED by 1000|0:0|n1|2026-11-23T23:01:13\n\
                   24_3|REQUEUED|5:0|n1|2026-11-23T23:00:03\n\
                   24_4|RUNNING|0:0|n2|Unknown\n\
                   24_5|FAILED|0:9|n2|2026-11-23T23:00:03\n\
                   24_[6-7,9%5]|PENDING|0:0|None assigned|Unknown\n\
                   24_8|COMPLETED|0:0|n2|2026-11-23T23:00:10\n";
    let tasks = of_sacct(printed, 24, 9).expect("it is readable");
    let (waits, runs) = (TaskState::Waits, TaskState::Runs);
    let all = [
        TaskState::Failed,
        TaskState::Cancelled,
        waits,
        runs,
        TaskState::Failed,
        waits,
        waits,
        TaskState::Completed,
        waits,
    ];
    assert_eq!(states(&tasks), Vec::from_iter((1..).zip(all)));
    assert_eq!((tasks[&1].code, tasks[&1].signal), (Some(5), None));
    assert_eq!((tasks[&5].code, tasks[&5].signal), (None, Some(9)));
    assert_eq!((tasks[&6].node.as_str(), tasks[&6].ended.as_str()), ("", ""));
    assert_eq!(tasks[&2].word, "CANCELLED by 1000");
}

#[test]
fn long_lists_are_read_whole() {
    let list: Vec<String> = (1..=4000).map(|pair| format!("{}", pair * 2)).collect();
    let printed = format!("{}|PENDING|0||N/A|Priority|\n", list.join(","));
    assert_eq!(of_squeue(&printed, 8000).expect("it is readable").len(), 4000);
}

#[test]
fn what_is_not_understood_is_an_error() {
    let squeue = [
        "1|NAPPING|0|n1|NONE|None|",
        "1|RUNNING|0|n1|NONE|",
        "1|RUNNING|0|n1|NONE|None|more|",
        "1|RUNNING|0|n1|NONE|None",
        "0|RUNNING|0|n1|NONE|None|",
        "13|RUNNING|0|n1|NONE|None|",
        "5-3|PENDING|0||N/A|None|",
        "1-...|PENDING|0||N/A|None|",
        "1-3%x|PENDING|0||N/A|None|",
        "N/A|RUNNING|0|n1|NONE|None|",
        "1|FAILED|five|n1|NONE|None|",
        "CLUSTER: far",
    ];
    for line in squeue {
        let error = of_squeue(&format!("2|RUNNING|0|n1|NONE|None|\n{line}\n"), 12);
        let Err(SlurmError::Unreadable { tool: "squeue", line: told }) = error else {
            panic!("{line}: {error:?}")
        };
        assert_eq!(told, line);
    }
    let sacct = [
        "25_1|RUNNING|0:0|n1|Unknown",
        "24|RUNNING|0:0|n1|Unknown",
        "24_1.batch|RUNNING|0:0|n1|Unknown",
        "24_[1-2|PENDING|0:0|None assigned|Unknown",
        "24_1|CANCELLED by someone|0:0|n1|Unknown",
        "24_1|RUNNING|0:0:0|n1|Unknown",
        "24_1|RUNNING|0:0|n1",
    ];
    for line in sacct {
        let error = of_sacct(line, 24, 12);
        assert!(matches!(error, Err(SlurmError::Unreadable { tool: "sacct", .. })), "{line}: {error:?}");
    }
}

#[test]
fn sbatch_gives_a_number() {
    assert_eq!(of_sbatch("12\n").expect("a number"), 12);
    for printed in ["", "12;far\n", "Submitted batch job 12\n"] {
        assert!(of_sbatch(printed).is_err(), "{printed}");
    }
}
