//! What the device brings along as functions: `printf`, `assert`, `malloc` and `free` of device code (CUDA C++
//! Programming Guide, "Formatted Output", "Assertion", "Dynamic Global Memory Allocation"), and
//! `cudaGraphSetConditional` ("Conditional Graph Nodes"); the device-side runtime is a file of its own.
//!
//! Text goes to the console in the order of execution, lane by lane. Departures: the FIFO of `printf` holds
//! text, not arguments, so its size limits another quantity than on hardware; an assertion that fails ends the
//! launch at once, with the messages of the lanes that failed together (on hardware other threads may still
//! add theirs).

use bugaroo_ptx::types::Space;

use super::data::{lanes, read_lane, write_lane};
use super::format::{Arguments, format};
use super::resolve::Request;
use super::step::Flow;
use super::{Machine, Trouble};
use crate::alu::Width;
use crate::console::ConsoleStream;
use crate::decoded::{Address, Base, Provided, WORD_ROW};
use crate::fault::{StopKind, TouchKind};

/// The longest string that is read from device memory.
const LONGEST_STRING: usize = 1 << 20;

/// Where `printf`'s arguments lie: as a structure, each at a multiple of its size.
struct Buffer<'m, 'a> {
    machine: &'m mut Machine<'a>,
    warp: usize,
    lane: usize,
    address: u64,
    offset: u64,
}

impl Buffer<'_, '_> {
    fn next(&mut self, bytes: u32) -> Result<u64, StopKind> {
        let at = self.offset.next_multiple_of(u64::from(bytes));
        self.offset = at + u64::from(bytes);
        self.machine.read_generic(self.warp, self.lane, self.address.wrapping_add(at), bytes)
    }
}

impl Arguments for Buffer<'_, '_> {
    type Error = StopKind;

    fn word(&mut self) -> Result<u32, StopKind> {
        self.next(4).map(|word| word as u32)
    }

    fn long(&mut self) -> Result<u64, StopKind> {
        self.next(8)
    }

    fn string(&mut self, address: u64) -> Result<Vec<u8>, StopKind> {
        self.machine.read_string(self.warp, self.lane, address)
    }
}

impl Machine<'_> {
    /// Runs the device's own function `which` for the `active` lanes; the fragment's frame is that function's.
    pub(super) fn provided(
        &mut self,
        w: usize,
        fragment: usize,
        which: u32,
        active: u32,
    ) -> Result<Flow, Trouble> {
        let program = self.given.program;
        let at = self.residents.warps[w].fragments[fragment];
        let function = &program.functions[self.residents.frames.get(at.frame).function as usize];
        let parameter = |index: usize, lane: usize| {
            let formal = &function.params[index];
            let row = at.rows.wrapping_add(formal.offset as usize);
            // SAFETY: the loader compared the signature with what the function has; 8 bytes are two word rows.
            unsafe {
                let low = read_lane(row, Width::W32, lane);
                match Provided::ALL[which as usize].signature().1[index] {
                    8 => low | read_lane(row.wrapping_add(WORD_ROW as usize), Width::W32, lane) << 32,
                    _ => low,
                }
            }
        };
        let words = |index: usize, lane: usize| {
            let formal = &function.params[index];
            let count = Provided::ALL[which as usize].signature().1[index] / 4;
            std::array::from_fn(|word| match word < count as usize {
                // SAFETY: as above; a parameter has a word row for each of its words.
                true => unsafe {
                    let row = at.rows.wrapping_add(formal.offset as usize + word * WORD_ROW as usize);
                    read_lane(row, Width::W32, lane)
                },
                false => 0,
            })
        };
        let result = |lane: usize, value: u64| {
            for (word, offset) in [(0, 0), (1, WORD_ROW)].into_iter().take(match function.rets[0].width {
                crate::decoded::CopyWidth::Words(words) => words as usize,
                crate::decoded::CopyWidth::Row(_) => 0,
            }) {
                let row = at.rows.wrapping_add((function.rets[0].offset + offset) as usize);
                // SAFETY: as above.
                unsafe { write_lane(row, Width::W32, lane, value >> (32 * word)) };
            }
        };
        for lane in lanes(active) {
            let trouble = |kind| Box::new((kind, lane as u32));
            match Provided::ALL[which as usize] {
                Provided::Printf => {
                    let (text, arguments) = (parameter(0, lane), parameter(1, lane));
                    result(lane, self.print(w, lane, text, arguments).map_err(trouble)? as u64);
                }
                Provided::Assert => {
                    self.report_assertion(w, lane, |i| parameter(i, lane)).map_err(trouble)?
                }
                Provided::Malloc => {
                    result(lane, self.memory.heap_alloc(parameter(0, lane), 16).unwrap_or(0));
                }
                Provided::AlignedMalloc => {
                    let (bytes, align) = (parameter(0, lane), parameter(1, lane));
                    let fits = align.is_power_of_two();
                    let found = if fits { self.memory.heap_alloc(bytes, align) } else { None };
                    result(lane, found.unwrap_or(0));
                }
                Provided::Free => {
                    let address = parameter(0, lane);
                    if address != 0 && !self.memory.heap_free(address) {
                        return Err(trouble(StopKind::BadFree { address }));
                    }
                    self.forget_regions();
                }
                Provided::SetConditional => {
                    let (handle, value) = (parameter(0, lane), parameter(1, lane) as u32);
                    self.set_condition(w, lane, handle, value).map_err(trouble)?;
                }
                other => {
                    let given = |index: usize| words(index, lane);
                    let told = self.device_runtime((w, lane), other, &given).map_err(trouble)?;
                    result(lane, told);
                }
            }
        }
        if Provided::ALL[which as usize] == Provided::Assert {
            return Err(Box::new((StopKind::Assert, active.trailing_zeros())));
        }
        Ok(Flow::Next)
    }

    /// `vprintf`: the number of arguments, or -1 without a format.
    fn print(&mut self, w: usize, lane: usize, text: u64, arguments: u64) -> Result<i32, StopKind> {
        if text == 0 {
            return Ok(-1);
        }
        let text = self.read_string(w, lane, text)?;
        let mut buffer = Buffer { machine: self, warp: w, lane, address: arguments, offset: 0 };
        let (printed, count) = format(&text, &mut buffer)?;
        self.memory.console().write(ConsoleStream::Out, printed);
        Ok(count)
    }

    /// The line that a failing assertion prints: message, file, line, function.
    fn report_assertion(
        &mut self,
        w: usize,
        lane: usize,
        parameter: impl Fn(usize) -> u64,
    ) -> Result<(), StopKind> {
        let mut text = |address| match address {
            0 => Ok(Vec::new()),
            address => self.read_string(w, lane, address),
        };
        let (message, file, function) = (text(parameter(0))?, text(parameter(1))?, text(parameter(3))?);
        let thread = self.thread(w, lane as u32);
        let triple = |at: [u32; 3]| format!("[{},{},{}]", at[0], at[1], at[2]);
        let mut line = file;
        line.extend(format!(":{}: ", parameter(2)).bytes());
        line.extend(function);
        let (block, thread) = (triple(thread.block), triple(thread.thread));
        line.extend(format!(": block: {block}, thread: {thread} Assertion `").bytes());
        line.extend(message);
        line.extend(b"` failed.\n");
        self.memory.console().write(ConsoleStream::Error, line);
        Ok(())
    }

    /// `cudaGraphSetConditional`: a handle is the address of a word of the tester's own, which no other thread reads
    /// before the graph goes on.
    fn set_condition(&mut self, w: usize, lane: usize, handle: u64, value: u32) -> Result<(), StopKind> {
        let access = TouchKind::Write;
        let place = Address { base: Base::Fixed, offset: 0, space: Space::Global };
        let request = Request { address: place, bytes: 4, site: self.paths.regions.len() - 1, kind: access };
        let (pointer, theirs) = self.resolve_lane(w, &request, lane, handle)?;
        if theirs {
            return Err(StopKind::OutOfBounds { address: handle, size: 4, access, near: None });
        }
        // SAFETY: `resolve_lane` found four aligned bytes there.
        unsafe { (pointer as *mut u32).write(value) };
        Ok(())
    }

    /// Up to eight bytes at a generic address, as a lane reads them.
    pub(super) fn read_generic(
        &mut self,
        w: usize,
        lane: usize,
        address: u64,
        bytes: u32,
    ) -> Result<u64, StopKind> {
        let place = Address { base: Base::Fixed, offset: 0, space: Space::Generic };
        let site = self.paths.regions.len() - 1;
        let request = Request { address: place, bytes, site, kind: TouchKind::Read };
        let (pointer, _) = self.resolve_lane(w, &request, lane, address)?;
        let mut value = [0; 8];
        // SAFETY: `resolve_lane` found this many bytes there.
        unsafe {
            std::ptr::copy_nonoverlapping(pointer as *const u8, value.as_mut_ptr(), bytes as usize);
        }
        Ok(u64::from_le_bytes(value))
    }

    /// A string at a generic address, without its NUL.
    fn read_string(&mut self, w: usize, lane: usize, address: u64) -> Result<Vec<u8>, StopKind> {
        let mut text = Vec::new();
        while text.len() < LONGEST_STRING {
            match self.read_generic(w, lane, address.wrapping_add(text.len() as u64), 1)? {
                0 => break,
                byte => text.push(byte as u8),
            }
        }
        Ok(text)
    }
}
