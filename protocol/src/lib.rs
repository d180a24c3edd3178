//! What the harness (outside the program under test) and the driver (inside it) say to each other.
//!
//! The harness puts [`Orders`] as JSON into the environment variable [`ORDERS_VARIABLE`] and passes
//! the write end of a pipe, whose descriptor the orders name. The driver answers on it with one
//! [`Message`] a line, as JSON, each written as it happens, so that what a crashed trial had to say is
//! not lost. Both sides state [`VERSION`] and refuse another.
//!
//! A program that is started once for many trials gets their orders by another way: see [`ForkServer`].

pub mod amount;
mod conflict;
mod fork_server;
mod insertion;
pub mod notice;
mod orders;
mod race;
mod race_settings;
mod recorded;
mod report;
mod site;

pub use conflict::{Conflict, ConflictKind, Party, Relation};
pub use fork_server::{FileId, ForkServer, FromServer, LONGEST_MESSAGE, ToServer};
pub use insertion::{Inserted, Insertion, Placed, Position, Side, SourceSpan};
pub use orders::{
    Backend, MOST_DEVICES, Model, ORDERS_VARIABLE, Orders, OrdersError, PCT_DEPTH, Scheduler, Space, VERSION,
};
pub use race::{Detector, Race, RaceClass, RaceKind, RaceMissing, RaceParty, Races, THE_HOST};
pub use race_settings::{
    HiraceSettings, LimitSettings, Named, RaceSettings, ScordLayout, ScordSettings, ScordWidths, Span,
    WatchSettings,
};
pub use recorded::{Hex, NotHex, RecordedLaunch};
pub use report::{
    Access, BlockedThread, Diagnosis, Fault, FaultKind, FlushLengths, HostFrame, LastWrite, Launch,
    LaunchCounts, LaunchEnd, MemoryEnd, MemoryPiece, Message, MissingEdge, ModuleReport, NearAllocation,
    Spin, StaleRead,
};
pub use site::{ParseSiteIdError, Site, SiteId, SiteKind, SourceLine};
