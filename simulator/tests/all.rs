//! The tests of the virtual GPU, as modules of one program. A program for each file would take long to link.

mod alu_support;
mod conflict_support;
mod injected;
mod model_ptx;
mod observed_support;
mod places_support;
#[path = "support/script.rs"]
mod script;
mod support;

mod alu_approx;
mod alu_bits;
mod alu_compare;
mod alu_convert;
mod alu_float;
mod alu_integer;
mod barrier_participants;
mod conflicts;
mod conflicts_passive;
mod counts;
mod device_functions;
mod effects;
mod engine;
mod false_alarms;
mod full_forms;
mod grids;
mod hangs;
mod injection_async;
mod injection_corpus;
mod injection_cta;
mod injection_dot;
mod injection_random;
mod injection_semantics;
mod lockstep_models;
mod model_ptx_bytes;
mod model_ptx_litmus;
mod model_ptx_memory;
mod model_ptx_random;
mod observed;
mod observed_files;
mod only_read;
mod opcodes;
mod places;
mod roles;
mod shared_rows;
mod told;
