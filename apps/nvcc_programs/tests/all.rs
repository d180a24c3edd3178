//! Programs as users have them, as modules of one program: a program for each file would take long to link, and would run alone.

#[path = "support/session.rs"]
mod harness;
mod support;

mod devices;
mod fences;
mod hostile;
mod libraries;
mod lockstep;
mod looked_at;
mod memory;
mod mending;
mod not_fences;
mod places;
mod processes;
mod programs;
mod stripped;
mod triton;
mod verify;
