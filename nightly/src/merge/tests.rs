//! What is not put together.

use super::*;
use crate::begin::{Wanted, begin};

/// A folder with a plan, and the results of its one shard.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    async fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().expect("a folder") };
        fs::write(place.at("plan.toml"), "[[program]]\nrun = [\"./app\"]\n").expect("it can be written");
        let wanted = Wanted {
            label: Some("one".to_owned()),
            results: Some(place.at("part.sqlite")),
            ..Wanted::default()
        };
        begin(&place.plan(), &wanted).await.expect("it begins").store.close().await;
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn plan(&self) -> Plan {
        Plan::read(&self.at("plan.toml")).expect("a plan")
    }

    async fn merge(&self, file: &str) -> Result<Vec<Key>, MergeError> {
        let plan = self.plan();
        let into = Store::open(&plan.database).await.expect("it can be made");
        let merged = merge(&plan, &[self.at(file)], &into).await;
        into.close().await;
        merged
    }
}

#[tokio::test]
async fn results_of_another_plan_are_refused() {
    let place = Place::new().await;
    assert_eq!(place.merge("part.sqlite").await.expect("they belong together")[0].label, "one");
    let before = place.plan().sha256;
    fs::write(place.at("plan.toml"), "[[program]]\nrun = [\"./app\"]\ntrials = 7\n")
        .expect("it can be written");
    let error = place.merge("part.sqlite").await.expect_err("it was changed").to_string();
    let after = place.plan().sha256;
    for said in ["plan.toml has changed", "part.sqlite", &before, &after] {
        assert!(error.contains(said), "{error}");
    }
    let other = "[night]\nname = \"other\"\n[[program]]\nrun = [\"./app\"]\n";
    fs::write(place.at("plan.toml"), other).expect("it can be written");
    let error = place.merge("part.sqlite").await.expect_err("it is another").to_string();
    assert!(error.contains("of plan plan, and not of other"), "{error}");
    let into = Store::open(&place.plan().database).await.expect("it is there");
    assert_eq!(into.nights(None).await.expect("it can be read"), [], "nothing was taken");
}

#[tokio::test]
async fn the_database_itself_is_no_shard_and_an_empty_file_stays_empty() {
    let place = Place::new().await;
    let error = place.merge("plan.sqlite").await.expect_err("it is its own").to_string();
    assert!(error.contains("plan.sqlite") && error.contains("go into this database"), "{error}");
    fs::write(place.at("empty.sqlite"), "").expect("it can be written");
    let error = place.merge("empty.sqlite").await.expect_err("there is nothing in it");
    assert!(matches!(error, MergeError::Empty(_)), "{error}");
    assert_eq!(fs::metadata(place.at("empty.sqlite")).expect("it is there").len(), 0);
}

#[tokio::test]
async fn a_database_of_somebody_else_stays_as_it_is() {
    use sqlx::{Connection as _, SqliteConnection};
    let place = Place::new().await;
    let url = format!("sqlite://{}?mode=rwc", place.at("theirs.sqlite").display());
    let mut theirs = SqliteConnection::connect(&url).await.expect("it can be made");
    sqlx::query("CREATE TABLE customer (name TEXT)").execute(&mut theirs).await.expect("it can be written");
    theirs.close().await.expect("it can be closed");
    let before = fs::read(place.at("theirs.sqlite")).expect("it is there");
    let error = place.merge("theirs.sqlite").await.expect_err("it is not ours").to_string();
    assert!(error.contains("theirs.sqlite") && error.contains("none of Bugaroo's"), "{error}");
    assert_eq!(fs::read(place.at("theirs.sqlite")).expect("it is there"), before);
}
