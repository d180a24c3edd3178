//! The host's side of logging on the device: queues, who reads them, and what an observer is told of what is read.
//!
//! Source: BARRACUDA (Eizenberg et al., PLDI 2017), sections 4.2 and 4.3. The device's side is `bugaroo-device-handlers`
//! (`logging.cu`), and the code that calls it is the injector's ([`bugaroo_injector::logging`]).
//!
//! [`tail`] takes committed records out of one queue and gives the room back; [`merge`] puts those of all queues into the one
//! order of their tickets; [`stream`] turns them into the events of an observer. On the virtual GPU, which has no host threads within
//! a launch, [`Session::pump`] does all three between turns, and so lets a device go on that waits for room; [`launched`] has
//! race detectors fed so. For a device beside the host, [`threads`] gives each queue's tail to a thread of its own.
//! Tails, merge and stream know neither threads nor the virtual GPU, but memory through [`Visible`] alone.
//!
//! Where it departs from the paper: its threads each feed the detector with their own queue, so that events of different blocks come in
//! no particular order. Here records have tickets, and an observer gets one order, as it is promised.
//!
//! # In which order
//! On the virtual GPU a record is made in one piece with the instruction that it tells, as long as memory is sequentially consistent:
//! the injector's `logging/emit.rs` says why. So the order of tickets is that in which things are done, over all threads;
//! `tests/logging.rs` compares it with what the engine tells of the same launch. Under a memory model there is something between a
//! ticket and its instruction, and this is not for observers then.
//!
//! On hardware nothing makes a record and its instruction one. There an order is right as far as the program's own fences, releases and
//! acquires make it: a ticket is taken before what releases, and behind what acquires. Of accesses that nothing orders, either
//! may have the earlier ticket; an atomic that reads what another has written may come before it.
//!
//! # What it can miss
//! An observer is not told what a load has given and what an atomic has left, only whether lanes of one store agree on
//! its value; not which write a read has read (so the detector `ptx` is not fed with it); not
//! [`bugaroo_semantics::event::EventObject::Completed`] (a barrier at which nobody waits); not loads of constants, which nobody writes within a grid. In lockstep,
//! lanes that come together and part again before any of them tells anything ([`bugaroo_semantics::parts`]). Kernels that use clusters, asynchronous
//! copies, mbarriers or matrices are refused by the injector.

pub mod broken;
pub mod launched;
pub mod merge;
pub mod session;
mod slots;
pub mod stream;
pub mod tail;
pub mod threads;
mod waiting;

pub use launched::{LoggingLaunch, Logs};
pub use merge::Merge;
pub use stream::{LoggedLaunch, RecordStream};
pub use tail::Tail;

#[cfg(test)]
mod tests;
