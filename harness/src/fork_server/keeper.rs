//! The fork servers of a session: each started when it is first wanted, and again when it has died.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bugaroo_protocol::Detector;
use serde::{Deserialize, Serialize};
use tokio::sync::MutexGuard;

use super::server::ForkServer;
use super::start::Start;

/// Servers that may die one after the other with no trial done between.
const DEATHS: u32 = 3;

/// Whether trials are forks of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkServerUse {
    /// Whether any is.
    pub used: bool,
    /// Why not, or why not all of them, in one line; None also where no trial has run.
    pub why_not: Option<String>,
}

#[derive(Debug, Default)]
enum State {
    /// None was wanted yet, or the last one has died.
    #[default]
    None,
    Serves(Arc<ForkServer>),
    /// There will be none.
    Cannot,
}

/// Keeps a fork server running.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    state: tokio::sync::Mutex<State>,
    told: Mutex<Told>,
}

#[derive(Debug, Default)]
struct Told {
    server: ForkServerUse,
    /// Deaths since a trial was done last.
    deaths: u32,
}

impl Keeper {
    /// Whether trials were forks of one process.
    pub(crate) fn used(&self) -> ForkServerUse {
        self.told().server.clone()
    }

    fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the server is kept, for one at a time.
    pub(crate) async fn place(&self) -> Place<'_> {
        Place { keeper: self, state: self.state.lock().await }
    }

    /// A server has died: the next who asks gets another.
    pub(crate) async fn died(&self, server: &Arc<ForkServer>) {
        let mut state = self.state.lock().await;
        // Several trials hear of one death.
        if matches!(&*state, State::Serves(current) if Arc::ptr_eq(current, server)) {
            *state = self.after_death();
        }
    }

    fn after_death(&self) -> State {
        let mut told = self.told();
        told.deaths += 1;
        if told.deaths <= DEATHS {
            return State::None;
        }
        told.server.why_not.get_or_insert_with(|| "the fork server has died again and again".to_owned());
        State::Cannot
    }

    /// A trial was done by the server.
    pub(crate) fn done(&self) {
        self.told().deaths = 0;
    }

    /// Why a trial, or all of them, are not forks.
    pub(crate) fn trouble(&self, why: String) {
        self.told().server.why_not.get_or_insert(why);
    }
}

/// Keeps a fork server for each set of detectors: what they are told of before the first launch, only a process that has them
/// from its start can tell them.
#[derive(Debug, Default)]
pub(crate) struct Keepers(Mutex<BTreeMap<Vec<Detector>, Arc<Keeper>>>);

impl Keepers {
    /// The one for trials with these detectors.
    pub(crate) fn of(&self, detectors: &[Detector]) -> Arc<Keeper> {
        let mut keepers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(keepers.entry(detectors.to_vec()).or_default())
    }

    /// Whether trials were forks.
    pub(crate) fn used(&self) -> ForkServerUse {
        let keepers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        keepers.values().fold(ForkServerUse::default(), |sum, keeper| {
            let one = keeper.used();
            ForkServerUse { used: sum.used || one.used, why_not: sum.why_not.or(one.why_not) }
        })
    }
}

/// Where the server is kept.
pub(crate) struct Place<'k> {
    keeper: &'k Keeper,
    state: MutexGuard<'k, State>,
}

impl Place<'_> {
    /// The server, or that there is to be none; None where one has to be started first.
    pub(crate) fn known(&self) -> Option<Option<Arc<ForkServer>>> {
        match &*self.state {
            State::Serves(server) => Some(Some(Arc::clone(server))),
            State::Cannot => Some(None),
            State::None => None,
        }
    }

    /// One was started, or could not be.
    pub(crate) fn put(&mut self, start: Start) {
        *self.state = match start {
            Start::Serves(server) => {
                self.keeper.told().server.used = true;
                State::Serves(Arc::from(server))
            }
            Start::Died => self.keeper.after_death(),
            Start::Cannot(why) => {
                self.keeper.trouble(why);
                State::Cannot
            }
        };
    }
}
