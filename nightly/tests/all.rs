//! The tests of nights, as modules of one program: what waits for a server leaves the machine to the others.

mod exploring;
mod postgres;
mod reports;
mod slurm;
