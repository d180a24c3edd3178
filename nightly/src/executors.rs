//! Who runs the shards of a plan, where it is not this process alone.

pub mod slurm;
