//! What is drawn by the trial's seed, and which streams may overlap.

use bugaroo_cuda_abi::CUstream;

use crate::devices;
use crate::lane::Lane;
use crate::objects::stream::Stream;
use crate::state::Gpu;

impl Gpu {
    /// A random number, by the trial's seed.
    pub fn draw(&mut self) -> u64 {
        self.before_first_kernel();
        self.running.queue.rng.next()
    }

    /// Whether work of a stream could overlap with work of others, so that it has to wait in the queue until
    /// something asks for its end. Where it could not, it runs at the call: nobody could tell.
    pub fn overlaps(&self, stream: &Stream) -> bool {
        let others = |which: &dyn Fn(&Stream) -> bool| {
            let made =
                |other: &CUstream| !matches!(stream.lane, Lane::Made(handle) if handle == *other as usize);
            self.ordered
                .streams
                .find(|other| other.context == stream.context && which(other))
                .iter()
                .any(made)
        };
        // Those of other devices are always there. And the host may have to do something before a kernel ends that runs.
        if devices::count() > 1 || self.running.queue.may_wait_for_host() {
            return true;
        }
        match stream.lane {
            // All but the non-blocking ones wait for it, and it for them.
            Lane::Legacy(_) => others(&|other| !other.blocking()),
            Lane::PerThread(context, thread) => {
                others(&|_| true)
                    || self.ordered.default_threads.iter().any(|other| *other != (context, thread))
            }
            // The legacy default stream is always there.
            Lane::Made(_) if !stream.blocking() => true,
            Lane::Made(_) => others(&|_| true) || !self.ordered.default_threads.is_empty(),
        }
    }
}
