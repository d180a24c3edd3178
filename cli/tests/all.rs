//! The tests of the command line, as modules of one program. A program for each file would take long to link.

mod common;

mod cbe_dot;
mod findings;
mod fork_server;
mod forward;
mod hangs;
mod house;
mod linked;
mod litmus;
mod model_ptx;
mod nightly;
mod processes;
mod profile;
mod programs;
mod race;
mod race_cbe_dot;
mod replay;
mod run;
mod rundir;
mod usage;
mod verify;
mod verify_app;
mod verify_launch;
mod verify_strong;
