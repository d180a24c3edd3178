//! Where the program asked for its memory, for the report of a bad access.
//!
//! At each allocation and each release the return addresses of the callers are kept and nothing else; names and lines are
//! looked up when a fault is reported. The same callers are kept once, however often they allocate. What it can miss: callers
//! beyond the first [`DEPTH`], code without unwind tables (some compilers leave them out), and what was freed more
//! than [`MOST_FREED`] releases ago.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::{CStr, c_void};
use std::path::Path;
use std::sync::Arc;

use bugaroo_injector::is_toolkit_header;
use bugaroo_protocol::{HostFrame, NearAllocation, SourceLine};

/// Return addresses that are kept of a call, our own libraries' among them.
const DEPTH: usize = 24;
/// Calls that are told of them.
const TOLD: usize = 6;
/// Releases that are remembered.
const MOST_FREED: usize = 1 << 16;

/// The return addresses of a call's callers, innermost first.
pub type Trace = Arc<[usize]>;

/// Return addresses of calls, each kept once.
#[derive(Debug, Default)]
pub struct Traces(HashMap<Trace, ()>);

/// Memory that was freed.
#[derive(Debug)]
struct Freed {
    base: u64,
    size: u64,
    allocated: Trace,
    freed: Trace,
}

/// Who asked for which memory.
#[derive(Debug, Default)]
pub struct Origins {
    traces: Traces,
    live: BTreeMap<u64, (u64, Trace)>,
    /// The latest last.
    freed: VecDeque<Freed>,
    /// Releases in stream order that were asked for and are not done.
    releasing: HashMap<u64, Trace>,
}

impl Origins {
    /// Memory was allocated for the caller of the API.
    pub fn allocated(&mut self, base: u64, size: u64) {
        let trace = self.traces.here();
        self.live.insert(base, (size, trace));
    }

    /// The caller of the API asked for a release in stream order.
    pub fn releasing(&mut self, base: u64) {
        let trace = self.traces.here();
        self.releasing.insert(base, trace);
    }

    /// Memory was given back, by the caller of the API where it was not asked for before.
    pub fn freed(&mut self, base: u64) {
        let asked = self.releasing.remove(&base);
        let Some((size, allocated)) = self.live.remove(&base) else { return };
        if self.freed.len() == MOST_FREED {
            self.freed.pop_front();
        }
        let freed = asked.unwrap_or_else(|| self.traces.here());
        self.freed.push_back(Freed { base, size, allocated, freed });
    }

    /// The allocation that an address was in until it was freed, the last such.
    pub fn freed_at(&self, address: u64) -> Option<NearAllocation> {
        let held = |freed: &&Freed| address.checked_sub(freed.base).is_some_and(|at| at < freed.size);
        let freed = self.freed.iter().rev().find(held)?;
        Some(NearAllocation {
            base: freed.base,
            size: freed.size,
            offset: address.wrapping_sub(freed.base).cast_signed(),
            freed: true,
            variable: None,
            allocated_at: frames(&freed.allocated),
            freed_at: frames(&freed.freed),
        })
    }

    /// A live allocation, as an address is told that misses it.
    pub fn near(&self, base: u64, size: u64, address: u64) -> NearAllocation {
        NearAllocation {
            base,
            size,
            offset: address.wrapping_sub(base).cast_signed(),
            freed: false,
            variable: None,
            allocated_at: self.live.get(&base).map(|(_, trace)| frames(trace)).unwrap_or_default(),
            freed_at: Vec::new(),
        }
    }

    /// The live allocation that an address misses by least: its first address and size.
    pub fn nearest(&self, address: u64) -> Option<(u64, u64)> {
        let below = self.live.range(..=address).next_back();
        let above = self.live.range(address..).next();
        let misses = |(base, (size, _)): &(&u64, &(u64, Trace))| {
            if **base > address { **base - address } else { (address - **base).saturating_sub(*size) }
        };
        let nearest = below.into_iter().chain(above).min_by_key(misses)?;
        Some((*nearest.0, nearest.1.0))
    }
}

impl Traces {
    /// The callers, as they are kept.
    pub fn here(&mut self) -> Trace {
        let mut addresses = [0_usize; DEPTH];
        let mut count = 0;
        let take = |frame: &backtrace::Frame| {
            addresses[count] = frame.ip() as usize;
            count += 1;
            count < DEPTH
        };
        // SAFETY: what is not synchronised is the lookup of names on other systems; walking the stack is
        // `_Unwind_Backtrace`, which any thread may do at any time.
        unsafe { backtrace::trace_unsynchronized(take) };
        self.kept(&addresses[..count])
    }

    /// These return addresses, as they are kept.
    pub fn kept(&mut self, found: &[usize]) -> Trace {
        if let Some((trace, ())) = self.0.get_key_value(found) {
            return Arc::clone(trace);
        }
        let trace: Trace = found.into();
        self.0.insert(Arc::clone(&trace), ());
        trace
    }
}

/// Names and lines of return addresses, without our own libraries' that the program called.
pub fn frames(trace: &[usize]) -> Vec<HostFrame> {
    first_frames(trace, TOLD)
}

/// So many of them.
fn first_frames(trace: &[usize], most: usize) -> Vec<HostFrame> {
    let ours = |address: &&usize| module_of(**address).is_some_and(|(name, _)| is_ours(&name));
    let mut told = Vec::new();
    for address in trace.iter().skip_while(ours) {
        let (module, base) = module_of(*address).unwrap_or_default();
        let offset = (*address as u64).wrapping_sub(base);
        let file = Path::new(&module).file_name().map(|name| name.to_string_lossy().into_owned());
        let file = file.unwrap_or_default();
        let before = told.len();
        // A call that was inlined has a symbol of its own, the innermost first.
        backtrace::resolve(*address as *mut c_void, |symbol| {
            let line = symbol.filename().zip(symbol.lineno());
            told.push(HostFrame {
                function: symbol.name().map(|name| format!("{name:#}")),
                module: file.clone(),
                offset,
                source: line.map(|(file, line)| SourceLine { file: file.display().to_string(), line }),
            });
        });
        if told.len() == before {
            told.push(HostFrame { function: None, module: file, offset, source: None });
        }
        // What called `main` is the system's.
        let is_main = told[before..].iter().any(|frame| frame.function.as_deref() == Some("main"));
        if is_main || told.len() >= most {
            break;
        }
    }
    // What a header of the toolkit wraps around a call is not the program's.
    let wraps = |frame: &HostFrame| frame.source.as_ref().is_some_and(|at| is_toolkit_header(&at.file));
    let wrapping = told.iter().take_while(|frame| wraps(frame)).count();
    if wrapping < told.len() {
        told.drain(..wrapping);
    }
    told.truncate(most);
    told
}

/// The file that an address of code belongs to, and where that is loaded.
fn module_of(address: usize) -> Option<(String, u64)> {
    // SAFETY: plain data, which `dladdr` fills in.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked about; the place is ours.
    let known = unsafe { libc::dladdr((address - 1) as *const c_void, &mut found) } != 0;
    if !known || found.dli_fname.is_null() || found.dli_fbase.is_null() {
        return None;
    }
    // SAFETY: a C string that lives as long as its file is loaded.
    let name = unsafe { CStr::from_ptr(found.dli_fname) }.to_string_lossy().into_owned();
    Some((name, found.dli_fbase as u64))
}

/// Whether a return address is in our driver or one of our libraries that lead to it.
pub fn is_ours_at(address: usize) -> bool {
    module_of(address).is_some_and(|(name, _)| is_ours(&name))
}

/// Whether a return address is in the C library, its loader, or what stands in for either.
pub fn is_system(address: usize) -> bool {
    let Some((module, _)) = module_of(address) else { return false };
    let file = Path::new(&module).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    ["libc.so", "libc-", "ld-", "libasan", "libtsan", "libubsan", "liblsan"]
        .iter()
        .any(|start| file.starts_with(start))
}

/// Whether a file is our driver or one of our libraries that lead to it.
fn is_ours(module: &str) -> bool {
    let file = Path::new(module).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    ["libcuda.so", "libcudart.so", "libbugaroo"].iter().any(|start| file.starts_with(start))
}

#[cfg(test)]
mod tests;
