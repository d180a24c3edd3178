//! The exact detector against the axioms: rules by hand, random executions, and its speed.

mod agents;
mod axioms;
mod children;
mod devices;
mod fences;
mod forced;
mod generate;
mod law;
mod meet;
mod rows;
mod rules;
mod speed;
mod together;
mod world;
