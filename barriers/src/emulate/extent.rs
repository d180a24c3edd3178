//! How large blocks, clusters and grids are, by what is asked for and what the kernel says.

use bugaroo_ptx::ast::Function;

use super::options::KernelOptions;
use super::refusal::{Refusal, RefusalKind};

/// Threads of a CTA: as asked for, or as the kernel says.
pub(super) fn block_of(function: &Function, options: &KernelOptions) -> Result<[u32; 3], Refusal> {
    let stated = |name: &str| {
        let (_, extent) = function.directives.iter().find(|(found, _)| found == name)?;
        let of = |d: usize| extent.get(d).map_or(1, |n| u32::try_from(*n).unwrap_or(u32::MAX));
        Some([of(0), of(1), of(2)])
    };
    let required = stated("reqntid");
    let usage = |message: String| Err(Refusal::new(RefusalKind::Usage, message));
    match (options.block, required) {
        (Some(block), _) if block.contains(&0) => usage(format!("a block of {} threads", extent(block))),
        (Some(block), Some(required)) if block != required => usage(format!(
            "kernel `{}` requires blocks of {}, not {}",
            function.name,
            extent(required),
            extent(block)
        )),
        (Some(block), _) => Ok(block),
        (None, Some(required)) => Ok(required),
        (None, None) => match stated("maxntid") {
            Some(most) => Ok(most),
            None => Err(Refusal::new(
                RefusalKind::NotVerifiable,
                "the kernel does not say how many threads a block has: --block X[,Y,Z] (or __launch_bounds__)",
            )),
        },
    }
}

fn extent([x, y, z]: [u32; 3]) -> String {
    format!("{x},{y},{z}")
}

/// Blocks of a cluster, as the kernel or the launch says, and whether any of them does.
pub(super) fn cluster_of(function: &Function, options: &KernelOptions) -> Result<([u32; 3], bool), Refusal> {
    let stated = function.directives.iter().find(|(name, _)| name == "reqnctapercluster");
    let of = |extent: &[u64], d: usize| extent.get(d).map_or(1, |n| (*n).clamp(1, 16) as u32);
    let stated = stated.map(|(_, extent)| [of(extent, 0), of(extent, 1), of(extent, 2)]);
    match (stated, options.cluster) {
        (_, Some(asked))
            if asked.contains(&0) || asked.iter().map(|n| u64::from(*n)).product::<u64>() > 16 =>
        {
            let message = format!("a cluster of {}: it has 1 to 16 blocks", extent(asked));
            Err(Refusal::new(RefusalKind::Usage, message))
        }
        (Some(stated), Some(asked)) if stated != asked => {
            let (name, stated, asked) = (&function.name, extent(stated), extent(asked));
            let message = format!("kernel `{name}` requires clusters of {stated}, not {asked}");
            Err(Refusal::new(RefusalKind::Usage, message))
        }
        (stated, asked) => Ok((stated.or(asked).unwrap_or([1; 3]), stated.or(asked).is_some())),
    }
}

/// The smallest grid that has a CTA, in whole clusters.
pub(super) fn smallest_grid(cta: [u32; 3], cluster: [u32; 3]) -> [u32; 3] {
    std::array::from_fn(|d| cta[d].saturating_add(1).next_multiple_of(cluster[d]))
}
