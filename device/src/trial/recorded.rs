//! Launches as they are when they start, for who looks at their kernels without running them (`bugaroo verify APP`).
//!
//! Of each launch it says the text of the module, the shape, the parameters, what constant memory holds and variables of global memory that no
//! kernel of the module writes ([`bugaroo_ptx::writers`]), and how many bytes copies by its tensor maps move. What is large is said once for
//! each content.
//!
//! Of other variables in global memory, and of those whose address is among the parameters, it says only which may hold something else
//! by now than their initialisers say. What it misses: addresses of variables that lie in memory, or in parts of words among the
//! parameters.

use std::collections::HashSet;

use bugaroo_ptx::ast::{Item, Linkage, Module as Ast, Variable};
use bugaroo_ptx::types::Space;
use bugaroo_ptx::writers::Writers;
use bugaroo_simulator::{Memory, Program, TENSOR_MAP_WORDS, TensorMap};

use crate::digest::Digest;

/// Bytes of a variable in global memory beyond which its content is not told: it is read at each launch.
const MOST: u64 = 64 << 10;

/// What has been said already.
#[derive(Debug, Default)]
pub struct Recorder {
    pub(crate) said: HashSet<Digest>,
}

/// What is kept of a module to record its launches.
#[derive(Debug)]
pub struct ModuleSource {
    pub(crate) digest: Digest,
    pub(crate) text: String,
    /// Variables in constant memory, and in global memory those that no kernel of the module writes.
    pub(crate) constants: Vec<Held>,
    /// Initialised variables in global memory that no other module can name.
    pub(crate) tables: Vec<Held>,
}

/// A variable.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) name: String,
    address: u64,
    bytes: u64,
    pub(crate) space: Space,
    /// Digest of what its initialiser says, if the text alone says that it holds that.
    pub(crate) initial: Option<Digest>,
}

impl Held {
    fn new(variable: &Variable, program: &Program, memory: &Memory) -> Option<Held> {
        let (address, bytes) = program.variable(&variable.name)?;
        let (name, space) = (variable.name.clone(), variable.space);
        let mut held = Held { name, address, bytes, space, initial: None };
        if !variable.init.is_empty() && (space == Space::Const || variable.linkage == Linkage::Internal) {
            held.initial = Some(Digest::of(&held.read(memory)?));
        }
        Some(held)
    }

    /// What it holds.
    pub(crate) fn read(&self, memory: &Memory) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(self.bytes).ok()?];
        memory.read(self.address, &mut bytes).ok().map(|()| bytes)
    }

    /// Whether an address is one of its.
    pub(crate) fn has(&self, address: u64) -> bool {
        address.wrapping_sub(self.address) < self.bytes
    }
}

impl ModuleSource {
    /// Of a module that was just loaded, so that its variables hold what their initialisers say.
    pub fn new(text: &str, digest: Digest, ast: &Ast, program: &Program, memory: &Memory) -> ModuleSource {
        let writers = Writers::new(ast);
        let of = |fits: &dyn Fn(&Variable) -> bool| {
            let variables = ast.items.iter().filter_map(|item| match item {
                Item::Variable(variable) => Some(variable),
                _ => None,
            });
            variables
                .filter(|variable| fits(variable))
                .filter_map(|variable| Held::new(variable, program, memory))
                .collect()
        };
        ModuleSource {
            digest,
            text: text.to_owned(),
            constants: of(&|v| match v.space {
                Space::Const => v.linkage != Linkage::Extern,
                Space::Global => {
                    let small = program.variable(&v.name).is_some_and(|(_, bytes)| bytes <= MOST);
                    small && v.linkage != Linkage::Extern && !v.managed && writers.never(&v.name)
                }
                _ => false,
            }),
            tables: of(&|v| {
                v.space == Space::Global && v.linkage == Linkage::Internal && !v.managed && !v.init.is_empty()
            }),
        }
    }
}

/// Tensor maps in a parameter buffer: where each begins, and the bytes of its box. A map that is none of ours is none.
pub(crate) fn tensors(params: &[u8]) -> Vec<(u32, u32)> {
    // A map is a structure that is aligned to 64 bytes.
    let starts = (0..params.len()).step_by(64);
    let found = starts.filter_map(|start| {
        let bytes = params.get(start..start + 8 * TENSOR_MAP_WORDS)?;
        let (words, _) = bytes.as_chunks::<8>();
        let words: &[[u8; 8]; TENSOR_MAP_WORDS] = words.first_chunk()?;
        let map = TensorMap::decode(&words.map(u64::from_le_bytes))?;
        Some((u32::try_from(start).ok()?, u32::try_from(map.copied_bytes()?).ok()?))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use bugaroo_simulator::TensorMap;

    use super::tensors;

    #[test]
    fn tensor_maps_are_found_among_the_parameters() {
        let mut map = TensorMap { data_type: 7, rank: 2, address: 1 << 32, ..TensorMap::default() };
        (map.extents, map.strides) = ([100, 100, 0, 0, 0], [400, 0, 0, 0]);
        (map.extent_of_box, map.steps) = ([8, 16, 0, 0, 0], [1, 2, 0, 0, 0]);
        let bytes: Vec<u8> = map.encode().iter().flat_map(|word| word.to_le_bytes()).collect();
        let buffer = [&[7; 64][..], &bytes, &[0; 20]].concat();
        // Of 16 rows, every other one.
        assert_eq!(tensors(&buffer), [(64, 8 * 8 * 4)]);
        assert_eq!((tensors(&bytes[..127]), tensors(&[])), (vec![], vec![]));
    }
}
