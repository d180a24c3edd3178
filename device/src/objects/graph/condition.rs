//! Conditions of graphs.

/// What is known of a condition.
#[derive(Clone, Copy, Debug)]
pub struct GraphCondition {
    /// Its value when a graph with it is launched, if it is set then.
    pub default: Option<u32>,
}
