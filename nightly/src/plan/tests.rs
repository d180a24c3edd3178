use std::fs;
use std::path::Path;

use bugaroo_protocol::Model;
use tempfile::TempDir;

use super::{CellKind, Plan, first};

fn written(text: &str) -> (TempDir, Result<Plan, String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    fs::write(&path, text).unwrap();
    let plan =
        Plan::read(&path).map_err(|error| error.to_string().replace(folder.path().to_str().unwrap(), ""));
    (folder, plan)
}

fn error(text: &str) -> String {
    written(text).1.expect_err(text)
}

#[test]
fn a_plan_says_what_is_run() {
    let text = r#"
        [night]
        budget = "90m"
        [defaults]
        pw = [0.25, 0.75]
        environment = { A = "1", B = "2" }
        [[program]]
        run = ["./app", "--fast"]
        models = ["store-buffer", "ptx"]
        pr = [0.5, 1.0]
        buffer = [4, 256]
        trials = 7
        environment = { B = "3" }
        [[program]]
        name = "other"
        run = ["app"]
        models = ["ptx"]
        detectors = []
    "#;
    let (folder, plan) = written(text);
    let plan = plan.unwrap();
    assert_eq!(plan.name, "plan");
    assert_eq!(Path::new(&plan.database), folder.path().join("plan.sqlite"));
    assert_eq!(plan.budget.unwrap().as_secs(), 5400);
    let [app, other] = &plan.programs[..] else { panic!("{plan:?}") };
    assert_eq!((app.name.as_str(), app.line, other.name.as_str()), ("app", 7, "other"));
    let variables: Vec<_> = app.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(variables, ["A=1", "B=3"]);
    let keys: Vec<&str> = app.cells.iter().map(|cell| cell.key.as_str()).collect();
    let wanted = [
        "store-buffer pw=0.25 buffer=4",
        "store-buffer pw=0.25",
        "store-buffer pw=0.75 buffer=4",
        "store-buffer pw=0.75",
        "ptx pw=0.25",
        "ptx pw=0.25 pr=1",
        "ptx pw=0.75",
        "ptx pw=0.75 pr=1",
        "races ptx",
    ];
    assert_eq!(keys, wanted);
    assert!(app.cells[..8].iter().all(|cell| cell.trials == Some(7) && cell.kind == CellKind::Trials));
    assert_eq!(app.cells[8].kind, CellKind::Races);
    assert_eq!(other.cells.len(), 2);
    assert!(other.cells.iter().all(|cell| cell.variation.model == Model::Ptx));
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_what_was_meant() {
    let program = "[[program]]\nrun = [\"./app\"]\n";
    for (text, wanted) in [
        ("", "/plan.toml:1: the plan has no [[program]]"),
        ("[night]\nbuget = \"1h\"\n", "/plan.toml:2: unknown field `buget`"),
        ("[night]\nbuget = \"1h\"\n", "did you mean `budget`?"),
        (&format!("{program}model = [\"ptx\"]\n"), "/plan.toml:3: unknown field `model`"),
        (&format!("{program}model = [\"ptx\"]\n"), "did you mean `models`?"),
        (
            &format!("{program}models = [\n\"ptx\",\n\"store_buffer\"]\n"),
            "/plan.toml:5: `store_buffer` is no model",
        ),
        (&format!("{program}models = [\n\"ptx\",\n\"store_buffer\"]\n"), "did you mean `store-buffer`?"),
        (&format!("{program}pw = [0.5, 1.5]\n"), "/plan.toml:3: a probability is from 0 to 1"),
        (&format!("{program}devices = 17\n"), "/plan.toml:3: a program has 1 to 16 devices"),
        (&format!("{program}trials = 0\n"), "/plan.toml:3: at least 1"),
        (&format!("{program}trials = 5\nbudget = \"1m\"\n"), "/plan.toml:1: either `trials` or `budget`"),
        (&format!("[night]\nbudget = \"1 fortnight\"\n{program}"), "/plan.toml:2: 'fortnight' is no unit"),
        (
            &format!("{program}{program}"),
            "/plan.toml:3: a second program is called `app` (the first: line 1)",
        ),
        (&format!("{program}kernel = \"(\"\n"), "/plan.toml:3: regex"),
        (&format!("{program}oracle = \"exti\"\n"), "/plan.toml:3: 'exti' is no oracle"),
        (
            &format!("{program}tolerance = 1e-5\n"),
            "/plan.toml:3: ignored lines and a tolerance are for the oracle reference",
        ),
        (&format!("{program}oracle = \"reference\"\nignore-lines = [\"a\", \"(\"]\n"), "/plan.toml:4: regex"),
        (
            &format!("{program}oracle = \"reference\"\ntolerance = 1.5\n"),
            "/plan.toml:4: a tolerance of 1.5 is not between 0 and 1",
        ),
        ("[[program]]\nname = \"x\"\n", "/plan.toml:1: a [[program]] needs `run`"),
        ("[[program]]\nrun = []\n", "/plan.toml:2: `run` is empty"),
        ("[defaults]\nrun = [\"a\"]\n", "/plan.toml:2: [defaults] holds for all programs"),
        (
            &format!("[night]\ndatabase = \"mysql://x\"\n{program}"),
            "/plan.toml:2: `mysql://x` is no database",
        ),
        (&format!("{program}suppressions = [\"none.toml\"]\n"), "/plan.toml:3: "),
        (
            &format!("{program}[[program.expect]]\nfinding = \"race\"\nreason = \"\"\nuntil = 2027-01-01\n"),
            "/plan.toml:5: say in `reason`",
        ),
        (
            &format!("{program}[[program.expect]]\nfinding = \"race\"\nreason = \"r\"\nuntil = 10:00:00\n"),
            "/plan.toml:6: `until` is a day",
        ),
        (&format!("{program}[slurm]\nshards = 0\n"), "/plan.toml:4: `shards` is from 1"),
        (
            &format!("{program}[slurm]\nshards = 2\ntime = \"2 hours\"\n"),
            "/plan.toml:5: `2 hours` is no time limit",
        ),
        (
            &format!("{program}explore = 1\n"),
            "/plan.toml:3: `explore` cannot be the number `1`: `explore = true`",
        ),
        (
            &format!("[defaults]\ntrials = 5\nbudget = \"1m\"\n{program}"),
            "/plan.toml:3: either `trials` or `budget`",
        ),
        (&format!("{program}build-timeout = \"1 fortnight\"\n"), "/plan.toml:3: 'fortnight' is no unit"),
        (&format!("{program}[explore]\nbufer = [1]\n"), "/plan.toml:4: unknown field `bufer`"),
        (&format!("{program}[explore]\npw = [2.0]\n"), "/plan.toml:4: a probability"),
        (
            &format!("{program}[explore]\nmodels = [\"bugaroo\"]\n"),
            "/plan.toml:4: model `bugaroo` cannot be explored",
        ),
        ("a = = 1", "/plan.toml:1: "),
    ] {
        let said = error(text);
        assert!(said.contains(wanted), "{text}\n{said}\nwanted: {wanted}");
    }
    let missing = Plan::read(Path::new("/no/such/plan.toml")).unwrap_err().to_string();
    assert!(missing.starts_with("/no/such/plan.toml: ") && missing.contains("bugaroo init"), "{missing}");
}

#[test]
fn a_first_plan_is_a_plan() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let (_folder, plan) = written(&first::plan(&[words("./a --x \"q\""), words("b")]));
    let plan = plan.unwrap();
    assert_eq!(plan.programs.len(), 2);
    assert_eq!(plan.programs[0].run, words("./a --x \"q\""));
    assert!(written(&first::plan(&[])).1.is_ok());
    // Every key that is shown with a # is one.
    let text = first::plan(&[]);
    let mut open = String::new();
    for line in text.lines() {
        match line.strip_prefix('#') {
            Some(key) if !key.starts_with(' ') => open += key,
            _ => open += line,
        }
        open.push('\n');
    }
    // Both ways to say how much cannot be given at once, and one file is not there.
    let open = open.replace("budget = \"2m\"\n", "").replace("suppressions = [\"races.toml\"]\n", "");
    let (_folder, plan) = written(&open);
    let plan = plan.unwrap();
    assert!(plan.slurm.is_some() && plan.programs[0].expect.len() == 1, "{plan:?}");
}

#[test]
fn a_program_that_explores_has_one_cell_more() {
    let cells = |text: &str| written(text).1.unwrap().programs[0].cells.clone();
    let program = "[[program]]\nrun = [\"./a\"]\ntrials = 9\n";
    let plain = cells(program);
    let explores = cells(&format!("{program}explore = true\n[explore]\npw = [0.5]\nbuffer = [2, 4]\n"));
    assert_eq!(explores.len(), plain.len() + 1);
    let cell = explores.iter().find(|cell| cell.kind == CellKind::Explore).unwrap();
    assert_eq!((cell.key.as_str(), cell.trials), ("explore", Some(9)));
    let space = cell.space.clone().unwrap();
    assert_eq!((space.pw, space.buffer, space.pr), (vec![0.5], vec![2, 4], vec![0.1, 0.5, 0.9]));
    assert!(plain.iter().all(|cell| cell.space.is_none()));
}

#[test]
fn a_value_of_the_wrong_kind_is_told_with_an_example() {
    let program = "[[program]]\nrun = [\"./app\"]\n";
    for (text, wanted) in [
        (
            "timeout = 5",
            "3: `timeout` cannot be the number `5`: `timeout = { factor = 50, floor = \"60s\" }`",
        ),
        ("timeout = { floor = 5 }", "3: `timeout` cannot be the number `5`: `timeout = { factor = 50,"),
        (
            "verify = \"yes\"",
            "3: `verify` cannot be what stands there: `verify = true` or `verify = [\"kernel.*\"]`",
        ),
        ("pw = 0.5", "3: `pw` cannot be the number `0.5`: `pw = [0.5]` is wanted"),
        ("pw = [\n0.5,\n\"much\"]", "5: `pw` cannot be the string \"much\": `pw = [0.5]` is wanted"),
        (
            "models = \"ptx\"",
            "3: `models` cannot be the string \"ptx\": `models = [\"store-buffer\", \"ptx\"]`",
        ),
        ("trials = -1", "3: `trials` cannot be the number `-1`: `trials = 1000`"),
        (
            "environment = { A = 1 }",
            "3: `environment` cannot be the number `1`: `environment = { OMP_NUM_THREADS",
        ),
        ("[program.environment]\nA = 1", "4: `environment` cannot be the number `1`: "),
        ("[program.expect]\nfinding = \"race\"", "`expect` is a list of tables: [[program.expect]]"),
        (
            "[night]\njobs = 100000",
            "4: `jobs` cannot be the number `100000`: `jobs = 4` is wanted, at most 65535",
        ),
        ("[night]\nbudget = 5", "4: `budget` cannot be the number `5`: `budget = \"5m\"` is wanted"),
        ("[[night]]\nbudget = \"5m\"", "3: `night` is one table, [night]"),
        ("[slurm]\nshards = \"8\"", "4: `shards` cannot be the string \"8\": `shards = 8`"),
        ("[[explore]]\npw = [0.5]", "3: `explore` is one table, [explore]"),
    ] {
        let said = error(&format!("{program}{text}\n"));
        assert!(said.contains(wanted), "{text}\n{said}\nwanted: {wanted}");
    }
    let said = error("[night]\nseed = 1\n[program]\nrun = [\"./app\"]\n");
    assert!(
        said.contains("/plan.toml:3: `program` is a list of tables") && said.contains("[[program]]"),
        "{said}"
    );
}

#[test]
fn keys_of_the_defaults_hold_for_all_programs() {
    let text = "[defaults]\nstdin = \"all.txt\"\nbuild-timeout = \"2m\"\n[[program]]\nrun = [\"./a\"]\n\
                [[program]]\nrun = [\"./b\"]\nstdin = \"own.txt\"\nbuild-timeout = \"5s\"\n";
    let (folder, plan) = written(text);
    let plan = plan.unwrap();
    let at = |name: &str| Some(folder.path().join(name));
    let [a, b] = &plan.programs[..] else { panic!("{plan:?}") };
    assert_eq!((&a.stdin, &b.stdin), (&at("all.txt"), &at("own.txt")));
    assert_eq!((a.build_timeout.as_secs(), b.build_timeout.as_secs()), (120, 5));
    let plan = written("[[program]]\nrun = [\"./a\"]\n").1.unwrap();
    assert_eq!((&plan.programs[0].stdin, plan.programs[0].build_timeout.as_secs()), (&None, 1800));
}

#[test]
fn programs_of_a_first_plan_have_names_of_their_own() {
    let programs = ["a/app", "b/app", "app-2", "b/app", "other"].map(|name| vec![name.to_owned()]);
    let (_folder, plan) = written(&first::plan(&programs));
    let plan = plan.unwrap();
    let names: Vec<&str> = plan.programs.iter().map(|program| program.name.as_str()).collect();
    assert_eq!(names, ["app", "app-3", "app-2", "app-4", "other"]);
}
