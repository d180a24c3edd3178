//! What a trial is, apart from the device: orders and what is injected by them, the fork server, what looks on, and the report.

pub(crate) mod blocked;
pub(crate) mod cache;
pub(crate) mod conflicts;
pub(crate) mod coverage;
pub(crate) mod delays;
pub(crate) mod diagnosis;
pub(crate) mod ends;
pub(crate) mod feeds;
pub(crate) mod fork_server;
pub mod hirace;
pub(crate) mod host_pages;
pub(crate) mod host_watch;
pub(crate) mod injection;
pub mod logging;
pub mod looking;
pub(crate) mod native;
pub(crate) mod origins;
pub(crate) mod own_thread;
pub(crate) mod panics;
pub(crate) mod pause;
pub(crate) mod progress;
pub(crate) mod race;
pub(crate) mod recorded;
pub(crate) mod report;
pub mod scord;
pub(crate) mod site_flags;
