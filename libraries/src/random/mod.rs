//! Generators of random numbers, as cuRAND's host interface has them: which numbers there are, and in which order.
//!
//! Sources: XORWOW is Marsaglia's ("Xorshift RNGs", 2003), MRG32k3a L'Ecuyer's ("Good parameters and implementations for
//! combined multiple recursive random number generators", 1999), Philox4x32-10 Salmon's and others' ("Parallel random numbers: as
//! easy as 1, 2, 3", 2011). How seeds become states and numbers become distributions is said in the headers of cuRAND's
//! device interface; how streams are laid out, in its documentation ("Generator Options", "Order"). What neither says (what a
//! stream has used when the next call begins) was found by NVIDIA's own generators on the CPU, and the tests hold all of it
//! against numbers of theirs.
//!
//! A pseudorandom generator is many streams, far apart in one sequence. Results are dealt to them in turn, one item each; a call goes on
//! where the last one has stopped.
//!
//! **Departure.** Logarithms, sines and exponentials are the CPU's, as with NVIDIA's generators on the CPU; a GPU's have other last
//! bits.

mod mrg;
mod philox;
pub mod shape;
pub mod sobol;
mod stream;
mod xorwow;

pub use stream::Law;

use mrg::Mrg;
use philox::Philox;
use sobol::Sobol;
use stream::Stream;
use xorwow::Xorwow;

/// A kind of generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// XORWOW, in 4096 streams.
    Xorwow,
    /// MRG32k3a, in so many.
    Mrg(usize),
    /// Philox4x32-10, in 65,536, of four numbers at a time.
    Philox,
    /// Sobol's sequences.
    Sobol {
        /// Results have 64 bits, and not 32.
        wide: bool,
        /// How many sequences there are.
        dimensions: usize,
    },
}

/// A generator's state.
#[derive(Debug)]
pub enum State {
    /// XORWOW.
    Xorwow(Streams<Xorwow>),
    /// MRG32k3a.
    Mrg(Streams<Mrg>),
    /// Philox.
    Philox(Philox),
    /// Sobol's sequences.
    Sobol(Sobol),
}

/// Streams that take turns.
#[derive(Debug)]
pub struct Streams<S> {
    streams: Vec<S>,
    next: usize,
}

impl<S: Stream> Streams<S> {
    fn deal<T>(&mut self, items: usize, mut draw: impl FnMut(&mut S) -> T) -> Vec<T> {
        let mut found = Vec::with_capacity(items);
        for _ in 0..items {
            found.push(draw(&mut self.streams[self.next]));
            self.next = (self.next + 1) % self.streams.len();
        }
        found
    }

    fn single(&mut self, law: Law, count: usize) -> Vec<f32> {
        match law {
            Law::Normal => self.deal(count / 2, S::normal).concat(),
            Law::Uniform => self.deal(count, S::uniform),
        }
    }

    fn double(&mut self, law: Law, count: usize) -> Vec<f64> {
        match law {
            Law::Normal => self.deal(count / 2, S::normal_double).concat(),
            Law::Uniform => self.deal(count, S::uniform_double),
        }
    }
}

impl State {
    /// At a place of a seed's sequence, counted in results of 32 bits.
    pub fn new(kind: Kind, seed: u64, offset: u64) -> State {
        // Of `count` streams each has drawn as many as were dealt to it.
        let drawn = |stream: usize, count: usize| {
            offset / count as u64 + u64::from((stream as u64) < offset % count as u64)
        };
        match kind {
            Kind::Xorwow => {
                let next = (offset % xorwow::STREAMS as u64) as usize;
                State::Xorwow(Streams {
                    streams: xorwow::streams(seed, |stream| drawn(stream, xorwow::STREAMS)),
                    next,
                })
            }
            Kind::Mrg(count) => {
                let next = (offset % count as u64) as usize;
                State::Mrg(Streams {
                    streams: mrg::streams(count, seed, |stream| drawn(stream, count)),
                    next,
                })
            }
            Kind::Philox => State::Philox(Philox::new(seed, offset)),
            Kind::Sobol { wide, dimensions } => State::Sobol(Sobol::new(wide, dimensions, offset)),
        }
    }

    /// The next results of 32 bits.
    pub fn bits(&mut self, count: usize) -> Vec<u32> {
        match self {
            State::Xorwow(streams) => streams.deal(count, Stream::bits),
            State::Mrg(streams) => streams.deal(count, Stream::bits),
            State::Philox(philox) => philox.bits(count),
            State::Sobol(sobol) => sobol.bits(count),
        }
    }

    /// The next results of 64 bits; none where the kind has none.
    pub fn wide_bits(&mut self, count: usize) -> Vec<u64> {
        match self {
            State::Sobol(sobol) => sobol.wide_bits(count),
            _ => Vec::new(),
        }
    }

    /// From now on the results are those of this kind, which differs in nothing but dimensions.
    pub fn spread(&mut self, kind: Kind) {
        if let (State::Sobol(sobol), Kind::Sobol { dimensions, .. }) = (self, kind) {
            sobol.spread(dimensions);
        }
    }

    /// The next results of single precision; of normal ones, an even number, but with Philox.
    pub fn single(&mut self, law: Law, count: usize) -> Vec<f32> {
        match self {
            State::Xorwow(streams) => streams.single(law, count),
            State::Mrg(streams) => streams.single(law, count),
            State::Philox(philox) => philox.single(law, count),
            State::Sobol(sobol) => sobol.single(law, count),
        }
    }

    /// The same of double precision.
    pub fn double(&mut self, law: Law, count: usize) -> Vec<f64> {
        match self {
            State::Xorwow(streams) => streams.double(law, count),
            State::Mrg(streams) => streams.double(law, count),
            State::Philox(philox) => philox.double(law, count),
            State::Sobol(sobol) => sobol.double(law, count),
        }
    }
}
