//! Graphs (CUDA Driver API, "Graph Management").

pub mod condition;
pub mod dot;
pub mod edit;
pub mod exec;
pub mod inspect;
pub mod memory;
pub mod node_params;
pub mod params;
pub mod update;
pub mod user_object;
