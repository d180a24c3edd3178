//! `bugaroo verify APP …`: where the program's own words begin.

use std::ffi::{OsStr, OsString};

use clap::CommandFactory;

use super::Cli;

/// The words of a command line, with what follows a program behind `--`, if it is one of `verify` that names a program.
pub fn program_apart(words: Vec<OsString>, is_program: impl Fn(&OsStr) -> bool) -> Vec<OsString> {
    if words.get(1).is_none_or(|word| word != "verify") {
        return words;
    }
    let cli = Cli::command();
    let options: Vec<&clap::Arg> =
        cli.find_subcommand("verify").map(|c| c.get_arguments().collect()).unwrap_or_default();
    let takes_value = |word: &str| {
        let option = word.strip_prefix("--").filter(|name| !name.contains('='));
        let option = option.and_then(|name| options.iter().find(|option| option.get_long() == Some(name)));
        option.is_some_and(|option| option.get_action().takes_values())
    };
    let mut at = 2;
    while let Some(word) = words.get(at) {
        match word.to_str() {
            Some("--") => break,
            Some(option) if option.len() > 1 && option.starts_with('-') => {
                at += 1 + usize::from(takes_value(option))
            }
            _ => break,
        }
    }
    let marked = words.get(at).is_some_and(|word| word == "--");
    let program = at + usize::from(marked);
    if words.get(program).is_none_or(|word| !is_program(word)) {
        return words;
    }
    let (options, rest) = words.split_at(at);
    let rest = &rest[usize::from(marked)..];
    [options, &rest[..1], &[OsString::from("--")], &rest[1..]].concat()
}

/// Of a program's own words, those that are called as an option of `verify` is: they may have been meant for that.
pub fn options_among(words: &[String]) -> Vec<String> {
    let cli = Cli::command();
    let verify = cli.find_subcommand("verify");
    let names: Vec<&str> = verify
        .into_iter()
        .flat_map(|verify| verify.get_arguments())
        .filter_map(|arg| arg.get_long())
        .collect();
    let name = |word: &&String| {
        let name = word.strip_prefix("--").and_then(|word| word.split('=').next());
        name.is_some_and(|name| names.contains(&name))
    };
    words.iter().filter(name).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{options_among, program_apart};

    fn apart(words: &str) -> String {
        let words = words.split_whitespace().map(OsString::from).collect();
        let made = program_apart(words, |word| word == "./app");
        made.join(" ".as_ref()).into_string().unwrap()
    }

    #[test]
    fn options_behind_a_program_are_noticed() {
        let words = ["--kernel", "k", "--size=3", "--format=json", "-n", "all"].map(str::to_owned);
        assert_eq!(options_among(&words), ["--kernel", "--format=json"]);
    }

    #[test]
    fn what_follows_a_program_is_its_own() {
        for (words, wanted) in [
            ("bugaroo verify ./app --format json", "bugaroo verify ./app -- --format json"),
            ("bugaroo verify --format json ./app x", "bugaroo verify --format json ./app -- x"),
            ("bugaroo verify --format=json --all ./app", "bugaroo verify --format=json --all ./app --"),
            ("bugaroo verify -- ./app -- x", "bugaroo verify ./app -- -- x"),
            ("bugaroo verify file.ptx --kernel k", "bugaroo verify file.ptx --kernel k"),
            ("bugaroo verify file.ptx --kernel ./app", "bugaroo verify file.ptx --kernel ./app"),
            ("bugaroo verify - --kernel k", "bugaroo verify - --kernel k"),
            ("bugaroo run ./app x", "bugaroo run ./app x"),
            ("bugaroo verify", "bugaroo verify"),
            ("bugaroo verify --format", "bugaroo verify --format"),
        ] {
            assert_eq!(apart(words), wanted);
        }
    }
}
