//! What a page says that a command prints, against what it prints. `…` stands for what may differ: alone on a line for any number of
//! lines, within a line for any text of that line. All else has to be the same, but for blanks at the ends of lines and empty
//! lines at the end.

use regex::Regex;

/// Whether the output is what the page says.
pub fn matches(said: &str, printed: &str) -> bool {
    let mut pattern = String::from("(?s)\\A");
    for line in trimmed(said).lines() {
        if line.trim() == "…" {
            pattern.push_str("(?:[^\\n]*\\n)*?");
        } else {
            let parts: Vec<String> = line.split('…').map(regex::escape).collect();
            pattern.push_str(&parts.join("[^\\n]*?"));
            pattern.push_str("\\n");
        }
    }
    pattern.push_str("\\z");
    Regex::new(&pattern).expect("all else is escaped").is_match(&trimmed(printed))
}

/// The same without the number that the folder of a run gets behind its name where another run of that name began in the same second.
pub fn without_numbers(printed: &str) -> String {
    let run = Regex::new(r"(/runs/\d{8}T\d{6}Z-\w+)-\d+").expect("a constant expression");
    run.replace_all(printed, "$1").into_owned()
}

/// What a command has printed: standard output, then what it says on standard error but for its progress.
pub fn printed(stdout: &str, stderr: &str) -> String {
    let progress = |line: &str| {
        line.strip_prefix("bugaroo: ")
            .is_some_and(|said| !said.starts_with("error") && !said.starts_with("warning"))
    };
    let mut all = trimmed(stdout);
    for line in stderr.lines().filter(|line| !progress(line)) {
        all.push_str(line.trim_end());
        all.push('\n');
    }
    all
}

fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    let text = text.trim_end();
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}
