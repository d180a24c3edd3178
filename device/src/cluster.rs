//! How many clusters of blocks the device holds at a time.

use bugaroo_cuda_abi::CUfunction;

use crate::error::{CallResult, Status};
use crate::objects::work::BlocksTogether;
use crate::state::Gpu;

impl Gpu {
    /// How a launch's blocks belong together, with what the function says of clusters where the launch says nothing.
    ///
    /// # Errors
    /// `InvalidClusterSize` for a cluster that must not be.
    pub fn with_cluster(&self, function: CUfunction, together: BlocksTogether) -> CallResult<BlocksTogether> {
        let (function, kernel) = self.kernel(function)?;
        let clusters = function.clusters();
        let required =
            Some(clusters.required.map(|extent| extent.max(1))).filter(|_| clusters.required != [0; 3]);
        let cluster = match (together.cluster, required) {
            (Some(asked), Some(required)) if asked != required => return Err(Status::InvalidClusterSize),
            (asked, required) => asked.or(required),
        };
        let extent = cluster.unwrap_or(kernel.cluster);
        let blocks = extent.iter().fold(1, |blocks: u32, extent| blocks.saturating_mul(*extent));
        if blocks > clusters.most() {
            return Err(Status::InvalidClusterSize);
        }
        Ok(BlocksTogether { cluster, ..together })
    }
}
