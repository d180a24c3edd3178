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
//! [`bugaroo_semantics::event::Event::Completed`] (a barrier at which nobody waits); not loads of constants, which nobody writes within a grid. In lockstep,
//! lanes that come together and part again before any of them tells anything ([`bugaroo_semantics::parts`]). Kernels that use clusters, asynchronous
//! copies, mbarriers or matrices are refused by the injector.

pub mod launched;
pub mod merge;
mod slots;
pub mod stream;
pub mod tail;
pub mod threads;
mod waiting;

use std::collections::BTreeMap;

use bugaroo_device_handlers::logging::{LogState, Queues, queue};
use bugaroo_injector::logging::Place;
use bugaroo_semantics::Observer;
use bugaroo_semantics::event::Site;
use bugaroo_simulator::{AllocationKind, Memory, Program};

pub use launched::{Logs, Recording};
pub use merge::Merge;
pub use stream::{Launch, Stream};
pub use tail::Tail;

/// Memory that host and device see.
pub trait Visible {
    /// Copies what is there.
    ///
    /// # Errors
    /// Where it is not the device's memory any more.
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Broken>;

    /// A 64-bit word, with all that its writer had written before.
    ///
    /// # Errors
    /// As [`Self::read`].
    fn acquire(&self, address: u64) -> Result<u64, Broken>;

    /// Writes a 64-bit word; what this thread has read before, it has read.
    ///
    /// # Errors
    /// As [`Self::read`].
    fn release(&mut self, address: u64, value: u64) -> Result<(), Broken>;
}

impl Visible for Memory {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Broken> {
        Memory::read(self, address, into).map_err(|_| Broken::Memory { address })
    }

    fn acquire(&self, address: u64) -> Result<u64, Broken> {
        let mut bytes = [0; 8];
        Visible::read(self, address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn release(&mut self, address: u64, value: u64) -> Result<(), Broken> {
        Memory::write(self, address, &value.to_le_bytes()).map_err(|_| Broken::Memory { address })
    }
}

/// Why nothing more is told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A queue is not there.
    #[error("logging: no memory at {address:#x}")]
    Memory {
        /// Where.
        address: u64,
    },
    /// There is no room for queues.
    #[error("logging: no room for {0} queues of {1} records")]
    Room(u32, u32),
    /// The grid has more warps than a record can number.
    #[error("logging: {0} warps; a record can number 2^32")]
    Warps(u64),
    /// The module does not log.
    #[error("logging: the module has no logger")]
    NoLogger,
    /// There is no room for shadow words.
    #[error("hirace: the device has no room for shadow words")]
    NoShadow,
    /// The module does not look for races.
    #[error("hirace: the module has no detector")]
    NoDetector,
    /// There is no room for metadata.
    #[error("scord: the device has no room for metadata")]
    NoMetadata,
    /// The module does not look for scoped races.
    #[error("scord: the module has no detector")]
    NoScord,
    /// A record is none that the module's code writes: the program has written over the queues, most likely.
    #[error("logging: record {ticket} is damaged: {what}")]
    Damaged {
        /// Its ticket.
        ticket: u64,
        /// What about it.
        what: &'static str,
    },
    /// A record never came.
    #[error("logging: {left} records behind a gap at ticket {ticket}")]
    Gap {
        /// The ticket that is missing.
        ticket: u64,
        /// Records with later ones.
        left: usize,
    },
}

/// How many queues a device gets, by its SMs: the paper finds 1.1 to 1.5 an SM best.
pub fn queues_for(sms: u32) -> u32 {
    sms.saturating_add(sms.div_ceil(4)).max(1)
}

/// What observers know the instruction of each place by, where they know that of instruction 0 of the program as it was
/// loaded by `first`. The program is that of the original text.
pub fn sites(program: &Program, places: &[Option<Place>], first: Site) -> Vec<Site> {
    let mut by_span = BTreeMap::new();
    for (pc, span) in (0..).zip(program.spans()) {
        // Of several that come from one of the text, the first.
        by_span.entry(span).or_insert(pc);
    }
    let of = |place: &Option<Place>| {
        let span = place.map(|place| (place.span.start, place.span.end));
        let pc: u32 = span.and_then(|span| by_span.get(&span).copied()).unwrap_or(0);
        first.wrapping_add(pc)
    };
    places.iter().map(of).collect()
}

/// Queues in the memory of the virtual GPU.
#[derive(Clone, Copy, Debug)]
pub struct Allocated {
    /// Their number and size.
    pub queues: Queues,
    /// Address of the queues.
    pub base: u64,
    /// Address of what only the device touches.
    pub control: u64,
}

impl Allocated {
    /// Makes queues: empty ones.
    ///
    /// # Errors
    /// [`Broken::Room`]
    pub fn new(queues: Queues, memory: &mut Memory) -> Result<Allocated, Broken> {
        let full = Broken::Room(queues.count, queues.capacity);
        let bytes = queues.bytes().filter(|_| queues.count > 0 && queues.capacity > 0).ok_or(full.clone())?;
        let base = memory.alloc(bytes, queue::ALIGN, AllocationKind::Tool).map_err(|_| full.clone())?;
        let control =
            memory.alloc(queues.control_bytes(), queue::ALIGN, AllocationKind::Tool).map_err(|_| {
                // It was allocated just now.
                let _ = memory.free(base);
                full
            })?;
        Ok(Allocated { queues, base, control })
    }

    /// What the launch's module is to find in its variable.
    ///
    /// # Errors
    /// [`Broken::Room`], where the queues are larger than memory can be.
    pub fn state(&self) -> Result<LogState, Broken> {
        let Queues { count, capacity } = self.queues;
        let stride = self.queues.stride().ok_or(Broken::Room(count, capacity))?;
        Ok(LogState { queues: self.base, control: self.control, stride, count, capacity })
    }

    /// Gives them back.
    pub fn free(&self, memory: &mut Memory) {
        // They were allocated together, and nobody else frees them.
        let _ = memory.free(self.base);
        let _ = memory.free(self.control);
    }

    /// Has a loaded module log to these queues.
    ///
    /// # Errors
    /// [`Broken::NoLogger`] for a module that does not log.
    pub fn arm(&self, program: &Program, memory: &mut Memory) -> Result<(), Broken> {
        let variable = program.variable(bugaroo_device_handlers::logging::LOG_VARIABLE);
        let (address, _) = variable.ok_or(Broken::NoLogger)?;
        let state = self.state()?.to_bytes();
        memory.write(address, &state).map_err(|_| Broken::Memory { address })
    }

    /// The readers of all queues.
    ///
    /// # Errors
    /// As [`Self::state`].
    pub fn tails(&self) -> Result<Vec<Tail>, Broken> {
        let stride = self.state()?.stride;
        let each = (0..self.queues.count)
            .map(|number| Tail::new(self.base + u64::from(number) * stride, self.queues.capacity));
        Ok(each.collect())
    }
}

/// A launch that logs, read where it is launched: no threads.
#[derive(Debug)]
pub struct Session {
    tails: Vec<Tail>,
    merge: Merge,
    stream: Stream,
}

impl Session {
    /// Reads these queues, which are empty, for a launch that begins now.
    ///
    /// # Errors
    /// As [`Allocated::state`].
    pub fn new(
        allocated: &Allocated,
        launch: Launch,
        observer: &mut dyn Observer,
    ) -> Result<Session, Broken> {
        let stream = Stream::new(launch, observer)?;
        Ok(Session { tails: allocated.tails()?, merge: Merge::new(allocated.queues.count as usize), stream })
    }

    /// Reads all that is there, and tells what is known of it; answers how many records it has read.
    ///
    /// # Errors
    /// Where a queue cannot be read, or holds what nobody has written.
    pub fn pump(&mut self, memory: &mut dyn Visible, observer: &mut dyn Observer) -> Result<usize, Broken> {
        let mut read = 0;
        for (number, tail) in self.tails.iter_mut().enumerate() {
            while let Some(record) = tail.take(memory)? {
                read += 1;
                self.merge.put(number, record);
            }
        }
        while let Some(record) = self.merge.next() {
            self.stream.record(record, observer)?;
        }
        Ok(read)
    }

    /// The launch has ended: the rest, and, whatever is wrong with that, that it has ended.
    ///
    /// # Errors
    /// As [`Self::pump`], and where records are missing.
    pub fn finish(mut self, memory: &mut dyn Visible, observer: &mut dyn Observer) -> Result<(), Broken> {
        let told = self.pump(memory, observer).and_then(|_| self.merge.finish());
        self.stream.finish(observer);
        told
    }
}

#[cfg(test)]
mod tests;
