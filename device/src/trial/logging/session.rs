//! The log of one launch: its memory, its readers, and what they tell.

use std::collections::BTreeMap;

use bugaroo_device_handlers::logging::{LogState, Queues, queue};
use bugaroo_injector::logging::RecordPlace;
use bugaroo_semantics::Observer;
use bugaroo_semantics::event::SiteNumber;
use bugaroo_simulator::{AllocationKind, Memory, Program};

use crate::trial::logging::broken::{Broken, Visible};
use crate::trial::logging::merge::Merge;
use crate::trial::logging::stream::{LoggedLaunch, RecordStream};
use crate::trial::logging::tail::Tail;

/// How many queues a device gets, by its SMs: the paper finds 1.1 to 1.5 an SM best.
pub fn queues_for(sms: u32) -> u32 {
    sms.saturating_add(sms.div_ceil(4)).max(1)
}

/// What observers know the instruction of each place by, where they know that of instruction 0 of the program as it was
/// loaded by `first`. The program is that of the original text.
pub fn sites(program: &Program, places: &[Option<RecordPlace>], first: SiteNumber) -> Vec<SiteNumber> {
    let mut by_span = BTreeMap::new();
    for (pc, span) in (0..).zip(program.spans()) {
        // Of several that come from one of the text, the first.
        by_span.entry(span).or_insert(pc);
    }
    let of = |place: &Option<RecordPlace>| {
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
pub struct LoggingSession {
    tails: Vec<Tail>,
    merge: Merge,
    stream: RecordStream,
}

impl LoggingSession {
    /// Reads these queues, which are empty, for a launch that begins now.
    ///
    /// # Errors
    /// As [`Allocated::state`].
    pub fn new(
        allocated: &Allocated,
        launch: LoggedLaunch,
        observer: &mut dyn Observer,
    ) -> Result<LoggingSession, Broken> {
        let stream = RecordStream::new(launch, observer)?;
        Ok(LoggingSession {
            tails: allocated.tails()?,
            merge: Merge::new(allocated.queues.count as usize),
            stream,
        })
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
