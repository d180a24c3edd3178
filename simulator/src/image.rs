//! A program's decoded instructions, for an interpreter other than the engine: the verifier runs them on values
//! of which some are not known.

use crate::alu::Isa;
use crate::config::DeviceConfig;
use crate::decoded::{
    Asynchronous, Atomic, Barrier, Call, Collective, DecodedAccess, Inst, LanewiseInst, LoadedFunction,
    Matrix, Origin, Pack, Special, TextureInst,
};
use crate::exec::launch_constants;
use crate::launch::{LaunchError, LaunchSpec, plan};
use crate::load::{Constants, Program};
use crate::model::Fence;

/// What a program consists of. Instructions of a kind say by `extra` which entry of its table is theirs.
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the tables are named as their entries")]
pub struct CodeImage<'p> {
    pub code: &'p [Inst],
    /// Where each instruction comes from.
    pub origins: &'p [Origin],
    pub accesses: &'p [DecodedAccess],
    pub atomics: &'p [Atomic],
    pub fences: &'p [Fence],
    pub specials: &'p [Special],
    pub packs: &'p [Pack],
    pub calls: &'p [Call],
    pub tables: &'p [Vec<u32>],
    pub barriers: &'p [Barrier],
    pub collectives: &'p [Collective],
    pub lanewise: &'p [LanewiseInst],
    pub asyncs: &'p [Asynchronous],
    pub matrices: &'p [Matrix],
    pub textures: &'p [TextureInst],
    pub functions: &'p [LoadedFunction],
    /// Which instantiation of the row functions the instructions have.
    pub isa: Isa,
}

impl std::fmt::Debug for CodeImage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Image").field("instructions", &self.code.len()).finish_non_exhaustive()
    }
}

/// What a launch adds to a program.
#[derive(Clone, Debug)]
pub struct Launched {
    /// The constants, those of the launch included.
    pub constants: Constants,
    /// Number of the kernel's function.
    pub function: u32,
    /// Address in shared space at which dynamic shared memory begins.
    pub dynamic_base: u32,
    /// Bytes of shared memory per block.
    pub shared_bytes: u32,
    /// Bytes of local memory per thread.
    pub local_bytes: u32,
    /// Extent of a cluster in blocks.
    pub cluster: [u32; 3],
}

impl Program {
    /// The decoded instructions.
    pub fn image(&self) -> CodeImage<'_> {
        CodeImage {
            code: &self.code,
            origins: &self.origins,
            accesses: &self.accesses,
            atomics: &self.atomics,
            fences: &self.fences,
            specials: &self.specials,
            packs: &self.packs,
            calls: &self.calls,
            tables: &self.tables,
            barriers: &self.barriers,
            collectives: &self.collectives,
            lanewise: &self.lanewise,
            asyncs: &self.asyncs,
            matrices: &self.matrices,
            textures: &self.textures,
            functions: &self.functions,
            isa: self.isa,
        }
    }

    /// Checks a launch, and answers what it adds to the program.
    ///
    /// # Errors
    /// [`LaunchError`] when the launch is not legal.
    pub fn launched(&self, config: &DeviceConfig, spec: &LaunchSpec<'_>) -> Result<Launched, LaunchError> {
        let plan = plan(self, config, spec, None)?;
        Ok(Launched {
            constants: launch_constants(self, config, &plan),
            function: plan.kernel.function,
            dynamic_base: plan.dynamic_base,
            shared_bytes: plan.shared_bytes,
            local_bytes: plan.local_bytes,
            cluster: plan.cluster,
        })
    }
}
