//! What the harness (outside the program under test) and the driver (inside it) say to each other.
//!
//! The harness puts [`Orders`] as JSON into the environment variable [`ORDERS_VARIABLE`] and passes
//! the write end of a pipe, whose descriptor the orders name. The driver answers on it with one
//! [`Message`] a line, as JSON, each written as it happens, so that what a crashed trial had to say is
//! not lost. Both sides state [`VERSION`] and refuse another.
//!
//! A program that is started once for many trials gets their orders by another way: see [`ForkServer`].

pub mod amount;
mod choices;
mod conflict;
mod fault;
mod fork_server;
mod insertion;
pub mod notice;
mod orders;
mod race;
mod race_settings;
mod recorded;
mod report;
mod site;
mod turns;
mod variation;
mod waiting;

pub use choices::{Backend, DelayedSpace, Model, Scheduler};
pub use conflict::{Conflict, ConflictKind, Party, Relation};
pub use fault::{Fault, FaultAccess, FaultKind, HostFrame, NearAllocation};
pub use fork_server::{FileId, ForkServer, FromServer, LONGEST_MESSAGE, ToServer};
pub use insertion::{Inserted, Insertion, Placed, Position, Side, SourceSpan};
pub use orders::{MOST_DEVICES, ORDERS_VARIABLE, Orders, OrdersError, VERSION};
pub use race::{
    Detector, Forgotten, KnownThread, Race, RaceClass, RaceKind, RaceMissing, RaceParty, Races, THE_HOST,
};
pub use race_settings::{
    HiraceSettings, LimitSettings, Named, NumberSpan, RaceSettings, ScordLayout, ScordSettings, ScordWidths,
    WatchSettings,
};
pub use recorded::{Hex, NotHex, RecordedLaunch};
pub use report::{
    FlushLengths, Launch, LaunchCounts, LaunchEnd, MemoryEnd, MemoryPiece, Message, MissingEdge,
    ModuleReport, StaleRead,
};
pub use site::{ParseSiteIdError, Site, SiteId, SiteKind, SourceLine};
pub use turns::Turns;
pub use variation::{PCT_DEPTH, Variation};
pub use waiting::{BlockedThread, Diagnosis, LastWrite, Spin};
