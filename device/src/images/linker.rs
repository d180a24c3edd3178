//! Linking of device code: modules of PTX, wherever they come from, into one.
//!
//! NVIDIA's device-side runtime (libcudadevrt) is machine code for most devices. Of what it defines the
//! barrier of a grid is here, as a module of our own; launches from the device and what goes with them the virtual GPU
//! has itself. Its other functions stay undefined, and the kernels that call them are refused.

use bugaroo_ptx::link::{LinkError, LinkInput, link};

use crate::error::Status;
use crate::images::fitting::{Fitting, fitting};
use crate::images::refusal::ImageRefusal;

/// Functions that the virtual GPU itself provides.
const OF_THE_SYSTEM: [&str; 6] =
    ["vprintf", "malloc", "free", "__nv_aligned_device_malloc", "__assertfail", "cudaGraphSetConditional"];

/// The barrier of a grid, and the functions that make it.
const GRID: LinkInput<'_> =
    LinkInput { name: "the device-side runtime", text: include_str!("linker/grid.ptx") };
const OF_THE_GRID: [&str; 2] = ["cudaCGGetIntrinsicHandle", "cudaCGSynchronize"];

/// Modules to be linked.
#[derive(Debug, Default)]
pub struct Linker {
    /// Name and text of each.
    modules: Vec<(String, String)>,
    /// Whether the device-side runtime is among what is linked.
    device_runtime: bool,
}

impl Linker {
    /// Adds a text.
    pub fn add_ptx(&mut self, name: &str, text: String) {
        self.modules.push((name.to_owned(), text));
    }

    /// Adds the device-side runtime.
    pub fn add_device_runtime(&mut self) {
        self.device_runtime = true;
    }

    /// Adds the best PTX of a fat binary.
    ///
    /// # Errors
    /// When it is damaged, or holds nothing that the device runs.
    pub fn add_fat_binary(
        &mut self,
        name: &str,
        binary: &[u8],
        capability: (u32, u32),
    ) -> Result<(), ImageRefusal> {
        match fitting(binary, capability)? {
            Fitting::Ptx(text) => self.add_ptx(name, text),
            Fitting::DeviceRuntime => self.add_device_runtime(),
            Fitting::Nothing => {}
        }
        Ok(())
    }

    /// The linked text. A single module stays as it is, so that its lines keep their numbers.
    ///
    /// # Errors
    /// When a text is not PTX, or the modules do not fit together.
    pub fn complete(&self) -> Result<String, ImageRefusal> {
        let mut inputs: Vec<LinkInput<'_>> =
            self.modules.iter().map(|(name, text)| LinkInput { name, text }).collect();
        let calls_grid = |(_, text): &(String, String)| OF_THE_GRID.iter().any(|name| text.contains(name));
        if self.device_runtime && self.modules.iter().any(calls_grid) {
            inputs.push(GRID);
        }
        let external = |name: &str| {
            OF_THE_SYSTEM.contains(&name) || (self.device_runtime && is_of_the_device_runtime(name))
        };
        match (link(&inputs, &external), inputs.as_slice()) {
            (Ok(_), [alone]) => Ok(alone.text.to_owned()),
            (Ok(text), _) => Ok(text),
            (Err(error), _) => Err(refusal(&error)),
        }
    }
}

/// Whether a device function has the name of one that libcudadevrt defines.
fn is_of_the_device_runtime(name: &str) -> bool {
    name.starts_with("cuda") || name.starts_with("__cudaCDP2")
}

fn refusal(error: &LinkError) -> ImageRefusal {
    let status = match error {
        LinkError::Parse { .. } => Status::InvalidPtx,
        _ => Status::InvalidImage,
    };
    let mut text = format!("device code does not link: {error}");
    if let LinkError::Undefined { symbols } = error
        && symbols.iter().any(|(name, _)| is_of_the_device_runtime(name))
    {
        text.push_str("; launches from the device (libcudadevrt) are not supported");
        return ImageRefusal { status, text, unsupported: true };
    }
    ImageRefusal { status, text, unsupported: false }
}
