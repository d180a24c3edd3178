//! How a trial of a run is named.

/// Names a trial of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// None: that of the only cell.
    pub cell: Option<usize>,
    /// Index in the cell.
    pub trial: u64,
}

impl std::str::FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |_| "a trial is named CELL:INDEX or INDEX, such as 2:17 or 17".to_owned();
        match text.split_once(':') {
            None => Ok(Self { cell: None, trial: text.parse().map_err(wrong)? }),
            Some((cell, trial)) => {
                Ok(Self { cell: Some(cell.parse().map_err(wrong)?), trial: trial.parse().map_err(wrong)? })
            }
        }
    }
}
