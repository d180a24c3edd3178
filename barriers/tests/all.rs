//! The tests of the verifier, as modules of one program. A program for each file would take long to link.

mod arrivals;
mod generate;
mod random;
mod reference;
mod whole;
mod writer;

mod agreed;
mod any_cta;
mod asynchronous;
mod cccl;
mod clusters;
mod counters;
mod emulate;
mod garbled;
mod grid_barriers;
mod hints;
mod hopper_mutants;
mod named_barriers;
mod peeled_waits;
mod products;
mod random_programs;
mod random_rounds;
mod random_stages;
mod random_unknown;
mod random_whole;
mod relaxed;
mod rounds;
mod somewhere;
mod stages;
mod tables;
mod unasked;
mod unknown_branches;
mod verdicts;
mod warp_arrivals;
mod warpgroups;
